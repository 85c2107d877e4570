//! Compares the keys of two schemas of an entity type.

use std::collections::BTreeMap;

use crate::key::codec::Form;
use crate::schema::evolution::change::Change;
use crate::schema::evolution::rules::{self, Rule};
use crate::schema::fingerprint::is_derived;
use crate::schema::stored::{Source, StoredPiece, StoredSchema};
use crate::schema::text::name_of;

/// A key part (an encoded field), without the literals before and after it.
#[derive(Clone, Copy)]
struct Part<'a> {
    source: &'a Source,
    /// The number of earlier parts with the same source in the `PartitionKey` and the `RowKey`. Buckets are counted separately.
    nth: usize,
    codec: &'a str,
    form: Form,
}

impl Part<'_> {
    fn is_derived(&self) -> bool {
        is_derived(self.codec)
    }
}

fn parts(key: &[StoredPiece]) -> Vec<Part<'_>> {
    let part = |piece| match piece {
        &StoredPiece::Part { ref source, ref codec, form } => Some(Part { source, nth: 0, codec, form }),
        StoredPiece::Literal(_) => None,
    };
    key.iter().filter_map(part).collect()
}

/// Returns the literals before, between and after the parts of a key.
fn literals(key: &[StoredPiece]) -> Vec<String> {
    let mut texts = vec![String::new()];
    for piece in key {
        match (piece, texts.last_mut()) {
            (StoredPiece::Literal(text), Some(last)) => last.push_str(text),
            _ => texts.push(String::new()),
        }
    }
    texts
}

/// Returns the parts of the `PartitionKey` and the `RowKey`. Parts with the same source are numbered across both keys.
fn key_parts(schema: &StoredSchema) -> [Vec<Part<'_>>; 2] {
    let mut seen = Vec::new();
    let mut keys = keys(schema).map(parts);
    for part in keys.iter_mut().flatten() {
        let this = (part.source, part.is_derived());
        part.nth = seen.iter().filter(|other| **other == this).count();
        seen.push(this);
    }
    keys
}

const KEYS: [&str; 2] = ["PartitionKey", "RowKey"];

fn keys(schema: &StoredSchema) -> [&[StoredPiece]; 2] {
    [&schema.partition_key, &schema.row_key]
}

/// Key fields whose source has changed, but whose position has not. Either their Rust name differs, or only one of the schemas also stores them as a property.
pub(super) struct Renamed<'a>(BTreeMap<&'a Source, &'a Source>);

impl<'a> Renamed<'a> {
    pub(super) fn between(old_schema: &'a StoredSchema, new_schema: &'a StoredSchema) -> Self {
        let (before, after) = (key_parts(old_schema), key_parts(new_schema));
        let stores = |schema: &StoredSchema, name: &String| {
            schema.properties.iter().any(|property| property.name == *name)
        };
        let knows = |keys: &[Vec<Part<'_>>; 2], label| keys.iter().flatten().any(|part| part.source == label);
        let mut names = BTreeMap::new();
        for (old, new) in before.iter().zip(&after) {
            for (old, new) in old.iter().zip(new) {
                let is_text_alike = old.codec == new.codec && old.form == new.form;
                let is_alike = match (old.source, new.source) {
                    (Source::Key(_), Source::Key(_)) => family(*old) == family(*new),
                    (Source::Key(_), Source::Property(name)) => is_text_alike && !stores(old_schema, name),
                    (Source::Property(name), Source::Key(_)) => is_text_alike && !stores(new_schema, name),
                    (Source::Property(_), Source::Property(_)) => false,
                };
                let is_new = !knows(&after, old.source) && !knows(&before, new.source);
                let taken = names.contains_key(old.source) || names.values().any(|name| *name == new.source);
                if is_alike && is_new && !taken {
                    names.insert(old.source, new.source);
                }
            }
        }
        Self(names)
    }

    fn of<'s>(&self, old: &'s Source) -> &'s Source
    where
        'a: 's,
    {
        self.0.get(old).copied().unwrap_or(old)
    }

    /// Returns the pieces of an old key, with the new names of its fields.
    pub(super) fn apply(&self, key: &[StoredPiece]) -> Vec<StoredPiece> {
        let mut key = key.to_vec();
        for piece in &mut key {
            if let StoredPiece::Part { source, .. } = piece
                && let Some(name) = self.0.get(&*source)
            {
                *source = (*name).clone();
            }
        }
        key
    }
}

/// Returns a codec's family. Codecs in the same family write the same values in different formats.
fn family(part: Part<'_>) -> (bool, &str) {
    let mut codec = part.codec;
    while let Some(inner) = codec.strip_prefix("desc(").and_then(|rest| rest.strip_suffix(')')) {
        codec = inner;
    }
    let name = match codec {
        "padded" => "integer",
        "text" | "escaped" => "text",
        _ if codec.starts_with("digits(") => "integer",
        _ if codec.starts_with("without(") => "text",
        _ if codec.starts_with("one_of(") => "one_of",
        _ if is_derived(codec) => "bucket",
        _ => codec,
    };
    (part.is_derived(), name)
}

