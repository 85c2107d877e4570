//! The model of a declaration: an entity with its keys, properties and indexes. Each node keeps its source tokens.

mod constant;
pub(crate) mod generics;
pub(crate) mod group;
pub(crate) mod index;
pub(crate) mod key;
pub(crate) mod key_part;
pub(crate) mod kind_of_type;
pub(crate) mod large;
pub(crate) mod level;
mod literal;
pub(crate) mod projection;
pub(crate) mod property;
pub(crate) mod set;
mod shape;
pub(crate) mod wide;

use std::ops::Range;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    DeriveInput, FieldsNamed, GenericArgument, Ident, LitStr, Path, PathArguments, Type, TypeGroup,
    TypeParen, Visibility,
};

use crate::attr::allow::Allows;
use crate::attr::container::{self, ContainerAttrs};
use crate::attr::field::{self, FieldAttrs};
use crate::attr::foreign;
use crate::attr::index::IndexAttr;
use crate::attr::keyed::Keyed;
use crate::attr::piece::{PieceAttr, PieceList};
use crate::ctxt::Ctxt;
use crate::model::generics::{Declared, Parameters};
use crate::model::index::Index;
use crate::model::key::Key;
use crate::model::property::Property;
use crate::runtime::find_patterns;
use crate::symbol::{self, AMBIGUOUS_PARTITION_KEY, AMBIGUOUS_ROW_KEY};

/// The declaration of an entity.
pub(crate) struct Entity<'a> {
    /// The struct as declared.
    pub(crate) original: &'a DeriveInput,
    /// The generic parameters of the struct.
    pub(crate) parameters: Parameters,
    /// The path of the runtime crate.
    pub(crate) runtime: Path,
    /// The name of the struct.
    pub(crate) name: String,
    /// The name of the table, with its span.
    pub(crate) table: (String, Span),
    /// The lints waived by the declaration.
    pub(crate) allows: Allows,
    /// The word `feed`, or `None` if it is absent. The word gives each partition a feed that records every change.
    pub(crate) feed: Option<Ident>,
    /// The relations through which other entities store copies of this entity.
    pub(crate) copied_by: Vec<Path>,
    /// The relations through which this entity stores copies of other entities.
    pub(crate) copies_from: Vec<Path>,
    /// The set of all entity types in the table, if declared.
    pub(crate) set: Option<Path>,
    /// The name of the stored schema, or `None` if it is the name of the struct.
    pub(crate) schema_name: Option<LitStr>,
    /// The value of `EntityType`, or `None` if the property is not stored.
    pub(crate) kind: Option<LitStr>,
    /// The fields, in declaration order.
    pub(crate) fields: Vec<Field<'a>>,
    /// The `PartitionKey`, or `None` if it is not declared.
    pub(crate) partition_key: Option<Key>,
    /// The `RowKey`, or `None` if it is not declared.
    pub(crate) row_key: Option<Key>,
    /// The indexes, in declaration order.
    pub(crate) indexes: Vec<Index>,
    /// All field names in attributes, including names of unknown fields.
    pub(crate) named: Vec<Ident>,
}

/// A field of an entity.
pub(crate) struct Field<'a> {
    /// The field as declared.
    pub(crate) original: &'a syn::Field,
    /// The name of the field.
    pub(crate) ident: &'a Ident,
    /// The type of the field.
    pub(crate) ty: &'a Type,
    /// The span of the type. It is cached here, because computing it requires printing the type, which is slow in an unoptimised macro.
    pub(crate) span: Span,
    /// The visibility of the field.
    pub(crate) vis: &'a Visibility,
    /// The parsed attributes of the field.
    pub(crate) attrs: FieldAttrs,
    /// The property that stores the field, or `None` if the field is stored only in the key or collects the remaining properties.
    pub(crate) property: Option<Property>,
}

