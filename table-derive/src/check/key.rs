//! Checks the declarations of keys.

use syn::ext::IdentExt;
use syn::{Attribute, Ident, LitStr, Type};

use crate::attr::foreign::names_key;
use crate::casing::{snake_case, upper_case};
use crate::codec::Codec;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::key::{Key, Piece, illegal};
use crate::model::{Entity, Field};
use crate::symbol::{self, PARTITION_KEY, ROW_KEY, Symbol};

pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    missing_key(ctxt, entity);
    for key in keys(entity) {
        empty_key(ctxt, key);
        field_twice(ctxt, key);
        illegal_literal(ctxt, entity, key);
        empty_literal(ctxt, key);
        nested_bucket(ctxt, key);
    }
    coarse_instant(ctxt, entity);
    codec_without_key(ctxt, entity);
    generated_name_twice(ctxt, entity);
    shadowing_name(ctxt, entity);
}

/// Returns all keys of the declaration, including those of indexes.
fn keys<'m>(entity: &'m Entity<'_>) -> impl Iterator<Item = &'m Key> {
    let of_indexes = entity.indexes.iter().flat_map(|index| [&index.partition_key, &index.row_key]);
    [&entity.partition_key, &entity.row_key].into_iter().chain(of_indexes).flatten()
}

/// Reports a missing `PartitionKey` or `RowKey` (ENT-1).
fn missing_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let used: Vec<usize> = keys(entity).flat_map(Key::parts).map(|part| part.field).collect();
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

/// Reports a key without pieces.
fn empty_key(ctxt: &Ctxt, key: &Key) {
    if key.pieces.is_empty() && key.lost == 0 {
        ctxt.error("T021", &key.original, "this key is empty", "a constant empty key is written `\"\"`");
    }
}

/// Reports a field that occurs twice in a key. A bucket of the field does not count.
fn field_twice(ctxt: &Ctxt, key: &Key) {
    let parts: Vec<_> = key.parts().filter(|part| part.codec.gives_back()).collect();
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

/// Returns the field in front of a separator, if it is a text that could contain every separator and another text follows.
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

/// Reports a derived part, such as a bucket, inside another codec. Nesting is allowed only if the outer codec loses even more of the value.
fn nested_bucket(ctxt: &Ctxt, key: &Key) {
    for part in key.parts() {
        let (mut outer, mut inner) = (&*part.codec, part.codec.inner());
        while let Some(codec) = inner {
            let stays = codec.gives_back() || outer.takes_derived() && codec.is_source();
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

/// Reports an instant that one key contains completely and the other key as a coarser unit, such as its day, without `truncate`. The coarser form refuses an
/// instant that is not at the start of the unit, so almost no entity could be written.
fn coarse_instant(ctxt: &Ctxt, entity: &Entity<'_>) {
    let is_instant = |at: usize| {
        let ty = entity.fields.get(at).map(|field| field.ty);
        matches!(ty, Some(Type::Path(path)) if path.path.segments.last().is_some_and(|last| last.ident == "DateTime"))
    };
    let parts = || [&entity.partition_key, &entity.row_key].into_iter().flatten().flat_map(Key::parts);
    for part in parts().filter(|part| part.codec.is_coarse_time() && is_instant(part.field)) {
        if parts().any(|other| other.field == part.field && other.codec.is_whole_time()) {
            let name = &part.name;
            let word = part.codec.name();
            let wrong = format!(
                "`{word}` writes `{name}` only at the start of this unit of time, but another piece of the keys contains the whole instant"
            );
            let help =
                format!("put `truncate` around it: `truncate({word}({}))`", part.codec.arguments_of(name));
            ctxt.error("T008", name, wrong, help);
        }
    }
}

/// Reports a codec attribute on a field that no key contains.
fn codec_without_key(ctxt: &Ctxt, entity: &Entity<'_>) {
    let broken =
        keys(entity).any(|key| key.broken) || entity.partition_key.is_none() || entity.row_key.is_none();
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
