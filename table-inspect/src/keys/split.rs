//! Splits keys into parts.

use table_core::schema::{Source, StoredPiece};

use crate::keys::{codec, name_of};

/// A part of a key: its source, its codec and its encoded value.
pub(super) type Cut<'a> = (&'a Source, &'a str, &'a str);

/// Splits a key into its parts. Returns `None` if the key does not match these pieces.
///
/// The pieces of a stored schema are unambiguous, so a key can be split in at most one way.
#[must_use]
pub(super) fn split<'a>(pieces: &'a [StoredPiece], text: &'a str) -> Option<Vec<Cut<'a>>> {
    let Some((first, rest)) = pieces.split_first() else { return text.is_empty().then(Vec::new) };
    match first {
        StoredPiece::Literal(literal) => split(rest, text.strip_prefix(literal.as_str())?),
        StoredPiece::Part { source, codec, form } => {
            let fits = |end: usize| {
                let (part, behind) = text.split_at_checked(end)?;
                let units = part.encode_utf16().count();
                let is_text =
                    (form.min..=form.max).contains(&units) && part.chars().all(|c| form.alphabet.contains(c));
                let mut parts = if is_text { split(rest, behind)? } else { return None };
                parts.insert(0, (source, codec.as_str(), part));
                Some(parts)
            };
            // The longest text is tried first. It usually matches, because the part is at the end of the key or precedes a literal that it cannot contain.
            (0..=text.len()).rev().find_map(fits)
        }
    }
}

/// A segment of a key string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A literal, which is the same in all keys.
    Literal(String),
    /// A key part.
    Part {
        /// The name of the part's field or property.
        name: String,
        /// The part's encoded value.
        text: String,
        /// The human-readable value.
        value: String,
    },
}

/// Returns the segments of a key, in order, or `None` if the key does not match these pieces.
#[must_use]
pub fn segments(pieces: &[StoredPiece], text: &str) -> Option<Vec<Segment>> {
    let mut parts = split(pieces, text)?.into_iter();
    let segment = |piece: &StoredPiece| match piece {
        StoredPiece::Literal(literal) => Some(Segment::Literal(literal.clone())),
        StoredPiece::Part { .. } => parts.next().map(|(source, codec, text)| Segment::Part {
            name: name_of(source).to_owned(),
            text: text.to_owned(),
            value: codec::decode(codec, text),
        }),
    };
    pieces.iter().map(segment).collect()
}

#[cfg(test)]
mod tests {
    use table_core::schema::StoredSchema;

    use super::*;

    fn cut(row_key: &str, text: &str) -> Option<Vec<String>> {
        let schema: StoredSchema =
            format!("schema 1\nentity E\ntable T\nPartitionKey p text 0..512 ordered legal\n{row_key}")
                .parse()
                .unwrap();
        split(&schema.row_key, text)
            .map(|parts| parts.into_iter().map(|(_, _, text)| text.to_owned()).collect())
    }

    #[test]
    fn parts_are_split_by_width_by_literal_and_from_the_right() {
        let review = "RowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\nRowKey \"_\"\nRowKey year digits(4) 4 ordered [0-9]\n";
        assert_eq!(cut(review, "empid_000123_2011"), Some(vec!["000123".into(), "2011".into()]));
        assert_eq!(cut(review, "empid_000123"), None);
        let named =
            "RowKey name text 0..512 ordered legal\nRowKey \"_\"\nRowKey id digits(3) 3 ordered [0-9]\n";
        assert_eq!(cut(named, "a_b_007"), Some(vec!["a_b".into(), "007".into()]));
    }

    #[test]
    fn segments_keep_literals_and_show_values_with_texts() {
        let schema: StoredSchema =
            "schema 1\nentity E\ntable T\nPartitionKey p text 0..512 ordered legal\nRowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\n"
                .parse()
                .unwrap();
        let part = Segment::Part { name: "id".into(), text: "000223".into(), value: "223".into() };
        let found = segments(&schema.row_key, "empid_000223").unwrap();
        assert_eq!(found, [Segment::Literal("empid_".into()), part]);
    }
}