impl<'a> Entity<'a> {
    /// Returns `true` if a field's type is written as `DateTime<Utc>`. Type aliases are left to the compiler.
    pub(crate) fn is_instant(&self, at: usize) -> bool {
        let Some(Type::Path(path)) = self.fields.get(at).map(|field| field.ty) else { return false };
        let Some(last) = path.path.segments.last().filter(|last| last.ident == "DateTime") else {
            return false;
        };
        let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
        let is_utc = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(Type::Path(zone)) if zone.path.segments.last().is_some_and(|last| last.ident == "Utc"));
        arguments.args.iter().any(is_utc)
    }

    /// Reads a declaration. Reports the reason and returns `None` if it cannot be an entity.
    pub(crate) fn read(ctxt: &Ctxt, input: &'a DeriveInput, runtime: impl FnOnce() -> Path) -> Option<Self> {
        let declared = kind_of_type::named_fields(ctxt, input)?;
        let keyed = Keyed::of(input, declared);
        let ContainerAttrs {
            table,
            schema_name,
            kind,
            runtime: declared_runtime,
            allows,
            feed,
            copied_by,
            copies_from,
            set,
            mut partition_key,
            mut row_key,
            mut indexes,
        } = container::parse(ctxt, input, &keyed);
        let mut fields = fields(ctxt, declared, &keyed);
        let parameters = Parameters::read(ctxt, &input.generics, declared)?;
        literal::check(ctxt, &fields, &mut partition_key, &mut row_key, &mut indexes);
        let lists = [&partition_key, &row_key].into_iter().flatten().map(|key| &key.list);
        let named = names_in(lists, &indexes);
        let mut read_key = |attr: &container::KeyAttr| Key::read(ctxt, &fields, &attr.original, &attr.list);
        let unread = |key: Key, word| Key { unread: allows.get(word).is_some(), ..key };
        let partition_key = partition_key.as_ref().map(&mut read_key).map(Key::into_levels);
        let partition_key = partition_key.map(|key| unread(key, AMBIGUOUS_PARTITION_KEY));
        let row_key = row_key.as_ref().map(&mut read_key).map(|key| unread(key, AMBIGUOUS_ROW_KEY));
        let indexes = indexes.into_iter().map(|attr| Index::read(ctxt, &fields, attr)).collect();
        for (at, field) in fields.iter_mut().enumerate() {
            let in_key = [&partition_key, &row_key].into_iter().flatten().any(|key| key.can_decode(at));
            let is_property = (!in_key || field.attrs.also.is_some()) && field.attrs.rest.is_none();
            field.property = is_property.then(|| Property::of(field.ident, &field.attrs));
        }
        let table = match table {
            Some(name) => (name.value(), name.span()),
            None => (input.ident.unraw().to_string(), input.ident.span()),
        };
        // Only `table-patterns` contains the relation items.
        let has_relations = !copied_by.is_empty() || !copies_from.is_empty();
        let find = || if has_relations { find_patterns() } else { runtime() };
        let runtime = declared_runtime.unwrap_or_else(find);
        Some(Self {
            original: input,
            name: input.ident.unraw().to_string(),
            parameters,
            runtime,
            table,
            schema_name,
            kind,
            allows,
            feed,
            copied_by,
            copies_from,
            set,
            fields,
            partition_key,
            row_key,
            indexes,
            named,
        })
    }

    /// Returns the declaration in place of a struct attribute of serde.
    pub(crate) fn in_place_of(&self, word: &str, text: Option<&str>) -> Option<String> {
        let named = kind_of_type::fields(self.original)?;
        match word {
            "rename_all" => Some(Keyed::of(self.original, named).renamed(text)),
            "tag" => Some(format!(
                "remove it; write `#[entity(kind = {:?})]` to store the name of the type",
                self.name
            )),
            _ => None,
        }
    }

    /// Returns `true` if the entity is part of a copy relation.
    pub(crate) fn has_copies(&self) -> bool {
        !self.copied_by.is_empty() || !self.copies_from.is_empty()
    }

    /// Returns the entity's type, such as `Employee` or `Event<T>`.
    pub(crate) fn ty(&self) -> Declared<'_> {
        Declared { ident: &self.original.ident, arguments: self.parameters.of_type() }
    }

    /// Returns `true` if the value of a field can be read from the entity's key.
    pub(crate) fn key_can_decode(&self, field: usize) -> bool {
        [&self.partition_key, &self.row_key].into_iter().flatten().any(|key| key.can_decode(field))
    }

    /// Returns `true` if the entity's key depends on a field, even if only through a bucket or a hash.
    pub(crate) fn key_needs(&self, field: usize) -> bool {
        let keys = [&self.partition_key, &self.row_key].into_iter().flatten();
        keys.flat_map(Key::parts).any(|part| part.field == field)
    }

    /// Returns `true` if an index includes a field in its copies or may depend on it. The function in `when` may read any field.
    pub(crate) fn is_indexed(&self, at: usize) -> bool {
        let is_in_key = |index: &Index| index.keys(self).any(|key| key.parts().any(|part| part.field == at));
        let is_kept = |index: &Index| self.fields.get(at).is_some_and(|field| index.has(self, at, field));
        self.indexes.iter().any(|index| index.attr.when.is_some() || is_in_key(index) || is_kept(index))
    }

    /// Returns the field that collects the remaining properties, if any.
    pub(crate) fn rest(&self) -> Option<&Field<'a>> {
        self.fields.iter().find(|field| field.attrs.rest.is_some())
    }

    /// Returns `true` if at least one key is not decoded. The fields of such a key are stored as properties.
    pub(crate) fn has_unread_key(&self) -> bool {
        [&self.partition_key, &self.row_key].into_iter().flatten().any(|key| key.unread)
    }

    /// Returns the schema index of the property that stores a field.
    pub(crate) fn place(&self, field: usize) -> usize {
        self.properties_before(field).count()
    }

    /// Returns the schema indexes of a field's chunks, except the first. These chunks follow all other properties.
    pub(crate) fn places_of_more_chunks(&self, field: usize) -> Range<usize> {
        let count = |property: &Property| property.more_chunks().count();
        let before: usize = self.properties_before(field).map(count).sum();
        let own = self.fields.get(field).and_then(|field| field.property.as_ref()).map_or(0, count);
        let start = self.properties().count() + before;
        start..start + own
    }

    fn properties_before(&self, field: usize) -> impl Iterator<Item = &Property> {
        self.fields.iter().take(field).filter_map(|field| field.property.as_ref())
    }

    /// Returns the fields stored as properties, in declaration order.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&Field<'a>, &Property)> {
        self.fields.iter().filter_map(|field| Some((field, field.property.as_ref()?)))
    }
}

