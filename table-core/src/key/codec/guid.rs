//! `Guid`: a `Uuid` in the text format of the service and .NET.

use table_store::Result;
use uuid::Uuid;

use crate::key::codec::fault::mismatch;
use crate::key::codec::{Alphabet, Form, KeyCodec, Reversible};

/// A codec that writes a `Uuid` as 36 characters, which are lower-case hexadecimal digits with hyphens. The default codec for `Uuid`.
///
/// This is the output of `Guid.ToString()` and the format of `Edm.Guid` in requests.
///
/// Fixed width, ordered like `Uuid`. The hyphens have fixed positions, so the text sorts like the bytes. UUIDs of version 7 sort by time, and those of version
/// 4 are random.
///
/// ```
/// use table_core::key::codec::{Guid, KeyCodec};
/// use uuid::Uuid;
///
/// let id = Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF);
/// let mut key = String::new();
/// Guid::encode(&id, &mut key)?;
/// assert_eq!(key, "01234567-89ab-cdef-0123-456789abcdef");
/// assert_eq!(Guid::decode(&key)?, id);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Guid {}

fn push(value: Uuid, out: &mut String) {
    out.push_str(value.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
}

fn read(text: &str) -> Option<Uuid> {
    // The parser also accepts upper case, braces and other formats. Only the canonical format is valid in a key.
    let value = Uuid::try_parse(text).ok()?;
    (value.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text).then_some(value)
}

fn mirrored(value: Uuid) -> Uuid {
    Uuid::from_u128(!value.as_u128())
}

#[diagnostic::do_not_recommend]
impl KeyCodec<Uuid> for Guid {
    const NAME: &'static str = "guid";
    const FORM: Form = Form::fixed(36, true, Alphabet::of("0123456789abcdef-"));

    fn encode(value: &Uuid, out: &mut String) -> Result<()> {
        push(*value, out);
        Ok(())
    }

    fn decode(text: &str) -> Result<Uuid> {
        read(text).ok_or_else(|| mismatch(text, "guid"))
    }
}

#[diagnostic::do_not_recommend]
impl Reversible<Uuid> for Guid {
    fn encode_reversed(value: &Uuid, out: &mut String) -> Result<()> {
        push(mirrored(*value), out);
        Ok(())
    }

    fn decode_reversed(text: &str) -> Result<Uuid> {
        read(text).map(mirrored).ok_or_else(|| mismatch(text, "desc(guid)"))
    }
}
