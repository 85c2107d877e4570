//! Attributes of other libraries. They are recognised only to suggest this library's equivalent attribute in the error.

mod known;

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::{Attribute, Field, FieldsNamed, Ident};

use crate::attr::foreign::known::FOREIGN;
use crate::attr::settings::{self, Setting};
use crate::casing::pascal_case;
use crate::codec;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::samples;
use crate::symbol::{ENTITY, FOREIGN_KEYS, PARTITION_KEY, ROW_KEY, Symbol};

/// Libraries whose attributes contain settings, such as `primary_key` in `#[sea_orm(primary_key)]`. Because a struct may also derive these libraries' traits, a
/// setting is rejected only if it could be mistaken for part of the entity declaration.
pub(crate) const LIBRARIES: [&str; 4] = ["diesel", "sea_orm", "sqlx", "dynomite"];

/// Other libraries' field attributes that declare a key without specifying whether it is the `PartitionKey` or the `RowKey`.
const BOTH: [&str; 7] = ["key", "Key", "primary_key", "PrimaryKey", "id", "Id", "primary"];

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

/// Attributes of other libraries that declare either the `PartitionKey` or the `RowKey`.
const KEYS: &[(Symbol, &[&str])] = &[
    (
        PARTITION_KEY,
        &[
            "PartitionKey",
            "hash_key",
            "pk",
            "PK",
            "partitionkey",
            "partitionKey",
            "HashKey",
            "DynamoDBHashKey",
            "DynamoDbPartitionKey",
        ],
    ),
    (
        ROW_KEY,
        &[
            "RowKey",
            "range_key",
            "sort_key",
            "sk",
            "SK",
            "rowkey",
            "rowKey",
            "RangeKey",
            "SortKey",
            "DynamoDBRangeKey",
            "DynamoDbSortKey",
        ],
    ),
];

/// The fields of a struct, and the keys declared by its attributes.
#[derive(Default)]
pub(crate) struct Keyed<'a> {
    /// All fields of the struct.
    all: Option<&'a FieldsNamed>,
    /// Names of fields with an attribute such as `#[key]`, which does not specify which key it declares.
    fields: Vec<String>,
    /// `true` if an attribute of the struct declares the `PartitionKey`.
    has_partition_key: bool,
    /// `true` if an attribute of the struct declares the `RowKey`.
    has_row_key: bool,
    /// The identifiers in the `RowKey` declaration.
    row_key: Vec<Ident>,
}

impl<'a> Keyed<'a> {
    pub(crate) fn of(attributes: &[Attribute], fields: &'a FieldsNamed) -> Self {
        let is_keyed = |field: &&Field| {
            field.attrs.iter().any(|attr| {
                let is_both = |name: &str| BOTH.contains(&name);
                name_of(attr).is_some_and(|name| is_both(&name))
                    || key_of_library(attr).is_some_and(|key| is_both(&key.word))
            })
        };
        let names = fields.named.iter().filter(is_keyed).filter_map(|field| field.ident.as_ref());
        Self {
            all: Some(fields),
            fields: names.map(|name| name.unraw().to_string()).collect(),
            has_partition_key: attributes.iter().any(|attr| attr.path() == &PARTITION_KEY),
            has_row_key: attributes.iter().any(|attr| attr.path() == &ROW_KEY),
            row_key: attributes
                .iter()
                .filter(|attr| attr.path() == &ROW_KEY)
                .flat_map(|attr| grammar::names(grammar::arguments(attr)))
                .collect(),
        }
    }

    /// Returns the help text from [`Self::keys_of`] for the first field in `fields`, and an empty string for any later field.
    fn keys_at(&self, field: &str) -> Option<String> {
        let help = self.keys_of(&self.fields)?;
        Some(if self.fields.first().is_some_and(|first| first == field) { help } else { String::new() })
    }

    /// Returns a help text that shows how to declare the missing keys with these fields, or `None` if both keys are missing and only one field is given.
    fn keys_of(&self, fields: &[String]) -> Option<String> {
        let (first, rest) = fields.split_first()?;
        let key = |word: Symbol, fields: &[String]| format!("#[{word}({})]", fields.join(", \"_\", "));
        let keys = match (self.has_partition_key, self.has_row_key) {
            (true, true) => {
                return Some("remove the attribute: both keys are declared above the struct".to_owned());
            }
            (true, false) => key(ROW_KEY, fields),
            (false, true) => key(PARTITION_KEY, fields),
            (false, false) if rest.is_empty() => return None,
            (false, false) => format!("#[partition_key({first})] {}", key(ROW_KEY, rest)),
        };
        Some(format!("write `{keys}` above the struct"))
    }

