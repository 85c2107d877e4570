//! Arguments for functions that select rows. They are values, ranges of values, or prefixes.

use std::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use table_store::Result;

use crate::key::codec::TextCodec;

/// An argument for a key part of type `T`. It is a `T`, a `&T`, or a `&str` if `T` is `String`.
///
/// ```
/// use table_core::selection::KeyArg;
///
/// fn length(department: impl KeyArg<String>) -> usize {
///     department.with(String::len)
/// }
/// assert_eq!((length("Sales"), length("Sales".to_owned())), (5, 5));
/// ```
#[diagnostic::on_unimplemented(
    message = "[T080] `{Self}` is not a value of this key part",
    label = "expected a `{T}` or `&{T}`",
    note = "arguments are in the order of the key's parts, each of the type of its field; a `&str` is accepted for a `String`",
    note = "an integer of another type is converted, `{T}::try_from(number)?`, a text is parsed, `text.parse::<{T}>()?`, and a number becomes a \
            `String` by `number.to_string()`"
)]
pub trait KeyArg<T> {
    /// Passes the value to `read`, and returns the result.
    fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R;
}

#[diagnostic::do_not_recommend]
impl<T> KeyArg<T> for T {
    fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T> KeyArg<T> for &T {
    fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        read(self)
    }
}

#[diagnostic::do_not_recommend]
impl KeyArg<String> for &str {
    fn with<R>(&self, read: impl FnOnce(&String) -> R) -> R {
        read(&(*self).to_owned())
    }
}

/// A range of values of type `T`. It is any range expression with [`KeyArg`]s, or a pair of [`Bound`]s.
///
/// ```
/// use std::ops::Bound;
/// use table_core::selection::KeyBounds;
///
/// fn count(range: impl KeyBounds<u32>) -> u32 {
///     range.with(|lower, upper| match (lower, upper) {
///         (Bound::Included(lower), Bound::Included(upper)) => upper - lower + 1,
///         _ => 0,
///     })
/// }
/// assert_eq!(count(100..=199), 100);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T081] `{Self}` is not a range of this key part",
    label = "write a range of `{T}`, such as `value..=value`, `first..=last`, `first..` or `..`",
    note = "for a single value of a part that is not the last one, use the method that ends in `_is`",
    note = "for the texts that start with a prefix, use the method that ends in `_prefix`"
)]
pub trait KeyBounds<T> {
    /// Passes the bounds to `read`, and returns the result.
    fn with<R>(&self, read: impl FnOnce(Bound<&T>, Bound<&T>) -> R) -> R;
}

fn lend<T, A: KeyArg<T>, R>(bound: Bound<&A>, read: impl FnOnce(Bound<&T>) -> R) -> R {
    match bound {
        Bound::Included(value) => value.with(|value| read(Bound::Included(value))),
        Bound::Excluded(value) => value.with(|value| read(Bound::Excluded(value))),
        Bound::Unbounded => read(Bound::Unbounded),
    }
}

fn lend_both<T, A: KeyArg<T>, R>(
    lower: Bound<&A>,
    upper: Bound<&A>,
    read: impl FnOnce(Bound<&T>, Bound<&T>) -> R,
) -> R {
    lend(lower, |lower| lend(upper, |upper| read(lower, upper)))
}

macro_rules! ranges {
    ($($range:ident, $this:ident => $lower:expr, $upper:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, A: KeyArg<T>> KeyBounds<T> for $range<A> {
            fn with<R>(&self, read: impl FnOnce(Bound<&T>, Bound<&T>) -> R) -> R {
                let $this = self;
                lend_both($lower, $upper, read)
            }
        }
    )*};
}

ranges! {
    Range, range => Bound::Included(&range.start), Bound::Excluded(&range.end);
    RangeInclusive, range => Bound::Included(range.start()), Bound::Included(range.end());
    RangeFrom, range => Bound::Included(&range.start), Bound::Unbounded;
    RangeTo, range => Bound::Unbounded, Bound::Excluded(&range.end);
    RangeToInclusive, range => Bound::Unbounded, Bound::Included(&range.end);
}

#[diagnostic::do_not_recommend]
impl<T> KeyBounds<T> for RangeFull {
    fn with<R>(&self, read: impl FnOnce(Bound<&T>, Bound<&T>) -> R) -> R {
        read(Bound::Unbounded, Bound::Unbounded)
    }
}

#[diagnostic::do_not_recommend]
impl<T, A: KeyArg<T>> KeyBounds<T> for (Bound<A>, Bound<A>) {
    fn with<R>(&self, read: impl FnOnce(Bound<&T>, Bound<&T>) -> R) -> R {
        lend_both(self.0.as_ref(), self.1.as_ref(), read)
    }
}

