//! `Hex`: an unsigned integer as hexadecimal digits.

use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::name::Name;
use crate::key::codec::{Alphabet, Facts, Form, Integer, KeyCodec, Reversible};

/// A codec that writes an unsigned integer as `N` zero-padded hexadecimal digits. The digits are in lower case, or in upper case if `UPPER` is `true`.
///
/// - Fixed width, ordered. A value with more digits is rejected (`KeyEncoding`), never truncated.
/// - `N` is at most the number of hexadecimal digits in the type's largest value, such as 8 for `u32`. To write a prefix such as `0x`, add a literal to the
///   key.
/// - In reverse order, each digit `d` is written as 15 − `d`.
///
/// ```
/// use table_core::key::codec::{Hex, KeyCodec};
///
/// let mut key = String::new();
/// Hex::<8>::encode(&0xCAFE_u32, &mut key)?;
/// Hex::<4, true>::encode(&0xCAFE_u32, &mut key)?;
/// assert_eq!(key, "0000cafeCAFE");
/// assert!(<Hex<8> as KeyCodec<u32>>::decode("0000CAFE").is_err());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub enum Hex<const N: usize, const UPPER: bool = false> {}

const LOWER: &str = "0123456789abcdef";
const CAPITALS: &str = "0123456789ABCDEF";

impl<const N: usize, const UPPER: bool> Hex<N, UPPER> {
    const NAMED: &'static Name<32> = {
        let name = Name::EMPTY.with("hex(").with_number(N);
        &if UPPER { name.with(",upper)") } else { name.with(")") }
    };
    const DIGITS: &'static str = if UPPER { CAPITALS } else { LOWER };
    /// The largest value with `N` digits.
    const LARGEST: u128 = if N >= 32 { u128::MAX } else { (1 << (4 * N)) - 1 };

    fn push(number: u128, out: &mut String) {
        for place in (0..N).rev() {
            let digit = usize::try_from((number >> (4 * place)) & 0xF).unwrap_or_default();
            out.push_str(Self::DIGITS.get(digit..=digit).unwrap_or_default());
        }
    }

    fn read(text: &str) -> Option<u128> {
        let all = text.len() == N && text.chars().all(|character| Self::DIGITS.contains(character));
        u128::from_str_radix(Some(text).filter(|_| all)?, 16).ok()
    }
}

impl<T: Integer, const N: usize, const UPPER: bool> KeyCodec<T> for Hex<N, UPPER> {
    const NAME: &'static str = Self::NAMED.as_str();
    const FORM: Form = Form::fixed(N, true, Alphabet::of(Self::DIGITS));
    const FACTS: Facts = Facts {
        fault: if !T::SIGNED && N >= 1 && N <= T::VALUE_BITS.div_ceil(4) as usize {
            None
        } else {
            Some(
                "[T029] `hex(n)`: the integer must be unsigned, and n between 1 and the number of its hexadecimal digits",
            )
        },
        ..Facts::NONE
    };

    fn encode(value: &T, out: &mut String) -> Result<()> {
        const { assert!(<Self as KeyCodec<T>>::FACTS.fault.is_none()) };
        Self::push(fitting::<T, N>(value, Self::LARGEST)?, out);
        Ok(())
    }

    fn decode(text: &str) -> Result<T> {
        let value = Self::read(text).and_then(|number| T::join(false, number));
        value.ok_or_else(|| mismatch(text, Self::NAMED.as_str()))
    }
}

impl<T: Integer, const N: usize, const UPPER: bool> Reversible<T> for Hex<N, UPPER> {
    fn encode_reversed(value: &T, out: &mut String) -> Result<()> {
        Self::push(Self::LARGEST - fitting::<T, N>(value, Self::LARGEST)?, out);
        Ok(())
    }

    fn decode_reversed(text: &str) -> Result<T> {
        let value = Self::read(text).and_then(|number| T::join(false, Self::LARGEST - number));
        value.ok_or_else(|| mismatch(text, format_args!("desc({})", Self::NAMED.as_str())))
    }
}

fn fitting<T: Integer, const N: usize>(value: &T, largest: u128) -> Result<u128> {
    let (negative, magnitude) = value.split();
    if negative || magnitude > largest {
        return Err(refused(format!(
            "{value} does not fit into {N} hexadecimal digits; declare `hex(n)` with more (this changes stored keys)"
        ))
        .with_rule("DQ-10"));
    }
    Ok(magnitude)
}
