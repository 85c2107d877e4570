//! Rules of the keys.

use syn::LitStr;
use syn::ext::IdentExt;

use crate::ctxt::Ctxt;
use crate::model::Entity;
use crate::model::key::{Key, Piece, illegal};
use crate::model::property::upper_case;
use crate::symbol::{PARTITION_KEY, ROW_KEY, Symbol};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    missing_key(ctxt, entity);
    for key in keys(entity) {
        empty_key(ctxt, key);
        field_twice(ctxt, key);
        illegal_literal(ctxt, key);
        empty_literal(ctxt, key);
        nested_bucket(ctxt, key);
    }
    codec_without_key(ctxt, entity);
    generated_name_twice(ctxt, entity);
    shadowing_name(ctxt, entity);
}

/// Every key of the declaration, those of the indexes included.
fn keys<'m>(entity: &'m Entity<'_>) -> impl Iterator<Item = &'m Key> {
    let of_indexes = entity.indexes.iter().flat_map(|index| [&index.partition_key, &index.row_key]);
    [&entity.partition_key, &entity.row_key].into_iter().chain(of_indexes).flatten()
}

/// An entity has a `PartitionKey` and a `RowKey` (ENT-1).
fn missing_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let example =
        entity.fields.first().map_or_else(|| "field".to_owned(), |field| field.ident.unraw().to_string());
    let report = |word: Symbol, what: &str| {
        let help = format!(
            "{what}: `#[{word}({example})]`, or a text and fields: `#[{word}(\"{example}_\", {example})]`"
        );
        ctxt.error(
            "T020",
            &entity.original.ident,
            format!("`{}` has no `{word}`", entity.original.ident),
            help,
        );
    };
    // One that stands on a field is reported there.
    let is_missing = |key: &Option<Key>, word: Symbol| {
        let mut attributes = entity.fields.iter().flat_map(|field| &field.original.attrs);
        key.is_none() && !attributes.any(|attribute| *attribute.path() == word)
    };
    if is_missing(&entity.partition_key, PARTITION_KEY) {
        report(PARTITION_KEY, "say what shares a partition, and so a transaction");
    }
    if is_missing(&entity.row_key, ROW_KEY) {
        report(ROW_KEY, "say what tells entities of a partition apart and sorts them");
    }
}

/// A key has a piece.
fn empty_key(ctxt: &Ctxt, key: &Key) {
    if key.pieces.is_empty() && key.lost == 0 {
        ctxt.error(
            "T021",
            &key.original,
            "this key is empty",
            "a key that is always empty is written `\"\"`",
        );
    }
}

/// A key holds a field once: a second time says nothing new. A bucket of it is another matter.
fn field_twice(ctxt: &Ctxt, key: &Key) {
    let parts: Vec<_> = key.parts().filter(|part| part.codec.gives_back()).collect();
    for (at, part) in parts.iter().enumerate() {
        if parts.iter().take(at).any(|earlier| earlier.field == part.field) {
            let help = "remove it here: the first place already decides the order";
            ctxt.error("T023", &part.name, format!("`{}` is in this key twice", part.name), help);
        }
    }
}

/// A literal holds no `/`, `\`, `#`, `?` or control character (KEY-3).
fn illegal_literal(ctxt: &Ctxt, key: &Key) {
    for text in literals(key) {
        if let Some(character) = illegal(&text.value()) {
            let wrong = format!("{character:?} may not stand in a key (KEY-3)");
            ctxt.error("T024", text, wrong, "separate pieces with `_`, `-`, `:`, `!` or `|`");
        }
    }
}

/// A literal says something, unless it is the whole key (KEY-2).
fn empty_literal(ctxt: &Ctxt, key: &Key) {
    if key.pieces.len() > 1 {
        for text in literals(key).filter(|text| text.value().is_empty()) {
            ctxt.error(
                "T022",
                text,
                "this literal is empty",
                "remove it, or write the separator that belongs here",
            );
        }
    }
}

