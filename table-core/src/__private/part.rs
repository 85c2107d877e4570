//! The position of a key part, and the encoded bounds of a range of its values.

use std::ops::Bound;

use table_store::{Error, Result};

use crate::key::codec::{DerivedPart, Form, KeyCodec};
use crate::key::order;
use crate::query::TextRange;
use crate::selection::KeyBounds;
use crate::selection::fault::SelectionFault;

use super::property::{Encode, of_field};

/// The position of a part in its key, and the properties of its encoding that affect ranges.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The literal directly after the part, or an empty string.
    pub literal: &'static str,
    /// `true` if the part is the last piece of the key.
    pub end: bool,
    /// `true` if greater values are encoded as smaller strings.
    pub descending: bool,
    /// The form of the encoded part. If a range has only one bound, the form's alphabet determines the missing bound.
    pub form: Form,
    /// `true` if the encoding is lossy. Both bounds of a range are then inclusive. A value inside the range may have the same encoding as an exclusive bound.
    pub cut: bool,
}

/// Returns the position of a part written by the codec `C`.
#[must_use]
pub const fn place<C: KeyCodec<T>, T>(literal: &'static str, end: bool) -> Place {
    Place { literal, end, descending: C::FACTS.descending, form: C::FORM, cut: false }
}

/// Returns the position of a part computed by the [`DerivedPart`] `C`.
#[must_use]
pub const fn derived_place<C: DerivedPart<T>, T>(literal: &'static str, end: bool) -> Place {
    Place { literal, end, descending: false, form: C::FORM, cut: true }
}

/// Returns the range of keys that start with a prefix and whose next part is in a range of values. The compiler checks that encoded parts sort like
/// their values (K3).
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
            Ok::<_, Error>(text)
        };
        Ok::<_, Error>(match bound {
            Bound::Excluded(value) if !place.cut => Bound::Excluded(text(value)?),
            Bound::Included(value) | Bound::Excluded(value) => Bound::Included(text(value)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    let (least, greatest) = range.with(|least, greatest| (text(least), text(greatest)));
    let (least, greatest) = (least?, greatest?);
    let (lower, upper) = if place.descending { (greatest, least) } else { (least, greatest) };
    if let (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) =
        (&lower, &upper)
        && order::compare(from, to).is_gt()
    {
        return Err(Error::of(SelectionFault::Reversed).with_property(field));
    }
    let all = values(begin, place.form);
    Ok(TextRange { lower: lower_bound(lower, all.lower, place), upper: upper_bound(upper, all.upper, place) })
}

/// Returns the range of keys that start with a prefix, followed by a possible first character of the part. The range excludes rows of other kinds with the same
/// prefix if their next character sorts before or after all of these characters.
pub(super) fn values(begin: &str, form: Form) -> TextRange {
    let all = TextRange::prefix(begin);
    let Some((first, last)) = form.alphabet.ends().filter(|_| form.min > 0) else { return all };
    TextRange {
        lower: Bound::Included(format!("{begin}{first}")),
        upper: order::after_prefix(&format!("{begin}{last}")).map_or(all.upper, Bound::Excluded),
    }
}

/// Returns the range of keys that start with a prefix and whose next part starts with the given string.
pub(super) fn prefix(
    mut begin: String,
    field: &'static str,
    encode: impl FnOnce(&mut String) -> Result<()>,
) -> Result<TextRange> {
    of_field(field, encode(&mut begin))?;
    Ok(TextRange::prefix(&begin))
}

/// Returns the lower bound of a key range.
///
/// If the part is the last one of its key, exactly one key matches a value of the part. Otherwise, all keys that start with the value's encoding match it.
fn lower_bound(bound: Bound<String>, all: Bound<String>, place: Place) -> Bound<String> {
    match bound {
        Bound::Excluded(text) if !place.end => {
            order::after_prefix(&text).map_or(Bound::Excluded(text), Bound::Included)
        }
        Bound::Unbounded => all,
        bound => bound,
    }
}

/// Returns the upper bound of a key range, by the same rules as [`lower_bound`].
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
    use crate::key::codec::{Desc, Digits, Signed, Text};
    use table_store::ErrorCode;

    fn of<C: KeyCodec<T>, T>(begin: &str, bounds: &impl KeyBounds<T>) -> TextRange {
        range(begin, "sequence", bounds, C::encode, place::<C, T>("", true)).unwrap()
    }

    #[test]
    fn a_range_whose_start_is_greater_than_its_end_is_refused() {
        fn code<C: KeyCodec<u32>>(start: u32, end: u32) -> Option<ErrorCode> {
            let range = range("", "sequence", &(start..end), C::encode, place::<C, u32>("", true));
            range.err().map(|error| error.code())
        }
        assert_eq!(code::<Digits<4>>(9, 3), Some(ErrorCode::InvalidInput));
        assert_eq!(code::<Desc<Digits<4>>>(9, 3), Some(ErrorCode::InvalidInput));
        assert_eq!((code::<Digits<4>>(3, 3), code::<Desc<Digits<4>>>(3, 9)), (None, None));
    }

    #[test]
    fn a_range_without_an_end_is_closed_by_the_alphabet_of_the_part() {
        // An `Akka.NET` journal contains event rows and a row named `highestSequenceNr`.
        let events = of::<Digits<4>, u32>("", &(2..));
        assert_eq!(events.lower, Bound::Included("0002".to_owned()));
        assert_eq!(events.upper, Bound::Excluded(":".to_owned()));
        let newest = of::<Desc<Digits<4>>, u32>("e_", &(2..));
        assert_eq!(newest.lower, Bound::Included("e_0".to_owned()));
        assert_eq!(newest.upper, Bound::Included("e_9997".to_owned()));
        let all = of::<Digits<4, Signed>, i32>("", &(..));
        assert_eq!(
            (all.lower, all.upper),
            (Bound::Included("-".to_owned()), Bound::Excluded(":".to_owned()))
        );
        // A `Text` value may contain any characters or be empty.
        let texts = of::<Text, String>("a_", &("b"..));
        assert_eq!(texts.upper, Bound::Excluded("a`".to_owned()));
        assert_eq!(of::<Text, String>("", &(..)).upper, Bound::Unbounded);
    }
}
