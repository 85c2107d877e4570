//! Checks of the [`codec`](crate::key::codec) laws, usable for codecs of other crates.

use std::cmp::Ordering;
use std::fmt::Debug;

use crate::error::{ErrorCode, Result};
use crate::key::codec::{DerivedPart, Form, KeyCodec, TextCodec};
use crate::key::{order, text};

/// Checks K1 to K4 on every value and every pair of values; K3 by the order of `T`.
///
/// Values that the codec refuses are skipped; refusing all values is an error. Pass many values, both similar and unusual, as property tests
/// generate. Use [`check_texts`] for texts: `String` sorts by code points, keys by UTF-16 code units.
///
/// ```
/// use table_core::key::codec::{Desc, Digits, Padded, laws};
///
/// assert_eq!(laws::check::<Padded, i32>(&[i32::MIN, -10, -1, 0, 1, 10, i32::MAX]), Ok(()));
/// assert_eq!(laws::check::<Desc<Digits<4>>, u16>(&[0, 7, 2012, 9999]), Ok(()));
/// ```
///
/// # Errors
/// A description of the broken law and the values that break it.
pub fn check<C: KeyCodec<T>, T: Ord + Debug>(values: &[T]) -> std::result::Result<(), String> {
    check_by::<C, T>(values, T::cmp)
}

/// Checks like [`check`], with K3 by a given order. Values are the same if the order is `Equal`.
///
/// # Errors
/// A description of the broken law and the values that break it.
pub fn check_by<C: KeyCodec<T>, T: Debug>(
    values: &[T],
    compare: impl Fn(&T, &T) -> Ordering,
) -> std::result::Result<(), String> {
    let mut written: Vec<(&T, String)> = Vec::with_capacity(values.len());
    for value in values {
        let mut out = "before".to_owned();
        match C::encode(value, &mut out) {
            Ok(()) => match out.strip_prefix("before") {
                Some(text) => written.push((value, text.to_owned())),
                None => return Err(format!("K1: encoding {value:?} does not append, but leaves '{out}'")),
            },
            Err(error) if error.code() == ErrorCode::KeyEncoding => {}
            Err(error) => {
                return Err(format!("K4: {value:?} is refused by another code than KeyEncoding: {error}"));
            }
        }
    }
    if written.is_empty() && !values.is_empty() {
        return Err("K1: every value is refused".to_owned());
    }
    for (value, text) in &written {
        legal(&C::FORM, text).map_err(|fault| format!("K4: {value:?} becomes '{text}', {fault}"))?;
        match C::decode(text) {
            Ok(decoded) if compare(&decoded, value).is_eq() => {}
            Ok(decoded) => {
                return Err(format!("K1: {value:?} becomes '{text}', which is read as {decoded:?}"));
            }
            Err(error) => return Err(format!("K1: {value:?} becomes '{text}', which is not read: {error}")),
        }
        for other in neighbours(text) {
            canonical::<C, T>(&other)?;
        }
    }
    written.sort_by(|(left, _), (right, _)| compare(left, right));
    if C::DESCENDING {
        written.reverse();
    }
    for ((left, left_text), (right, right_text)) in written.iter().zip(written.iter().skip(1)) {
        let texts = order::compare(left_text, right_text);
        match compare(left, right) {
            Ordering::Equal if texts.is_ne() => {
                return Err(format!("K2: {left:?} has two texts, '{left_text}' and '{right_text}'"));
            }
            Ordering::Equal => {}
            _ if C::FORM.ordered && texts.is_ge() => {
                return Err(format!("K3: {left:?} is '{left_text}' and {right:?} is '{right_text}'"));
            }
            _ => {}
        }
    }
    written.sort_by(|(_, left), (_, right)| order::compare(left, right));
    for ((left, left_text), (right, right_text)) in written.iter().zip(written.iter().skip(1)) {
        if left_text == right_text && compare(left, right).is_ne() {
            return Err(format!("K2: {left:?} and {right:?} are both '{left_text}'"));
        }
    }
    Ok(())
}