/// What says less than its value is a whole piece: only what says still less is written around it.
fn nested_bucket(ctxt: &Ctxt, key: &Key) {
    for part in key.parts() {
        let (mut outer, mut inner) = (&part.codec, part.codec.inner());
        while let Some(codec) = inner {
            let stays = codec.gives_back() || outer.takes_derived() && codec.is_derived();
            if let Some(word) = codec.word().filter(|_| !stays) {
                let form = word.form.split('`').next().unwrap_or(word.form);
                let around = outer.word().map_or("codec", |outer| outer.name);
                let wrong = format!("`{}` cannot stand within `{around}`", word.name);
                let help = format!("write `{form}` by itself, without a codec around it");
                ctxt.error("T032", &part.name, wrong, help);
                break;
            }
            (outer, inner) = (codec, codec.inner());
        }
    }
}

/// A codec attribute of a field speaks of keys, so the field is in one.
fn codec_without_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let broken =
        keys(entity).any(|key| key.broken) || entity.partition_key.is_none() || entity.row_key.is_none();
    for (at, field) in entity.fields.iter().enumerate() {
        if let Some((attr, _)) = &field.attrs.codec
            && !broken
            && !keys(entity).any(|key| key.parts().any(|part| part.field == at))
        {
            let wrong = format!("`{}` is in no key, and this says how it is written in keys", field.ident);
            ctxt.error(
                "T025",
                attr,
                wrong,
                "remove it, or put the field into `partition_key`, `row_key` or an index",
            );
        }
    }
}

/// The methods made for the parts of the `RowKey`, for the levels and for the `PartitionKey` have different names.
fn generated_name_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    let narrowed = entity.row_key.iter().map(|key| (key, &["_is", "_prefix"][..]));
    let partitions = entity
        .partition_key
        .iter()
        .map(|key| (key, if key.levels { &["_is", "_prefix"][..] } else { &["_prefix", "_share"] }));
    for (key, suffixes) in narrowed.chain(partitions) {
        let names: Vec<String> = key.parts().map(|part| part.name.unraw().to_string()).collect();
        for (part, name) in key.parts().zip(&names) {
            let made = |other: &&String| suffixes.iter().any(|suffix| *name == format!("{other}{suffix}"));
            if let Some(other) = names.iter().find(made) {
                let wrong = format!("`{name}` is also the name of a method made for `{other}`");
                let help = "rename the field; the stored name is kept by `#[property(\"…\")]`";
                ctxt.error("T033", &part.name, wrong, help);
            }
        }
    }
}

/// A field's constant and methods do not stand before what the traits of every entity have.
fn shadowing_name(ctxt: &Ctxt, entity: &Entity<'_>) {
    let constants = ["SCHEMA", "INDEXES"];
    let methods = ["clone", "into", "ranges"];
    let levels = entity.partition_key.as_ref().filter(|key| key.levels);
    let narrowed: Vec<usize> =
        entity.row_key.iter().chain(levels).flat_map(|key| key.parts().map(|part| part.field)).collect();
    for (at, field) in entity.fields.iter().enumerate() {
        let name = field.ident.unraw().to_string();
        let constant = upper_case(&name);
        let ident = &entity.original.ident;
        let shadowed = if constants.contains(&constant.as_str()) {
            format!("`{ident}::{constant}`, the design of the entity")
        } else if narrowed.contains(&at) && methods.contains(&name.as_str()) {
            format!("`{name}` of the rows that are narrowed by it")
        } else {
            continue;
        };
        let help = "rename the field; a property keeps its stored name by `#[property(\"…\")]`";
        ctxt.error("T039", field.ident, format!("the field `{name}` would hide {shadowed}"), help);
    }
}

fn literals(key: &Key) -> impl Iterator<Item = &LitStr> {
    key.pieces.iter().filter_map(|piece| match piece {
        Piece::Literal(text) => Some(text),
        Piece::Part(_) => None,
    })
}
