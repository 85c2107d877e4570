//! Rules of the properties.

use std::borrow::Cow;

use syn::LitStr;
use syn::ext::IdentExt;
use syn::parse::Parser;

use crate::attr::field::FieldAttrs;
use crate::ctxt::Ctxt;
use crate::model::key::Key;
use crate::model::property::Property;
use crate::model::{Entity, Field};

/// Custom properties of one entity (ENT-2).
const MOST: usize = 252;
/// UTF-16 code units of a name (PROP-2).
const LONGEST_NAME: usize = 255;

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    check_names(ctxt, entity);
    name_twice(ctxt, entity);
    too_many(ctxt, entity);
}

/// The rules of each name by itself.
pub(super) fn check_names(ctxt: &Ctxt, entity: &Entity<'_>) {
    name_of_key_field(ctxt, entity);
    also_of_no_key(ctxt, entity);
    rest(ctxt, entity);
    chunks(ctxt, entity);
    reserved_name(ctxt, entity);
    kind(ctxt, entity);
    illegal_name(ctxt, entity);
}

/// The word that names of slots begin with makes identifiers (PROP-3).
pub(super) fn slot_name(ctxt: &Ctxt, word: &LitStr) {
    let name = word.value();
    if syn::Ident::parse_any.parse_str(&name).is_err() {
        let wrong = format!("names of slots that begin with `{name}` are not identifiers (PROP-3)");
        ctxt.error("T053", word, wrong, "a letter or `_`, then letters, digits and `_`");
    }
}