/// Returns the names that refer to fields in keys and `include` lists.
fn names_in<'l>(lists: impl Iterator<Item = &'l PieceList>, indexes: &'l [IndexAttr]) -> Vec<Ident> {
    let of_indexes = indexes.iter().flat_map(|index| [&index.partition_key, &index.row_key]).flatten();
    let pieces = lists.chain(of_indexes).flat_map(|list| &list.pieces);
    let of_keys = pieces.flat_map(|piece| match piece {
        PieceAttr::Part { field, .. } => std::slice::from_ref(field),
        PieceAttr::Wrong(names) => names,
        PieceAttr::Literal(_) | PieceAttr::Meant(_) => &[],
    });
    of_keys.chain(indexes.iter().filter_map(|index| index.include.as_ref()).flatten()).cloned().collect()
}

fn fields<'a>(ctxt: &Ctxt, named: &'a FieldsNamed, keyed: &Keyed<'_>) -> Vec<Field<'a>> {
    let fields = named.named.iter().filter_map(|original| {
        let ident = original.ident.as_ref()?;
        let attrs = field::parse(ctxt, original, keyed);
        let (ty, span) = (ungrouped(&original.ty), original.ty.span());
        Some(Field { original, ident, ty, span, vis: &original.vis, attrs, property: None })
    });
    fields.collect()
}

/// Removes parentheses, and the invisible groups around types that a macro has forwarded.
pub(crate) fn ungrouped(mut ty: &Type) -> &Type {
    while let Type::Group(TypeGroup { elem, .. }) | Type::Paren(TypeParen { elem, .. }) = ty {
        ty = elem;
    }
    ty
}

/// Returns the index of the field with the given name. Reports a name that does not exist. `before` is the preceding field of the key.
pub(crate) fn resolve(
    ctxt: &Ctxt,
    fields: &[Field<'_>],
    name: &Ident,
    before: Option<&Ident>,
) -> Option<usize> {
    let found = fields.iter().position(|field| field.ident == name);
    if found.is_none() {
        let names: Vec<String> = fields.iter().map(|field| field.ident.to_string()).collect();
        let help = foreign::help_of_piece(name, before)
            .unwrap_or_else(|| symbol::known(&name.to_string(), names.iter().map(String::as_str)));
        ctxt.error("T005", name, format!("the struct does not have a field `{name}`"), help);
    }
    found
}

/// Returns the index of the field whose name is most similar, or `None` if no name is similar enough.
pub(crate) fn nearest(fields: &[Field<'_>], name: &Ident) -> Option<usize> {
    let names: Vec<String> = fields.iter().map(|field| field.ident.to_string()).collect();
    let near = symbol::nearest(&name.to_string(), names.iter().map(String::as_str))?;
    names.iter().position(|name| name == near)
}
