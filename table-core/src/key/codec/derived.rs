//! `DerivedPart`: a part of a key that is computed from a field and does not give it back.

use crate::error::{Error, Result};
use crate::key::codec::Form;
use crate::key::codec::fault::CodecFault;

/// A part of a key that is computed from a value and does not give it back: the value itself is a property of the entity.
///
/// The same value always has the same text, in every version and on every machine. An entity read from a key whose text is not that of
/// its property is a mismatch: it was changed by a program that does not know this part.
///
/// ```
/// use table_core::key::codec::{DerivedPart, Folded, Text};
///
/// type Lower = Folded<Text, false>;
/// let mut key = String::new();
/// Lower::encode(&"JonesJ@Contoso.com".to_owned(), &mut key)?;
/// assert_eq!(key, "jonesj@contoso.com");
/// assert!(Lower::check(&"JONESJ@contoso.com".to_owned(), &key).is_ok()); // the property may be any text of this key
/// assert!(Lower::check(&"kenb@contoso.com".to_owned(), &key).is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T030] the key part `{Self}` is not made of a `{T}`",
    label = "this type is not one for that part",
    note = "`hash` and `bucket` take what has a place in keys, `folded` and `replaced` a `String`, `truncate` an instant or a date"
)]
pub trait DerivedPart<T> {
    /// The word for it in schemas and lock files: once written, never changed.
    const NAME: &'static str;
    /// The form of its text. It is ordered if greater values never have smaller texts; different values may have one.
    const FORM: Form;
    /// Whether it follows time: see [`KeyCodec::FOLLOWS_TIME`](crate::key::KeyCodec::FOLLOWS_TIME).
    const FOLLOWS_TIME: bool = false;
    /// The mistake in its parameters: see [`KeyCodec::FAULT`](crate::key::KeyCodec::FAULT).
    const FAULT: Option<&'static str> = None;

    /// Appends the text of a value.
    ///
    /// # Errors
    /// `KeyEncoding` if the value has none.
    fn encode(value: &T, out: &mut String) -> Result<()>;

    /// Checks that the text found in a key is that of the value found in the entity.
    ///
    /// # Errors
    /// `EntityMismatch` if it is not.
    fn check(value: &T, text: &str) -> Result<()> {
        let mut expected = String::with_capacity(text.len());
        if Self::encode(value, &mut expected).is_ok() && expected == text {
            return Ok(());
        }
        Err(Error::of(CodecFault::Stale { text: text.to_owned(), expected }))
    }
}
