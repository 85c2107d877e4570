//! Tests that the law checks detect codecs that violate a law.

use table_store::Error;

use super::*;
use crate::key::codec::{Alphabet, DerivedPart, Padded, Text, Truncates};

/// Declares a broken codec from two closures.
macro_rules! faulty {
    ($name:ident, $type:ty, $form:expr, $write:expr, $read:expr) => {
        enum $name {}

        impl KeyCodec<$type> for $name {
            const NAME: &'static str = "faulty";
            const FORM: Form = $form;

            fn encode(value: &$type, out: &mut String) -> Result<()> {
                let write: fn(&$type) -> String = $write;
                out.push_str(&write(value));
                Ok(())
            }

            fn decode(text: &str) -> Result<$type> {
                let read: fn(&str) -> Option<$type> = $read;
                read(text).ok_or_else(|| Error::new(ErrorCode::EntityMismatch, "no"))
            }
        }
    };
}

const NUMBER: Form = Form { min: 1, max: 4, ordered: true, alphabet: Alphabet::DIGITS };
const ANY: Form = Form { min: 0, max: 512, ordered: false, alphabet: Alphabet::LEGAL };

faulty!(Unpadded, u8, NUMBER, u8::to_string, |text| text.parse().ok());
faulty!(Wrong, u8, NUMBER, |value| format!("{:03}", value / 2), |text| text.parse().ok());
faulty!(Lenient, u8, NUMBER, |value| format!("{value:03}"), |text| text.parse().ok());
faulty!(Negative, u8, NUMBER, |value| format!("-{value:03}"), |text| text.get(1..)?.parse().ok());
faulty!(Folded, String, ANY, |value| value.to_lowercase(), |text| Some(text.to_owned()));

fn broken<C: KeyCodec<T>, T: Ord + Debug>(values: &[T]) -> String {
    check::<C, T>(values).unwrap_err()
}

#[test]
fn each_law_finds_the_codec_that_breaks_it() {
    assert!(broken::<Wrong, u8>(&[7]).starts_with("K1"));
    assert!(broken::<Lenient, u8>(&[7]).starts_with("K1"));
    assert!(broken::<Unpadded, u8>(&[10]).starts_with("K1"), "reads +10 too");
    assert!(broken::<Negative, u8>(&[7]).starts_with("K4"));
    assert!(broken::<Folded, String>(&["A".to_owned()]).starts_with("K1"));
    assert!(broken::<Text, String>(&["/".to_owned()]).contains("every value is refused"));
}

#[test]
fn a_derived_part_that_breaks_a_law_is_found() {
    /// A derived part that writes only the last digit, but claims to be ordered.
    enum Last {}

    impl DerivedPart<u8> for Last {
        const NAME: &'static str = "last";
        const FORM: Form = Form { min: 1, max: 1, ..NUMBER };

        fn encode(value: &u8, out: &mut String) -> Result<()> {
            out.push(char::from(b'0' + value % 10));
            Ok(())
        }
    }

    /// A derived part that accepts every string as the encoding of every value.
    enum Blind {}

    impl DerivedPart<u8> for Blind {
        const NAME: &'static str = "blind";
        const FORM: Form = NUMBER;

        fn encode(value: &u8, out: &mut String) -> Result<()> {
            out.push_str(&value.to_string());
            Ok(())
        }

        fn check(_: &u8, _: &str) -> Result<()> {
            Ok(())
        }
    }

    assert_eq!(check_derived::<Last, u8>(&[1, 2, 3]), Ok(()));
    assert!(check_derived::<Last, u8>(&[9, 10]).unwrap_err().starts_with("K3"));
    assert!(check_derived::<Blind, u8>(&[7]).unwrap_err().starts_with("K1"));
}

#[test]
fn k2_and_k3_violations_between_values_are_found() {
    faulty!(Plain, u8, NUMBER, u8::to_string, |text| {
        text.parse().ok().filter(|value: &u8| value.to_string() == text)
    });
    assert_eq!(check::<Plain, u8>(&[1, 2, 9]), Ok(()));
    assert!(broken::<Plain, u8>(&[9, 10]).starts_with("K3"));

    // Compared by absolute value, -1 and 1 are equal, but they have different encodings.
    let fault = check_by::<Padded, i8>(&[-1, 1], |left, right| left.abs().cmp(&right.abs())).unwrap_err();
    assert!(fault.starts_with("K2") || fault.starts_with("K3"), "{fault}");
}

#[test]
fn k1_is_violated_by_an_edge_text_that_is_read_but_never_written() {
    /// A codec that writes numbers below 5,000 as four digits, but also decodes greater numbers.
    enum Half {}

    impl KeyCodec<u16> for Half {
        const NAME: &'static str = "half";
        const FORM: Form = Form::fixed(4, true, Alphabet::DIGITS);

        fn encode(value: &u16, out: &mut String) -> Result<()> {
            let fits = *value < 5_000;
            *out += &fits
                .then(|| format!("{value:04}"))
                .ok_or_else(|| Error::new(ErrorCode::KeyEncoding, "too large"))?;
            Ok(())
        }

        fn decode(text: &str) -> Result<u16> {
            let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
            let value = Some(text).filter(|_| digits).and_then(|text| text.parse().ok());
            value.ok_or_else(|| Error::new(ErrorCode::EntityMismatch, "no digits"))
        }
    }

    for values in [&[7][..], &[0, 4_999], &[1_000, 2_000]] {
        assert!(check::<Half, u16>(values).unwrap_err().starts_with("K1"), "{values:?}");
    }
}

#[test]
fn truncation_accepts_every_value_that_the_codec_writes() {
    /// A codec for multiples of ten that cannot truncate values of 210 or more.
    enum Tens {}

    impl KeyCodec<u8> for Tens {
        const NAME: &'static str = "tens";
        const FORM: Form = Form::fixed(3, true, Alphabet::DIGITS);

        fn encode(value: &u8, out: &mut String) -> Result<()> {
            let whole = value.is_multiple_of(10);
            *out += &whole
                .then(|| format!("{value:03}"))
                .ok_or_else(|| Error::new(ErrorCode::KeyEncoding, "finer"))?;
            Ok(())
        }

        fn decode(text: &str) -> Result<u8> {
            text.parse().map_err(|_| Error::new(ErrorCode::EntityMismatch, "no digits"))
        }
    }

    impl Truncates<u8> for Tens {
        fn truncate(value: &u8) -> Option<u8> {
            Some(value - value % 10).filter(|ten| *ten <= 200)
        }
    }

    /// Like `Tens`, but truncates to multiples of five.
    enum Fives {}

    impl KeyCodec<u8> for Fives {
        const NAME: &'static str = Tens::NAME;
        const FORM: Form = Tens::FORM;

        fn encode(value: &u8, out: &mut String) -> Result<()> {
            Tens::encode(value, out)
        }

        fn decode(text: &str) -> Result<u8> {
            Tens::decode(text)
        }
    }

    impl Truncates<u8> for Fives {
        fn truncate(value: &u8) -> Option<u8> {
            Some(value - value % 5)
        }
    }

    assert_eq!(check_truncation::<Tens, u8>(&[0, 7, 199, 200]), Ok(()));
    let fault = check_truncation::<Tens, u8>(&[0, 210]).unwrap_err();
    assert!(fault.contains("has a text, but is not truncated"), "{fault}");
    assert_eq!(check_truncation::<Fives, u8>(&[0, 10, 14]), Ok(()));
    let fault = check_truncation::<Fives, u8>(&[17]).unwrap_err();
    assert!(fault.contains("is truncated to 15, which has no text"), "{fault}");
}
