//! `Hour`: a time on the hour, as `yyyyMMddHH`.

use chrono::{DateTime, Timelike, Utc};
use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec, Reversible, date, decimal};

const WIDTH: usize = 10;

/// A codec that writes a timestamp on the hour, such as 9:00, as `yyyyMMddHH`.
///
/// - Fixed width, ordered. In reverse order, each digit `d` is written as 9 − `d`.
/// - Rejected (`KeyEncoding`): years outside 0 to 9999, and timestamps not on the hour. Otherwise, several timestamps would have the same key.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{Hour, KeyCodec};
///
/// let hour: DateTime<Utc> = "2014-04-23T09:00:00Z".parse()?;
/// let mut key = String::new();
/// Hour::encode(&hour, &mut key)?;
/// assert_eq!(key, "2014042309");
/// assert_eq!(Hour::decode("2014042309")?, hour);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Hour {}

fn push(instant: DateTime<Utc>, reversed: bool, out: &mut String) -> Result<()> {
    if (instant.minute(), instant.second(), instant.nanosecond()) != (0, 0, 0) {
        return Err(refused(format!(
            "{instant:?} is not on the hour, so it cannot be read back; declare \
             `truncate(hour(…))`, which stores the field as a property"
        )));
    }
    let day = date::number_of(instant.date_naive()).ok_or_else(|| {
        refused(format!("{instant:?} is outside the years 0 to 9999 of `yyyyMMddHH`; check the value"))
    })?;
    decimal::push::<WIDTH>(day * 100 + u128::from(instant.hour()), reversed, out);
    Ok(())
}

fn read(text: &str, reversed: bool) -> Option<DateTime<Utc>> {
    let number = Some(text)
        .filter(|text| text.len() == WIDTH)
        .and_then(|text| decimal::read(text.as_bytes(), reversed))?;
    let hour = u32::try_from(number % 100).ok()?;
    Some(date::day_of(number / 100)?.and_hms_opt(hour, 0, 0)?.and_utc())
}

#[diagnostic::do_not_recommend]
impl KeyCodec<DateTime<Utc>> for Hour {
    const NAME: &'static str = "hour";
    const FORM: Form = Form::fixed(WIDTH, true, Alphabet::DIGITS);
    const FACTS: Facts = Facts { follows_time: true, ..Facts::NONE };

    fn encode(value: &DateTime<Utc>, out: &mut String) -> Result<()> {
        push(*value, false, out)
    }

    fn decode(text: &str) -> Result<DateTime<Utc>> {
        read(text, false).ok_or_else(|| mismatch(text, "hour"))
    }
}

#[diagnostic::do_not_recommend]
impl Reversible<DateTime<Utc>> for Hour {
    fn encode_reversed(value: &DateTime<Utc>, out: &mut String) -> Result<()> {
        push(*value, true, out)
    }

    fn decode_reversed(text: &str) -> Result<DateTime<Utc>> {
        read(text, true).ok_or_else(|| mismatch(text, "desc(hour)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    #[test]
    fn only_whole_hours_have_a_text() {
        for text in [
            "2014-04-23T09:00:00.000000001Z",
            "2014-04-23T09:00:01Z",
            "2014-04-23T09:01:00Z",
            "2016-12-31T23:59:60Z",
        ] {
            let instant: DateTime<Utc> = text.parse().unwrap();
            let error = Hour::encode(&instant, &mut String::new()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::KeyEncoding, "{text}");
        }
        assert!(Hour::decode("2014042324").is_err());
    }
}