/// Checks like [`check`], for codecs of texts: K3 by UTF-16 code units (ORD-6), and the text of a prefix is a prefix of the text.
///
/// ```
/// use table_core::key::codec::{Escaped, Text, laws};
///
/// assert_eq!(laws::check_texts::<Escaped>(&["", "a/b", "a", "\u{1F600}", "\u{FF21}"]), Ok(()));
/// assert_eq!(laws::check_texts::<Text>(&["Jones", "jones"]), Ok(()));
/// ```
///
/// # Errors
/// A description of the broken law and the values that break it.
pub fn check_texts<C: TextCodec>(values: &[&str]) -> std::result::Result<(), String> {
    let owned: Vec<String> = values.iter().copied().map(str::to_owned).collect();
    check_by::<C, String>(&owned, |left, right| order::compare(left, right))?;
    for value in values {
        let text_of = |text: &str| encoded(|out| C::encode_str(text, out));
        let Ok(whole) = text_of(value) else { continue };
        if encoded(|out| C::encode(&(*value).to_owned(), out)).ok().as_ref() != Some(&whole) {
            return Err(format!("{value:?} has another text as a `String` than as a `str`"));
        }
        for (end, _) in value.char_indices() {
            let prefix = value.get(..end).unwrap_or_default();
            if !text_of(prefix).is_ok_and(|text| whole.starts_with(&text)) {
                return Err(format!("the text of {prefix:?} is not how that of {value:?} begins"));
            }
        }
    }
    Ok(())
}

/// Checks the laws of derived parts: a value has one legal text, [`DerivedPart::check`] accepts that text only, and greater values never have smaller
/// texts if the form is ordered.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{Bucket, Hour, Padded, Truncated, laws};
///
/// assert_eq!(laws::check_derived::<Bucket<Padded, 16>, u32>(&[0, 7, 223]), Ok(()));
/// let (early, late): (DateTime<Utc>, DateTime<Utc>) = ("2014-04-23T09:41:07Z".parse()?, "2014-04-23T10:00:00Z".parse()?);
/// assert_eq!(laws::check_derived::<Truncated<Hour>, _>(&[early, late]), Ok(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A description of the broken law and the values that break it.
pub fn check_derived<C: DerivedPart<T>, T: Ord + Debug>(values: &[T]) -> std::result::Result<(), String> {
    check_derived_by::<C, T>(values, Ord::cmp)
}

/// Checks like [`check_derived`], for texts, which are ordered by UTF-16 code units (ORD-6).
///
/// ```
/// use table_core::key::codec::{First, Text, laws};
///
/// let names = ["Ada", "Adam", "Bo"].map(str::to_owned);
/// assert_eq!(laws::check_derived_texts::<First<Text, 3>>(&names), Ok(()));
/// ```
///
/// # Errors
/// A description of the broken law and the values that break it.
pub fn check_derived_texts<C: DerivedPart<String>>(values: &[String]) -> std::result::Result<(), String> {
    check_derived_by::<C, String>(values, |left, right| order::compare(left, right))
}

fn check_derived_by<C: DerivedPart<T>, T: Debug>(
    values: &[T],
    order: impl Fn(&T, &T) -> Ordering,
) -> std::result::Result<(), String> {
    let mut written: Vec<(&T, String)> = Vec::with_capacity(values.len());
    for value in values {
        match encoded(|out| C::encode(value, out)) {
            Ok(text) => written.push((value, text)),
            Err(error) if error.code() == ErrorCode::KeyEncoding => {}
            Err(error) => {
                return Err(format!("K4: {value:?} is refused by another code than KeyEncoding: {error}"));
            }
        }
    }
    if written.is_empty() && !values.is_empty() {
        return Err("K1: every value is refused".to_owned());
    }
    for (value, text) in &written {
        legal(&C::FORM, text).map_err(|fault| format!("K4: {value:?} becomes '{text}', {fault}"))?;
        if encoded(|out| C::encode(value, out)).ok().as_ref() != Some(text) {
            return Err(format!("K2: {value:?} is '{text}', and another text the next time"));
        }
        if let Err(error) = C::check(value, text) {
            return Err(format!("K1: {value:?} becomes '{text}', which is not taken for it: {error}"));
        }
        for other in neighbours(text).filter(|other| other != text) {
            if C::check(value, &other).is_ok() {
                return Err(format!("K1: {value:?} becomes '{text}', and '{other}' is taken for it too"));
            }
        }
    }
    written.sort_by(|(left, _), (right, _)| order(left, right));
    for ((left, left_text), (right, right_text)) in written.iter().zip(written.iter().skip(1)) {
        let texts = order::compare(left_text, right_text);
        if order(left, right).is_eq() && texts.is_ne() || C::FORM.ordered && texts.is_gt() {
            return Err(format!("K3: {left:?} is '{left_text}' and {right:?} is '{right_text}'"));
        }
    }
    Ok(())
}

