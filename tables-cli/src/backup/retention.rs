//! Determines which generations to keep according to an option such as `--keep 7d,4w,12m`.

use std::collections::HashSet;
use std::str::FromStr;

use chrono::{DateTime, Utc};

/// A list of retention rules. Each rule consists of a number of periods and their length.
///
/// For example, `7d` keeps the newest generation of each of the last seven days with generations. A generation is kept if any rule keeps it.
///
/// ```
/// use chrono::DateTime;
/// use tables_cli::backup::retention::Retention;
///
/// let keep: Retention = "2d".parse()?;
/// let times = ["2026-11-23T09:00:00Z", "2026-11-24T08:00:00Z", "2026-11-24T20:00:00Z", "2026-11-25T08:00:00Z"];
/// let times: Vec<_> = times.iter().map(|time| DateTime::parse_from_rfc3339(time).unwrap().to_utc()).collect();
/// assert_eq!(keep.kept(&times), [false, false, true, true]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention(Vec<(usize, Span)>);

/// The length of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    /// A separate period for each generation.
    Each,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Span {
    /// Returns a string that identifies the period containing a time.
    fn of(self, time: DateTime<Utc>) -> String {
        let pattern = match self {
            Self::Each => "%+",
            Self::Hour => "%Y-%m-%d %H",
            Self::Day => "%Y-%m-%d",
            Self::Week => "%G-%V",
            Self::Month => "%Y-%m",
            Self::Year => "%Y",
        };
        time.format(pattern).to_string()
    }
}

impl FromStr for Retention {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = |rule: &str| {
            let rule = rule.trim();
            let (count, span) = match rule.char_indices().next_back() {
                Some((at, 'h')) => (rule.get(..at), Span::Hour),
                Some((at, 'd')) => (rule.get(..at), Span::Day),
                Some((at, 'w')) => (rule.get(..at), Span::Week),
                Some((at, 'm')) => (rule.get(..at), Span::Month),
                Some((at, 'y')) => (rule.get(..at), Span::Year),
                _ => (Some(rule), Span::Each),
            };
            let count = count.and_then(|count| count.parse().ok()).filter(|count| *count > 0);
            let form =
                || format!("`{rule}` keeps nothing; write numbers with h, d, w, m or y, such as 7d,4w,12m");
            count.map(|count| (count, span)).ok_or_else(form)
        };
        text.split(',').map(rule).collect::<Result<_, _>>().map(Self)
    }
}

impl Retention {
    /// Returns a flag for each generation: `true` if it is kept. `times` lists the generations' times in creation order, and may be unsorted because a fast
    /// clock may have been corrected. The last generation is always kept.
    #[must_use]
    pub fn kept(&self, times: &[DateTime<Utc>]) -> Vec<bool> {
        let mut kept = vec![false; times.len()];
        for (count, span) in &self.0 {
            let mut seen = HashSet::new();
            for (time, kept) in times.iter().zip(&mut kept).rev() {
                if seen.len() < *count && seen.insert(span.of(*time)) {
                    *kept = true;
                }
            }
        }
        if let Some(newest) = kept.last_mut() {
            *newest = true;
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::*;

    #[test]
    fn the_newest_generation_of_each_day_week_and_month_is_kept() {
        let first: DateTime<Utc> = "2026-01-01T06:00:00Z".parse().unwrap();
        // The times of two generations per day for one year.
        let times: Vec<_> = (0..730).map(|half| first + Duration::hours(12 * half)).collect();
        let keep: Retention = "7d,4w,12m".parse().unwrap();
        let kept: Vec<String> = times
            .iter()
            .zip(keep.kept(&times))
            .filter(|(_, kept)| *kept)
            .map(|(time, _)| time.format("%m-%d %H").to_string())
            .collect();
        assert_eq!(
            kept,
            [
                "01-31 18", "02-28 18", "03-31 18", "04-30 18", "05-31 18", "06-30 18", "07-31 18",
                "08-31 18", "09-30 18", "10-31 18", "11-30 18", "12-13 18", "12-20 18", "12-25 18",
                "12-26 18", "12-27 18", "12-28 18", "12-29 18", "12-30 18", "12-31 18",
            ]
        );
    }

    #[test]
    fn a_generation_from_a_clock_that_was_ahead_deletes_no_later_generation() {
        let first: DateTime<Utc> = "2026-01-01T06:00:00Z".parse().unwrap();
        let mut times: Vec<_> = (0..6).map(|day| first + Duration::days(day)).collect();
        times[2] = first + Duration::days(300);
        let keep: Retention = "4d".parse().unwrap();
        assert_eq!(keep.kept(&times), [false, false, true, true, true, true]);
        times.extend((6..8).map(|day| first + Duration::days(day)));
        assert_eq!(keep.kept(&times), [false, false, false, false, true, true, true, true]);
    }

    #[test]
    fn generations_are_kept_if_no_newer_one_was_added() {
        let first: DateTime<Utc> = "2020-01-01T06:00:00Z".parse().unwrap();
        let times = [first, first + Duration::days(300)];
        assert_eq!("2d".parse::<Retention>().unwrap().kept(&times), [true, true]);
        assert_eq!("1".parse::<Retention>().unwrap().kept(&times), [false, true]);
    }

    #[test]
    fn a_retention_that_keeps_nothing_is_refused() {
        for text in ["", "0d", "7x", "d", "7d,,4w", "é"] {
            assert!(text.parse::<Retention>().unwrap_err().contains("such as 7d,4w,12m"), "{text}");
        }
    }
}
