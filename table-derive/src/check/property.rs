//! Checks the declarations of properties.

use std::borrow::Cow;

use syn::LitStr;

use crate::attr::field::FieldAttrs;
use crate::ctxt::Ctxt;
use crate::model::index::Stored;
use crate::model::key::Key;
use crate::model::property::Property;
use crate::model::{Entity, Field};

/// The maximum number of custom properties of an entity (ENT-2).
const MOST: usize = 252;
/// The reserved property with which a repair marks the index copies that it is about to delete.
const UNCLAIMED: &str = "_unclaimed";
/// The maximum length of a property name in UTF-16 code units (PROP-2).
const LONGEST_NAME: usize = 255;

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    check_names(ctxt, entity);
    name_twice(ctxt, entity);
    too_many(ctxt, entity);
}

/// Checks the rules for single properties, such as the rules for their names.
pub(super) fn check_names(ctxt: &Ctxt, entity: &Entity<'_>) {
    name_of_key_field(ctxt, entity);
    also_of_no_key(ctxt, entity);
    rest(ctxt, entity);
    chunks(ctxt, entity);
    reserved_name(ctxt, entity);
    kind(ctxt, entity);
    illegal_name(ctxt, entity);
}

/// Checks that a slot prefix is a valid start of an identifier (PROP-3).
pub(super) fn slot_name(ctxt: &Ctxt, word: &LitStr) {
    let name = word.value();
    if !is_identifier(&name) {
        let wrong = format!("slot names that start with `{name}` are not identifiers (PROP-3)");
        ctxt.error("T053", word, wrong, "start with a letter or `_`, then use letters, digits and `_`");
    }
}

/// Reports `#[property("Name")]` on a key field, which is stored as a property only with `also`. The attribute is
/// allowed if an index stores copies whose keys do not contain the field: these copies store the field under that
/// name.
fn name_of_key_field(ctxt: &Ctxt, entity: &Entity<'_>) {
    let of_key = |field: &Field<'_>| field.property.is_none() && field.attrs.rest.is_none();
    for (at, field) in entity.fields.iter().enumerate().filter(|(_, field)| of_key(field)) {
        let wrong = format!("`{}` is part of the key and is not stored as a property", field.ident);
        let help = "remove `#[property(…)]`, since the value is read from the key; or also store it as a property: \
                    `#[property(\"Name\", also)]`";
        let is_in_copies = entity.indexes.iter().any(|index| index.stores_key_field(entity, at));
        if let Some(name) = &field.attrs.name {
            if !is_in_copies {
                ctxt.error("T056", name, wrong, help);
            }
        } else if let Some(word) = field.attrs.json.as_ref().or(field.attrs.chunks.as_ref()) {
            ctxt.error("T056", word, wrong, help);
        }
    }
}

/// Reports `also` on a field outside the key.
fn also_of_no_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let broken =
        [&entity.partition_key, &entity.row_key].iter().any(|key| key.as_ref().is_none_or(|key| key.broken));
    for (at, field) in entity.fields.iter().enumerate() {
        if let Some(also) = field.attrs.also.as_ref().filter(|_| !broken && !entity.key_can_decode(at)) {
            let wrong = format!("`{}` is a property already, because no key contains its value", field.ident);
            ctxt.error("T170", also, wrong, "remove `also`, which is for fields of the key");
        }
    }
}

/// Checks the `rest` field, which collects the remaining properties. At most one such field is allowed. It must be outside the key, and have no property name
/// or codec.
fn rest(ctxt: &Ctxt, entity: &Entity<'_>) {
    let mut first = None;
    for (at, field) in entity.fields.iter().enumerate() {
        let Some(rest) = &field.attrs.rest else { continue };
        let FieldAttrs { name, json, also, chunks, .. } = &field.attrs;
        let in_key = |key: &Key| key.parts().any(|part| part.field == at);
        let indexes = entity.indexes.iter().flat_map(|index| index.keys(entity));
        let own = [&entity.partition_key, &entity.row_key].into_iter().flatten();
        if let Some(first) = first.replace(field.ident) {
            let wrong = format!("`{first}` already collects the remaining properties");
            ctxt.error("T172", rest, wrong, "declare one `rest` field");
        } else if let Some(name) = name {
            let help = "remove the name; each collected property has a name already";
            ctxt.error("T172", name, "a `rest` field cannot have a name", help);
        } else if let Some(word) = [json, also, chunks].into_iter().flatten().next() {
            ctxt.error("T172", word, format!("a `rest` field cannot be `{word}`"), "write `rest` alone");
        } else if own.chain(indexes).any(in_key) {
            let help = "declare a field for that property, and use it in the key";
            ctxt.error("T172", rest, "a `rest` field cannot be part of a key", help);
        }
    }
}

