//! Functions that check the laws of derived parts and of truncation.

use std::cmp::Ordering;
use std::fmt::Debug;

use crate::key::codec::laws::edges::neighbours;
use crate::key::codec::laws::{encoded, encodings, legal};
use crate::key::codec::{DerivedPart, Truncates};
use crate::key::order;

/// Checks the laws of derived parts.
/// - Each value has exactly one legal encoding, and [`DerivedPart::check`] accepts only that encoding.
/// - If the form is ordered, greater values never have smaller encodings.
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
/// A description of the violated law, with the values that violate it.
pub fn check_derived<C: DerivedPart<T>, T: Ord + Debug>(values: &[T]) -> Result<(), String> {
    check_derived_by::<C, T>(values, Ord::cmp)
}

/// Checks the laws of [`Truncates`].
/// - A value that can be encoded is not changed.
/// - If [`Truncates::CUT_FORM`] is ordered, truncation never returns a greater value and never reverses the order of two values.
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
/// A description of the violated law, with the values that violate it.
pub fn check_truncation<C: Truncates<T>, T: Ord + Debug>(values: &[T]) -> Result<(), String> {
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
            Some(cut) if encoded(|out| C::encode(&cut, out)).is_err() => {
                return Err(format!("{value:?} is truncated to {cut:?}, which has no text"));
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

/// Checks the same laws as [`check_derived`] for strings, which are ordered by UTF-16 code units (ORD-6).
///
/// ```
/// use table_core::key::codec::{First, Text, laws};
///
/// let names = ["Ada", "Adam", "Bo"].map(str::to_owned);
/// assert_eq!(laws::check_derived_texts::<First<Text, 3>>(&names), Ok(()));
/// ```
///
/// # Errors
/// A description of the violated law, with the values that violate it.
pub fn check_derived_texts<C: DerivedPart<String>>(values: &[String]) -> Result<(), String> {
    check_derived_by::<C, String>(values, |left, right| order::compare(left, right))
}

fn check_derived_by<C: DerivedPart<T>, T: Debug>(
    values: &[T],
    order: impl Fn(&T, &T) -> Ordering,
) -> Result<(), String> {
    let mut written = encodings(values, C::encode)?;
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
