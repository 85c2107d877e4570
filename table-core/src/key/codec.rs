//! Codecs: a typed value as a piece of a key, with laws that every codec keeps.
//!
//! # Laws
//! For a codec `C` of `T`, all values `a`, `b` that it accepts, and `enc` = [`KeyCodec::encode`]:
//!
//! - **K1** `decode(enc(a)) = a`.
//! - **K2** `enc(a) = enc(b)` only if `a = b`; and so for the whole compound key ([`compound`]).
//! - **K3** if [`Form::ordered`], `enc(a)` and `enc(b)` compare (by UTF-16 code units, ORD-6) as `a` and `b` do; the other
//!   way round if [`KeyCodec::DESCENDING`]. Texts themselves are ordered by UTF-16 code units, as the service orders them.
//! - **K4** `enc(a)` holds only characters of [`Form::alphabet`], all legal in keys (KEY-3), and between [`Form::min`] and
//!   [`Form::max`] of them.
//!
//! A codec refuses a value that it cannot write within its laws; it never cuts, folds or replaces. [`laws`] checks
//! all of this on values that one gives it.
//!
//! | values | codec | text |
//! |---|---|---|
//! | integers | [`Padded`] | all digits of the type, below zero `-` and nine's complement |
//! | | [`Digits`] | as many digits as declared |
//! | | [`Hex`], [`Unpadded`] | hexadecimal digits; as many digits as it has |
//! | instants | [`Ticks`] | 19 digits |
//! | | [`Hour`] | `yyyyMMddHH` |
//! | | [`Unix`] | seconds or milliseconds since 1970 |
//! | days | [`Date`] | `yyyyMMdd` |
//! | instants, days, times | [`Pattern`] | `yyyy-MM-ddTHH:mm` |
//! | texts | [`Text`] | as it is, if it is legal |
//! | | [`Without`] | as it is, if it does not hold the separator |
//! | | [`Escaped`] | any text, in its order |
//! | | [`Caret`], [`Percent`] | any text, with the escapes of others |
//! | `bool`, `char`, `Uuid` | [`Flag`], [`CodePoint`], [`Guid`] | one digit, six, 36 characters |
//! | | [`GuidAs`], [`Ulid`] | a `Uuid` in the other forms of .NET; 26 characters |
//! | fieldless enums | [`Variant`] | the name |
//! | newtypes | [`Newtype`] | as what is inside |
//! | any of fixed width | [`Desc`] | greatest first |
//! | numbers, instants | [`Inverted`] | a number of one's choice less the value |
//!
//! A [`DerivedPart`] says less than its field, which is a property, too:
//!
//! | part | text |
//! |---|---|
//! | [`Bucket`] | a number made of the value, to spread load |
//! | [`Digest`] | digits of a hash |
//! | [`Truncated`] | the hour, the day, the month of an instant |
//! | [`Folded`], [`Replaced`], [`First`] | a text in one case; with one character for another; its beginning |

mod alphabet;
mod bucket;
mod caret;
mod code_point;
pub mod compound;
mod date;
mod decimal;
mod derived;
mod desc;
mod digest;
mod digits;
mod escaped;
mod fault;
mod flag;
mod guid;
mod guid_as;
mod hex;
mod hour;
mod integer;
mod inverted;
pub mod laws;
mod level;
mod lossy;
mod name;
mod natural;
mod newtype;
mod padded;
mod pattern;
mod percent;
mod raw;
#[cfg(test)]
mod tests;
mod ticks;
mod truncated;
mod ulid;
mod unix;
mod unpadded;
mod variant;
mod without;

