//! A part of a key: its position, and the texts of a range of its values.

use std::ops::Bound;

use crate::error::Result;
use crate::key::codec::{DerivedPart, Form, KeyCodec};
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
    /// What its texts look like: where a range has no end, their characters are one.
    pub form: Form,
    /// Whether it says less than its value: a range then holds both ends, as values beside an end may have its text.
    pub cut: bool,
}

/// The place of a value that its codec writes.
#[must_use]
pub const fn place<C: KeyCodec<T>, T>(literal: &'static str, end: bool) -> Place {
    Place { literal, end, descending: C::DESCENDING, form: C::FORM, cut: false }
}

/// The place of a part that says less than its value.
#[must_use]
pub const fn derived_place<C: DerivedPart<T>, T>(literal: &'static str, end: bool) -> Place {
    Place { literal, end, descending: false, form: C::FORM, cut: true }
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
            Bound::Excluded(value) if !place.cut => Bound::Excluded(text(value)?),
            Bound::Included(value) | Bound::Excluded(value) => Bound::Included(text(value)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    let (least, greatest) = range.with(|least, greatest| (text(least), text(greatest)));
    let (least, greatest) = (least?, greatest?);
    let (lower, upper) = if place.descending { (greatest, least) } else { (least, greatest) };
    let all = values(begin, place.form);
    Ok(TextRange { lower: lower_bound(lower, all.lower, place), upper: upper_bound(upper, all.upper, place) })
}

/// The keys that begin so and go on with a character that the part can begin with: rows of another kind that share the beginning are
/// left out where the order implies them.
pub(super) fn values(begin: &str, form: Form) -> TextRange {
    let all = TextRange::prefix(begin);
    let Some((first, last)) = form.alphabet.ends().filter(|_| form.min > 0) else { return all };
    TextRange {
        lower: Bound::Included(format!("{begin}{first}")),
        upper: order::after_prefix(&format!("{begin}{last}")).map_or(all.upper, Bound::Excluded),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::codec::{Desc, Digits, Text};

    fn of<C: KeyCodec<T>, T>(begin: &str, bounds: &impl KeyBounds<T>) -> TextRange {
        range(begin, "sequence", bounds, C::encode, place::<C, T>("", true)).unwrap()
    }

    #[test]
    fn a_range_without_an_end_is_closed_by_the_alphabet_of_the_part() {
        // The journal of the actor framework `Akka.NET`: events beside the row `highestSequenceNr`.
        let events = of::<Digits<4>, u32>("", &(2..));
        assert_eq!(events.lower, Bound::Included("0002".to_owned()));
        assert_eq!(events.upper, Bound::Excluded(":".to_owned()));
        let newest = of::<Desc<Digits<4>>, u32>("e_", &(2..));
        assert_eq!(newest.lower, Bound::Included("e_0".to_owned()));
        assert_eq!(newest.upper, Bound::Included("e_9997".to_owned()));
        let all = of::<Digits<4>, i32>("", &(..));
        assert_eq!(
            (all.lower, all.upper),
            (Bound::Included("-".to_owned()), Bound::Excluded(":".to_owned()))
        );
        // A text may hold anything, and be empty.
        let texts = of::<Text, String>("a_", &("b"..));
        assert_eq!(texts.upper, Bound::Excluded("a`".to_owned()));
        assert_eq!(of::<Text, String>("", &(..)).upper, Bound::Unbounded);
    }
}
