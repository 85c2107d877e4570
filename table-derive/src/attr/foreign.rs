//! Attributes of other libraries, recognised only to suggest this library's attribute.

mod known;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Field, FieldsNamed, Ident, Meta};

use crate::attr::foreign::known::FOREIGN;
use crate::casing::pascal_case;
use crate::codec;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::symbol::{ENTITY, FOREIGN_KEYS, PARTITION_KEY, ROW_KEY, Symbol};

/// Attributes of fields that declare a key without specifying which of the two.
const BOTH: [&str; 3] = ["key", "Key", "primary_key"];

/// Attributes of other libraries that declare a key, each with the key attributes to suggest.
const KEYS: &[(&str, &[Symbol])] = &[
    ("key", &[PARTITION_KEY, ROW_KEY]),
    ("Key", &[PARTITION_KEY, ROW_KEY]),
    ("primary_key", &[PARTITION_KEY, ROW_KEY]),
    ("PartitionKey", &[PARTITION_KEY]),
    ("RowKey", &[ROW_KEY]),
    ("hash_key", &[PARTITION_KEY]),
    ("range_key", &[ROW_KEY]),
    ("sort_key", &[ROW_KEY]),
];

/// The fields with an attribute that declares a key without specifying which of the two, such as `#[key]`.
#[derive(Default)]
pub(crate) struct Keyed {
    fields: Vec<String>,
    /// `true` if the struct declares its PartitionKey.
    has_partition_key: bool,
    /// `true` if the struct declares its RowKey.
    has_row_key: bool,
}

impl Keyed {
    pub(crate) fn of(attributes: &[Attribute], fields: &FieldsNamed) -> Self {
        let is_keyed = |field: &&Field| {
            field.attrs.iter().any(|attr| BOTH.iter().any(|word| attr.path().is_ident(word)))
        };
        let names = fields.named.iter().filter(is_keyed).filter_map(|field| field.ident.as_ref());
        Self {
            fields: names.map(|name| name.unraw().to_string()).collect(),
            has_partition_key: attributes.iter().any(|attr| attr.path() == &PARTITION_KEY),
            has_row_key: attributes.iter().any(|attr| attr.path() == &ROW_KEY),
        }
    }

    /// For the first of these fields, returns a help text with the keys that all of them declare; for the other fields, an empty string.
    fn keys_at(&self, field: &str) -> Option<String> {
        let (first, rest) = self.fields.split_first()?;
        let row = |fields: &[String]| format!("#[row_key({})]", fields.join(", \"_\", "));
        if self.has_partition_key && self.has_row_key {
            return Some("remove the attribute: both keys are declared above the struct".to_owned());
        }
        let keys = if self.has_partition_key {
            row(&self.fields)
        } else if rest.is_empty() {
            return None;
        } else {
            format!("#[partition_key({first})] {}", row(rest))
        };
        Some(if first == field { format!("write `{keys}` above the struct") } else { String::new() })
    }
}

/// Reports an attribute of another library. The help contains the field after the attribute. `#[key]` on several fields is reported as one mistake.
pub(super) fn refuse(ctxt: &Ctxt, attr: &Attribute, field: Option<&Ident>, keyed: &Keyed) {
    let Some(word) = attr.path().get_ident() else { return };
    let Some((_, help)) = FOREIGN.iter().find(|(names, _)| names.iter().any(|name| word == name)) else {
        return;
    };
    let keys = field.filter(|_| BOTH.iter().any(|both| word == both));
    let help = match keys.and_then(|field| keyed.keys_at(&field.unraw().to_string())) {
        Some(keys) if keys.is_empty() => return,
        Some(keys) => keys,
        None => grammar::with_arguments(&for_field(help, field), word, &arguments(attr)),
    };
    ctxt.error("T009", attr, format!("`{word}` is not an attribute of entities"), help);
}

/// Returns the names of all attributes of other libraries.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FOREIGN.iter().flat_map(|(names, _)| *names).copied()
}

/// Returns the tokens after the name of an attribute.
fn arguments(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(pair) => pair.value.to_token_stream(),
    }
}

/// Fills a field into the placeholders of a help: `{email}` becomes its name, `{Email}` its name in Pascal case.
pub(super) fn for_field(help: &str, field: Option<&Ident>) -> String {
    let field = field.map(|field| field.unraw().to_string());
    let pascal = field.as_deref().map_or_else(|| "Email".to_owned(), pascal_case);
    codec::filled(&help.replace("{Email}", &pascal), field.as_deref())
}

/// Returns `true` if an attribute declares a key, in this library or in another library.
pub(crate) fn names_key(attr: &Attribute, key: Symbol) -> bool {
    let is_foreign = |(name, keys): &(&str, &[Symbol])| attr.path().is_ident(name) && keys.contains(&key);
    *attr.path() == key || KEYS.iter().any(is_foreign) || *attr.path() == ENTITY && holds_key(attr, key)
}

/// Returns `true` if `#[entity(…)]` contains a word for a key. The word is reported there.
fn holds_key(attr: &Attribute, key: Symbol) -> bool {
    arguments(attr).into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == key || FOREIGN_KEYS.iter().any(|foreign| word == foreign),
        _ => false,
    })
}
