//! Reports missing keys, and suggests the fields for them.

use syn::ext::IdentExt;
use syn::{Attribute, Type};

use crate::attr::foreign::names_key;
use crate::casing::snake_case;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::key::Key;
use crate::model::{Entity, Field};
use crate::symbol::{self, PARTITION_KEY, ROW_KEY, Symbol};

/// Reports a missing `PartitionKey` or `RowKey` (ENT-1).
pub(super) fn check<'m>(ctxt: &Ctxt, entity: &'m Entity<'_>, keys: impl Iterator<Item = &'m Key>) {
    let used: Vec<usize> = keys.flat_map(Key::parts).map(|part| part.field).collect();
    let unused =
        entity.fields.iter().enumerate().filter(|(at, _)| !used.contains(at)).map(|(_, field)| field);
    let mut examples =
        unused.filter(|field| may_identify(field)).map(|field| field.ident.unraw().to_string());
    let mut report = |word: Symbol, what: &str| {
        let misspelt = entity.original.attrs.iter().find(|attr| resembles(attr, word));
        let help = match examples.next() {
            _ if misspelt.is_some() => {
                let pieces = misspelt.map(|attr| grammar::arguments(attr).to_string()).unwrap_or_default();
                format!("write `#[{word}({pieces})]` above the struct")
            }
            Some(example) => format!(
                "{what}: `#[{word}({example})]`, or a literal and fields: `#[{word}(\"{example}_\", {example})]`"
            ),
            None if word == ROW_KEY => {
                format!("write a constant, for one entity in each partition: `#[{word}(\"state\")]`")
            }
            None => {
                let field = entity
                    .fields
                    .first()
                    .map_or_else(|| "id".to_owned(), |field| field.ident.unraw().to_string());
                format!(
                    "add a field whose entities share a partition, or spread them: `#[{word}(bucket({field}, 16))]`"
                )
            }
        };
        let wrong = format!("`{}` has no `{word}`", entity.original.ident);
        match misspelt {
            Some(attr) => ctxt.error("T020", attr, wrong, help),
            None => ctxt.error("T020", &entity.original.ident, wrong, help),
        }
    };
    // A key on a field, or a key attribute of another library, is reported at its own position.
    let is_missing = |key: &Option<Key>, word: Symbol| {
        let of_fields = entity.fields.iter().flat_map(|field| &field.original.attrs);
        let mut attributes = entity.original.attrs.iter().chain(of_fields);
        key.is_none() && !attributes.any(|attribute| names_key(attribute, word))
    };
    let has_misspelt = |word| entity.original.attrs.iter().any(|attr| resembles(attr, word));
    let are_missing =
        is_missing(&entity.partition_key, PARTITION_KEY) && is_missing(&entity.row_key, ROW_KEY);
    if are_missing && !has_misspelt(PARTITION_KEY) && !has_misspelt(ROW_KEY) {
        both_missing(ctxt, entity);
        return;
    }
    if is_missing(&entity.partition_key, PARTITION_KEY) {
        report(PARTITION_KEY, "name the field whose entities share a partition");
    }
    if is_missing(&entity.row_key, ROW_KEY) {
        report(ROW_KEY, "name the field that identifies an entity within its partition");
    }
}

/// Reports an entity without any key as one mistake. The suggested `RowKey` is the field that looks like an identifier, and the suggested `PartitionKey` is another
/// field; a single field is the `PartitionKey`, with one entity in each partition.
fn both_missing(ctxt: &Ctxt, entity: &Entity<'_>) {
    let ident = &entity.original.ident;
    let names: Vec<String> = entity
        .fields
        .iter()
        .filter(|field| may_identify(field))
        .map(|field| field.ident.unraw().to_string())
        .collect();
    let of_type = format!("{}_id", snake_case(&ident.unraw().to_string()));
    let is_own = |name: &&String| **name == "id" || **name == of_type;
    let own = names.iter().find(is_own);
    let mut others = names.iter().filter(|name| Some(*name) != own);
    // A struct usually declares the field that entities share before their own identifier.
    let owner = match names.first() {
        Some(first) if own.is_some_and(|own| own != first) => Some(first),
        _ => others.find(|name| name.ends_with("_id")),
    };
    let (keys, why) = match (owner, own, names.as_slice()) {
        (Some(owner), Some(own), _) => (
            format!("#[partition_key({owner})] #[row_key({own})]"),
            format!(
                "the entities of one `{owner}` share a partition, and `{own}` identifies an entity in it"
            ),
        ),
        (None, Some(own), _) | (_, None, [own]) => (
            format!("#[partition_key({own})] #[row_key(\"\")]"),
            format!(
                "for one entity in each partition; if several entities share a partition, name their common field in `partition_key` and `{own}` in `row_key`"
            ),
        ),
        (_, None, [first, second, ..]) => (
            format!("#[partition_key({first})] #[row_key({second})]"),
            format!(
                "the entities of one `{first}` share a partition, and `{second}` identifies an entity in it"
            ),
        ),
        (_, None, []) => (
            "#[partition_key(id)] #[row_key(\"\")]".to_owned(),
            "with a field `id` that identifies an entity".to_owned(),
        ),
    };
    ctxt.error(
        "T020",
        ident,
        format!("`{ident}` has no `partition_key` and no `row_key`"),
        format!("write `{keys}` above the struct: {why}"),
    );
}

/// Returns `true` if an attribute's name is a misspelling of `word`.
fn resembles(attr: &Attribute, word: Symbol) -> bool {
    attr.path().get_ident().is_some_and(|name| symbol::distance(&name.to_string(), word.0) <= 2)
}

/// Returns `true` if a field may identify an entity: its type looks usable in keys, and it is not stored as JSON, in chunks or as `rest`.
pub(super) fn may_identify(field: &Field<'_>) -> bool {
    const OTHERS: [&str; 7] = ["Option", "Vec", "HashMap", "BTreeMap", "f32", "f64", "Json"];
    let attrs = &field.attrs;
    let is_stored_otherwise = attrs.json.is_some() || attrs.rest.is_some() || attrs.chunks.is_some();
    let Type::Path(path) = &field.original.ty else { return false };
    let last = path.path.segments.last();
    !is_stored_otherwise && last.is_some_and(|last| OTHERS.iter().all(|other| last.ident != other))
}
