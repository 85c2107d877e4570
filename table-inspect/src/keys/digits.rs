//! Conversion between decimal numbers and the codecs `digits(n)` and `desc(digits(n))`.

/// A codec that encodes integers as a fixed number of digits, preceded by a sign in signed encodings.
///
/// In signed encodings, a negative number has the sign `-` and complemented digits (9 − `d`). Other numbers have the sign `0`. In descending order, the
/// positive numbers are complemented instead. Unsigned encodings are complemented only in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    width: usize,
    pub(super) is_descending: bool,
}

impl Digits {
    /// Returns the codec with this name in stored schemas, such as `digits(6)`.
    pub(super) fn of(codec: &str) -> Option<Self> {
        let reversed = codec.strip_prefix("desc(").and_then(|codec| codec.strip_suffix(')'));
        let width = reversed.unwrap_or(codec).strip_prefix("digits(")?.strip_suffix(')')?.parse().ok()?;
        Some(Self { width, is_descending: reversed.is_some() })
    }

    /// Decodes a number. Returns `None` if the text is not an encoding.
    pub(super) fn decode(self, text: &str) -> Option<String> {
        let (sign, digits) = match text.len().checked_sub(self.width)? {
            0 => (None, text),
            1 => (Some(text.get(..1)?), text.get(1..)?),
            _ => return None,
        };
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        let (is_negative, number) = match (sign, self.is_descending) {
            (None | Some("0"), false) => (false, unpadded(digits)),
            (None, true) => (false, unpadded(&complement(digits))),
            (Some("0"), true) => (true, unpadded(digits)),
            (Some("-"), is_descending) => {
                let number = unpadded(&complement(digits));
                (number != "0").then_some((!is_descending, number))?
            }
            (Some(_), _) => return None,
        };
        Some(if is_negative && number != "0" { format!("-{number}") } else { number })
    }

    /// Encodes a number. A number with too many digits gets a longer encoding.
    ///
    /// Returns `None` if the text is not a number, or if the number is negative and the encoding is unsigned.
    pub(super) fn encode(self, number: &str, is_signed: bool) -> Option<String> {
        let (is_negative, digits) = match number.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, number),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = unpadded(digits);
        let (is_zero, padded) = (digits == "0", format!("{digits:0>0$}", self.width));
        let has_complement = !is_zero && is_negative != self.is_descending;
        match is_signed {
            true if has_complement => Some(format!("-{}", complement(&padded))),
            true => Some(format!("0{padded}")),
            false if is_negative && !is_zero => None,
            false if self.is_descending => Some(complement(&padded)),
            false => Some(padded),
        }
    }
}

/// Removes the leading zeros from digits.
fn unpadded(digits: &str) -> String {
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    }
}

/// Replaces each digit with 9 minus the digit.
fn complement(digits: &str) -> String {
    let distance = |digit: char| digit.to_digit(10).and_then(|digit| char::from_digit(9 - digit, 10));
    digits.chars().map(|digit| distance(digit).unwrap_or(digit)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use table_core::key::codec::{Desc, Digits as Codec, KeyCodec, NonNegative, Signed};

    use super::*;

    fn of_codec<C: KeyCodec<i64>>(value: i64) -> (&'static str, Option<String>) {
        let mut text = String::new();
        (C::NAME, C::encode(&value, &mut text).ok().map(|()| text))
    }

    proptest! {
        #[test]
        fn numbers_have_the_encoding_that_the_codec_writes(
            value in prop_oneof![-1_000..1_000_i64, -9_999_999..9_999_999_i64],
        ) {
            for (is_signed, (name, text)) in [
                (false, of_codec::<Codec<6, NonNegative>>(value)),
                (true, of_codec::<Codec<6, Signed>>(value)),
                (false, of_codec::<Desc<Codec<6, NonNegative>>>(value)),
                (true, of_codec::<Desc<Codec<6, Signed>>>(value)),
            ] {
                let digits = Digits::of(name).unwrap();
                let (number, width) = (value.to_string(), 6 + usize::from(is_signed));
                let encoded = digits.encode(&number, is_signed).filter(|text| text.len() == width);
                prop_assert_eq!(&encoded, &text, "{} {}", name, value);
                if let Some(text) = text {
                    prop_assert_eq!(digits.decode(&text), Some(number));
                }
            }
        }

        #[test]
        fn a_text_is_decoded_only_if_the_codec_decodes_it(text in "[-0-9x]{5,8}") {
            let ascending = <Codec<6, Signed> as KeyCodec<i64>>::decode(&text).ok();
            let descending = <Desc<Codec<6, Signed>> as KeyCodec<i64>>::decode(&text).ok();
            for (name, number) in [("digits(6)", ascending), ("desc(digits(6))", descending)] {
                // Six characters would be an unsigned encoding.
                if text.len() != 6 {
                    let number = number.map(|number| number.to_string());
                    prop_assert_eq!(Digits::of(name).unwrap().decode(&text), number, "{}", name);
                }
            }
        }
    }

    #[test]
    fn other_codecs_and_texts_are_refused() {
        assert_eq!(
            [Digits::of("padded"), Digits::of("digits(6"), Digits::of("bucket(digits(6):6,16)")],
            [None; 3]
        );
        let digits = Digits::of("digits(2)").unwrap();
        assert_eq!(
            ["", "-", "1.5", "x", "+5"].map(|number| digits.encode(number, true)),
            [const { None }; 5]
        );
        assert_eq!(digits.encode("-0", false).as_deref(), Some("00"));
        assert_eq!(["é", "0é", "1000"].map(|text| digits.decode(text)), [const { None }; 3]);
    }
}