/// A field that is read back from the key is not stored again, so it has no property unless `also` says so; a copy under another key may
/// store it as its text, under this name.
fn name_of_key_field(ctxt: &Ctxt, entity: &Entity<'_>) {
    let of_key = |field: &Field<'_>| field.property.is_none() && field.attrs.rest.is_none();
    for (at, field) in entity.fields.iter().enumerate().filter(|(_, field)| of_key(field)) {
        let wrong = format!("`{}` is part of the key and is not stored as a property", field.ident);
        let help = "remove `#[property(…)]`: the value is read back from the key; or store it as a property, too, and have both kept equal: \
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

/// `also` is for fields that the key gives: all others are properties.
fn also_of_no_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let broken =
        [&entity.partition_key, &entity.row_key].iter().any(|key| key.as_ref().is_none_or(|key| key.broken));
    for (at, field) in entity.fields.iter().enumerate() {
        if let Some(also) = field.attrs.also.as_ref().filter(|_| !broken && !entity.key_gives(at)) {
            let wrong = format!("`{}` is a property already: no key gives it back", field.ident);
            ctxt.error("T170", also, wrong, "remove `also`, which is for a field of the key");
        }
    }
}

/// One field holds the rest; it has no name, no form and no place in a key.
fn rest(ctxt: &Ctxt, entity: &Entity<'_>) {
    let mut first = None;
    for (at, field) in entity.fields.iter().enumerate() {
        let Some(rest) = &field.attrs.rest else { continue };
        let FieldAttrs { name, json, also, chunks, .. } = &field.attrs;
        let in_key = |key: &Key| key.parts().any(|part| part.field == at);
        let indexes = entity.indexes.iter().flat_map(|index| index.keys(entity));
        let own = [&entity.partition_key, &entity.row_key].into_iter().flatten();
        if let Some(first) = first.replace(field.ident) {
            let wrong = format!("`{first}` holds the rest already");
            ctxt.error("T172", rest, wrong, "one field holds all properties that no other one is stored as");
        } else if let Some(name) = name {
            let help = "remove the name: each property of the rest has its own";
            ctxt.error("T172", name, "the rest cannot have a name", help);
        } else if let Some(word) = [json, also, chunks].into_iter().flatten().next() {
            ctxt.error("T172", word, format!("the rest is not stored as `{word}`"), "write `rest` alone");
        } else if own.chain(indexes).any(in_key) {
            let help = "name the property: give it a field of its own, and put that into the key";
            ctxt.error("T172", rest, "the rest cannot be part of a key", help);
        }
    }
}

/// Chunks are bytes or text as they are, outside of keys. They and the rest are in copies of the whole entity alone: a projection has
/// no column for them.
fn chunks(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (at, field) in entity.fields.iter().enumerate() {
        let FieldAttrs { json, chunks, rest, .. } = &field.attrs;
        if let (Some(chunks), Some(_)) = (chunks, json) {
            let help = "remove one of them: JSON of more than 32,768 code units is text of one's own making, `String` with `chunks`";
            ctxt.error("T175", chunks, format!("`{}` is stored as JSON or in chunks", field.ident), help);
        }
        let in_key = |key: &Key| key.parts().any(|part| part.field == at);
        let keys = entity.indexes.iter().flat_map(|index| index.keys(entity));
        if let Some(chunks) = chunks.as_ref().filter(|_| keys.into_iter().any(in_key) || entity.key_needs(at))
        {
            let help = "remove `chunks`: a key has at most 512 code units";
            ctxt.error("T175", chunks, format!("`{}` is part of a key", field.ident), help);
        }
        for name in entity.indexes.iter().filter_map(|index| index.attr.keep.as_ref()).flatten() {
            if name == field.ident && (chunks.is_some() || rest.is_some()) {
                let wrong = format!("`{name}` is stored as several properties and cannot be kept by name");
                let help = "remove `keep(…)`, so that each copy is of the whole entity; or remove this field from it, and read the entity \
                            where the field is needed";
                ctxt.error("T175", name, wrong, help);
            }
        }
    }
}

/// The fields that are stored as properties, by the entity or by the copies of an index.
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

/// `PartitionKey`, `RowKey` and `Timestamp` have places of their own (PROP-4).
fn reserved_name(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (field, property) in &stored(entity) {
        if matches!(property.name.as_str(), "PartitionKey" | "RowKey" | "Timestamp") {
            let wrong = format!("the property name `{}` is reserved (PROP-4)", property.name);
            let help = format!("store `{}` under another name: `#[property(\"Name\")]`", field.ident);
            ctxt.error_beside("T052", property.span, wrong, help);
        }
    }
}

/// The kind says something, and `EntityType` is its place (PAT-HET-1).
fn kind(ctxt: &Ctxt, entity: &Entity<'_>) {
    let Some(kind) = &entity.kind else { return };
    if kind.value().is_empty() {
        ctxt.error("T057", kind, "this kind is empty", "name the type: `#[entity(kind = \"Employee\")]`");
    }
    for (field, property) in entity.properties().filter(|(_, property)| property.name == "EntityType") {
        let wrong =
            format!("`{}` is stored as `EntityType`, which holds the kind of the entity", field.ident);
        ctxt.error_beside(
            "T057",
            property.span,
            wrong,
            "store it under another name: `#[property(\"Name\")]`",
        );
    }
}

/// A name is an identifier of at most 255 code units (PROP-2, PROP-3).
fn illegal_name(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (_, property) in &stored(entity) {
        if syn::Ident::parse_any.parse_str(&property.name).is_err() {
            let wrong = format!("the property name `{}` is not an identifier (PROP-3)", property.name);
            ctxt.error_at("T053", property.span, wrong, "a letter or `_`, then letters, digits and `_`");
        } else if property.name.encode_utf16().count() > LONGEST_NAME {
            ctxt.error_at(
                "T053",
                property.span,
                "this property name is too long (PROP-2)",
                "at most 255 UTF-16 code units",
            );
        }
    }
}

/// Two fields are stored under two names (PROP-6).
fn name_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    let properties = stored(entity);
    for (at, (field, property)) in properties.iter().enumerate() {
        let own: Vec<String> = property.names().collect();
        let earlier = properties.iter().take(at);
        let mut earlier = earlier.flat_map(|(first, earlier)| earlier.names().map(move |name| (first, name)));
        if let Some((first, name)) = earlier.find(|(_, name)| own.contains(name)) {
            let wrong = format!("`{}` and `{}` are both stored as `{name}`", first.ident, field.ident);
            ctxt.error_beside(
                "T054",
                property.span,
                wrong,
                "give one of them another name: `#[property(\"Name\")]`",
            );
        }
    }
}

/// An entity has at most 252 properties (ENT-2).
fn too_many(ctxt: &Ctxt, entity: &Entity<'_>) {
    let most = MOST - usize::from(entity.kind.is_some());
    let count = entity.properties().count();
    if let Some((field, _)) = entity.properties().nth(most) {
        let wrong = format!("this is property 253 of {count}; an entity has at most {MOST} (ENT-2)");
        let help = "split the struct into several entities of one partition (PAT-WIDE), or store a part as JSON: `#[property(json)]`";
        ctxt.error_beside("T055", field.ident.span(), wrong, help);
    }
}
