//! `Ticks`: a timestamp as .NET ticks.

use chrono::{DateTime, Utc};
use table_store::{Error, Result};

use crate::key::codec::fault::{mismatch, refused};
use crate::key::codec::{Alphabet, Counted, Facts, Form, KeyCodec, Reversible, decimal};
use crate::ticks;

const WIDTH: usize = 19;

/// A codec that writes a timestamp as a number of ticks, in 19 digits (TICK-1, TICK-4). The default codec for `DateTime<Utc>`.
///
/// - Fixed width, ordered. In reverse order, inverted ticks are written, which sort the newest timestamp first (TICK-5, PAT-LOG-1). They can be read back
///   exactly (PAT-LOG-2).
/// - Rejected (`KeyEncoding`): years outside 1 to 9999, leap seconds, and timestamps more precise than a tick. Otherwise, two timestamps would have the same
///   key. [`ticks::now`] and [`ticks::truncate`] return valid timestamps.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::key::codec::{Desc, KeyCodec, Ticks};
///
/// let t6: DateTime<Utc> = "2014-08-22T00:50:32.1234567Z".parse()?;
/// let (mut oldest_first, mut newest_first) = (String::new(), String::new());
/// Ticks::encode(&t6, &mut oldest_first)?;
/// Desc::<Ticks>::encode(&t6, &mut newest_first)?;
/// assert_eq!(oldest_first, "0635442654321234567");
/// assert_eq!(newest_first, "2519936321678765432");
/// assert_eq!(Desc::<Ticks>::decode(&newest_first)?, t6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Ticks {}

impl Ticks {
    /// Returns the ticks of `instant`. Returns an error if `instant` is more precise than a tick, is a leap second, or is outside the years 1 to 9999.
    #[inline]
    pub(super) fn exact(instant: DateTime<Utc>) -> Result<u64> {
        of(instant)
    }
}

#[inline]
fn of(instant: DateTime<Utc>) -> Result<u64> {
    // A leap second is counted as part of the next second (TICK-1), so it would have the same key as another timestamp.
    let nanos = instant.timestamp_subsec_nanos();
    let exact = nanos.is_multiple_of(100) && nanos < 1_000_000_000;
    ticks::from_datetime(instant).filter(|_| exact).ok_or_else(|| no_ticks(instant))
}

#[cold]
fn no_ticks(instant: DateTime<Utc>) -> Error {
    let message = if ticks::from_datetime(instant).is_none() {
        format!("{instant:?} is outside the years 1 to 9999 of ticks; check the value")
    } else {
        format!(
            "{instant:?} is finer than a tick of 100 ns, so it cannot be read back; use \
             `table_core::ticks::now()`, or `ticks::truncate` on the value"
        )
    };
    refused(message).with_rule("TICK-1")
}

fn read(text: &str) -> Option<u64> {
    Some(text)
        .filter(|text| text.len() == WIDTH)
        .and_then(|text| decimal::read(text.as_bytes(), false))
        .and_then(|number| u64::try_from(number).ok())
}

#[diagnostic::do_not_recommend]
impl KeyCodec<DateTime<Utc>> for Ticks {
    const NAME: &'static str = "ticks";
    const FORM: Form = Form::fixed(WIDTH, true, Alphabet::DIGITS);
    const FACTS: Facts = Facts { follows_time: true, ..Facts::NONE };

    #[inline]
    fn encode(value: &DateTime<Utc>, out: &mut String) -> Result<()> {
        let ticks = of(*value)?;
        out.reserve(WIDTH);
        decimal::push::<WIDTH>(ticks.into(), false, out);
        Ok(())
    }

    fn decode(text: &str) -> Result<DateTime<Utc>> {
        read(text).and_then(ticks::to_datetime).ok_or_else(|| mismatch(text, "ticks"))
    }
}

#[diagnostic::do_not_recommend]
impl Reversible<DateTime<Utc>> for Ticks {
    #[inline]
    fn encode_reversed(value: &DateTime<Utc>, out: &mut String) -> Result<()> {
        let ticks = ticks::MAX - of(*value)?;
        out.reserve(WIDTH);
        decimal::push::<WIDTH>(ticks.into(), false, out);
        Ok(())
    }

    fn decode_reversed(text: &str) -> Result<DateTime<Utc>> {
        read(text)
            .and_then(ticks::invert)
            .and_then(ticks::to_datetime)
            .ok_or_else(|| mismatch(text, "desc(ticks)"))
    }
}

#[diagnostic::do_not_recommend]
impl Counted<DateTime<Utc>> for Ticks {
    fn count(value: &DateTime<Utc>) -> Result<u64> {
        Self::exact(*value)
    }

    fn of_count(count: u64) -> Option<DateTime<Utc>> {
        ticks::to_datetime(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;

    fn instant(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn tick_5_and_8_pat_log_1_and_2_inverted_ticks_t1_to_t12() {
        let vectors = [
            ("0001-01-01T00:00:00Z", "0000000000000000000", "3155378975999999999"),
            ("1601-01-01T00:00:00Z", "0504911232000000000", "2650467743999999999"),
            ("1970-01-01T00:00:00Z", "0621355968000000000", "2534023007999999999"),
            ("2000-01-01T00:00:00Z", "0630822816000000000", "2524556159999999999"),
            ("2014-07-31T18:21:46Z", "0635424277060000000", "2519954698939999999"),
            ("2014-08-22T00:50:32.1234567Z", "0635442654321234567", "2519936321678765432"),
            ("2024-02-29T12:00:00.0000005Z", "0638448048000000005", "2516930927999999994"),
            ("2026-01-01T00:00:00Z", "0639028224000000000", "2516350751999999999"),
            ("2026-11-20T08:00:00Z", "0639307584000000000", "2516071391999999999"),
            ("2026-11-20T08:00:00.0000001Z", "0639307584000000001", "2516071391999999998"),
            ("2026-11-20T08:00:00.9999999Z", "0639307584009999999", "2516071391990000000"),
            ("9999-12-31T23:59:59.9999999Z", "3155378975999999999", "0000000000000000000"),
        ];
        for (text, plain, inverted) in vectors {
            let (mut forward, mut backward) = (String::new(), String::new());
            Ticks::encode(&instant(text), &mut forward).unwrap();
            Ticks::encode_reversed(&instant(text), &mut backward).unwrap();
            assert_eq!((forward.as_str(), backward.as_str()), (plain, inverted), "{text}");
            assert_eq!(Ticks::decode(plain).unwrap(), instant(text));
            assert_eq!(Ticks::decode_reversed(inverted).unwrap(), instant(text));
        }
    }

    #[test]
    fn tick_6_a_value_that_would_be_truncated_is_refused() {
        let awkward = [
            instant("2026-01-01T00:00:00.00000001Z"),
            instant("2016-12-31T23:59:60.5Z"),
            DateTime::<Utc>::MIN_UTC,
            DateTime::<Utc>::MAX_UTC,
        ];
        for value in awkward {
            for refused in [Ticks::encode, Ticks::encode_reversed] {
                assert_eq!(refused(&value, &mut String::new()).unwrap_err().code(), ErrorCode::KeyEncoding);
            }
        }
        assert!(Ticks::encode(&ticks::now(), &mut String::new()).is_ok());
        assert!(Ticks::decode("3155378976000000000").is_err());
    }
}
