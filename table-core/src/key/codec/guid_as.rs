//! `GuidAs`: a `Uuid` in a common text format that differs from the default.

use table_store::Result;
use uuid::Uuid;

use crate::key::codec::fault::mismatch;
use crate::key::codec::name::Name;
use crate::key::codec::{Alphabet, Form, KeyCodec, Reversible};

/// A codec that writes a `Uuid` in the format of a .NET format specifier.
///
/// `n` (no hyphens), `d` (hyphens) and `b` (hyphens and braces) use lower case. `N`, `D` and `B` use upper case.
///
/// Fixed width, ordered like `Uuid`. [`Guid`](crate::key::codec::Guid) is `d`.
///
/// ```
/// use table_core::key::codec::{GuidAs, KeyCodec};
/// use uuid::Uuid;
///
/// let id = Uuid::from_u128(0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF);
/// let mut key = String::new();
/// GuidAs::<'n'>::encode(&id, &mut key)?;
/// GuidAs::<'B'>::encode(&id, &mut key)?;
/// assert_eq!(key, "0123456789abcdef0123456789abcdef{01234567-89AB-CDEF-0123-456789ABCDEF}");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum GuidAs<const FORMAT: char> {}

impl<const FORMAT: char> GuidAs<FORMAT> {
    const NAMED: &'static Name<16> = &Name::EMPTY.with("guid(").with_char(FORMAT).with(")");

    fn text(value: Uuid, buffer: &mut [u8; 45]) -> &str {
        match FORMAT {
            'n' => value.simple().encode_lower(buffer),
            'N' => value.simple().encode_upper(buffer),
            'b' => value.braced().encode_lower(buffer),
            'B' => value.braced().encode_upper(buffer),
            'D' => value.hyphenated().encode_upper(buffer),
            _ => value.hyphenated().encode_lower(buffer),
        }
    }

    fn push(value: Uuid, out: &mut String) {
        out.push_str(Self::text(value, &mut Uuid::encode_buffer()));
    }

    fn read(text: &str) -> Option<Uuid> {
        // The parser accepts every format. Only the canonical format is valid in a key.
        let value = Uuid::try_parse(text).ok()?;
        (Self::text(value, &mut Uuid::encode_buffer()) == text).then_some(value)
    }
}

fn mirrored(value: Uuid) -> Uuid {
    Uuid::from_u128(!value.as_u128())
}

#[diagnostic::do_not_recommend]
impl<const FORMAT: char> KeyCodec<Uuid> for GuidAs<FORMAT> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = {
        let lower = Alphabet::of("0123456789abcdef");
        let upper = Alphabet::of("0123456789ABCDEF");
        match FORMAT {
            'n' => Form::fixed(32, true, lower),
            'N' => Form::fixed(32, true, upper),
            'd' => Form::fixed(36, true, lower.with('-')),
            'D' => Form::fixed(36, true, upper.with('-')),
            'b' => Form::fixed(38, true, lower.union(Alphabet::of("-{}"))),
            'B' => Form::fixed(38, true, upper.union(Alphabet::of("-{}"))),
            _ => panic!("the forms of a guid are `n`, `d` and `b`, and their capitals"),
        }
    };

    fn encode(value: &Uuid, out: &mut String) -> Result<()> {
        Self::push(*value, out);
        Ok(())
    }

    fn decode(text: &str) -> Result<Uuid> {
        Self::read(text).ok_or_else(|| mismatch(text, Self::NAMED.as_str()))
    }
}

#[diagnostic::do_not_recommend]
impl<const FORMAT: char> Reversible<Uuid> for GuidAs<FORMAT> {
    fn encode_reversed(value: &Uuid, out: &mut String) -> Result<()> {
        Self::push(mirrored(*value), out);
        Ok(())
    }

    fn decode_reversed(text: &str) -> Result<Uuid> {
        let value = Self::read(text).map(mirrored);
        value.ok_or_else(|| mismatch(text, format_args!("desc({})", Self::NAMED.as_str())))
    }
}
