//! The keys of a declaration as written, before any name is resolved. Messages about attributes use them to show complete keys of the declared fields.

mod marks;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, DeriveInput, Field, FieldsNamed, Ident, LitStr};

use crate::attr::foreign_keys::{key_of_library, table_of_library};
use crate::attr::keyed::marks::Mark;
use crate::casing::{self, pascal_case, snake_case};
use crate::codec;
use crate::grammar;
use crate::samples;
use crate::symbol::{ENTITY, PARTITION_KEY, ROW_KEY, Symbol};

/// The fields of a struct, and the attributes that declare its keys.
#[derive(Default)]
pub(crate) struct Keyed<'a> {
    /// The name of the struct.
    owner: Option<&'a Ident>,
    /// All attributes of the struct.
    attributes: &'a [Attribute],
    /// All fields of the struct.
    all: Option<&'a FieldsNamed>,
    /// The attributes of fields that declare a key, in order.
    marks: Vec<Mark<'a>>,
}

impl<'a> Keyed<'a> {
    pub(crate) fn of(input: &'a DeriveInput, fields: &'a FieldsNamed) -> Self {
        let marks =
            fields.named.iter().flat_map(|field| field.attrs.iter().filter_map(|it| Mark::of(it, field)));
        let mut keyed = Self {
            owner: Some(&input.ident),
            attributes: &input.attrs,
            all: Some(fields),
            marks: marks.collect(),
        };
        // A struct with both keys may also derive another library's traits.
        if !keyed.marks.is_empty() && keyed.has_both_keys() {
            keyed.marks.retain(|mark| key_of_library(mark.attr).is_none());
        }
        keyed
    }

