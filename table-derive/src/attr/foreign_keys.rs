//! Attributes of other libraries that declare a key or a table.

use proc_macro2::TokenTree;
use syn::{Attribute, Ident};

use crate::attr::settings::{self, Setting};
use crate::casing::pascal_case;
use crate::grammar;
use crate::symbol::{ENTITY, FOREIGN_KEYS, PARTITION_KEY, ROW_KEY, Symbol};

/// Libraries whose attributes contain settings, such as `primary_key` in `#[sea_orm(primary_key)]`. Because a struct may also derive these libraries' traits, a
/// setting is rejected only if it could be mistaken for part of the entity declaration.
pub(crate) const LIBRARIES: [&str; 4] = ["diesel", "sea_orm", "sqlx", "dynomite"];

/// Other libraries' field attributes that declare a key without specifying whether it is the `PartitionKey` or the `RowKey`.
pub(super) const BOTH: [&str; 8] =
    ["key", "Key", "primary_key", "PrimaryKey", "id", "Id", "primary", "BsonId"];

/// Attributes of other libraries that declare either the `PartitionKey` or the `RowKey`.
pub(super) const KEYS: &[(Symbol, &[&str])] = &[
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

/// Words for a key in a list of settings, such as `#[entity(partition = "tenant", sort = "id")]`.
const SETTINGS: [(Symbol, &[&str]); 2] =
    [(PARTITION_KEY, &["partition", "hash"]), (ROW_KEY, &["row", "sort", "range"])];

/// Returns the key that a word of another library declares inside `#[entity(…)]`.
pub(crate) fn key_of_word(word: &str) -> Option<Symbol> {
    let mut words = KEYS.iter().chain(&SETTINGS);
    words.find(|(_, words)| words.contains(&word)).map(|(key, _)| *key)
}

/// Returns the setting that declares a key in another library's attribute.
pub(crate) fn key_of_library(attr: &Attribute) -> Option<Setting> {
    name_of(attr).filter(|name| LIBRARIES.contains(&name.as_str()))?;
    let of_keys = || KEYS.iter().flat_map(|(_, words)| *words).chain(&BOTH);
    settings::of(attr).into_iter().find_map(|setting| {
        if setting.word == PARTITION_KEY.0 {
            return Some(Setting { word: "hash_key".to_owned(), ..setting });
        }
        of_keys().any(|word| setting.word == *word).then_some(setting)
    })
}

/// The settings that name the table in the attributes of [`LIBRARIES`].
const OF_TABLES: [&str; 3] = ["table_name", "table", "collection"];

/// Returns the setting that names the table in another library's attribute, and the name. A name that a table cannot have is converted to Pascal case.
pub(crate) fn table_of_library(attr: &Attribute) -> Option<(String, String)> {
    name_of(attr).filter(|name| LIBRARIES.contains(&name.as_str()))?;
    let setting =
        settings::of(attr).into_iter().find(|setting| OF_TABLES.contains(&setting.word.as_str()))?;
    let name = setting.name()?;
    Some((setting.word, if name.chars().all(char::is_alphanumeric) { name } else { pascal_case(&name) }))
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
        TokenTree::Ident(word) => {
            word == key
                || FOREIGN_KEYS.iter().any(|foreign| word == foreign)
                || key_of_word(&word.to_string()) == Some(key)
        }
        _ => false,
    })
}

/// Returns the name of an attribute as a string. A string can be compared with many words faster than an identifier.
pub(super) fn name_of(attr: &Attribute) -> Option<String> {
    attr.path().get_ident().map(Ident::to_string)
}
