//! Reports missing keys and suggests fields for them.

use syn::ext::IdentExt;
use syn::{Attribute, Ident, Type};

use crate::attr::foreign_keys::names_key;
use crate::casing::snake_case;
use crate::check::unsuitable;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::key::Key;
use crate::model::{Entity, Field};
use crate::symbol::{self, PARTITION_KEY, PROPERTY, ROW_KEY, Symbol};

/// Reports a missing `PartitionKey` or `RowKey` (ENT-1).
pub(super) fn check<'m>(ctxt: &Ctxt, entity: &'m Entity<'_>, keys: impl Iterator<Item = &'m Key>) {
    let used: Vec<usize> = keys.flat_map(Key::parts).map(|part| part.field).collect();
    let fields = entity.fields.iter().enumerate();
    let mut unused: Vec<_> = fields.filter(|(at, _)| !used.contains(at)).map(|(_, field)| field).collect();
    // A field such as `id` identifies an entity in the whole table.
    let of_type = format!("{}_id", snake_case(&entity.original.ident.unraw().to_string()));
    let is_whole_key = entity.partition_key.as_ref().is_some_and(|key| {
        let mut names = key.parts().map(|part| part.name.unraw().to_string());
        names.any(|name| name == "id" || name == of_type)
    });
    let mut report = |word: Symbol, what: &str| {
        let misspelt = entity.original.attrs.iter().find(|attr| resembles(attr, word));
        let is_usable = |field: &&Field<'_>| {
            if word == PARTITION_KEY { may_share(field) } else { may_identify(field) }
        };
        let example = unused.iter().position(is_usable).map(|at| unused.remove(at));
        let help = match example.map(|field| field.ident.unraw().to_string()) {
            _ if misspelt.is_some() => {
                let pieces = misspelt.map(|attr| grammar::arguments(attr).to_string()).unwrap_or_default();
                format!("write `#[{word}({pieces})]` above the struct")
            }
            Some(_) if word == ROW_KEY && is_whole_key => format!(
                "write `#[{word}(\"\")]` above the struct, for one entity in each partition; or name the field that identifies an entity within its partition"
            ),
            Some(example) => format!(
                "{what}: `#[{word}({example})]`, or a literal and fields: `#[{word}(\"{example}_\", {example})]`"
            ),
            None if word == ROW_KEY => {
                format!("write a constant, for one entity in each partition: `#[{word}(\"state\")]`")
            }
            None => {
                let help = "add a field whose entities share a partition";
                match entity.fields.iter().find(|field| may_identify(field)) {
                    Some(field) => {
                        format!("{help}, or spread them: `#[{word}(bucket({}, 16))]`", field.ident.unraw())
                    }
                    None => help.to_owned(),
                }
            }
        };
        let wrong = format!("`{}` has no `{word}`", entity.original.ident);
        match misspelt {
            Some(attr) => ctxt.error("T020", attr, wrong, help),
            None => ctxt.error("T020", &entity.original.ident, wrong, help),
        }
    };
    // A key attribute that is on a field, or that belongs to another library, is reported at its own span.
    let is_missing = |key: &Option<Key>, word: Symbol| {
        let mut of_fields = entity.fields.iter().flat_map(|field| &field.original.attrs);
        let mut attributes = entity.original.attrs.iter();
        // The error at a field shows both keys.
        let mut is_reported = || {
            of_fields.any(|it| names_key(it, PARTITION_KEY) || names_key(it, ROW_KEY) || is_key_property(it))
        };
        key.is_none() && !attributes.any(|attribute| names_key(attribute, word)) && !is_reported()
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

/// Reports an entity without any key as one error. Suggests the field that looks like an identifier as the `RowKey` and another field as the `PartitionKey`. A
/// single field becomes the `PartitionKey`, with one entity in each partition. A time is suggested only for the `RowKey`.
fn both_missing(ctxt: &Ctxt, entity: &Entity<'_>) {
    let ident = &entity.original.ident;
    let names = |is_usable: fn(&Field<'_>) -> bool| -> Vec<String> {
        let fields = entity.fields.iter().filter(|field| is_usable(field));
        fields.map(|field| field.ident.unraw().to_string()).collect()
    };
    let (shared, identifying) = (names(may_share), names(may_identify));
    let of_type = format!("{}_id", snake_case(&ident.unraw().to_string()));
    let own = identifying.iter().find(|name| **name == "id" || **name == of_type);
    // In most structs, the shared field comes before the identifier.
    let owner = match (own, shared.first()) {
        (Some(own), Some(first)) if own == first => {
            shared.iter().find(|name| *name != own && name.ends_with("_id"))
        }
        (_, first) => first,
    };
    let row = own.or_else(|| identifying.iter().find(|name| Some(*name) != owner));
    let (keys, why) = match (owner, row) {
        (Some(owner), Some(row)) => (
            format!("#[partition_key({owner})] #[row_key({row})]"),
            format!(
                "the entities of one `{owner}` share a partition, and `{row}` identifies an entity in it"
            ),
        ),
        (Some(only), None) => one_in_each_partition(only),
        (None, Some(own)) if shared.contains(own) => one_in_each_partition(own),
        (None, Some(time)) => (
            format!("#[partition_key(…)] #[row_key({time})]"),
            format!(
                "name a field whose entities share a partition, such as a device, and `{time}` identifies an entity in it"
            ),
        ),
        (None, None) => (
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

/// Returns the key attributes for a field that identifies an entity across the whole table, and the explanation for the help text.
fn one_in_each_partition(field: &str) -> (String, String) {
    (
        format!("#[partition_key({field})] #[row_key(\"\")]"),
        format!(
            "for one entity in each partition; if several entities share a partition, name their common field in `partition_key` and `{field}` in `row_key`"
        ),
    )
}

/// Returns `true` for `#[property(key)]`, which is reported with both keys.
fn is_key_property(attr: &Attribute) -> bool {
    let is_key = |name: &Ident| symbol::FOREIGN_KEYS.iter().any(|key| name == key);
    attr.path() == &PROPERTY && grammar::names(grammar::arguments(attr)).iter().any(is_key)
}

/// Returns `true` if an attribute's name is a misspelling of `word`.
fn resembles(attr: &Attribute, word: Symbol) -> bool {
    attr.path().get_ident().is_some_and(|name| symbol::distance(&name.to_string(), word.0) <= 2)
}

/// Returns `true` if a field may identify an entity: its type looks usable in keys and has more than two values, and it is not stored as JSON, in chunks or as
/// `rest`.
pub(super) fn may_identify(field: &Field<'_>) -> bool {
    may_be_part(field, field.ty) && name_of_type(field).is_some_and(|name| name != "bool")
}

/// Returns `true` if a field is suited to grouping entities into partitions: it may be an identifier, and its type is not a time.
fn may_share(field: &Field<'_>) -> bool {
    const TIMES: [&str; 5] = ["DateTime", "NaiveDate", "NaiveTime", "Duration", "TimeDelta"];
    may_identify(field) && name_of_type(field).is_some_and(|name| TIMES.iter().all(|time| name != time))
}

/// Returns `true` if a value of the type looks usable in a key, and the field is not stored as JSON, in chunks or as `rest`.
pub(super) fn may_be_part(field: &Field<'_>, ty: &Type) -> bool {
    const OTHERS: [&str; 4] = ["Json", "Decimal", "Value", "BlobRef"];
    let attrs = &field.attrs;
    let is_stored_otherwise = attrs.json.is_some() || attrs.rest.is_some() || attrs.chunks.is_some();
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    !is_stored_otherwise
        && unsuitable::is_part(ty)
        && last.is_some_and(|last| OTHERS.iter().all(|other| last.ident != other))
}

/// Returns the last name in the path of a field's type.
fn name_of_type<'f>(field: &'f Field<'_>) -> Option<&'f Ident> {
    let Type::Path(path) = field.ty else { return None };
    path.path.segments.last().map(|last| &last.ident)
}