    /// Returns the attribute of the struct that declares a key.
    fn declared(&self, key: Symbol) -> Option<&'a Attribute> {
        self.attributes.iter().find(|attr| attr.path() == &key)
    }

    /// Returns `true` if the struct has the attributes of both keys.
    pub(crate) fn has_both_keys(&self) -> bool {
        [PARTITION_KEY, ROW_KEY].into_iter().all(|key| self.declared(key).is_some())
    }

    /// Returns the identifier of the first field named in the tokens.
    pub(crate) fn ident_in(&self, tokens: TokenStream) -> Option<Ident> {
        self.fields_in(tokens).first().and_then(|name| self.field(name))?.ident.clone()
    }

    /// Returns the fields in the attribute of a key, in order.
    pub(crate) fn fields_of(&self, key: Symbol) -> Vec<String> {
        self.declared(key).map(|attr| self.fields_in(grammar::arguments(attr))).unwrap_or_default()
    }

    /// Returns the fields named in the tokens, as identifiers or in quotes, in order. Each field occurs once.
    pub(crate) fn fields_in(&self, tokens: TokenStream) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for token in tokens {
            let names = match token {
                TokenTree::Ident(name) => vec![name.unraw().to_string()],
                TokenTree::Literal(text) => samples::name_in(&text.to_string()).into_iter().collect(),
                TokenTree::Group(group) => self.fields_in(group.stream()),
                TokenTree::Punct(_) => Vec::new(),
            };
            let new: Vec<String> = names
                .into_iter()
                .filter_map(|name| self.meant(&name))
                .filter(|name| !found.contains(name))
                .collect();
            found.extend(new);
        }
        found
    }

    /// Returns the name of the field with this name, or with the same name in the casing of another language, such as `CustomerId`.
    fn meant(&self, name: &str) -> Option<String> {
        let snake = snake_case(name);
        [name, &snake].into_iter().find(|name| self.field(name).is_some()).map(str::to_owned)
    }

    /// Returns the name of the struct.
    pub(crate) fn owner(&self) -> Option<&'a Ident> {
        self.owner
    }

    /// Returns the field with this name.
    pub(crate) fn field(&self, name: &str) -> Option<&'a Field> {
        self.all?.named.iter().find(|field| field.ident.as_ref().is_some_and(|ident| ident.unraw() == name))
    }

    /// Returns the fields of the struct.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'a Field> {
        self.all.into_iter().flat_map(|all| &all.named)
    }

    /// Returns `true` if a key contains literals or codecs, and not only fields.
    pub(crate) fn are_pieces(&self, attr: &Attribute) -> bool {
        let mut tokens = grammar::arguments(attr).into_iter();
        tokens.any(|token| match token {
            TokenTree::Group(_) => true,
            TokenTree::Literal(text) => {
                samples::name_in(&text.to_string()).is_none_or(|name| self.field(&name).is_none())
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => false,
        })
    }

    /// Returns the help text for a rule that would rename all properties. It names the properties of this struct that the rule renames.
    pub(crate) fn renamed(&self, rule: Option<&str>) -> String {
        let of_key = [self.fields_of(PARTITION_KEY), self.fields_of(ROW_KEY)].concat();
        let names = self.fields().filter_map(|field| Some(field.ident.as_ref()?.unraw().to_string()));
        let mut renamed = names.filter(|name| !of_key.contains(name)).filter_map(|name| {
            let own = pascal_case(&name);
            let other = casing::field_by_rule(rule?, &name).filter(|other| *other != own)?;
            Some(format!("`#[property({other:?})]` above `{name}`"))
        });
        match renamed.next() {
            Some(first) => {
                let all: Vec<String> = std::iter::once(first).chain(renamed).collect();
                format!(
                    "remove it: properties are named in Pascal case; for other names write {}",
                    all.join(", ")
                )
            }
            None => "remove it: properties are named in Pascal case, `first_name` as `FirstName`".to_owned(),
        }
    }

    /// Returns fields as the pieces of a key, with separators between them: `escaped(name), "!", id`.
    pub(crate) fn joined(&self, names: &[String]) -> String {
        let Some((last, before)) = names.split_last() else { return String::new() };
        before.iter().map(|name| self.followed(name) + ", ").chain([last.clone()]).collect()
    }

    /// Returns a field as a key piece, with a separator that its encoding cannot contain.
    fn followed(&self, name: &str) -> String {
        let field = self.field(name);
        let own =
            field.and_then(|field| field.attrs.iter().find_map(|attr| Some((attr, codec::word_of(attr)?))));
        let is_text = match own {
            Some((_, word)) if word.name == "escaped" => return format!("{name}, \"!\""),
            Some((attr, word)) if word.name == "without" => {
                let end = grammar::arguments(attr).to_string();
                return format!("{name}, \"{}\"", end.trim_matches('\''));
            }
            Some((_, word)) => word.output == codec::Output::Text || matches!(word.name, "bars" | "base64"),
            None => field.is_some_and(|field| {
                matches!(grammar::type_text(&field.ty).as_str(), "String" | "Option<String>")
            }),
        };
        if is_text { format!("escaped({name}), \"!\"") } else { format!("{name}, \"_\"") }
    }

    /// Returns the attributes that declare the keys still missing, with these fields, and the table that another library's attribute names.
    fn keys(&self, partition: &[String], row: Option<String>) -> String {
        let is_named = |attr: &&Attribute| {
            attr.path() == &ENTITY
                && grammar::names(grammar::arguments(attr)).iter().any(|word| word == "table")
        };
        let table = match self.attributes.iter().find(is_named) {
            Some(_) => None,
            None => self.attributes.iter().find_map(table_of_library),
        };
        let table = table.map(|(_, name)| format!("#[entity(table = {name:?})]"));
        let levels = (!partition.is_empty()).then(|| format!("#[{PARTITION_KEY}({})]", partition.join(", ")));
        let row = row.map(|row| format!("#[{ROW_KEY}({row})]"));
        table.into_iter().chain(levels).chain(row).collect::<Vec<_>>().join(" ")
    }

    /// Returns a help text that shows the missing keys with these fields, or `None` if both keys are missing and only one field is given.
    pub(crate) fn keys_of(&self, fields: &[String]) -> Option<String> {
        let fields: Vec<String> =
            fields.iter().map(|name| self.meant(name).unwrap_or_else(|| name.clone())).collect();
        let (first, rest) = fields.split_first()?;
        let keys = match (self.declared(PARTITION_KEY).is_some(), self.declared(ROW_KEY).is_some()) {
            (true, true) => {
                return Some("remove the attribute: both keys are declared above the struct".to_owned());
            }
            (true, false) => self.keys(&[], Some(self.joined(&fields))),
            (false, true) => self.keys(&fields, None),
            (false, false) if rest.is_empty() => return None,
            (false, false) => self.keys(std::slice::from_ref(first), Some(self.joined(rest))),
        };
        Some(format!("write `{keys}` above the struct"))
    }

    /// Returns `true` if the `RowKey` is constant, so each partition has one entity, or is not declared above the struct.
    pub(crate) fn is_alone(&self) -> bool {
        self.all.is_some() && self.fields_of(ROW_KEY).is_empty()
    }

    /// Returns the attribute that declares the `RowKey` with a literal at its start, which tells entities from the rows of an index in their partition. Returns
    /// `None` if the `RowKey` starts with a literal, or is not declared.
    pub(crate) fn row_key_with_literal(&self) -> Option<(String, String)> {
        let attr =
            self.declared(ROW_KEY).filter(|_| self.literal_of_row().is_none_or(|text| text.is_empty()))?;
        let pieces = grammar::source(&grammar::arguments(attr));
        let text = match self.fields_of(ROW_KEY).first() {
            Some(first) => format!("\"{first}_\", {pieces}"),
            None => "\"entity\"".to_owned(),
        };
        Some((format!("#[{ROW_KEY}({text})]"), format!("#[{ROW_KEY}({pieces})]")))
    }

    /// Returns the literal at the start of the `RowKey`.
    pub(crate) fn literal_of_row(&self) -> Option<String> {
        let first = grammar::arguments(self.declared(ROW_KEY)?).into_iter().next()?;
        syn::parse2::<LitStr>(first.into_token_stream()).ok().map(|text| text.value())
    }
}
