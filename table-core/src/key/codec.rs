//! Codecs encode typed values as pieces of a key. Every codec satisfies the laws below.
//!
//! # Laws
//! The laws hold for a codec `C` for `T` and all values `a` and `b` it accepts. `enc` is [`KeyCodec::encode`], and `decode` is [`KeyCodec::decode`].
//!
//! - **K1** `decode(enc(a)) = a`.
//! - **K2** `enc(a) = enc(b)` only if `a = b`. The same holds for whole compound keys ([`compound`]).
//! - **K3** If [`Form::ordered`] is `true`, `enc(a)` and `enc(b)` compare like `a` and `b`, or in reverse if [`Facts::descending`] is `true`. Strings are
//!   compared by UTF-16 code units, as in the service (ORD-6).
//! - **K4** `enc(a)` consists of characters in [`Form::alphabet`], which are all legal in keys (KEY-3). It has [`Form::min`] to [`Form::max`] code units.
//!
//! A codec rejects a value it cannot encode within these laws. It never truncates a value, changes its case or replaces characters. [`laws`] checks the laws
//! for given values.
//!
//! | values | codec | encoding |
//! |---|---|---|
//! | integers | [`Padded`] | as many digits as the type needs; `-` and nine's complement below zero |
//! | | [`Digits`] | as many digits as declared |
//! | | [`Hex`], [`Unpadded`] | hexadecimal digits; digits without leading zeros |
//! | timestamps | [`Ticks`] | 19 digits |
//! | | [`Hour`] | `yyyyMMddHH` |
//! | | [`Unix`] | seconds or milliseconds since 1970 |
//! | days | [`Date`] | `yyyyMMdd` |
//! | weeks | [`Week`] | `yyyy-Www` |
//! | durations | [`Nanoseconds`] | 19 digits |
//! | timestamps, days, times | [`Pattern`] | `yyyy-MM-ddTHH:mm` |
//! | strings | [`Text`] | unchanged, if legal |
//! | | [`Without`] | unchanged, if the separator does not occur |
//! | | [`Escaped`] | any string, in the same order |
//! | | [`Caret`], [`Percent`], [`Bars`] | any string, with escapes used by other programs |
//! | | [`Base64`] | any string, in Base64 |
//! | IP addresses | [`IpAddress`] | with leading zeros: `192.168.000.001` |
//! | `bool`, `char`, `Uuid` | [`Boolean`], [`CodePoint`], [`Guid`] | one digit, six digits, 36 characters |
//! | | [`GuidAs`], [`Ulid`] | a `Uuid` in another .NET format; 26 characters |
//! | fieldless enums | [`Variant`] | the name |
//! | newtypes | [`Newtype`] | like the inner value |
//! | values with a fixed-width codec | [`Desc`] | like the codec, but in descending order |
//! | numbers, timestamps | [`Inverted`] | a constant minus the value |
//!
//! The field of a [`DerivedPart`] cannot be recovered from the key, so it is also stored as a property:
//!
//! | part | encoding |
//! |---|---|
//! | [`Bucket`] | a number computed from the value, to distribute load |
//! | [`Digest`] | digits of a hash |
//! | [`Truncated`] | the hour, day, week or month of a timestamp |
//! | [`Folded`], [`Replaced`], [`First`] | a string in lower or upper case; a string with a character replaced; the first characters of a string |

mod alphabet;
mod bars;
mod base64;
mod boolean;
mod bucket;
mod caret;
mod code_point;
pub mod compound;
mod date;
mod decimal;
mod defaults;
mod derived;
mod desc;
mod digest;
mod digits;
mod escaped;
mod fault;
mod guid;
mod guid_as;
mod hex;
mod hour;
mod integer;
mod inverted;
mod ip_address;
pub mod laws;
mod level;
mod lossy;
mod name;
mod nanoseconds;
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
mod week;
mod without;

