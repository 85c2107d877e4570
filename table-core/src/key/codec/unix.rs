//! `Unix`: a timestamp as seconds or milliseconds since the Unix epoch.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::inverted::Counted;
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec, Reversible};

/// A codec that writes a timestamp as the number of seconds since the Unix epoch, in 10 digits. If `MILLIS` is `true`, it writes the number of milliseconds in
/// 13 digits.
///
/// - Fixed width, ordered. In reverse order, each digit `d` is written as 9 − `d`.
/// - Rejected (`KeyEncoding`): timestamps before 1970 or after the year 2286, and timestamps more precise than the unit.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{KeyCodec, Unix};
///
/// let at: DateTime<Utc> = "2014-04-23T09:00:00.250Z".parse()?;
/// let mut key = String::new();
/// Unix::<true>::encode(&at, &mut key)?;
/// assert_eq!(key, "1398243600250");
/// assert!(Unix::<false>::encode(&at, &mut key).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Unix<const MILLIS: bool> {}

impl<const MILLIS: bool> Unix<MILLIS> {
    const WIDTH: usize = if MILLIS { 13 } else { 10 };
    const LARGEST: u64 = 10u64.pow(if MILLIS { 13 } else { 10 }) - 1;
    const NAMED: &'static str = if MILLIS { "unix(millis)" } else { "unix(seconds)" };

    fn push(count: u64, out: &mut String) {
        let _ = write!(out, "{count:0width$}", width = Self::WIDTH);
    }

    fn read(text: &str) -> Option<u64> {
        let all = text.len() == Self::WIDTH && text.bytes().all(|byte| byte.is_ascii_digit());
        Some(text).filter(|_| all)?.parse().ok()
    }
}

#[diagnostic::do_not_recommend]
impl<const MILLIS: bool> Counted<DateTime<Utc>> for Unix<MILLIS> {
    fn count(value: &DateTime<Utc>) -> Result<u64> {
        let count = if MILLIS { value.timestamp_millis() } else { value.timestamp() };
        let count = u64::try_from(count).ok().filter(|count| *count <= Self::LARGEST);
        // If the round trip changes the value, the value is more precise than the unit, or is a leap second.
        count.filter(|count| Self::of_count(*count).as_ref() == Some(value)).ok_or_else(|| {
            refused(format!(
                "{value:?} is not a whole number of `{}` between 1970 and 2286, so it cannot be read back; declare \
                 `truncate(…)`, which stores the field as a property",
                Self::NAMED
            ))
        })
    }

    fn of_count(count: u64) -> Option<DateTime<Utc>> {
        let count = i64::try_from(count).ok().filter(|_| count <= Self::LARGEST)?;
        if MILLIS { DateTime::from_timestamp_millis(count) } else { DateTime::from_timestamp(count, 0) }
    }
}

#[diagnostic::do_not_recommend]
impl<const MILLIS: bool> KeyCodec<DateTime<Utc>> for Unix<MILLIS> {
    const NAME: &'static str = Self::NAMED;
    const FORM: Form = Form::fixed(Self::WIDTH, true, Alphabet::DIGITS);
    const FACTS: Facts = Facts { follows_time: true, ..Facts::NONE };

    fn encode(value: &DateTime<Utc>, out: &mut String) -> Result<()> {
        Self::push(Self::count(value)?, out);
        Ok(())
    }

    fn decode(text: &str) -> Result<DateTime<Utc>> {
        Self::read(text).and_then(Self::of_count).ok_or_else(|| mismatch(text, Self::NAMED))
    }
}

#[diagnostic::do_not_recommend]
impl<const MILLIS: bool> Reversible<DateTime<Utc>> for Unix<MILLIS> {
    fn encode_reversed(value: &DateTime<Utc>, out: &mut String) -> Result<()> {
        Self::push(Self::LARGEST - Self::count(value)?, out);
        Ok(())
    }

    fn decode_reversed(text: &str) -> Result<DateTime<Utc>> {
        let value = Self::read(text).and_then(|count| Self::of_count(Self::LARGEST - count));
        value.ok_or_else(|| mismatch(text, format_args!("desc({})", Self::NAMED)))
    }
}