fn encoded(write: impl FnOnce(&mut String) -> Result<()>) -> Result<String> {
    let mut out = String::new();
    write(&mut out).map(|()| out)
}

fn legal(form: &Form, written: &str) -> std::result::Result<(), String> {
    let units = order::units(written);
    if units < form.min || units > form.max {
        return Err(format!("which has {units} code units, not {} to {}", form.min, form.max));
    }
    match written.chars().find(|character| !text::is_legal(*character) || !form.alphabet.contains(*character))
    {
        Some(character) => Err(format!("which holds {character:?}")),
        None => Ok(()),
    }
}

/// Returns texts that differ slightly: one character removed, added, changed, or of the other case.
fn neighbours(text: &str) -> impl Iterator<Item = String> {
    let mut shorter = text.to_owned();
    let last = shorter.pop();
    let others = ['0', '9', 'a', 'z', '-', '"', '~', '/'];
    let changed: Vec<String> = others.iter().map(|other| format!("{shorter}{other}")).collect();
    let longer: Vec<String> = others.iter().map(|other| format!("{text}{other}")).collect();
    let cases = [text.to_uppercase(), text.to_lowercase(), format!("+{text}"), format!(" {text}")];
    last.map(|_| shorter).into_iter().chain(changed).chain(longer).chain(cases)
}

/// Checks that a text that can be read is the text of its value.
fn canonical<C: KeyCodec<T>, T: Debug>(text: &str) -> std::result::Result<(), String> {
    match C::decode(text) {
        Ok(value) => match encoded(|out| C::encode(&value, out)) {
            Ok(written) if written == text => Ok(()),
            Ok(written) => Err(format!("K1: '{text}' is read as {value:?}, which is written '{written}'")),
            Err(error) => Err(format!("K1: '{text}' is read as {value:?}, which is refused: {error}")),
        },
        Err(error) if error.code() == ErrorCode::EntityMismatch => Ok(()),
        Err(error) => Err(format!("K1: '{text}' is refused by another code than EntityMismatch: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::key::codec::{Alphabet, Padded, Text};

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
        /// Writes the last digit, but claims to be ordered.
        enum Last {}

        impl DerivedPart<u8> for Last {
            const NAME: &'static str = "last";
            const FORM: Form = Form { min: 1, max: 1, ..NUMBER };

            fn encode(value: &u8, out: &mut String) -> Result<()> {
                out.push(char::from(b'0' + value % 10));
                Ok(())
            }
        }

        /// Accepts every text.
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
    fn k2_and_k3_are_found_between_values() {
        faulty!(Plain, u8, NUMBER, u8::to_string, |text| {
            text.parse().ok().filter(|value: &u8| value.to_string() == text)
        });
        assert_eq!(check::<Plain, u8>(&[1, 2, 9]), Ok(()));
        assert!(broken::<Plain, u8>(&[9, 10]).starts_with("K3"));

        // Compared by absolute value, -1 and 1 are one value with two texts.
        let fault = check_by::<Padded, i8>(&[-1, 1], |left, right| left.abs().cmp(&right.abs())).unwrap_err();
        assert!(fault.starts_with("K2"), "{fault}");
    }
}