pub use alphabet::Alphabet;
pub use bucket::{Bucket, Buckets};
pub use caret::Caret;
pub use code_point::CodePoint;
pub use date::Date;
pub use derived::{DerivedPart, PartSource};
pub use desc::Desc;
pub use digest::{Crc32, Digest, Fnv1a, Hasher, Md5, Sha256};
pub use digits::{Digits, digits_fit};
pub use escaped::Escaped;
pub use flag::Flag;
pub use guid::Guid;
pub use guid_as::GuidAs;
pub use hex::Hex;
pub use hour::Hour;
pub use integer::Integer;
pub use inverted::{Counted, Inverted};
pub use level::LevelCodec;
pub use lossy::{First, Folded, Replaced};
pub use newtype::{KeyNewtype, Newtype};
pub use padded::Padded;
pub use pattern::{Moment, Pattern, pattern};
pub use percent::Percent;
pub use raw::Text;
pub use ticks::Ticks;
pub use truncated::{Truncated, Truncates};
pub use ulid::Ulid;
pub use unix::Unix;
pub use unpadded::Unpadded;
pub use variant::{KeyEnum, Variant};
pub use without::Without;

use crate::error::Result;

/// The form of a codec's text: facts for compile-time checks and for planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Fewest UTF-16 code units.
    pub min: usize,
    /// Most UTF-16 code units.
    pub max: usize,
    /// Whether K3 holds.
    pub ordered: bool,
    /// The characters that can occur.
    pub alphabet: Alphabet,
}

impl Form {
    /// A form of one width.
    #[must_use]
    pub const fn fixed(width: usize, ordered: bool, alphabet: Alphabet) -> Self {
        Self { min: width, max: width, ordered, alphabet }
    }

    /// Whether every text has the same length.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        self.min == self.max
    }
}

/// Writes values of `T` as a piece of a key and reads them back. A type without values: it is in types only.
///
/// Implement it for a codec of your own; keep the laws of this module, and test them with [`laws`].
///
/// ```
/// use table_core::key::codec::{Alphabet, Form, KeyCodec, laws};
/// use table_core::{Error, ErrorCode, Result};
///
/// /// Months as letters: January is `a`.
/// enum Month {}
///
/// impl KeyCodec<u8> for Month {
///     const NAME: &'static str = "month";
///     const FORM: Form = Form::fixed(1, true, Alphabet::of("abcdefghijkl"));
///
///     fn encode(value: &u8, out: &mut String) -> Result<()> {
///         let month = (1..=12).contains(value).then(|| char::from(b'a' + value - 1));
///         out.push(month.ok_or_else(|| Error::new(ErrorCode::KeyEncoding, format!("there is no month {value}")))?);
///         Ok(())
///     }
///
///     fn decode(text: &str) -> Result<u8> {
///         (1..=12).zip('a'..='l').find(|(_, letter)| text == letter.to_string()).map(|(month, _)| month).ok_or_else(
///             || Error::new(ErrorCode::EntityMismatch, format!("'{text}' is not a month")),
///         )
///     }
/// }
///
/// assert_eq!(laws::check::<Month, u8>(&[0, 1, 2, 11, 12, 13]), Ok(()));
/// ```
#[diagnostic::on_unimplemented(
    message = "[T030] the key codec `{Self}` does not write a `{T}`",
    label = "this type is not one for that codec",
    note = "`digits`, `hex` and `unpadded` write integers, `escaped`, `without`, `caret` and `percent` a `String`, `guid` a `Uuid`, `hour` and \
            `unix` a `DateTime<Utc>`, `pattern` dates and times, `desc` any part of fixed width"
)]
pub trait KeyCodec<T> {
    /// The word for this codec in schemas and lock files, such as `digits(6)`: once written, never changed.
    const NAME: &'static str;
    /// The form of its text.
    const FORM: Form;
    /// Whether greater values have smaller texts, so that a range of values changes its ends. Without a meaning if the form
    /// is not ordered.
    const DESCENDING: bool = false;
    /// How many values there are, where these are few by the nature of the type (a `bool`, an enum); `None` if they are not.
    /// A partition key that begins with few values is refused (HPK-9).
    const CARDINALITY: Option<usize> = None;
    /// Whether values written one after another are near each other because they are of one time: instants, hours, days. A
    /// partition key of nothing else is refused (PAT-ANTI-1).
    const FOLLOWS_TIME: bool = false;
    /// The mistake in this codec's parameters for this type, such as six digits for a `u8`. `#[derive(Entity)]` and
    /// `#[derive(KeyPart)]` refuse to compile it with this text, at the field.
    const FAULT: Option<&'static str> = None;

