//! Checks the declarations of keys.

use syn::ext::IdentExt;
use syn::{Ident, LitStr, Type};

use crate::casing::upper_case;
use crate::check::missing;
use crate::codec::Codec;
use crate::ctxt::Ctxt;
use crate::model::Entity;
use crate::model::key::{Key, Piece, illegal, is_reserved};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    missing::check(ctxt, entity, keys(entity));
    for key in keys(entity) {
        empty_key(ctxt, key);
        field_twice(ctxt, key);
        illegal_literal(ctxt, entity, key);
        reserved_literal(ctxt, key);
        empty_literal(ctxt, key);
        nested_bucket(ctxt, key);
    }
    coarse_instant(ctxt, entity);
    codec_without_key(ctxt, entity);
    generated_name_twice(ctxt, entity);
    constant_twice(ctxt, entity);
    shadowing_name(ctxt, entity);
}

/// Returns all keys of the declaration, including those of indexes.
fn keys<'m>(entity: &'m Entity<'_>) -> impl Iterator<Item = &'m Key> {
    let of_indexes = entity.indexes.iter().flat_map(|index| [&index.partition_key, &index.row_key]);
    [&entity.partition_key, &entity.row_key].into_iter().chain(of_indexes).flatten()
}

/// Reports a key without pieces.
fn empty_key(ctxt: &Ctxt, key: &Key) {
    if key.pieces.is_empty() && key.placeholders == 0 {
        ctxt.error("T021", &key.original, "this key is empty", "a constant empty key is written `\"\"`");
    }
}

/// Reports a field that occurs twice in a key. Derived parts, such as buckets, do not count.
fn field_twice(ctxt: &Ctxt, key: &Key) {
    let parts: Vec<_> = key.parts().filter(|part| part.codec.is_decodable()).collect();
    for (at, part) in parts.iter().enumerate() {
        if parts.iter().take(at).any(|earlier| earlier.field == part.field) {
            let help = "remove it here; the first occurrence already decides the order";
            ctxt.error("T023", &part.name, format!("`{}` is in this key twice", part.name), help);
        }
    }
}

/// Reports characters that keys cannot contain: `/`, `\`, `#`, `?` and control characters (KEY-3).
fn illegal_literal(ctxt: &Ctxt, entity: &Entity<'_>, key: &Key) {
    for text in literals(key) {
        if let Some(character) = illegal(&text.value()) {
            let wrong = format!("a key cannot contain {character:?} (KEY-3)");
            let right =
                text.value().replace(|character: char| illegal(&character.to_string()).is_some(), "_");
            let help = match open_text_before(entity, key, text) {
                Some(name) => format!(
                    "put `escaped({name}), \"!\"` in place of `{name}, {:?}`: any text may precede it",
                    text.value()
                ),
                None => format!("write `{right:?}`, or another separator: `-`, `:`, `!` or `|`"),
            };
            ctxt.error("T024", text, wrong, help);
        }
    }
}

/// Reports a literal that starts with U+FFFC. Keys that start with this character are reserved for patterns. A literal later in the key is also reported,
/// because a string before it may be empty (PAT-EC-8).
fn reserved_literal(ctxt: &Ctxt, key: &Key) {
    for text in literals(key).filter(|text| is_reserved(&text.value())) {
        let wrong = "U+FFFC begins the keys of rows that are reserved for patterns (PAT-EC-8)";
        ctxt.error("T024", text, wrong, "begin the literal with another character, such as `_`");
    }
}

/// Returns the field before a separator if it is a string that could contain any separator and is followed by another string.
fn open_text_before<'k>(entity: &Entity<'_>, key: &'k Key, separator: &LitStr) -> Option<&'k Ident> {
    let is_open = |piece: Option<&'k Piece>| match piece {
        Some(Piece::Part(part)) if matches!(*part.codec, Codec::Natural) => {
            let ty = entity.fields.get(part.field)?.ty;
            let is_text = matches!(ty, Type::Path(path) if path.path.is_ident("String"));
            is_text.then_some(&part.name)
        }
        _ => None,
    };
    let is_it = |piece: &Piece| matches!(piece, Piece::Literal(text) if std::ptr::eq(text, separator));
    let at = key.pieces.iter().position(is_it)?;
    is_open(key.pieces.get(at + 1))?;
    is_open(at.checked_sub(1).and_then(|before| key.pieces.get(before)))
}

/// Reports an empty literal, unless it is the only piece of the key (KEY-2).
fn empty_literal(ctxt: &Ctxt, key: &Key) {
    if key.pieces.len() > 1 {
        for text in literals(key).filter(|text| text.value().is_empty()) {
            ctxt.error("T022", text, "this literal is empty", "remove it, or write a separator");
        }
    }
}