/// Checks that no `chunks` field is JSON or part of a key, and that no index lists a `chunks` or `rest` field in
/// `include(…)`. Such a field is stored as several properties, so only copies of the entire entity can contain it.
fn chunks(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (at, field) in entity.fields.iter().enumerate() {
        let FieldAttrs { json, chunks, rest, .. } = &field.attrs;
        if let (Some(chunks), Some(_)) = (chunks, json) {
            let help = "remove one of them; for JSON of more than 32,768 code units, serialise it yourself into a `String` with `chunks`";
            ctxt.error("T175", chunks, format!("`{}` cannot be both JSON and chunked", field.ident), help);
        }
        let in_key = |key: &Key| key.parts().any(|part| part.field == at);
        let keys = entity.indexes.iter().flat_map(|index| index.keys(entity));
        if let Some(chunks) = chunks.as_ref().filter(|_| keys.into_iter().any(in_key) || entity.key_needs(at))
        {
            let help = "remove `chunks`; a key has at most 512 code units";
            ctxt.error("T175", chunks, format!("`{}` is part of a key", field.ident), help);
        }
        for name in entity.indexes.iter().filter_map(|index| index.attr.include.as_ref()).flatten() {
            if name == field.ident && (chunks.is_some() || rest.is_some()) {
                let wrong =
                    format!("`{name}` is stored as several properties, so it cannot be included by name");
                let help = "remove `include(…)`, which makes each copy include the whole entity; or remove this field from it, and read the entity \
                            when the field is needed";
                ctxt.error("T175", name, wrong, help);
            }
        }
    }
}

/// Returns the fields stored as properties by the entity or by copies in its indexes.
fn stored<'m>(entity: &'m Entity<'_>) -> Vec<(&'m Field<'m>, Cow<'m, Property>)> {
    let fields = entity.fields.iter().enumerate();
    let stored = fields.filter_map(|(at, field)| {
        if let Some(property) = &field.property {
            return Some((field, Cow::Borrowed(property)));
        }
        let is_in_copies = field.attrs.rest.is_none()
            && entity.indexes.iter().any(|index| index.stores_key_field(entity, at));
        is_in_copies.then(|| (field, Cow::Owned(Property::of(field.ident, &field.attrs))))
    });
    stored.collect()
}

/// Reports the names `PartitionKey`, `RowKey` and `Timestamp` (PROP-4), and the reserved marker property of index copies.
fn reserved_name(ctxt: &Ctxt, entity: &Entity<'_>) {
    // Fields with these names are probably the missing keys, which have been reported already.
    if entity.partition_key.is_none() || entity.row_key.is_none() {
        return;
    }
    for (field, property) in &stored(entity) {
        if matches!(property.name.as_str(), "PartitionKey" | "RowKey" | "Timestamp") {
            let wrong = format!("the property name `{}` is reserved (PROP-4)", property.name);
            let help = reserved_help(entity, field, &property.name);
            // The help also removes the field of the ETag, whose type would be another error in the expansion.
            if property.name == "Timestamp" && etag(entity).is_some() {
                ctxt.error_at("T052", property.span, wrong, help);
            } else {
                ctxt.error_and_expand("T052", property.span, wrong, help);
            }
        } else if property.name == UNCLAIMED {
            let wrong = format!(
                "the property name `{UNCLAIMED}` is reserved: it marks copies that a repair is about to delete"
            );
            let help = format!("store `{}` under another name: `#[property(\"Unclaimed\")]`", field.ident);
            ctxt.error_and_expand("T052", property.span, wrong, help);
        }
    }
}

/// Returns the help text for a reserved name. A struct with `timestamp` and `etag` was probably ported from another client, where the service sets these
/// fields.
fn reserved_help(entity: &Entity<'_>, field: &Field<'_>, name: &str) -> String {
    let ident = field.ident;
    if name != "Timestamp" {
        return format!("store `{ident}` under another name: `#[property(\"Own{name}\")]`");
    }
    let fields =
        etag(entity).map_or_else(|| format!("`{ident}`"), |etag| format!("`{ident}` and `{}`", etag.ident));
    format!(
        "remove {fields}: the store sets the Timestamp and the ETag of each entity, and reads return both in `Versioned`; for a time of your own, \
         write `#[property(\"Own{name}\")]` above `{ident}`"
    )
}

/// Returns the field of the version of a struct that was probably ported from another client.
fn etag<'e>(entity: &'e Entity<'e>) -> Option<&'e Field<'e>> {
    entity.fields.iter().find(|field| ["etag", "e_tag"].iter().any(|name| field.ident == name))
}

