//! Indexes: the keys of index rows, and the fields that the rows contain.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Ident;
use syn::ext::IdentExt;

use crate::attr::index::IndexAttr;
use crate::casing::snake_case;
use crate::codec::Codec;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::key::{Key, Part};
use crate::model::property::Property;
use crate::model::{Entity, Field};

/// The declaration of a secondary index.
pub(crate) struct Index {
    /// The parsed attribute that declares the index.
    pub(crate) attr: IndexAttr,
    /// The `PartitionKey` of the index rows, or `None` if they use the entity's.
    pub(crate) partition_key: Option<Key>,
    /// The `RowKey` of the index rows, or `None` if it is not declared.
    pub(crate) row_key: Option<Key>,
}

impl Index {
    /// Resolves the field names of an index. Unknown names are reported.
    pub(super) fn read(ctxt: &Ctxt, fields: &[Field<'_>], attr: IndexAttr) -> Self {
        let read_key = |list| Key::read(ctxt, fields, &attr.original, list);
        let partition_key = attr.partition_key.as_ref().map(read_key).map(Key::into_levels);
        let row_key = attr.row_key.as_ref().map(read_key);
        Self { attr, partition_key, row_key }
    }

    /// Returns the pieces of the `RowKey` as written.
    pub(crate) fn row_key_pieces(&self) -> Vec<String> {
        let tokens = grammar::arguments(&self.attr.original).into_iter();
        let mut tokens =
            tokens.skip_while(|token| !matches!(token, TokenTree::Ident(word) if word == "row_key"));
        match tokens.nth(1) {
            Some(TokenTree::Group(group)) => grammar::items(group.stream()),
            _ => Vec::new(),
        }
    }

    /// Returns the declared keys of the index rows. The `PartitionKey` may be the entity's.
    pub(crate) fn keys<'m>(&'m self, entity: &'m Entity<'_>) -> impl Iterator<Item = &'m Key> {
        let partition_key = self.partition_key.as_ref().or(entity.partition_key.as_ref());
        [partition_key, self.row_key.as_ref()].into_iter().flatten()
    }

    /// Returns `true` if the index or a key is incomplete, has errors, or belongs to a generic entity.
    pub(crate) fn is_broken(&self, entity: &Entity<'_>) -> bool {
        self.attr.broken
            || !entity.parameters.is_empty()
            || self.row_key.is_none()
            || self.keys(entity).any(|key| key.broken)
            || entity.partition_key.is_none()
            || entity.row_key.as_ref().is_none_or(|key| key.broken)
    }

    /// Returns `true` if the value of a field can be read from the key of an index row.
    pub(crate) fn can_decode(&self, entity: &Entity<'_>, field: usize) -> bool {
        self.keys(entity).any(|key| key.can_decode(field))
    }

    /// Returns the parts of the entity's key that the key of an index row does not determine, because it contains neither the same part nor a decodable form of
    /// the field. Two entities that differ only in these parts have the same index key.
    pub(crate) fn undetermined<'m>(&'m self, entity: &'m Entity<'_>) -> impl Iterator<Item = &'m Part> {
        let partition_key = self.partition_key.as_ref().and(entity.partition_key.as_ref());
        let parts = partition_key.into_iter().chain(&entity.row_key).flat_map(Key::parts);
        parts.filter(|part| {
            let Some(field) = entity.fields.get(part.field).filter(|_| !self.can_decode(entity, part.field))
            else {
                return false;
            };
            let ty = |codec: &Codec| codec.ty(field.ty, part.name.span()).to_string();
            let codec = ty(&part.codec);
            let is_same = |own: &Part| own.field == part.field && ty(&own.codec) == codec;
            let mut own = self.keys(entity).filter(|key| !key.unread).flat_map(Key::parts);
            !own.any(is_same)
        })
    }

    /// Returns `true` if a copy stores a field of the entity's key because the copy's own key does not contain it. If the field is also a property, the
    /// copy stores that property. Otherwise, it stores the text from the entity's key.
    pub(crate) fn stores_key_field(&self, entity: &Entity<'_>, field: usize) -> bool {
        entity.key_can_decode(field) && !self.can_decode(entity, field)
    }

    /// Returns `true` if a copy contains a stored field, either in its row or in its key. A copy always contains the fields of
    /// the entity's key, which are needed to find the entity. Only copies of the entire entity contain `rest` and
    /// `chunks` fields, because a projection has no column for them.
    pub(crate) fn has(&self, entity: &Entity<'_>, at: usize, field: &Field<'_>) -> bool {
        if field.attrs.rest.is_some() || field.property.as_ref().is_some_and(|property| property.chunks) {
            return self.is_whole();
        }
        let is_kept = match &self.attr.include {
            Some(keep) => keep.iter().any(|name| name == field.ident),
            None => self.is_whole(),
        };
        field.property.is_some() && (is_kept || self.can_decode(entity, at) || entity.key_needs(at))
    }

    /// Returns `true` if a copy includes the entire entity, which is the default.
    fn is_whole(&self) -> bool {
        self.attr.include.is_none() && !self.attr.list
    }

    /// Returns the fields that a copy or list entry stores: first the fields of the entity's key, then the included fields, and
    /// finally the field for the remaining properties.
    pub(crate) fn stored<'m, 'a>(&self, entity: &'m Entity<'a>) -> Vec<(usize, &'m Field<'a>, Stored)> {
        let fields = || entity.fields.iter().enumerate();
        let own = fields()
            .filter(|(at, field)| self.stores_key_field(entity, *at) && field.property.is_none())
            .map(|(at, field)| (at, field, Stored::KeyText(Property::of(field.ident, &field.attrs).name)));
        let kept =
            fields().filter(|(at, field)| self.has(entity, *at, field) && !self.can_decode(entity, *at));
        let (rest, kept): (Vec<_>, Vec<_>) = kept.partition(|(_, field)| field.attrs.rest.is_some());
        let kept = kept.into_iter().map(|(at, field)| (at, field, Stored::Property));
        own.chain(kept).chain(rest.into_iter().map(|(at, field)| (at, field, Stored::Rest))).collect()
    }

    /// Returns the name of the function that selects from the index, such as `by_email` for `ByEmail`.
    pub(crate) fn method(&self) -> String {
        snake_case(&self.attr.name.unraw().to_string())
    }

    /// Returns the name of the type that represents the index, such as `EmployeeByEmail`.
    pub(crate) fn marker(&self, entity: &Entity<'_>) -> Ident {
        let name = format!("{}{}", entity.original.ident.unraw(), self.attr.name.unraw());
        Ident::new(&name, self.attr.name.span())
    }
}

