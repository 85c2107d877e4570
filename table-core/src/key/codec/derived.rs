//! `DerivedPart`: a key part computed from a field, from which the field cannot be recovered. Also contains the sources of such parts.

use table_store::{Error, Result};

use crate::key::codec::fault::CodecFault;
use crate::key::codec::{Facts, Form, KeyCodec};

/// A key part computed from a value, from which the value cannot be recovered. The value itself is stored as a property of the entity.
///
/// A value's encoding must not depend on the program version or the machine. An entity whose key part does not match its property cannot be read. For example,
/// this happens if a program that does not know the key part changes the property.
///
/// A part computed from a timestamp must not depend on fractions below 100 ns, because the property does not store them (TICK-6).
///
/// ```
/// use table_core::key::codec::{DerivedPart, Folded, Text};
///
/// type Lower = Folded<Text, false>;
/// let mut key = String::new();
/// Lower::encode(&"JonesJ@Contoso.com".to_owned(), &mut key)?;
/// assert_eq!(key, "jonesj@contoso.com");
/// assert!(Lower::check(&"JONESJ@contoso.com".to_owned(), &key).is_ok()); // the property may be any string with this encoding
/// assert!(Lower::check(&"kenb@contoso.com".to_owned(), &key).is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T030] the key part `{Self}` is not made of a `{T}`",
    label = "the part does not support this type",
    note = "`hash` and `bucket` take any key part, `folded` and `replaced` a `String`, `truncate` an instant or a date"
)]
pub trait DerivedPart<T> {
    /// The name of the part in schemas and layout files. It must never change after rows have been stored.
    const NAME: &'static str;
    /// The form of the encoding. It is ordered if greater values never have smaller encodings. Different values may have equal encodings.
    const FORM: Form;
    /// The name and the form.
    #[doc(hidden)]
    const PIECE: (&'static str, Form) = (Self::NAME, Self::FORM);
    /// Metadata for compile-time checks. Only [`Facts::follows_time`] and [`Facts::fault`] apply to derived parts.
    const FACTS: Facts = Facts::NONE;

    /// Appends the encoding of a value.
    ///
    /// # Errors
    /// `KeyEncoding` if the value cannot be encoded.
    fn encode(value: &T, out: &mut String) -> Result<()>;

    /// Checks that a key part is the encoding of the entity's value.
    ///
    /// # Errors
    /// `EntityMismatch` if the key part is not the encoding of the value.
    fn check(value: &T, text: &str) -> Result<()> {
        let mut expected = String::with_capacity(text.len());
        if Self::encode(value, &mut expected).is_ok() && expected == text {
            return Ok(());
        }
        Err(Error::of(CodecFault::Stale { text: text.to_owned(), expected }))
    }
}

/// The source of a derived part. It is a codec, or another derived part such as `Folded` or `Truncated`. For example, `hash(md5, 32, folded(lower, email))`
/// hashes the folded string.
///
/// ```
/// use table_core::key::codec::{Crc32, DerivedPart, Digest, Folded, Text};
///
/// let (mut ada, mut shouted) = (String::new(), String::new());
/// Digest::<Folded<Text, false>, Crc32, 8>::encode(&"ada".to_owned(), &mut ada)?;
/// Digest::<Folded<Text, false>, Crc32, 8>::encode(&"ADA".to_owned(), &mut shouted)?;
/// assert_eq!(ada, shouted);
/// # Ok::<(), table_core::Error>(())
/// ```
pub trait PartSource<T> {
    /// The name of the source in schemas and layout files; see [`KeyCodec::NAME`].
    const SOURCE_NAME: &'static str;
    /// The form of the source's encoding.
    const SOURCE_FORM: Form;
    /// The mistake in the source's arguments, or `None` if the arguments are valid; see [`Facts::fault`].
    const SOURCE_FAULT: Option<&'static str>;
    /// `true` if the source refuses strings that do not match its form; see [`Facts::verbatim`].
    const SOURCE_VERBATIM: bool;

    /// Appends the encoding of a value.
    ///
    /// # Errors
    /// `KeyEncoding` if the value cannot be encoded.
    fn write(value: &T, out: &mut String) -> Result<()>;

    /// Appends the string to hash for a value; see [`KeyCodec::encode_hashed`].
    ///
    /// # Errors
    /// `KeyEncoding` if the value has no string form to hash.
    fn write_hashed(value: &T, out: &mut String) -> Result<()>;
}

impl<T, C: KeyCodec<T>> PartSource<T> for C {
    const SOURCE_NAME: &'static str = C::NAME;
    const SOURCE_FORM: Form = C::FORM;
    const SOURCE_FAULT: Option<&'static str> = C::FACTS.fault;
    const SOURCE_VERBATIM: bool = C::FACTS.verbatim;

    fn write(value: &T, out: &mut String) -> Result<()> {
        C::encode(value, out)
    }

    fn write_hashed(value: &T, out: &mut String) -> Result<()> {
        C::encode_hashed(value, out)
    }
}

/// Implements [`PartSource`] for a derived part. The given function appends the string to hash.
macro_rules! source {
    ($([$($generics:tt)*] $part:ty, $value:ty, |$read:ident, $out:ident| $hashed:expr;)+) => {$(
        impl<$($generics)*> PartSource<$value> for $part {
            const SOURCE_NAME: &'static str = <Self as DerivedPart<$value>>::NAME;
            const SOURCE_FORM: Form = <Self as DerivedPart<$value>>::FORM;
            const SOURCE_FAULT: Option<&'static str> = <Self as DerivedPart<$value>>::FACTS.fault;
            const SOURCE_VERBATIM: bool = <Self as DerivedPart<$value>>::FACTS.verbatim;

            fn write(value: &$value, out: &mut String) -> Result<()> {
                <Self as DerivedPart<$value>>::encode(value, out)
            }

            fn write_hashed($read: &$value, $out: &mut String) -> Result<()> {
                $hashed
            }
        }
    )+};
}
pub(super) use source;