/// Checks that the kind (the value of `EntityType`) is not empty, and that no field is stored as `EntityType` (PAT-HET-1).
fn kind(ctxt: &Ctxt, entity: &Entity<'_>) {
    let Some(kind) = &entity.kind else { return };
    if kind.value().is_empty() {
        ctxt.error("T057", kind, "this kind is empty", "name the type: `#[entity(kind = \"Employee\")]`");
    }
    for (field, property) in entity.properties().filter(|(_, property)| property.name == "EntityType") {
        let wrong =
            format!("`{}` is stored as `EntityType`, which holds the kind of the entity", field.ident);
        ctxt.error_and_expand(
            "T057",
            property.span,
            wrong,
            "store it under another name: `#[property(\"Name\")]`",
        );
    }
}

/// Reports property names that are not identifiers of at most 255 code units (PROP-2, PROP-3).
fn illegal_name(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (_, property) in &stored(entity) {
        if !is_identifier(&property.name) {
            let wrong = format!("the property name `{}` is not an identifier (PROP-3)", property.name);
            let mut help = "start with a letter or `_`, then use letters, digits and `_`".to_owned();
            if let Some(name) = identifier(&property.name) {
                help = format!("{help}: `#[property({name:?})]`");
            }
            ctxt.error_at("T053", property.span, wrong, help);
        } else if let Some(longest) = property.names().last().filter(|it| utf16(it) > LONGEST_NAME) {
            let most = LONGEST_NAME - (utf16(&longest) - utf16(&property.name));
            let of_chunks =
                if property.chunks { ", because a number follows it in the names of its chunks" } else { "" };
            ctxt.error_at(
                "T053",
                property.span,
                "this property name is too long (PROP-2)",
                format!("use at most {most} UTF-16 code units{of_chunks}"),
            );
        }
    }
}

/// Returns the length of a text in UTF-16 code units.
fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns `true` if every store accepts a name's characters (PROP-3). Unlike Rust's identifier parser, stores reject `r#`, spaces and comments.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first == '_' || unicode_ident::is_xid_start(first))
        && characters.all(unicode_ident::is_xid_continue)
}

/// Converts a name to an identifier: removes `r#` and surrounding spaces, and replaces each character that an identifier cannot contain with `_`. Returns
/// `None` if the result is still not an identifier.
fn identifier(name: &str) -> Option<String> {
    let name = name.trim();
    let name = name.strip_prefix("r#").unwrap_or(name);
    let name = name.replace(|character: char| !character.is_alphanumeric(), "_");
    is_identifier(&name).then_some(name)
}

/// Reports two fields stored under the same name (PROP-6).
fn name_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    let properties = stored(entity);
    for (at, (field, property)) in properties.iter().enumerate() {
        let own: Vec<String> = property.names().collect();
        let earlier = properties.iter().take(at);
        let mut earlier = earlier.flat_map(|(first, earlier)| earlier.names().map(move |name| (first, name)));
        if let Some((first, name)) = earlier.find(|(_, name)| own.contains(name)) {
            let wrong = format!("`{}` and `{}` are both stored as `{name}`", first.ident, field.ident);
            ctxt.error_and_expand(
                "T054",
                property.span,
                wrong,
                "give one of them another name: `#[property(\"Name\")]`",
            );
        }
    }
}

/// Reports an entity or an index copy with more than 252 properties (ENT-2). An entity's kind counts as a property.
fn too_many(ctxt: &Ctxt, entity: &Entity<'_>) {
    let most = MOST - usize::from(entity.kind.is_some());
    let count = entity.properties().count();
    if let Some((field, _)) = entity.properties().nth(most) {
        let kind = if entity.kind.is_some() { " next to its kind" } else { "" };
        let wrong =
            format!("this is property {} of {count}; an entity has at most {most}{kind} (ENT-2)", most + 1);
        let help = "split the struct into several entities of one partition (PAT-WIDE), or store a part as JSON: `#[property(json)]`";
        ctxt.error_and_expand("T055", field.ident.span(), wrong, help);
        return;
    }
    for index in entity.indexes.iter().filter(|index| !index.attr.list && !index.is_broken(entity)) {
        let stored = index.stored(entity);
        let count = stored.iter().filter(|(.., stored)| !matches!(stored, Stored::Rest)).count();
        if count > MOST {
            let name = &index.attr.name;
            let wrong =
                format!("each copy in `{name}` has {count} properties; a row has at most {MOST} (ENT-2)");
            let help = "copy fewer fields with `include(…)`: a copy also stores the key of its entity";
            ctxt.error_and_expand("T055", name.span(), wrong, help);
        }
    }
}
