//! `Date`: a day as `yyyyMMdd`.

use chrono::{Datelike, NaiveDate};
use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec, Reversible, decimal};

const WIDTH: usize = 8;

/// A codec that writes a day as `yyyyMMdd` (PAT-SER). The default codec for `NaiveDate`.
///
/// - Fixed width, ordered. In reverse order, each digit `d` is written as 9 − `d`.
/// - Years outside 0 to 9999 are rejected (`KeyEncoding`).
///
/// ```
/// use chrono::NaiveDate;
/// use table_core::key::codec::{Date, KeyCodec};
///
/// let day: NaiveDate = "2014-04-23".parse()?;
/// let mut key = String::new();
/// Date::encode(&day, &mut key)?;
/// assert_eq!(key, "20140423"); // PAT-SER
/// assert_eq!(Date::decode("20140423")?, day);
/// assert!(Date::decode("20140431").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Date {}

/// Returns the digits `yyyyMMdd` of a day as one number, or `None` for a year outside 0 to 9999.
pub(super) fn number_of(day: NaiveDate) -> Option<u128> {
    let year = u32::try_from(day.year()).ok().filter(|year| *year <= 9_999)?;
    Some(u128::from(year * 10_000 + day.month() * 100 + day.day()))
}

/// Returns the day whose digits `yyyyMMdd` form `number`, or `None` if no such day exists.
pub(super) fn day_of(number: u128) -> Option<NaiveDate> {
    let number = u32::try_from(number).ok()?;
    let year = i32::try_from(number / 10_000).ok()?;
    NaiveDate::from_ymd_opt(year, number / 100 % 100, number % 100)
}

fn push(day: NaiveDate, reversed: bool, out: &mut String) -> Result<()> {
    let number = number_of(day).ok_or_else(|| {
        refused(format!("{day} is outside the years 0 to 9999 of `yyyyMMdd`; check the value"))
    })?;
    decimal::push::<WIDTH>(number, reversed, out);
    Ok(())
}

fn read(text: &str, reversed: bool) -> Option<NaiveDate> {
    Some(text)
        .filter(|text| text.len() == WIDTH)
        .and_then(|text| decimal::read(text.as_bytes(), reversed))
        .and_then(day_of)
}

#[diagnostic::do_not_recommend]
impl KeyCodec<NaiveDate> for Date {
    const NAME: &'static str = "date";
    const FORM: Form = Form::fixed(WIDTH, true, Alphabet::DIGITS);
    const FACTS: Facts = Facts { follows_time: true, ..Facts::NONE };

    fn encode(value: &NaiveDate, out: &mut String) -> Result<()> {
        push(*value, false, out)
    }

    fn decode(text: &str) -> Result<NaiveDate> {
        read(text, false).ok_or_else(|| mismatch(text, "date"))
    }
}

#[diagnostic::do_not_recommend]
impl Reversible<NaiveDate> for Date {
    fn encode_reversed(value: &NaiveDate, out: &mut String) -> Result<()> {
        push(*value, true, out)
    }

    fn decode_reversed(text: &str) -> Result<NaiveDate> {
        read(text, true).ok_or_else(|| mismatch(text, "desc(date)"))
    }
}