pub use self::base64::Base64;
pub use alphabet::Alphabet;
pub use bars::Bars;
pub use boolean::Boolean;
pub use bucket::Bucket;
pub use caret::Caret;
pub use code_point::CodePoint;
pub use date::Date;
pub use derived::{DerivedPart, PartSource};
pub use desc::Desc;
pub use digest::{Crc32, Digest, Fnv1a, Hasher, Md5, Sha256};
pub use digits::{Digits, NonNegative, Sign, Signed, Unsigned, digits_fit};
pub use escaped::Escaped;
pub use guid::Guid;
pub use guid_as::GuidAs;
pub use hex::Hex;
pub use hour::Hour;
pub use integer::Integer;
pub use inverted::{Counted, Inverted};
pub use ip_address::IpAddress;
pub use level::LevelCodec;
pub use lossy::{First, Folded, Replaced};
pub use nanoseconds::Nanoseconds;
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
pub use week::Week;
pub use without::Without;

use table_store::Result;

/// The format of a codec's output. It describes the width, the characters, and whether the output preserves the order of values. Used by compile-time checks
/// and query planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The minimum number of UTF-16 code units.
    pub min: usize,
    /// The maximum number of UTF-16 code units.
    pub max: usize,
    /// `true` if encodings sort like their values (law K3).
    pub ordered: bool,
    /// The characters that may occur in the output.
    pub alphabet: Alphabet,
}

impl Form {
    /// Creates the form of an encoding with a fixed width.
    #[must_use]
    pub const fn fixed(width: usize, ordered: bool, alphabet: Alphabet) -> Self {
        Self { min: width, max: width, ordered, alphabet }
    }

    /// Returns `true` if the output always has the same length.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        self.min == self.max
    }
}

/// The metadata of a codec, except for its [`Form`]. Used by compile-time checks and queries.
///
/// ```
/// use table_core::key::codec::Facts;
///
/// const NEWEST_FIRST: Facts = Facts { descending: true, follows_time: true, ..Facts::NONE };
/// assert_eq!((NEWEST_FIRST.descending, NEWEST_FIRST.cardinality), (true, None));
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent of each other")]
pub struct Facts {
    /// `true` if greater values are encoded as smaller strings. The ends of a range are then swapped. Ignored if the form is not ordered.
    pub descending: bool,
    /// The number of possible values, if the type has only a few, such as a `bool` or an enum. `None` for all other types. A partition key whose first field
    /// has few values is rejected (HPK-9).
    pub cardinality: Option<usize>,
    /// `true` if the value increases with the time of the write, like a timestamp, an hour or a day. Entities written at about the same time then have
    /// neighbouring keys. A partition key that consists only of such values is rejected (PAT-ANTI-1).
    pub follows_time: bool,
    /// The mistake in the codec's arguments for this type, such as six digits for a `u8`. `None` if the arguments are valid. `#[derive(Entity)]` and
    /// `#[derive(KeyPart)]` report this text at the field, with `{, field}` replaced by `, name`.
    pub fault: Option<&'static str>,
    /// `true` if the codec writes digits that a property of this type does not store, such as nanoseconds of a timestamp (TICK-6). If the field is also stored
    /// as a property, the key would differ from the stored property, so `#[derive(Entity)]` rejects the codec.
    pub finer_than_property: bool,
    /// `true` if the codec writes strings unchanged and rejects strings that do not match the form. `#[derive(Entity)]` then rejects a string transformation if
    /// its result never matches the form, such as lower case for a ULID.
    pub verbatim: bool,
}

impl Facts {
    /// The metadata of most codecs: ascending order, many possible values, no relation to time, and valid arguments.
    pub const NONE: Self = Self {
        descending: false,
        cardinality: None,
        follows_time: false,
        fault: None,
        finer_than_property: false,
        verbatim: false,
    };
}

