//! Splits keys into literals and parts.

use crate::infer::part::Codec;

/// The separators at which keys are split, in order of preference. Longer and rarer separators come first.
const SEPARATORS: [&str; 14] = ["___", "__", "|", "!", "~", "^", "_", ":", "@", "+", ".", "-", " ", ","];
/// The maximum number of parts into which one separator splits a key.
const PARTS: usize = 6;

/// A piece of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text shared by all keys.
    Literal(String),
    /// A part that differs between rows.
    Part {
        /// The name of the field.
        field: String,
        /// The codec that encodes the part.
        codec: Codec,
        /// The encoded value in each row, in row order.
        texts: Vec<String>,
        /// `true` if the field is also stored as a property.
        is_property: bool,
    },
}

/// Returns the pieces that are parts, not literals.
pub(super) fn parts_mut(pieces: &mut [Piece]) -> impl Iterator<Item = &mut Piece> {
    pieces.iter_mut().filter(|piece| matches!(piece, Piece::Part { .. }))
}

fn part(codec: Codec, texts: &[&str]) -> Piece {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    Piece::Part { field: String::new(), codec, texts, is_property: false }
}

/// Splits the keys of several rows into pieces.
pub(super) fn pieces(keys: &[&str]) -> Vec<Piece> {
    let mut pieces = cut(keys);
    end_texts(&mut pieces);
    pieces
}

/// Changes the codec of each text part that never contains the first character of the next literal. The new codec excludes this character.
fn end_texts(pieces: &mut [Piece]) {
    for at in 1..pieces.len() {
        let (front, behind) = pieces.split_at_mut(at);
        if let (Some(Piece::Part { codec, texts, .. }), Some(Piece::Literal(literal))) =
            (front.last_mut(), behind.first())
            && *codec == Codec::Text
            && let Some(end) = literal.chars().next()
            && texts.iter().all(|text| !text.contains(end))
        {
            *codec = Codec::Without(end);
        }
    }
}

fn cut(keys: &[&str]) -> Vec<Piece> {
    let Some(first) = keys.first() else { return Vec::new() };
    if keys.len() > 1 && keys.iter().all(|key| key == first) {
        return vec![Piece::Literal((*first).to_owned())];
    }
    if let Some(codec) = Codec::of(keys) {
        return vec![part(codec, keys)];
    }
    let prefix = common_prefix(keys);
    if !prefix.is_empty() {
        let rest: Vec<&str> = keys.iter().map(|key| key.get(prefix.len()..).unwrap_or_default()).collect();
        let mut pieces = vec![Piece::Literal(prefix.to_owned())];
        join(&mut pieces, cut(&rest));
        return pieces;
    }
    if let Some((front, separator, guids)) = before_guid(keys) {
        return [cut(&front), vec![Piece::Literal(separator)], vec![part(Codec::Guid, &guids)]].concat();
    }
    for separator in SEPARATORS {
        let count = first.matches(separator).count();
        if (1..PARTS).contains(&count) && keys.iter().all(|key| key.matches(separator).count() == count) {
            return split(keys, separator, count);
        }
    }
    vec![part(Codec::Text, keys)]
}

/// Appends pieces and joins adjacent literals.
fn join(pieces: &mut Vec<Piece>, more: Vec<Piece>) {
    for piece in more {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Literal(before)), Piece::Literal(text)) => before.push_str(&text),
            (_, Piece::Literal(text)) if text.is_empty() => {}
            (_, piece) => pieces.push(piece),
        }
    }
}

fn split(keys: &[&str], separator: &str, count: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for at in 0..=count {
        let column: Vec<&str> =
            keys.iter().map(|key| key.split(separator).nth(at).unwrap_or_default()).collect();
        let columns = cut(&column);
        join(&mut pieces, columns);
        if at < count {
            join(&mut pieces, vec![Piece::Literal(separator.to_owned())]);
        }
    }
    pieces
}

/// Returns the common prefix of the keys, up to a suitable end.
///
/// If the keys differ only in a number at their end, the prefix ends before this number. Otherwise, it ends at its last separator.
fn common_prefix<'a>(keys: &[&'a str]) -> &'a str {
    let Some(first) = keys.first() else { return "" };
    let mut prefix = *first;
    for key in keys {
        let same = prefix.char_indices().zip(key.chars()).take_while(|((_, a), b)| a == b);
        let end = same.last().map_or(0, |((at, character), _)| at + character.len_utf8());
        prefix = prefix.get(..end).unwrap_or_default();
    }
    let digits = prefix.trim_end_matches(|last: char| last.is_ascii_digit());
    let rest = |key: &&str| key.get(digits.len()..).unwrap_or_default().to_owned();
    let rests: Vec<String> = keys.iter().map(rest).collect();
    let is_number = |rest: &String| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    if rests.iter().all(is_number) {
        return digits;
    }
    digits.trim_end_matches(|last: char| last.is_alphanumeric())
}

/// Splits off the GUID at the end of each key. Otherwise, its hyphens would be treated as separators.
///
/// Returns `None` unless every key ends in the same separator and a GUID.
fn before_guid<'a>(keys: &[&'a str]) -> Option<(Vec<&'a str>, String, Vec<&'a str>)> {
    let ends = keys
        .iter()
        .map(|key| key.split_at_checked(key.len().checked_sub(36)?))
        .collect::<Option<Vec<_>>>()?;
    let (fronts, guids): (Vec<&str>, Vec<&str>) = ends.into_iter().unzip();
    if Codec::of(&guids) != Some(Codec::Guid) {
        return None;
    }
    let separator =
        SEPARATORS.into_iter().find(|separator| fronts.iter().all(|front| front.ends_with(separator)))?;
    let fronts = fronts.iter().map(|front| front.strip_suffix(separator)).collect::<Option<_>>()?;
    Some((fronts, separator.to_owned(), guids))
}
