//! `Week`: an ISO 8601 week as `yyyy-Www`.

use std::fmt::Write;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc, Weekday};
use table_store::Result;

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Alphabet, Facts, Form, KeyCodec, Truncates};

const WIDTH: usize = 8;
const NAME: &str = "week";

/// A codec that writes an ISO 8601 week, from Monday to Sunday, as `yyyy-Www`. The year is the year of the week's Thursday.
///
/// - Fixed width, ordered.
/// - Rejected (`KeyEncoding`): years outside 0 to 9999, days other than Mondays, and timestamps other than the start of a week. Otherwise, several values of a
///   week would have the same key. [`Truncated`](crate::key::codec::Truncated) truncates a value to the start of its week, and the field is then also stored as
///   a property.
///
/// ```
/// use chrono::NaiveDate;
/// use table_core::key::codec::{DerivedPart, KeyCodec, Truncated, Week};
///
/// let (monday, sunday): (NaiveDate, NaiveDate) = ("2024-12-30".parse()?, "2025-01-05".parse()?);
/// let mut key = String::new();
/// Week::encode(&monday, &mut key)?;
/// assert_eq!(key, "2025-W01");
/// assert!(Week::encode(&sunday, &mut key).is_err());
/// assert_eq!(<Week as KeyCodec<NaiveDate>>::decode("2025-W01")?, monday);
///
/// key.clear();
/// Truncated::<Week>::encode(&sunday, &mut key)?;
/// assert_eq!(key, "2025-W01");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Week {}

/// A day or a timestamp, which the codec can convert to and from a week.
trait InWeek: Copy + PartialEq + std::fmt::Debug {
    fn date(self) -> NaiveDate;
    /// Returns the first value of a day, which is the day itself or midnight at its start.
    fn of(day: NaiveDate) -> Self;
}

impl InWeek for NaiveDate {
    fn date(self) -> NaiveDate {
        self
    }

    fn of(day: NaiveDate) -> Self {
        day
    }
}

impl InWeek for DateTime<Utc> {
    fn date(self) -> NaiveDate {
        self.date_naive()
    }

    fn of(day: NaiveDate) -> Self {
        day.and_time(NaiveTime::MIN).and_utc()
    }
}

/// Returns the Monday of the week that contains `day`, or `None` if the week's year does not have four digits.
fn monday(day: NaiveDate) -> Option<NaiveDate> {
    let week = day.iso_week();
    let year = Some(week.year()).filter(|year| (0..=9_999).contains(year))?;
    NaiveDate::from_isoywd_opt(year, week.week(), Weekday::Mon)
}

fn push<T: InWeek>(value: T, out: &mut String) -> Result<()> {
    let monday = monday(value.date()).ok_or_else(|| {
        refused(format!("{value:?} is outside the years 0 to 9999 of `yyyy-Www`; check the value"))
    })?;
    if T::of(monday) != value {
        return Err(refused(format!(
            "{value:?} is not the beginning of a week, so it cannot be read back; declare `truncate(week(…))`, which stores the \
             field as a property"
        )));
    }
    let week = monday.iso_week();
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{:04}-W{:02}", week.year(), week.week());
    Ok(())
}

fn read<T: InWeek>(text: &str) -> Option<T> {
    let (year, week) = text.split_once("-W").filter(|_| text.len() == WIDTH)?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let year = Some(year).filter(|year| year.len() == 4 && is_number(year))?.parse().ok()?;
    let week = Some(week).filter(|week| is_number(week))?.parse().ok()?;
    NaiveDate::from_isoywd_opt(year, week, Weekday::Mon).map(T::of)
}

macro_rules! in_week {
    ($($type:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl KeyCodec<$type> for Week {
            const NAME: &'static str = NAME;
            const FORM: Form = Form::fixed(WIDTH, true, Alphabet::DIGITS.with('-').with('W'));
            const FACTS: Facts = Facts { follows_time: true, ..Facts::NONE };

            fn encode(value: &$type, out: &mut String) -> Result<()> {
                push(*value, out)
            }

            fn decode(text: &str) -> Result<$type> {
                read(text).ok_or_else(|| mismatch(text, NAME))
            }
        }

        #[diagnostic::do_not_recommend]
        impl Truncates<$type> for Week {
            fn truncate(value: &$type) -> Option<$type> {
                monday(InWeek::date(*value)).map(InWeek::of)
            }
        }
    )+};
}

in_week!(NaiveDate, DateTime<Utc>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    fn text(day: &str) -> Result<String> {
        let day: NaiveDate = day.parse().unwrap();
        let mut text = String::new();
        push(monday(day).unwrap_or(day), &mut text).map(|()| text)
    }

    /// Tests the examples from ISO 8601 for the first and last days of a year.
    #[test]
    fn the_year_is_that_of_the_thursday() {
        for (day, week) in [
            ("2005-01-01", "2004-W53"),
            ("2005-01-02", "2004-W53"),
            ("2005-12-31", "2005-W52"),
            ("2006-01-01", "2005-W52"),
            ("2006-01-02", "2006-W01"),
            ("2007-12-31", "2008-W01"),
            ("2008-12-29", "2009-W01"),
            ("2010-01-03", "2009-W53"),
        ] {
            assert_eq!(text(day).unwrap(), week, "{day}");
        }
    }

    #[test]
    fn a_week_outside_the_years_is_refused_and_not_read() {
        // The first two days of year 0 belong to the last week of the previous year.
        assert_eq!(text("0000-01-01").unwrap_err().code(), ErrorCode::KeyEncoding);
        for wrong in ["2005-W53", "2005-W00", "2005-W1", "2005W010", "+005-W01", "2005-w01"] {
            assert!(<Week as KeyCodec<NaiveDate>>::decode(wrong).is_err(), "{wrong}");
        }
    }
}