/// A codec that writes values of `T` as a piece of a key, and reads them back. A codec is a type without instances.
///
/// Implement this trait for a custom codec. The codec must satisfy the laws of this module. Test it with [`laws`].
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
    label = "remove the codec, or write a type that it encodes",
    note = "`digits`, `hex` and `unpadded` write integers, `escaped`, `without`, `caret`, `percent`, `bars` and `base64` a `String`, `guid` a `Uuid`, \
            `hour` and `unix` a `DateTime<Utc>`, `pattern` and `week` dates and times, `desc` any part of fixed width"
)]
pub trait KeyCodec<T> {
    /// The name of the codec in schemas and layout files, such as `digits(6)`. It must never change after rows have been stored.
    const NAME: &'static str;
    /// The name and the form.
    #[doc(hidden)]
    const PIECE: (&'static str, Form) = (Self::NAME, Self::FORM);
    /// The form of the codec's output.
    const FORM: Form;
    /// Metadata other than the form, such as a descending order.
    const FACTS: Facts = Facts::NONE;

    /// Appends the encoding of a value.
    ///
    /// # Errors
    /// `KeyEncoding` if the value cannot be encoded within the laws, for example because it has too many digits or an illegal character. `out` may
    /// then contain a part of the encoding.
    fn encode(value: &T, out: &mut String) -> Result<()>;

    /// Appends the string that is hashed for a value. By default, this is the value's encoding. The string is not stored in the key, so it may contain
    /// characters that keys cannot contain.
    ///
    /// # Errors
    /// `KeyEncoding` as in [`encode`](Self::encode), but illegal characters and excessive length are accepted.
    fn encode_hashed(value: &T, out: &mut String) -> Result<()> {
        Self::encode(value, out)
    }

    /// Decodes a value from its encoding.
    ///
    /// # Errors
    /// `EntityMismatch` if the string is not an output of `encode`.
    fn decode(text: &str) -> Result<T>;

    /// Decodes a string into an existing value, whose memory may be reused. After an error, the value is unspecified.
    #[doc(hidden)]
    fn decode_again(text: &str, value: &mut T) -> Result<()> {
        *value = Self::decode(text)?;
        Ok(())
    }
}

/// A codec for strings, including `str`. It encodes each character separately. The encoding of a string therefore starts with the encoding of `p` if and only
/// if the string itself starts with `p`.
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
    /// Appends the encoding of a `str`.
    ///
    /// # Errors
    /// `KeyEncoding` as in [`KeyCodec::encode`].
    fn encode_str(value: &str, out: &mut String) -> Result<()>;
}

/// A fixed-width codec that can also encode values in reverse order. Required by [`Desc`].
///
/// ```
/// use table_core::key::codec::{Digits, Reversible};
///
/// let (mut earlier, mut later) = (String::new(), String::new());
/// Digits::<4>::encode_reversed(&2024_u16, &mut later)?;
/// Digits::<4>::encode_reversed(&2023_u16, &mut earlier)?;
/// assert_eq!((later.as_str(), earlier.as_str()), ("7975", "7976")); // the later year sorts first
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T031] `desc` cannot reverse the order of `{Self}`",
    label = "remove `desc`: this codec has no reversed form",
    note = "integers, instants, hours, days, `bool`, `char` and `Uuid` can be reversed; texts cannot, because their width is not fixed",
    note = "`inverted` is descending without `desc`; for a week, store its Monday as a field of its own and write `desc(monday)`"
)]
pub trait Reversible<T>: KeyCodec<T> {
    /// Appends an encoding that sorts in reverse order. It has the same form as the output of [`encode`](KeyCodec::encode).
    ///
    /// # Errors
    /// `KeyEncoding` as in [`KeyCodec::encode`].
    fn encode_reversed(value: &T, out: &mut String) -> Result<()>;

    /// Decodes the output of [`encode_reversed`](Self::encode_reversed).
    ///
    /// # Errors
    /// `EntityMismatch` as in [`KeyCodec::decode`].
    fn decode_reversed(text: &str) -> Result<T>;
}

/// A type that can be part of a key. Its default codec is used unless the declaration specifies another codec.
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
    label = "this type has no key encoding: write `#[derive(table_patterns::KeyPart)]` above its declaration, if it is your own",
    note = "`KeyPart`, of `table_patterns` and of `table_core`, is derived for a newtype and for an enum without data; a type with several values is a field for each value",
    note = "integers, `String`, `bool`, `char`, `Uuid`, `DateTime<Utc>`, `NaiveDate`, `NaiveTime`, `Duration`, `TimeDelta` and IP addresses are key parts; \
            floats are not"
)]
pub trait KeyPart: Sized {
    /// The default codec for the type.
    type Codec: KeyCodec<Self>;
}
