//! Functions that check the [`codec`](crate::key::codec) laws. Other crates can use them to test their own codecs.

mod derived;
mod edges;

use std::cmp::Ordering;
use std::fmt::Debug;

use table_store::{ErrorCode, Result};

use crate::key::codec::{Form, KeyCodec, TextCodec};
use crate::key::{order, text};
pub use derived::{check_derived, check_derived_texts, check_truncation};
use edges::{edges, neighbours, samples};

/// Checks the laws K1 to K4 for every value and every pair of values. K3 is checked against the order of `T`.
///
/// Values that the codec rejects are skipped. If it rejects all of them, the check fails. Pass many values, both similar and unusual ones, for example from a
/// property test.
///
/// The function also derives edge cases from the encodings of these values. They are strings that differ in one character, or that end in the alphabet's first
/// or last character. The codec must reject such a string, or decode it to a value with exactly this encoding. That value is then checked like the given
/// values.
///
/// For strings, use [`check_texts`]. `String` sorts by code points, but keys sort by UTF-16 code units.
///
/// ```
/// use table_core::key::codec::{Desc, Digits, Padded, laws};
///
/// assert_eq!(laws::check::<Padded, i32>(&[i32::MIN, -10, -1, 0, 1, 10, i32::MAX]), Ok(()));
/// assert_eq!(laws::check::<Desc<Digits<4>>, u16>(&[0, 7, 2012, 9999]), Ok(()));
/// ```
///
/// # Errors
/// A description of the violated law, with the values that violate it.
pub fn check<C: KeyCodec<T>, T: Ord + Debug>(values: &[T]) -> std::result::Result<(), String> {
    check_by::<C, T>(values, T::cmp)
}

/// Checks the same laws as [`check`], but uses the given order for K3. Values are considered equal if the order returns `Equal`.
///
/// # Errors
/// A description of the violated law, with the values that violate it.
pub fn check_by<C: KeyCodec<T>, T: Debug>(
    values: &[T],
    compare: impl Fn(&T, &T) -> Ordering,
) -> std::result::Result<(), String> {
    let mut written = encodings(values, C::encode)?;
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
    if C::FACTS.descending {
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

/// Checks the same laws as [`check`] for a codec of strings, but uses the order by UTF-16 code units for K3 (ORD-6).
///
/// Also checks prefixes. The encoding of a string's prefix must be a prefix of the string's encoding, and the encodings of strings without this prefix must not
/// begin with it.
///
/// ```
/// use table_core::key::codec::{Escaped, Text, laws};
///
/// assert_eq!(laws::check_texts::<Escaped>(&["", "a/b", "a", "\u{1F600}", "\u{FF21}"]), Ok(()));
/// assert_eq!(laws::check_texts::<Text>(&["Jones", "jones"]), Ok(()));
/// ```
///
/// # Errors
/// A description of the violated law, with the values that violate it.
pub fn check_texts<C: TextCodec>(values: &[&str]) -> std::result::Result<(), String> {
    let owned: Vec<String> = values.iter().copied().map(str::to_owned).collect();
    check_by::<C, String>(&owned, |left, right| order::compare(left, right))?;
    let text_of = |text: &str| encoded(|out| C::encode_str(text, out));
    let mut written: Vec<_> =
        values.iter().filter_map(|value| Some((text_of(value).ok()?, *value))).collect();
    written.sort();
    for value in values {
        let Ok(whole) = text_of(value) else { continue };
        if encoded(|out| C::encode(&(*value).to_owned(), out)).ok().as_ref() != Some(&whole) {
            return Err(format!("{value:?} has another text as a `String` than as a `str`"));
        }
        for (end, _) in value.char_indices() {
            let prefix = value.get(..end).unwrap_or_default();
            let Some(text) = text_of(prefix).ok().filter(|text| whole.starts_with(text)) else {
                return Err(format!("the text of {prefix:?} is not how that of {value:?} begins"));
            };
            let first = written.partition_point(|(other, _)| *other < text);
            let mut found = written.iter().skip(first).take_while(|(other, _)| other.starts_with(&text));
            if let Some((_, other)) = found.find(|(_, other)| !other.starts_with(prefix)) {
                return Err(format!("the text of {prefix:?} is how that of {other:?} begins"));
            }
        }
    }
    Ok(())
}

/// Returns the values accepted by a codec, with their encodings.
fn encodings<T: Debug>(
    values: &[T],
    encode: impl Fn(&T, &mut String) -> Result<()>,
) -> std::result::Result<Vec<(&T, String)>, String> {
    let mut written = Vec::with_capacity(values.len());
    for value in values {
        let mut out = "before".to_owned();
        match encode(value, &mut out) {
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
    Ok(written)
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

/// Decodes a string and encodes the value again. Returns `None` if the codec rejects the string, and an error if the new encoding differs from the string.
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
mod tests;