    /// Appends the text of a value.
    ///
    /// # Errors
    /// `KeyEncoding` if the value has no text under the laws: too many digits, an illegal character. `out` may then hold
    /// a part of it.
    fn encode(value: &T, out: &mut String) -> Result<()>;

    /// Appends what is hashed of a value: its text, which here is in no key. A text that no key may hold has one as well.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), unless only the characters or the length are at fault.
    fn encode_hashed(value: &T, out: &mut String) -> Result<()> {
        Self::encode(value, out)
    }

    /// Reads a value back from exactly its text.
    ///
    /// # Errors
    /// `EntityMismatch` if the text is not one that `encode` writes.
    fn decode(text: &str) -> Result<T>;

    /// The same over a value that is there, whose memory may be used again. After an error the value is any.
    #[doc(hidden)]
    fn decode_again(text: &str, value: &mut T) -> Result<()> {
        *value = Self::decode(text)?;
        Ok(())
    }
}

/// A codec of texts: it can write a `str` without owning it, and character by character, so that the text of a prefix is a
/// prefix of the text.
///
/// ```
/// use table_core::key::codec::{KeyCodec, Text, TextCodec};
///
/// let (mut whole, mut prefix) = (String::new(), String::new());
/// Text::encode(&"Jones".to_owned(), &mut whole)?;
/// Text::encode_str("Jo", &mut prefix)?;
/// assert!(whole.starts_with(&prefix));
/// # Ok::<(), table_core::Error>(())
/// ```
pub trait TextCodec: KeyCodec<String> {
    /// Appends the text of a `str`.
    ///
    /// # Errors
    /// As [`KeyCodec::encode`].
    fn encode_str(value: &str, out: &mut String) -> Result<()>;
}

/// A fixed-width codec that has a mirror image: [`Desc`] writes values in reverse order with it.
///
/// ```
/// use table_core::key::codec::{Digits, Reversible};
///
/// let (mut earlier, mut later) = (String::new(), String::new());
/// Digits::<4>::encode_reversed(&2024_u16, &mut later)?;
/// Digits::<4>::encode_reversed(&2023_u16, &mut earlier)?;
/// assert_eq!((later.as_str(), earlier.as_str()), ("7975", "7976")); // the later one first
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T031] `desc` cannot reverse what `{Self}` writes",
    label = "only parts of fixed width have a reverse order",
    note = "integers, instants, days, `bool`, `char` and `Uuid` do; a text does not"
)]
pub trait Reversible<T>: KeyCodec<T> {
    /// Appends the text whose order is reversed, of the same form.
    ///
    /// # Errors
    /// As [`KeyCodec::encode`].
    fn encode_reversed(value: &T, out: &mut String) -> Result<()>;

    /// Reads back what [`encode_reversed`](Self::encode_reversed) wrote.
    ///
    /// # Errors
    /// As [`KeyCodec::decode`].
    fn decode_reversed(text: &str) -> Result<T>;
}

/// A type that can be a part of a key: it has a codec that is used where the declaration names none.
///
/// ```
/// use table_core::{Entity, KeyPart};
///
/// #[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
/// #[digits(6)]
/// struct EmployeeId(u32);
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// struct Employee {
///     department: String,
///     id: EmployeeId,
/// }
///
/// let ada = Employee { department: "Sales".into(), id: EmployeeId(223) };
/// assert_eq!(ada.key_of()?.row_key.as_str(), "empid_000223");
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T026] `{Self}` cannot be part of a key",
    label = "no key encoding is known for this type",
    note = "integers, `String`, `bool`, `char`, `Uuid`, `DateTime<Utc>`, `NaiveDate` have one",
    note = "`usize` and `isize` have another width on another machine: take `u64` or `i64`",
    note = "for a newtype or a fieldless enum of your own: `#[derive(KeyPart)]`; a float has no place in a key"
)]
pub trait KeyPart: Sized {
    /// The codec of the type.
    type Codec: KeyCodec<Self>;
}
