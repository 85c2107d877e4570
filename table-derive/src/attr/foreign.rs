//! Attributes of other libraries. They are recognised only to suggest this library's equivalent attribute in the error.

mod known;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Field, Ident};

use crate::attr::foreign::known::{CHOSEN, EFFECTS, FOREIGN, NAME, REFERENCE, REFERRED, TYPED};
use crate::attr::foreign_keys::{BOTH, LIBRARIES, key_of_library, name_of};
use crate::attr::keyed::Keyed;
use crate::attr::proposed::Proposed;
use crate::attr::settings::{self, Setting};
use crate::attr::stored;
use crate::casing::{pascal_case, snake_case};
use crate::codec;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::samples;
use crate::symbol::PROPERTY;

/// Attributes of other libraries that declare a non-unique index.
const REPEATED: [&str; 10] = [
    "Index",
    "indexed",
    "Indexed",
    "gsi",
    "lsi",
    "GSI",
    "LSI",
    "secondary_index",
    "global_secondary_index",
    "local_secondary_index",
];

/// Attributes of other libraries that declare a unique index.
const UNIQUE: [&str; 4] = ["unique", "Unique", "unique_index", "unique_key"];

/// Attributes of other libraries that declare an index whose rows are in partitions of their own.
const GLOBAL: [&str; 3] = ["gsi", "GSI", "global_secondary_index"];

/// The settings of [`LIBRARIES`] that are reported like an attribute of the same name.
const OF_LIBRARIES: [&str; 8] = [
    "unique",
    "indexed",
    "belongs_to",
    "has_many",
    "has_one",
    "column_type",
    "default_value",
    "auto_increment",
];

/// Returns the setting in an attribute of another library that has a message: a missing key, or a setting of a field without `#[property(…)]`. A setting that
/// changes the stored form of the field is left to the rule for these settings.
fn setting_of_library(attr: &Attribute, field: Option<&Ident>, keyed: &Keyed<'_>) -> Option<Setting> {
    let key = key_of_library(attr).filter(|_| !keyed.has_both_keys());
    key.or_else(|| {
        let field = keyed.field(&field?.unraw().to_string())?;
        let settings = settings::of(attr);
        let is_other =
            field.attrs.iter().any(|attr| attr.path() == &PROPERTY) || settings::effect(&settings).is_some();
        settings.into_iter().find(|setting| !is_other && OF_LIBRARIES.contains(&setting.word.as_str()))
    })
}

/// Reports an attribute of another library. The help text names the field below the attribute. If a setting of the field changes how it is stored in its own
/// library, another rule reports the attribute.
pub(super) fn refuse(ctxt: &Ctxt, attr: &Attribute, field: Option<&Ident>, keyed: &Keyed<'_>) {
    let Some(name) = name_of(attr) else { return };
    let (word, arguments, shown) = if LIBRARIES.contains(&name.as_str()) {
        let Some(setting) = setting_of_library(attr, field, keyed) else { return };
        let shown = format!("{name}({})", setting.word);
        (setting.word, setting.value, shown)
    } else {
        (name.clone(), grammar::arguments(attr), name)
    };
    let Some(mut help) = help_of(&word) else { return };
    let declared = field.and_then(|field| keyed.field(&field.unraw().to_string()));
    if help == REFERENCE && declared.is_some_and(holds_another) {
        help = REFERRED;
    }
    let named_in = |setting: &Setting| NAMES.contains(&setting.word.as_str());
    let settings = if help == NAME { settings::of(attr) } else { Vec::new() };
    let (stored, arguments) = match settings.into_iter().find(named_in) {
        Some(setting) => (true, setting.value),
        None => (samples::names_one(&arguments), arguments),
    };
    if help == NAME && !stored && !arguments.is_empty() {
        help = TYPED;
    }
    let named = |field: Option<&Ident>| field.cloned().or_else(|| keyed.ident_in(arguments.clone()));
    let keys =
        BOTH.contains(&word.as_str()).then(|| keyed.keys_of(&samples::key_fields(&arguments))).flatten();
    let help = if let Some(keys) = keys {
        keys
    } else if let Some(help) = stored_help(&word, field, keyed) {
        help
    } else if let Some(help) = index_of(&word, &arguments, field, keyed) {
        help
    } else {
        samples::with_arguments(&for_field(help, named(field).as_ref()), &word, &arguments)
    };
    ctxt.error("T009", attr, format!("`{shown}` is not an attribute of entities"), help);
}

/// The settings of other libraries that contain the name under which a field is stored.
const NAMES: [&str; 7] = ["name", "Name", "field", "column", "column_name", "rename", "PropertyName"];

fn help_of(word: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(names, _)| names.contains(&word)).map(|(_, help)| *help)
}

/// Returns `true` if a field contains another struct, and not the key of one: its type is in a `Box` or a list, or has the name of the field.
fn holds_another(field: &Field) -> bool {
    const AROUND: [&str; 6] = ["Box", "Vec", "Rc", "Arc", "HasOne", "BelongsTo"];
    let name = field.ident.as_ref().map(|name| name.unraw().to_string());
    grammar::names(field.ty.to_token_stream())
        .into_iter()
        .any(|part| AROUND.iter().any(|around| part == around) || Some(snake_case(&part.to_string())) == name)
}

/// Returns the help text for a piece of a key that is a word for generated values, such as `auto_increment`.
pub(crate) fn help_of_piece(word: &Ident, before: Option<&Ident>) -> Option<String> {
    let help = help_of(&word.unraw().to_string()).filter(|help| *help == CHOSEN)?;
    let help = for_field(help, Some(before?));
    Some(help.replacen("the attribute", &format!("`{word}`"), 1))
}

/// Returns the help text for an attribute that skips a field or gives it a default.
fn stored_help(word: &str, field: Option<&Ident>, keyed: &Keyed<'_>) -> Option<String> {
    let (_, effect) = EFFECTS.iter().find(|(words, _)| words.contains(&word))?;
    Some(stored::help(*effect, None, keyed.field(&field?.unraw().to_string())?, keyed.owner()?))
}

/// Returns the help text that shows the index which another library's attribute declares. Returns `None` for any other attribute.
fn index_of(word: &str, arguments: &TokenStream, field: Option<&Ident>, keyed: &Keyed<'_>) -> Option<String> {
    let is_repeated = REPEATED.contains(&word);
    if !is_repeated && !UNIQUE.contains(&word) {
        return None;
    }
    let mut proposed = Proposed::of(arguments.clone(), keyed);
    proposed.unique |= !is_repeated;
    if !proposed.has_fields() {
        proposed.row.extend(field.map(|field| field.unraw().to_string()));
    }
    if GLOBAL.contains(&word) && proposed.partition.is_empty() {
        proposed.partition = proposed.row.drain(..proposed.row.len().min(1)).collect();
    }
    proposed.has_fields().then(|| proposed.help(keyed))
}

/// Returns the names of all recognised attributes of other libraries.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FOREIGN.iter().flat_map(|(names, _)| *names).copied().chain(LIBRARIES).chain(["serde"])
}

/// Replaces the placeholders in a help text: `{email}` with the field name, and `{Email}` with the field name in Pascal case.
pub(super) fn for_field(help: &str, field: Option<&Ident>) -> String {
    let field = field.map(|field| field.unraw().to_string());
    let pascal = field.as_deref().map_or_else(|| "Email".to_owned(), pascal_case);
    codec::filled(&help.replace("{Email}", &pascal), field.as_deref())
}
