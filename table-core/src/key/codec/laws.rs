//! Checks of the [`codec`](crate::key::codec) laws. Other crates can use them for their codecs.

use std::cmp::Ordering;
use std::fmt::Debug;

use crate::error::{ErrorCode, Result};
use crate::key::codec::{DerivedPart, Form, KeyCodec, TextCodec, Truncates};
use crate::key::{order, text};

/// Checks K1 to K4 on every value and every pair of values. K3 is checked against the order of `T`.
///
/// Values that the codec refuses are skipped; refusing all values is an error. Pass many values, both similar and unusual, as property tests
/// generate. Edge cases of the codec are derived from the encodings of these values: every string that differs in one character, or that continues
/// with the first or last character of the alphabet, must either be refused or be the encoding of the decoded value, which is then checked like the
/// given ones. Use [`check_texts`] for strings: `String` sorts by code points, keys by UTF-16 code units.
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

/// Checks like [`check`], with K3 against a given order. Values for which the order returns `Equal` count as the same.
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
    written.sort_by(|(_, left), (_, right)| order::compare(left, right));
    let texts = written.iter().map(|(_, text)| text.as_str());
    let mut found: Vec<(T, String)> = Vec::new();
    for text in samples(texts.len()).filter_map(|at| texts.clone().nth(at)) {
        for edge in edges(&C::FORM, text) {
            if let Some(value) = canonical::<C, T>(&edge)? {
                legal(&C::FORM, &edge).map_err(|fault| format!("K4: {value:?} becomes '{edge}', {fault}"))?;
                found.push((value, edge));
            }
        }
    }
    written.extend(found.iter().map(|(value, text)| (value, text.clone())));
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

/// Checks like [`check`], for codecs of strings: K3 is checked by UTF-16 code units (ORD-6), and the encoding of a prefix must be a prefix of the
/// encoding.
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

/// Checks the laws of derived parts: a value has one legal encoding, [`DerivedPart::check`] accepts only that encoding, and greater values never have
/// smaller encodings if the form is ordered.
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

/// Checks the laws of [`Truncates`]: a value that the codec encodes is truncated to itself; any other value is truncated to one that the codec
/// encodes and that is not greater; and greater values are never truncated to smaller ones.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{Hour, laws};
///
/// let instants = ["2014-04-23T09:41:07Z", "2014-04-23T10:00:00Z", "9999-12-31T23:00:00Z"].map(|at| at.parse::<DateTime<Utc>>());
/// assert_eq!(laws::check_truncation::<Hour, _>(&instants.map(Result::unwrap_or_default)), Ok(()));
/// ```
///
/// # Errors
/// A description of the broken law and the values that break it.
pub fn check_truncation<C: Truncates<T>, T: Ord + Debug>(values: &[T]) -> std::result::Result<(), String> {
    let mut truncated: Vec<(&T, T)> = Vec::new();
    for value in values {
        let writes = encoded(|out| C::encode(value, out)).is_ok();
        match C::truncate(value) {
            None if writes => return Err(format!("{value:?} has a text, but is not truncated")),
            None => {}
            Some(cut) if writes && cut != *value => {
                return Err(format!("{value:?} has a text, but is truncated to {cut:?}"));
            }
            Some(cut) if C::CUT_FORM.ordered && cut > *value => {
                return Err(format!("{value:?} is truncated to {cut:?}, which is greater"));
            }
            Some(cut) => truncated.push((value, cut)),
        }
    }
    truncated.sort();
    for ((value, cut), (next, next_cut)) in truncated.iter().zip(truncated.iter().skip(1)) {
        if C::CUT_FORM.ordered && cut > next_cut {
            return Err(format!("{value:?} is truncated to {cut:?}, and {next:?} to {next_cut:?}"));
        }
    }
    Ok(())
}