impl Entity<'_> {
    /// Returns the first of an index's function names that the entity or an earlier index with a different name already uses, or `None` if all are free.
    pub(crate) fn method_made_twice(&self, at: usize) -> Option<String> {
        let methods = |index: &Index| [index.method(), format!("{}_rows", index.method())];
        let index = self.indexes.get(at)?;
        let mut others: Vec<String> = MADE.iter().map(|&name| name.to_owned()).collect();
        let ranged = self.partition_key.iter().flat_map(Key::ranged);
        others.extend(ranged.map(|(_, part)| part.partitions_method("")));
        let earlier = self.indexes.iter().take(at).filter(|earlier| earlier.attr.name != index.attr.name);
        others.extend(earlier.flat_map(methods));
        methods(index).into_iter().find(|name| others.contains(name))
    }

    /// Returns a type name that an index generates, and the field whose type has the same name, or `None` if no field has such a type.
    pub(crate) fn type_made_twice(&self, index: &Index) -> Option<(String, &Ident)> {
        let marker = index.marker(self).to_string();
        let made = [format!("{marker}Rows"), marker];
        self.fields.iter().find_map(|field| Some((named_in(field.ty.to_token_stream(), &made)?, field.ident)))
    }

    /// Returns `true` if an earlier index has the same name.
    pub(crate) fn is_index_twice(&self, at: usize) -> bool {
        let name = |index: &Index| index.attr.name.clone();
        self.indexes
            .get(at)
            .is_some_and(|index| self.indexes.iter().take(at).any(|it| name(it) == name(index)))
    }
}

/// Names that index functions cannot have: names of functions that every entity has, and keywords.
const MADE: [&str; 10] = [
    "key",
    "rows",
    "partition",
    "partition_of",
    "all_partitions",
    "within",
    "scan",
    "self",
    "super",
    "crate",
];

/// Returns the first identifier in the tokens with one of the given names.
fn named_in(tokens: TokenStream, names: &[String]) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) => names.iter().find(|name| ident == name.as_str()).cloned(),
        TokenTree::Group(group) => named_in(group.stream(), names),
        TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

/// The stored form of a field in a copy.
pub(crate) enum Stored {
    /// The text from the entity's key, stored under this name.
    KeyText(String),
    /// The property, as stored in the entity's row.
    Property,
    /// All properties without a field.
    Rest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_are_snake_case() {
        for (name, method) in [
            ("ByEmail", "by_email"),
            ("EmailDirectory", "email_directory"),
            ("ByURLPath", "by_url_path"),
            ("By_Name", "by_name"),
            ("By2", "by2"),
            ("by_email", "by_email"),
        ] {
            assert_eq!(snake_case(name), method);
        }
    }
}
