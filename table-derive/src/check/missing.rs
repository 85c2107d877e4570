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
use crate::role::{self, Role};
use crate::symbol::{self, PARTITION_KEY, PROPERTY, ROW_KEY, Symbol};

/// Reports a missing `PartitionKey` or `RowKey` (ENT-1).
pub(super) fn check<'m>(ctxt: &Ctxt, entity: &'m Entity<'_>, keys: impl Iterator<Item = &'m Key>) {
    let used: Vec<usize> = keys.flat_map(Key::parts).map(|part| part.field).collect();
    let fields = entity.fields.iter().enumerate();
    let unused = fields.filter(|(at, field)| !used.contains(at) && !is_maintained(entity, field));
    let mut unused: Vec<_> = unused.map(|(_, field)| field).collect();
    let is_whole_key = entity
        .partition_key
        .as_ref()
        .is_some_and(|key| key.parts().any(|part| is_own(entity, &part.name.unraw().to_string())));
    let mut report = |word: Symbol, what: &str| {
        let misspelt = entity.original.attrs.iter().find(|attr| resembles(attr, word));
        let example = if word == PARTITION_KEY { shared(&unused, entity) } else { identifying(&unused) }
            .first()
            .copied();
        unused.retain(|field| example.is_none_or(|example| field.ident != example.ident));
        let help = match example.map(name_of) {
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
            None if word == ROW_KEY => format!(
                "add a field that identifies the entity within its partition, such as an `id`; or, for one entity in each partition, write `#[{word}(\"\")]` \
                 above the struct"
            ),
            None => {
                let help = "add a field whose entities share a partition";
                let all: Vec<&Field<'_>> = entity.fields.iter().collect();
                match identifying(&all).first() {
                    Some(field) => {
                        format!("{help}, or spread them: `#[{word}(bucket({}, 16))]`", name_of(field))
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
    let fields = entity.fields.iter().filter(|field| !is_maintained(entity, field));
    let fields: Vec<&Field<'_>> = fields.collect();
    let names = |fields: Vec<&Field<'_>>| -> Vec<String> { fields.into_iter().map(name_of).collect() };
    let (shared, identifying) = (names(shared(&fields, entity)), names(identifying(&fields)));
    let own = identifying.iter().find(|name| is_own(entity, name));
    // In most structs, the shared field comes before the identifier.
    let place = |name: &String| fields.iter().position(|field| field.ident.unraw() == name);
    let is_first = own.is_some_and(|own| shared.iter().all(|name| place(own) <= place(name)));
    let owner = shared.iter().find(|name| Some(*name) != own && (!is_first || role::is_owner(name)));
    let row = own.or_else(|| identifying.iter().find(|name| Some(*name) != owner));
    let (keys, why) = match (owner, row) {
        (Some(owner), Some(row)) => (
            format!("#[partition_key({owner})] #[row_key({row})]"),
            format!(
                "the entities of one `{owner}` share a partition, and `{row}` identifies an entity in it"
            ),
        ),
        (Some(only), None) if role::of(only) != Role::Class => one_in_each_partition(only),
        (None, Some(own)) if shared.contains(own) => one_in_each_partition(own),
        (None, Some(time)) => (
            format!("#[partition_key(…)] #[row_key({time})]"),
            format!(
                "name a field whose entities share a partition, such as a device, and `{time}` identifies an entity in it"
            ),
        ),
        _ => (
            "#[partition_key(id)] #[row_key(\"\")]".to_owned(),
            "no field identifies the entity, so add a field `id`".to_owned(),
        ),
    };
    ctxt.error(
        "T020",
        ident,
        format!("`{ident}` has no `partition_key` and no `row_key`"),
        format!("write `{keys}` above the struct: {why}{}", removed(entity, [owner, row])),
    );
}

/// Returns the end of the help text for a struct ported from another client, whose fields include the Timestamp and the ETag. A Timestamp in the proposed keys
/// is a time of the program.
fn removed(entity: &Entity<'_>, keys: [Option<&String>; 2]) -> String {
    let fields = entity.fields.iter().filter(|field| !keys.contains(&Some(&name_of(field))));
    let fields: Vec<_> = fields.filter(|field| is_timestamp(field) || is_etag(field)).collect();
    if !fields.iter().any(|field| is_timestamp(field)) {
        return String::new();
    }
    let names = fields.into_iter().map(name_of).collect::<Vec<_>>().join("` and `");
    format!("; and remove `{names}`, which the store sets and reads return in `Versioned`")
}

/// Returns `true` for a field that is not proposed for a key: an ETag, and the Timestamp of a struct that also has an ETag, because the store sets both. In a
/// struct with an index, a Timestamp is not proposed either: copies in the index would store it under its reserved name.
fn is_maintained(entity: &Entity<'_>, field: &Field<'_>) -> bool {
    let is_set_or_copied = || !entity.indexes.is_empty() || entity.fields.iter().any(is_etag);
    is_etag(field) || is_timestamp(field) && is_set_or_copied()
}

/// Returns `true` if a field would be stored under the reserved name `Timestamp`.
fn is_timestamp(field: &Field<'_>) -> bool {
    field.property.as_ref().is_some_and(|property| property.name == "Timestamp")
}

fn is_etag(field: &Field<'_>) -> bool {
    ["etag", "e_tag"].contains(&snake_case(&name_of(field)).as_str())
}

/// Returns `true` for the name of a field that identifies an entity in the whole table: `id`, or `employee_id` in an `Employee`.
fn is_own(entity: &Entity<'_>, name: &str) -> bool {
    let of_type = format!("{}_id", snake_case(&entity.original.ident.unraw().to_string()));
    let name = snake_case(name);
    name == "id" || name == of_type
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

fn name_of(field: &Field<'_>) -> String {
    field.ident.unraw().to_string()
}

/// Returns `true` if a field may be proposed for a key: its type and its name are those of an identifier, or its name says nothing.
pub(super) fn may_be_proposed(field: &Field<'_>) -> bool {
    may_identify(field) && !matches!(role::of(&name_of(field)), Role::Class | Role::Value)
}

/// Returns the fields that may identify an entity in its partition, best first: names of identifiers, then other names, then times.
fn identifying<'f, 'm>(fields: &[&'f Field<'m>]) -> Vec<&'f Field<'m>> {
    let mut fields: Vec<_> = fields.iter().copied().filter(|field| may_be_proposed(field)).collect();
    fields.sort_by_key(|field| {
        let role = role::of(&name_of(field));
        if is_time(field) { role.max(Role::Time) } else { role }
    });
    fields
}

/// Returns the fields whose entities may share a partition, best first: names of owners, then other names in the order of the struct, then fields of few values.
/// The entity's own identifier is not an owner.
fn shared<'f, 'm>(fields: &[&'f Field<'m>], entity: &Entity<'_>) -> Vec<&'f Field<'m>> {
    let role = |field: &Field<'_>| role::of(&name_of(field));
    let is_proposed = |field: &&Field<'_>| {
        may_identify(field) && !is_time(field) && !matches!(role(field), Role::Time | Role::Value)
    };
    let mut fields: Vec<_> = fields.iter().copied().filter(is_proposed).collect();
    fields.sort_by_key(|field| {
        let name = name_of(field);
        let is_owner = !is_own(entity, &name) && role::is_owner(&name);
        (!is_owner && role(field) == Role::Class, !is_owner)
    });
    fields
}

/// Returns `true` if a field may identify an entity: its type looks usable in keys and has more than two values, and it is not stored as JSON, in chunks or as
/// `rest`.
fn may_identify(field: &Field<'_>) -> bool {
    may_be_part(field, field.ty) && name_of_type(field).is_some_and(|name| name != "bool")
}

/// Returns `true` if a field's type is named like a time.
fn is_time(field: &Field<'_>) -> bool {
    const TIMES: [&str; 5] = ["DateTime", "NaiveDate", "NaiveTime", "Duration", "TimeDelta"];
    name_of_type(field).is_some_and(|name| TIMES.iter().any(|time| name == time))
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