/// Reports a derived part, such as a bucket, inside another codec. Nesting is allowed only if the outer codec discards even more of the value.
fn nested_bucket(ctxt: &Ctxt, key: &Key) {
    for part in key.parts() {
        let (mut outer, mut inner) = (&*part.codec, part.codec.inner());
        while let Some(codec) = inner {
            let stays = codec.is_decodable() || outer.accepts_derived() && codec.is_source();
            if !stays {
                let form = codec.form(&part.name.unraw().to_string());
                let around = outer.word().map_or("codec", |outer| outer.name);
                let wrong = format!("`{}` cannot be inside `{around}`", codec.name());
                let help = format!("write `{form}` without a codec around it");
                ctxt.error("T032", &part.name, wrong, help);
                break;
            }
            (outer, inner) = (codec, codec.inner());
        }
    }
}

/// Reports a timestamp that the keys contain both in full and in a coarser unit, such as its day, if the coarser part lacks `truncate`. Without `truncate`, the
/// part rejects every timestamp that is not at the start of its unit. With it, all timestamps in a unit have the same part.
fn coarse_instant(ctxt: &Ctxt, entity: &Entity<'_>) {
    let parts = || [&entity.partition_key, &entity.row_key].into_iter().flatten().flat_map(Key::parts);
    for part in parts().filter(|part| part.codec.is_coarse_time() && entity.is_instant(part.field)) {
        if parts().any(|other| other.field == part.field && other.codec.is_whole_time()) {
            let name = &part.name;
            let word = part.codec.name();
            let wrong = format!(
                "`{word}` writes `{name}` only at the start of this unit of time, but another piece of the keys contains the whole instant"
            );
            let help = if part.codec.reverses_order() {
                format!(
                    "store this unit of `{name}` as a field of its own, such as `day: NaiveDate`, and reverse that field: `desc(day)`"
                )
            } else {
                format!("put `truncate` around it: `truncate({word}({}))`", part.codec.arguments_of(name))
            };
            ctxt.error("T008", name, wrong, help);
        }
    }
}

/// Reports a codec attribute on a field outside all keys.
fn codec_without_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    // A word that has been reported may be meant for a key.
    let broken = !ctxt.is_sound() || entity.partition_key.is_none() || entity.row_key.is_none();
    for (at, field) in entity.fields.iter().enumerate() {
        if let Some((attr, _)) = &field.attrs.codec
            && !broken
            && !keys(entity).any(|key| key.parts().any(|part| part.field == at))
        {
            let wrong = format!("`{}` is not part of a key, so its codec has no effect", field.ident);
            ctxt.error(
                "T025",
                attr,
                wrong,
                "remove the codec, or add the field to `partition_key`, `row_key` or an index",
            );
        }
    }
}

/// Reports two key parts whose generated methods would have the same name.
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
                let wrong = format!("`{name}` is also the name of a method generated for `{other}`");
                let help = "rename the field; `#[property(\"…\")]` keeps its stored name";
                ctxt.error("T033", &part.name, wrong, help);
            }
        }
    }
}

/// Reports two fields whose generated constants would have the same name, such as the columns of `userId` and `userid`.
fn constant_twice(ctxt: &Ctxt, entity: &Entity<'_>) {
    for (at, field) in entity.fields.iter().enumerate() {
        if let Some(other) = entity.same_constant(at) {
            let (name, other) = (field.ident.unraw(), other.ident.unraw());
            let constant = upper_case(&name.to_string());
            let wrong =
                format!("the constant `{constant}` would be generated for both `{other}` and `{name}`");
            let help = "rename the field; `#[property(\"…\")]` keeps its stored name";
            ctxt.error("T033", field.ident, wrong, help);
        }
    }
}

/// Reports a field whose generated constant or method would hide an item that every entity has.
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
            format!("`{ident}::{constant}`, the schema of the entity")
        } else if narrowed.contains(&at) && methods.contains(&name.as_str()) {
            format!("`{name}` of the generated row selection")
        } else {
            continue;
        };
        let help = "rename the field; `#[property(\"…\")]` keeps its stored name";
        ctxt.error("T039", field.ident, format!("the field `{name}` would hide {shadowed}"), help);
    }
}

fn literals(key: &Key) -> impl Iterator<Item = &LitStr> {
    key.pieces.iter().filter_map(|piece| match piece {
        Piece::Literal(text) => Some(text),
        Piece::Part(_) => None,
    })
}
