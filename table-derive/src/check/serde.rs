//! Checks serde attributes, which do not change how an entity is stored.
//!
//! A struct may also be serialised with serde. These attributes are therefore allowed on a field with `#[property(…)]`, whose author has considered
//! the stored form.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Token, token};

use crate::ctxt::Ctxt;
use crate::model::{Entity, Field};
use crate::symbol::PROPERTY;

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    for field in &entity.fields {
        let Some(property) = &field.property else { continue };
        let attributes = &field.original.attrs;
        if attributes.iter().any(|attribute| attribute.path() == &PROPERTY) {
            continue;
        }
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            if let Some(word) = word(attribute) {
                let wrong = format!(
                    "`serde({word})` does not change how `{}` is stored: as the property `{}`",
                    field.ident, property.name
                );
                ctxt.error("T015", attribute, wrong, help(&word, field, &property.name));
            }
        }
    }
}

/// Returns the first word of a serde attribute that would change the stored value.
fn word(attribute: &Attribute) -> Option<String> {
    const WORDS: [&str; 8] = [
        "skip",
        "skip_serializing",
        "skip_deserializing",
        "flatten",
        "rename",
        "with",
        "serialize_with",
        "deserialize_with",
    ];
    let mut found = None;
    let read = |meta: ParseNestedMeta<'_>| {
        found = found.take().or_else(|| WORDS.iter().find(|word| meta.path.is_ident(word)));
        if meta.input.peek(Token![=]) {
            meta.value()?.parse::<syn::Expr>()?;
        } else if meta.input.peek(token::Paren) {
            meta.parse_nested_meta(|meta| meta.value()?.parse::<syn::Expr>().map(|_| ()))?;
        }
        Ok(())
    };
    // Serde itself reports errors in its attributes.
    let _ = attribute.parse_nested_meta(read);
    found.map(|word| (*word).to_owned())
}

fn help(word: &str, field: &Field<'_>, name: &str) -> String {
    let stay = format!("if that is meant, write `#[property({name:?})]` above it");
    match word {
        "rename" => format!("name the property with `#[property(\"…\")]`; {stay}"),
        "flatten" => {
            format!("declare the fields of `{}` here, or store it as JSON: `#[property(json)]`", field.ident)
        }
        "with" | "serialize_with" | "deserialize_with" => {
            format!("store it as JSON, which serde writes: `#[property(json)]`; {stay}")
        }
        _ => format!("move the field to another struct, because an entity stores all of its fields; {stay}"),
    }
}
