//! Reports attributes of serde and other libraries that suggest a different stored form. They do not change how an entity is stored.
//!
//! A struct may also be serialised with serde or stored with another library, so these attributes are allowed on a field with `#[property(…)]`, where the
//! stored form is declared explicitly, and on a struct that names its table.

use syn::Attribute;
use syn::ext::IdentExt;

use crate::attr::foreign_keys::{LIBRARIES, table_of_library};
use crate::attr::settings::{self, Effect};
use crate::attr::stored;
use crate::ctxt::Ctxt;
use crate::model::{Entity, Field};
use crate::symbol::{ENTITY, PROPERTY};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    // The missing keys are reported first, with the table of the other library. They may also contain the fields.
    if entity.partition_key.is_none() || entity.row_key.is_none() {
        return;
    }
    for field in &entity.fields {
        let attributes = &field.original.attrs;
        if attributes.iter().any(|attribute| attribute.path() == &PROPERTY) {
            continue;
        }
        let elsewhere = attributes.iter().filter_map(|attribute| Some((attribute, library(attribute)?)));
        for (attribute, library) in elsewhere {
            check_field(ctxt, entity, field, attribute, library);
        }
    }
    table(ctxt, entity);
}

/// Returns the name of an attribute's library, or `None` if the library is unknown.
fn library(attribute: &Attribute) -> Option<&'static str> {
    let name = attribute.path().get_ident()?.to_string();
    ["serde"].into_iter().chain(LIBRARIES).find(|library| name == *library)
}

fn check_field(ctxt: &Ctxt, entity: &Entity<'_>, field: &Field<'_>, attribute: &Attribute, library: &str) {
    let settings = settings::of(attribute);
    let Some((setting, effect)) = settings::effect(&settings) else { return };
    // A key contains the field's value but not its name.
    let Some(property) = &field.property else { return };
    let is_optional = || stored::is_any_of(field.ty, &["Option"]);
    if matches!(effect, Effect::Defaults) && is_optional() {
        return;
    }
    let (ident, word, name) = (field.ident.unraw(), &setting.word, &property.name);
    let text = setting.name().filter(|text| syn::parse_str::<syn::Ident>(text).is_ok());
    let keep = format!("write `#[property({name:?})]` above `{ident}` to keep the name in stored rows");
    let help = match (effect, text) {
        (Effect::Renames, Some(text)) => {
            format!("{keep}, or `#[property({text:?})]` for the name of `{library}`")
        }
        (Effect::Renames, None) => keep,
        _ => {
            let help = stored::help(effect, None, field.original, &entity.original.ident);
            format!(
                "{help}; if the attribute is for `{library}` alone, write `#[property({name:?})]` above `{ident}`"
            )
        }
    };
    let wrong =
        format!("`{library}({word})` does not change how `{ident}` is stored: as the property `{name}`");
    ctxt.error("T015", attribute, wrong, help);
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
        let Some((word, name)) = table_of_library(attribute) else { continue };
        if is_named() {
            return;
        }
        let (library, own) = (library(attribute).unwrap_or_default(), &entity.name);
        let wrong = format!("`{library}({word})` does not name the table of `{own}`, which is `{own}`");
        let help = format!(
            "write `#[entity(table = {name:?})]` above the struct, or `#[entity(table = {own:?})]` to keep this name"
        );
        ctxt.error("T015", attribute, wrong, help);
    }
}
