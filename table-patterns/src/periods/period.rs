//! The lengths of periods (hours, days, months, quarters and years), the start of each period, and its suffix in table names.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveTime, TimeDelta, Timelike, Utc};

/// The years for which tables can exist.
const YEARS: RangeInclusive<i32> = 1..=9999;
/// The number of months in a quarter.
const QUARTER: u32 = 3;

/// The length of the period that one table covers, in UTC.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_patterns::periods::Period;
///
/// let noon: DateTime<Utc> = "2014-04-23T12:34:56Z".parse()?;
/// assert_eq!(Period::Hour.suffix(noon).as_deref(), Some("2014042312"));
/// assert_eq!(Period::Day.suffix(noon).as_deref(), Some("20140423"));
/// assert_eq!(Period::Month.suffix(noon).as_deref(), Some("201404"));
/// assert_eq!(Period::Quarter.suffix(noon).as_deref(), Some("2014Q2"));
/// assert_eq!(Period::Year.suffix(noon).as_deref(), Some("2014"));
/// # Ok::<(), chrono::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Period {
    /// One hour. The table name ends with `yyyyMMddHH`.
    Hour,
    /// One day. The table name ends with `yyyyMMdd`.
    Day,
    /// One month. The table name ends with `yyyyMM`.
    Month,
    /// Three months, starting in January, April, July or October. The table name ends with `yyyyQn`.
    Quarter,
    /// One year. The table name ends with `yyyy`.
    Year,
}

impl Period {
    /// All period lengths, shortest first.
    pub(crate) const ALL: [Self; 5] = [Self::Hour, Self::Day, Self::Month, Self::Quarter, Self::Year];

    /// Returns the start of the period that contains `instant`.
    #[must_use]
    pub fn start(self, instant: DateTime<Utc>) -> DateTime<Utc> {
        let date = instant.date_naive();
        let date = match self {
            Self::Hour | Self::Day => date,
            Self::Month => first_of(date, date.month()),
            Self::Quarter => first_of(date, date.month0() / QUARTER * QUARTER + 1),
            Self::Year => first_of(date, 1),
        };
        let hour = if self == Self::Hour { instant.hour() } else { 0 };
        date.and_time(NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or_default()).and_utc()
    }

    /// Returns the start of the period that is `periods` periods after the one that contains `instant`. If `periods` is negative, returns an earlier period.
    /// Returns `None` if the start is outside the years 1 to 9999.
    #[must_use]
    pub fn offset(self, instant: DateTime<Utc>, periods: i32) -> Option<DateTime<Utc>> {
        self.moved(instant, periods).filter(|start| YEARS.contains(&start.year()))
    }

    fn moved(self, instant: DateTime<Utc>, periods: i32) -> Option<DateTime<Utc>> {
        let (start, count) = (self.start(instant), periods.unsigned_abs());
        match (self, periods < 0) {
            (Self::Hour, _) => start.checked_add_signed(TimeDelta::try_hours(periods.into())?),
            (Self::Day, true) => start.checked_sub_days(Days::new(count.into())),
            (Self::Day, false) => start.checked_add_days(Days::new(count.into())),
            (Self::Month | Self::Quarter | Self::Year, is_before) => {
                let months = Months::new(count.checked_mul(self.months())?);
                if is_before { start.checked_sub_months(months) } else { start.checked_add_months(months) }
            }
        }
    }

    /// Returns the number of months in a period of this length. Returns 1 for periods shorter than a month.
    const fn months(self) -> u32 {
        match self {
            Self::Hour | Self::Day | Self::Month => 1,
            Self::Quarter => QUARTER,
            Self::Year => 12,
        }
    }

    /// Returns the table name suffix of the period that contains `instant`. Returns `None` outside the years 1 to 9999.
    #[must_use]
    pub fn suffix(self, instant: DateTime<Utc>) -> Option<String> {
        let (year, month, day) = (instant.year(), instant.month(), instant.day());
        YEARS.contains(&year).then(|| match self {
            Self::Hour => format!("{year:04}{month:02}{day:02}{:02}", instant.hour()),
            Self::Day => format!("{year:04}{month:02}{day:02}"),
            Self::Month => format!("{year:04}{month:02}"),
            Self::Quarter => format!("{year:04}Q{}", (month - 1) / QUARTER + 1),
            Self::Year => format!("{year:04}"),
        })
    }

    /// Returns the start of the period with the given suffix. Returns `None` if no period of this length has that suffix. Ignores case, as in table names
    /// (TBL-2).
    #[must_use]
    pub fn parse(self, suffix: &str) -> Option<DateTime<Utc>> {
        let number = |from: usize, to: usize| {
            let digits = suffix.get(from..to)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u32>().ok())?
        };
        let year = i32::try_from(number(0, 4)?).ok().filter(|year| *year > 0)?;
        let (month, day, hour, length) = match self {
            Self::Hour => (number(4, 6)?, number(6, 8)?, number(8, 10)?, 10),
            Self::Day => (number(4, 6)?, number(6, 8)?, 0, 8),
            Self::Month => (number(4, 6)?, 1, 0, 6),
            Self::Quarter => {
                let quarter = suffix.get(4..)?.strip_prefix(['Q', 'q'])?;
                let quarter = number(5, 6).filter(|number| quarter.len() == 1 && (1..=4).contains(number))?;
                ((quarter - 1) * QUARTER + 1, 1, 0, 6)
            }
            Self::Year => (1, 1, 0, 4),
        };
        let date = NaiveDate::from_ymd_opt(year, month, day).filter(|_| suffix.len() == length)?;
        Some(date.and_hms_opt(hour, 0, 0)?.and_utc())
    }
}

/// Returns the first day of a month in the same year as `date`.
fn first_of(date: NaiveDate, month: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(date.year(), month, 1).unwrap_or(date)
}

#[cfg(test)]
mod tests;
