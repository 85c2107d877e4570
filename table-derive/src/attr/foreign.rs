//! Attributes of other libraries. They are recognised only to suggest the right attribute.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Meta};

use crate::casing::pascal_case;
use crate::codec;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::symbol::{ENTITY, FOREIGN_KEYS, PARTITION_KEY, ROW_KEY, Symbol};

/// Each attribute, with the help that is shown for it. The braces contain a sample, which is replaced by the field below the attribute.
const FOREIGN: &[(&str, &str)] = &[
    ("table", "name the table above the struct: `#[entity(table = \"Company\")]`"),
    ("table_name", "name the table above the struct: `#[entity(table = \"Company\")]`"),
    ("kind", "name the kind above the struct: `#[entity(kind = \"Employee\")]`"),
    ("feed", "enable the feed above the struct: `#[entity(feed)]`"),
    (
        "key",
        "write both keys above the struct: `#[partition_key({department})]`, and `#[row_key(…)]` with the field that identifies an entity in its partition",
    ),
    (
        "primary_key",
        "write both keys above the struct: `#[partition_key({department})]`, and `#[row_key(…)]` with the field that identifies an entity in its partition",
    ),
    ("hash_key", "the hash key is the partition key, above the struct: `#[partition_key({department})]`"),
    ("range_key", "the range key is the row key, above the struct: `#[row_key({id})]`"),
    ("sort_key", "the sort key is the row key, above the struct: `#[row_key({id})]`"),
    (
        "unique",
        "declare an index above the struct: `#[index(By{Email}, unique, row_key(\"{email}_\", {email}))]`",
    ),
    ("column", "name the property: `#[property(\"Name\")]`"),
    ("rename", "name the property: `#[property(\"Name\")]`"),
    ("ignore", "an entity stores all of its fields; to read only some of them, use `#[derive(Projection)]`"),
    ("json", "write `#[property(json)]`"),
    ("desc", "write it in the key, around the field: `#[row_key(desc({at}))]`"),
    ("bucket", "write it in the key, around the field: `#[partition_key(bucket({user}, 16))]`"),
    ("hash", "write it in the key, around the field: `#[partition_key(hash(sha256, 64, {user}))]`"),
    ("truncate", "write it in the key, around the field: `#[row_key(truncate(hour({at})))]`"),
    ("folded", "write it in the key, around the field: `#[row_key(folded(lower, {email}))]`"),
    ("replaced", "write it in the key, around the field: `#[row_key(replaced('/', '_', {path}))]`"),
    ("first", "write it in the key, around the field: `#[row_key(first(3, {name}))]`"),
    (
        "inverted",
        "write it in the key, around the field: `#[row_key(inverted(9223372036854775807, unix(millis, {at})))]`",
    ),
    ("literal", "a literal is part of the key itself: `#[row_key(\"empid_\", id)]`"),
    ("codec", "write it in the key, around the field: `#[row_key(codec(path::To, {field}))]`"),
];

/// Attributes that declare a key in other libraries, each with the corresponding keys.
const KEYS: &[(&str, &[Symbol])] = &[
    ("key", &[PARTITION_KEY, ROW_KEY]),
    ("primary_key", &[PARTITION_KEY, ROW_KEY]),
    ("hash_key", &[PARTITION_KEY]),
    ("range_key", &[ROW_KEY]),
    ("sort_key", &[ROW_KEY]),
];

/// Reports an attribute of another library. The help contains the field below the attribute.
pub(super) fn refuse(ctxt: &Ctxt, attr: &Attribute, field: Option<&Ident>) {
    let Some(word) = attr.path().get_ident() else { return };
    if let Some((name, help)) = FOREIGN.iter().find(|(name, _)| word == name) {
        let help = grammar::with_arguments(&for_field(help, field), word, &arguments(attr));
        ctxt.error("T009", attr, format!("`{name}` is not an attribute of entities"), help);
    }
}

/// Returns the tokens after the name of an attribute.
fn arguments(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(pair) => pair.value.to_token_stream(),
    }
}

/// Fills the samples of a help with a field: `{email}` with its name, `{Email}` with its name in Pascal case.
pub(super) fn for_field(help: &str, field: Option<&Ident>) -> String {
    let field = field.map(|field| field.unraw().to_string());
    let pascal = field.as_deref().map_or_else(|| "Email".to_owned(), pascal_case);
    codec::filled(&help.replace("{Email}", &pascal), field.as_deref())
}

/// Returns `true` if an attribute declares a key, in this library or in another one.
pub(crate) fn names_key(attr: &Attribute, key: Symbol) -> bool {
    let is_foreign = |(name, keys): &(&str, &[Symbol])| attr.path().is_ident(name) && keys.contains(&key);
    *attr.path() == key || KEYS.iter().any(is_foreign) || *attr.path() == ENTITY && holds_key(attr, key)
}

/// Returns `true` if `#[entity(…)]` contains a word for a key, which is reported there.
fn holds_key(attr: &Attribute, key: Symbol) -> bool {
    arguments(attr).into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == key || FOREIGN_KEYS.iter().any(|foreign| word == foreign),
        _ => false,
    })
}