pub(super) fn changes(
    old: &StoredSchema,
    new: &StoredSchema,
    names: &Renamed<'_>,
    changes: &mut Vec<Change>,
) {
    let (before, after) = (key_parts(old), key_parts(new));
    let known = changes.len();
    for (part, key) in named(&before) {
        let is_left = after.iter().flatten().any(|now| {
            is_same_part(part, now, names)
                || (!part.is_derived() && !now.is_derived() && names.of(part.source) == now.source)
        });
        if !is_left {
            let rule = if part.is_derived() { &rules::BUCKET } else { &rules::PART_REMOVED };
            changes.push(Change::new(rule, format!("{key} loses `{}`", name_of(part.source))));
        }
    }
    for (part, key) in named(&after) {
        if !before.iter().flatten().any(|then| is_same_part(then, part, names)) {
            let is_known = holds(old, part.source);
            let rule = match (is_known, part.is_derived()) {
                (true, true) => &rules::BUCKET,
                (true, false) => &rules::PART_ADDED,
                (false, _) => &rules::PART_UNKNOWN,
            };
            changes.push(Change::new(rule, format!("{key} gains `{}`", name_of(part.source))));
        }
    }
    let in_place = before.iter().zip(&after).all(|(before, after)| {
        before.len() == after.len()
            && before.iter().zip(after).all(|(then, now)| is_same_part(then, now, names))
    });
    if !in_place && changes.len() == known {
        let list = |keys: &[Vec<Part<'_>>; 2]| {
            let sources = |parts: &Vec<Part<'_>>| {
                parts.iter().map(|part| name_of(part.source)).collect::<Vec<_>>().join(", ")
            };
            keys.each_ref().map(sources).join(" | ")
        };
        changes
            .push(Change::new(&rules::MOVED, format!("key ({}) becomes ({})", list(&before), list(&after))));
    }
    for (part, key) in named(&before) {
        if let Some(now) = after.iter().flatten().find(|now| is_same_part(part, now, names))
            && let Some(change) = codec_change(*part, *now, key)
        {
            changes.push(change);
        }
    }
    if in_place {
        for ((key, old), new) in KEYS.into_iter().zip(keys(old)).zip(keys(new)) {
            let (old, new) = (literals(old), literals(new));
            if old != new {
                let what = format!("{key}: literals '{}' become '{}'", old.join("…"), new.join("…"));
                changes.push(Change::new(&rules::LITERAL, what));
            }
        }
    }
}

fn named<'p>(keys: &'p [Vec<Part<'p>>; 2]) -> impl Iterator<Item = (&'p Part<'p>, &'static str)> {
    keys.iter().zip(KEYS).flat_map(|(parts, key)| parts.iter().map(move |part| (part, key)))
}

fn is_same_part(old: &Part<'_>, new: &Part<'_>, names: &Renamed<'_>) -> bool {
    names.of(old.source) == new.source && old.nth == new.nth && old.is_derived() == new.is_derived()
}

/// Returns `true` if old rows contain a field's value, either in the key or in the property named after the field.
fn holds(old: &StoredSchema, source: &Source) -> bool {
    let property = match source {
        Source::Property(name) => name.clone(),
        Source::Key(label) => label.split('_').map(capitalized).collect(),
    };
    let in_key =
        keys(old).into_iter().flat_map(parts).any(|part| part.source == source && !part.is_derived());
    in_key || old.properties.iter().any(|found| found.name == property && !found.optional)
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn codec_change(old: Part<'_>, new: Part<'_>, key: &str) -> Option<Change> {
    let rule = codec_rule(old, new)?;
    let say = |part: Part<'_>| match (part.form.min, part.form.max) {
        (min, max) if min == max => format!("{} of {min}", part.codec),
        (min, max) => format!("{} of {min} to {max}", part.codec),
    };
    let name = name_of(new.source);
    Some(Change::new(rule, format!("{key}, `{name}`: {} becomes {}", say(old), say(new))))
}

fn codec_rule(old: Part<'_>, new: Part<'_>) -> Option<&'static Rule> {
    if old.codec == new.codec && old.form == new.form {
        return None;
    }
    Some(match (family(old), family(new)) {
        (old, new) if old != new => &rules::CODEC,
        ((true, _), _) => &rules::BUCKET,
        _ if accepts_more(old, new) => &rules::ACCEPTS_MORE,
        _ => &rules::CODEC_WIDTH,
    })
}

/// Returns `true` if the new codec decodes every output of the old codec to the same value.
fn accepts_more(old: Part<'_>, new: Part<'_>) -> bool {
    fn variants(codec: &str) -> Option<Vec<&str>> {
        let names = codec.strip_prefix("one_of(")?.strip_suffix(')')?;
        Some(names.split('|').collect())
    }
    // A variant name may contain `|`, which also separates the names. If the old alphabet contains `|`, the new one must contain it too.
    let holds_bars = new.form.alphabet.contains('|') || !old.form.alphabet.contains('|');
    let is_within = new.form.min <= old.form.min && old.form.max <= new.form.max && holds_bars;
    is_within
        && match (variants(old.codec), variants(new.codec)) {
            (Some(old), Some(new)) => old.iter().all(|name| new.contains(name)),
            _ => old.codec.starts_with("without(") && new.codec == "text",
        }
}

/// Returns the rule for a change to an index's key, or `None` if both keys are equal.
pub(super) fn index_rule(old: &[StoredPiece], new: &[StoredPiece]) -> Option<&'static Rule> {
    if old == new {
        return None;
    }
    let (before, after) = (parts(old), parts(new));
    let is_alike = literals(old) == literals(new)
        && before.len() == after.len()
        && before.iter().zip(&after).all(|(then, now)| {
            then.source == now.source
                && codec_rule(*then, *now).is_none_or(|rule| *rule == rules::ACCEPTS_MORE)
        });
    Some(if is_alike { &rules::ACCEPTS_MORE } else { &rules::INDEX_KEY })
}