    /// Returns the help text for a non-unique index by `field`. The index key ends with the entity's `RowKey`.
    fn index_by(&self, field: &Ident) -> Option<String> {
        let named = &self.all?.named;
        let is_of_key = |found: &&Field| {
            found.ident.as_ref().is_some_and(|ident| ident != field && self.row_key.contains(ident))
        };
        let of_key: Vec<String> = named
            .iter()
            .filter(is_of_key)
            .filter_map(|found| found.ident.as_ref().map(Ident::to_string))
            .collect();
        let declared = named.iter().find(|found| found.ident.as_ref() == Some(field))?;
        let is_text = matches!(&declared.ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "String"));
        let piece = if is_text { format!("escaped({field}), \"!\"") } else { format!("{field}, \"_\"") };
        let (name, prefix) = (pascal_case(&field.unraw().to_string()), field.unraw());
        (!of_key.is_empty()).then(|| {
            format!(
                "declare an index above the struct: `#[index(By{name}, row_key(\"{prefix}_\", {piece}, {}))]`",
                of_key.join(", \"_\", ")
            )
        })
    }

    /// Returns the first name in an attribute's arguments that is also the name of a field.
    fn field_in(&self, arguments: &TokenStream) -> Option<Ident> {
        let named = &self.all?.named;
        arguments.clone().into_iter().find_map(|token| match token {
            TokenTree::Ident(name) => {
                named.iter().any(|field| field.ident.as_ref() == Some(&name)).then_some(name)
            }
            TokenTree::Group(group) => self.field_in(&group.stream()),
            TokenTree::Literal(text) => {
                let name = samples::name_in(&text.to_string())?;
                named.iter().filter_map(|field| field.ident.clone()).find(|field| *field == name)
            }
            TokenTree::Punct(_) => None,
        })
    }
}

/// Returns the setting that declares a key in another library's attribute.
fn key_of_library(attr: &Attribute) -> Option<Setting> {
    name_of(attr).filter(|name| LIBRARIES.contains(&name.as_str()))?;
    let of_keys = || KEYS.iter().flat_map(|(_, words)| *words).chain(&BOTH);
    settings::of(attr).into_iter().find_map(|setting| {
        if setting.word == PARTITION_KEY.0 {
            return Some(Setting { word: "hash_key".to_owned(), ..setting });
        }
        of_keys().any(|word| setting.word == *word).then_some(setting)
    })
}

/// Reports an attribute of another library. The help text names the field below the attribute. If several fields have `#[key]`, only one error is reported.
pub(super) fn refuse(ctxt: &Ctxt, attr: &Attribute, field: Option<&Ident>, keyed: &Keyed<'_>) {
    let Some(name) = name_of(attr) else { return };
    let (word, arguments, shown) = if LIBRARIES.contains(&name.as_str()) {
        let both_declared = keyed.has_partition_key && keyed.has_row_key;
        let Some(key) = key_of_library(attr).filter(|_| !both_declared) else { return };
        let shown = format!("{name}({})", key.word);
        (key.word, key.value, shown)
    } else {
        (name.clone(), grammar::arguments(attr), name)
    };
    let Some((_, help)) = FOREIGN.iter().find(|(names, _)| names.contains(&word.as_str())) else {
        return;
    };
    let keys = BOTH.contains(&word.as_str()).then(|| match field {
        Some(field) => keyed.keys_at(&field.unraw().to_string()),
        None => keyed.keys_of(&samples::key_fields(&arguments)),
    });
    let help = match keys.flatten() {
        Some(keys) if keys.is_empty() => return,
        Some(keys) => keys,
        None => {
            let named = field.cloned().or_else(|| keyed.field_in(&arguments));
            let repeated = named.as_ref().filter(|_| REPEATED.contains(&word.as_str()));
            if let Some(help) = repeated.and_then(|field| keyed.index_by(field)) {
                ctxt.error("T009", attr, format!("`{shown}` is not an attribute of entities"), help);
                return;
            }
            samples::with_arguments(&for_field(help, named.as_ref()), &word, &arguments)
        }
    };
    ctxt.error("T009", attr, format!("`{shown}` is not an attribute of entities"), help);
}

/// Returns the names of all recognised attributes of other libraries.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FOREIGN.iter().flat_map(|(names, _)| *names).copied().chain(LIBRARIES)
}

/// Returns the name of an attribute as a string. A string can be compared with many words faster than an identifier.
fn name_of(attr: &Attribute) -> Option<String> {
    attr.path().get_ident().map(Ident::to_string)
}

/// Replaces the placeholders in a help text: `{email}` with the field name, and `{Email}` with the field name in Pascal case.
pub(super) fn for_field(help: &str, field: Option<&Ident>) -> String {
    let field = field.map(|field| field.unraw().to_string());
    let pascal = field.as_deref().map_or_else(|| "Email".to_owned(), pascal_case);
    codec::filled(&help.replace("{Email}", &pascal), field.as_deref())
}

/// Returns `true` if an attribute of this or another library declares the given key.
pub(crate) fn names_key(attr: &Attribute, key: Symbol) -> bool {
    let is_foreign = |word: &str| {
        BOTH.contains(&word) || KEYS.iter().any(|(declared, names)| *declared == key && names.contains(&word))
    };
    *attr.path() == key
        || name_of(attr).is_some_and(|name| is_foreign(&name))
        || key_of_library(attr).is_some_and(|setting| is_foreign(&setting.word))
        || *attr.path() == ENTITY && holds_key(attr, key)
}

/// Returns `true` if `#[entity(…)]` contains a word that declares a key. The error is then reported at that word.
fn holds_key(attr: &Attribute, key: Symbol) -> bool {
    grammar::arguments(attr).into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == key || FOREIGN_KEYS.iter().any(|foreign| word == foreign),
        _ => false,
    })
}
