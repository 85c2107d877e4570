//! Reports attributes of serde and other libraries that suggest a different stored form. They do not change how an entity is stored.
//!
//! A struct may also be serialised with serde or stored with another library, so these attributes are allowed on a field with `#[property(…)]`, where the
//! stored form is declared explicitly, and on a struct that names its table.

use syn::Attribute;
use syn::ext::IdentExt;

use crate::attr::foreign::LIBRARIES;
use crate::attr::settings::{self, Setting};
use crate::casing::pascal_case;
use crate::ctxt::Ctxt;
use crate::model::{Entity, Field};
use crate::symbol::{ENTITY, PROPERTY};

/// The settings that, in their own libraries, change the stored value of a field, each with its effect.
const OF_FIELDS: &[(&[&str], Effect)] = &[
    (&["skip", "skip_serializing", "skip_deserializing", "ignore"], Effect::Skips),
    (&["flatten", "embed"], Effect::Flattens),
    (&["rename", "column_name", "alias"], Effect::Renames),
    (
        &["with", "serialize_with", "deserialize_with", "serialize_as", "deserialize_as", "json"],
        Effect::Converts,
    ),
    (&["default"], Effect::Defaults),
];
/// The settings that contain a table name.
const OF_TABLES: [&str; 3] = ["table_name", "table", "collection"];

/// The effect of a setting in its own library.
#[derive(Clone, Copy)]
enum Effect {
    Skips,
    Flattens,
    Renames,
    Converts,
    Defaults,
}

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    for field in &entity.fields {
        let attributes = &field.original.attrs;
        if attributes.iter().any(|attribute| attribute.path() == &PROPERTY) {
            continue;
        }
        let elsewhere = attributes.iter().filter_map(|attribute| Some((attribute, library(attribute)?)));
        for (attribute, library) in elsewhere {
            check_field(ctxt, field, attribute, library);
        }
    }
    table(ctxt, entity);
}

/// Returns the name of an attribute's library, or `None` if the library is unknown.
fn library(attribute: &Attribute) -> Option<&'static str> {
    let name = attribute.path().get_ident()?.to_string();
    ["serde"].into_iter().chain(LIBRARIES).find(|library| name == *library)
}

fn check_field(ctxt: &Ctxt, field: &Field<'_>, attribute: &Attribute, library: &str) {
    let settings = settings::of(attribute);
    let found = OF_FIELDS.iter().find_map(|(words, effect)| {
        let is_meant = |setting: &&Setting| words.contains(&setting.word.as_str());
        Some((settings.iter().find(is_meant)?, *effect))
    });
    let Some((setting, effect)) = found else { return };
    let (ident, word) = (field.ident.unraw(), &setting.word);
    // A key contains the field's value but not its name.
    let Some(property) = &field.property else { return };
    if matches!(effect, Effect::Defaults) && is_optional(field) {
        return;
    }
    let name = &property.name;
    let stay = format!("if that is meant, write `#[property({name:?})]` above it");
    let help = match effect {
        Effect::Renames => {
            let text = setting.text().filter(|text| syn::parse_str::<syn::Ident>(text).is_ok());
            let text = text.unwrap_or_else(|| name.clone());
            format!(
                "write `#[property({text:?})]` above `{ident}` to store it under this name, or `#[property({name:?})]` to keep `{name}`"
            )
        }
        Effect::Flattens if is_map(field) => format!(
            "declare it as `#[property(rest)] {ident}: BTreeMap<String, Value>`, with `table_core::Value`, which contains the properties that no other field has"
        ),
        Effect::Flattens => {
            format!("declare the fields of `{ident}` here, or store it as JSON: `#[property(json)]`")
        }
        Effect::Converts => format!("store it as JSON, which serde writes: `#[property(json)]`; {stay}"),
        Effect::Skips => {
            format!("move the field to another struct, because an entity stores all of its fields; {stay}")
        }
        Effect::Defaults => format!(
            "declare `{ident}` as an `Option`, which is `None` if the property is absent; if it is always stored, write `#[property({name:?})]` above it"
        ),
    };
    let wrong =
        format!("`{library}({word})` does not change how `{ident}` is stored: as the property `{name}`");
    ctxt.error("T015", attribute, wrong, help);
}

fn is_optional(field: &Field<'_>) -> bool {
    is_any_of(field, &["Option"])
}

fn is_map(field: &Field<'_>) -> bool {
    is_any_of(field, &["HashMap", "BTreeMap", "Map"])
}

/// Returns `true` if a field's type has one of these names.
fn is_any_of(field: &Field<'_>, names: &[&str]) -> bool {
    let syn::Type::Path(path) = field.ty else { return false };
    path.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}

/// Reports another library's table-name setting if the declaration does not specify a table.
fn table(ctxt: &Ctxt, entity: &Entity<'_>) {
    let attributes = &entity.original.attrs;
    let is_named = || {
        attributes
            .iter()
            .filter(|attribute| attribute.path() == &ENTITY)
            .any(|attribute| settings::of(attribute).iter().any(|setting| setting.word == "table"))
    };
    for attribute in attributes {
        let Some(library) = library(attribute).filter(|library| *library != "serde") else { continue };
        let settings = settings::of(attribute);
        let Some(setting) = settings.iter().find(|setting| OF_TABLES.contains(&setting.word.as_str())) else {
            continue;
        };
        if is_named() {
            return;
        }
        let name = setting.text().unwrap_or_else(|| setting.value.to_string());
        let name = if name.chars().all(char::is_alphanumeric) { name } else { pascal_case(&name) };
        let (word, own) = (&setting.word, &entity.name);
        let wrong = format!("`{library}({word})` does not name the table of `{own}`, which is `{own}`");
        let help = format!(
            "write `#[entity(table = {name:?})]` above the struct, or `#[entity(table = {own:?})]` to keep this name"
        );
        ctxt.error("T015", attribute, wrong, help);
    }
}