/// Checks like [`check_derived`], for strings, which are ordered by UTF-16 code units (ORD-6).
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
            return Err(format!(
                "K1: {value:?} becomes '{text}', which is not recognised as its text: {error}"
            ));
        }
        for other in neighbours(text).filter(|other| other != text) {
            if C::check(value, &other).is_ok() {
                return Err(format!(
                    "K1: {value:?} becomes '{text}', and '{other}' is also recognised as its text"
                ));
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

/// Returns strings that differ slightly: with one character removed, added, changed, or in the other case.
fn neighbours(text: &str) -> impl Iterator<Item = String> {
    let mut shorter = text.to_owned();
    let last = shorter.pop();
    let others = ['0', '9', 'a', 'z', '-', '"', '~', '/'];
    let changed: Vec<String> = others.iter().map(|other| format!("{shorter}{other}")).collect();
    let longer: Vec<String> = others.iter().map(|other| format!("{text}{other}")).collect();
    let cases = [text.to_uppercase(), text.to_lowercase(), format!("+{text}"), format!(" {text}")];
    last.map(|_| shorter).into_iter().chain(changed).chain(longer).chain(cases)
}

/// Maximum number of encodings from which edge cases are derived.
const SAMPLES: usize = 3;

/// Returns the positions of the first, the last, and some elements between them.
fn samples(count: usize) -> impl Iterator<Item = usize> {
    let last = count.saturating_sub(1);
    let mut positions: Vec<usize> = (0..SAMPLES).map(|at| last * at / (SAMPLES - 1)).collect();
    positions.dedup();
    positions.into_iter().filter(move |_| count > 0)
}

/// Returns strings at the edges of a form of fixed width: with the first, the last, the next and the previous character of the alphabet at each
/// position, and with each prefix continued by the first or last character. Non-ASCII characters and forms of variable width are omitted.
fn edges(form: &Form, text: &str) -> Vec<String> {
    if !form.is_fixed() || !text.is_ascii() {
        return Vec::new();
    }
    let alphabet: Vec<char> = (' '..='~').filter(|character| form.alphabet.contains(*character)).collect();
    let mut edges = Vec::new();
    for (at, own) in text.char_indices() {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        let next = alphabet.iter().find(|other| **other > own);
        let previous = alphabet.iter().rev().find(|other| **other < own);
        let others = [alphabet.first(), previous, next, alphabet.last()];
        edges.extend(others.into_iter().flatten().map(|other| format!("{before}{other}{after}")));
        for end in [alphabet.first(), alphabet.last()].into_iter().flatten() {
            edges.push(before.chars().chain(std::iter::repeat_n(*end, text.len() - at)).collect());
        }
    }
    edges.retain(|edge| edge != text);
    edges.sort();
    edges.dedup();
    edges
}

/// Decodes a string, and returns the value if its encoding is this string.
fn canonical<C: KeyCodec<T>, T: Debug>(text: &str) -> std::result::Result<Option<T>, String> {
    match C::decode(text) {
        Ok(value) => match encoded(|out| C::encode(&value, out)) {
            Ok(written) if written == text => Ok(Some(value)),
            Ok(written) => Err(format!("K1: '{text}' is read as {value:?}, which is written '{written}'")),
            Err(error) => Err(format!("K1: '{text}' is read as {value:?}, which is refused: {error}")),
        },
        Err(error) if error.code() == ErrorCode::EntityMismatch => Ok(None),
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

        /// Accepts every string.
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

        // Compared by absolute value, -1 and 1 are one value with two encodings.
        let fault = check_by::<Padded, i8>(&[-1, 1], |left, right| left.abs().cmp(&right.abs())).unwrap_err();
        assert!(fault.starts_with("K2") || fault.starts_with("K3"), "{fault}");
    }

    #[test]
    fn k1_is_violated_by_an_edge_text_that_is_read_but_never_written() {
        /// Four digits of at most 4,999; reads all four digits.
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
        /// Whole tens, of which those above 200 are not truncated.
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

        assert_eq!(check_truncation::<Tens, u8>(&[0, 7, 199, 200]), Ok(()));
        let fault = check_truncation::<Tens, u8>(&[0, 210]).unwrap_err();
        assert!(fault.contains("has a text, but is not truncated"), "{fault}");
    }
}