/// A marker for key parts that support ranges. `Ordered<true>` is implemented for all types, and `Ordered<false>` for none.
///
/// A range of values is a key range only if the encoded values sort like the values themselves (law K3 of [`codec`](crate::key::codec)). A range of a part
/// whose codec violates this law does not compile.
///
/// ```
/// use table_core::selection::Ordered;
///
/// /// Describes a range over a key part. Compiles only for ordered parts.
/// fn range<const ORDERED: bool>() -> &'static str
/// where
///     (): Ordered<ORDERED>,
/// {
///     "of values"
/// }
/// assert_eq!(range::<true>(), "of values"); // `range::<false>()` does not compile: T082
/// ```
#[diagnostic::on_unimplemented(
    message = "[T082] this key part does not support range queries",
    label = "its keys do not sort like its values",
    note = "the codec is not ordered (`unpadded`, `bucket`, an enum whose names do not ascend), or a text of variable length precedes another part without a separator that sorts before all its characters",
    note = "select one value with the method that ends in `_is`, or read the rows and filter them"
)]
pub trait Ordered<const ORDERED: bool> {}

#[diagnostic::do_not_recommend]
impl<R> Ordered<true> for R {}

/// A marker for key parts that can be selected without the parts after them. `SelfDelimiting<true>` is implemented for all types, and `SelfDelimiting<false>`
/// for none.
///
/// Some parts can be decoded only from the end of the key. A value of such a part may also be a prefix of longer values. No key range then contains exactly the
/// rows with one value or prefix.
///
/// ```
/// use table_core::selection::SelfDelimiting;
///
/// /// Describes the rows with one value of a part. They are one range if the part is self-delimiting.
/// fn rows_of<const ENDS: bool>() -> &'static str
/// where
///     (): SelfDelimiting<ENDS>,
/// {
///     "one range"
/// }
/// assert_eq!(rows_of::<true>(), "one range"); // `rows_of::<false>()` does not compile: T094
/// ```
#[diagnostic::on_unimplemented(
    message = "[T094] this key part cannot be selected without the parts after it",
    label = "its end can only be found by reading the key from the end",
    note = "keys that start with 'a_' belong to 'a' and to 'a_b', so a range would contain both",
    note = "give the whole key, or make the part self-delimiting: `without('_', field)` before \"_\", or `escaped(field)` before \"!\""
)]
pub trait SelfDelimiting<const ENDS: bool> {}

#[diagnostic::do_not_recommend]
impl<R> SelfDelimiting<true> for R {}

/// A prefix of a string in a key. It is any value that can be borrowed as a `str`. The part must have type `String` and a codec `C` that encodes each character
/// separately.
///
/// ```
/// use table_core::key::codec::Text;
/// use table_core::selection::KeyPrefix;
///
/// let mut key = "name_".to_owned();
/// KeyPrefix::<String, Text>::encode(&"Jo", &mut key)?;
/// assert_eq!(key, "name_Jo"); // the prefix of the keys of Jones and Johnson
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T083] `{Self}` is not a prefix of this key part",
    label = "only a `String` written as text has prefixes; this part is a `{T}`",
    note = "for a range of values use the method named after the field"
)]
pub trait KeyPrefix<T, C> {
    /// Appends the encoded prefix shared by all matching keys.
    ///
    /// # Errors
    /// `KeyEncoding` if the codec rejects a character in the prefix.
    fn encode(&self, out: &mut String) -> Result<()>;
}

impl<C: TextCodec, P: AsRef<str>> KeyPrefix<String, C> for P {
    fn encode(&self, out: &mut String) -> Result<()> {
        C::encode_str(self.as_ref(), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds<T: Clone>(range: &impl KeyBounds<T>) -> (Bound<T>, Bound<T>) {
        range.with(|lower, upper| (lower.cloned(), upper.cloned()))
    }

    #[test]
    fn every_range_expression_gives_its_bounds() {
        use Bound::{Excluded, Included, Unbounded};
        assert_eq!(bounds::<u32>(&(1..3)), (Included(1), Excluded(3)));
        assert_eq!(bounds::<u32>(&(1..=3)), (Included(1), Included(3)));
        assert_eq!(bounds::<u32>(&(1..)), (Included(1), Unbounded));
        assert_eq!(bounds::<u32>(&(..3)), (Unbounded, Excluded(3)));
        assert_eq!(bounds::<u32>(&(..=3)), (Unbounded, Included(3)));
        assert_eq!(bounds::<u32>(&(..)), (Unbounded, Unbounded));
        assert_eq!(bounds::<u32>(&(Excluded(1), Unbounded)), (Excluded(1), Unbounded));
        assert_eq!(bounds::<String>(&("a".."b")), (Included("a".to_owned()), Excluded("b".to_owned())));
    }
}
