//! A part of a key: its position, and the texts of a range of its values.

use std::ops::Bound;

use crate::error::Result;
use crate::key::order;
use crate::query::TextRange;
use crate::selection::KeyBounds;

use super::property::{Encode, of_field};

/// Where a part stands in its key.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The literal right after it, or an empty text.
    pub literal: &'static str,
    /// Whether nothing comes after it.
    pub end: bool,
    /// Whether greater values have smaller texts.
    pub descending: bool,
}

/// The keys that begin so and go on with a value in a range. Its order is checked to be kept before this compiles (K3).
pub(super) fn range<T>(
    begin: &str,
    field: &'static str,
    range: &impl KeyBounds<T>,
    encode: Encode<T>,
    place: Place,
) -> Result<TextRange> {
    let text = |bound: Bound<&T>| {
        let text = |value| {
            let mut text = begin.to_owned();
            of_field(field, encode(value, &mut text))?;
            text.push_str(place.literal);
            Ok(text)
        };
        Ok(match bound {
            Bound::Included(value) => Bound::Included(text(value)?),
            Bound::Excluded(value) => Bound::Excluded(text(value)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    let (least, greatest) = range.with(|least, greatest| (text(least), text(greatest)));
    let (least, greatest) = (least?, greatest?);
    let (lower, upper) = if place.descending { (greatest, least) } else { (least, greatest) };
    let all = TextRange::prefix(begin);
    Ok(TextRange { lower: lower_bound(lower, all.lower, place), upper: upper_bound(upper, all.upper, place) })
}

/// The keys that begin so and go on with a prefix of a value.
pub(super) fn prefix(
    mut begin: String,
    field: &'static str,
    encode: impl FnOnce(&mut String) -> Result<()>,
) -> Result<TextRange> {
    of_field(field, encode(&mut begin))?;
    Ok(TextRange::prefix(&begin))
}

/// The lower bound of texts: a value is one text at the key's end, else all texts that begin so.
fn lower_bound(bound: Bound<String>, all: Bound<String>, place: Place) -> Bound<String> {
    match bound {
        Bound::Excluded(text) if !place.end => {
            order::after_prefix(&text).map_or(Bound::Excluded(text), Bound::Included)
        }
        Bound::Unbounded => all,
        bound => bound,
    }
}

/// The upper bound, likewise.
fn upper_bound(bound: Bound<String>, all: Bound<String>, place: Place) -> Bound<String> {
    match bound {
        Bound::Included(text) if !place.end => {
            order::after_prefix(&text).map_or(Bound::Unbounded, Bound::Excluded)
        }
        Bound::Unbounded => all,
        bound => bound,
    }
}
