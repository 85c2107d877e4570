//! The stamp of a log event: its time, and a number that distinguishes it from other events with the same tick.

use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use table_core::key::codec::{Alphabet, Facts, Form, KeyCodec};
use table_core::{Error, KeyPart, Result, ticks};

use crate::log_tail::fault::LogFault;

/// The number of digits for the ticks. This is also the offset of the `_` before the tiebreaker.
const TICKS: usize = 19;
/// The length of a stamp: 19 digits, `_`, and 16 hexadecimal digits.
const WIDTH: usize = 36;

/// The time of an event, and a tiebreaker that distinguishes events with the same tick (PAT-LOG-1, PAT-LOG-4). A field of this type is the RowKey of a log:
/// `#[row_key(stamp)]`.
///
/// - In a key, a stamp has the form `2519936321678765432_fffffffe00000007`: inverted ticks, `_`, and the inverted tiebreaker in 16 hexadecimal digits. Later
///   stamps therefore sort first. The string preserves both numbers exactly (PAT-LOG-2).
/// - Stamps are compared by tick, and then by tiebreaker. `Display` and [`FromStr`] use the same string as the key. It can therefore also be stored as a
///   position in the log.
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_patterns::log_tail::LogStamp;
///
/// let t6: DateTime<Utc> = "2014-08-22T00:50:32.1234567Z".parse()?;
/// let stamp = LogStamp::new(t6, 1)?;
/// assert_eq!(stamp.to_string(), "2519936321678765432_fffffffffffffffe");
/// assert_eq!(stamp.to_string().parse::<LogStamp>()?, stamp);
/// assert_eq!((stamp.instant(), stamp.tie_breaker()), (t6, 1));
/// assert!(LogStamp::new(t6, 0)? < stamp);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogStamp {
    ticks: u64,
    tie: u64,
}

impl LogStamp {
    /// A stamp before every event.
    pub const FIRST: Self = Self { ticks: 0, tie: 0 };
    /// A stamp after every event.
    pub const LAST: Self = Self { ticks: ticks::MAX, tie: u64::MAX };

    /// Creates a stamp with the given time and tiebreaker. The time is truncated to a whole tick (TICK-6).
    ///
    /// # Errors
    /// `KeyEncoding` if the time is outside the years 1 to 9999 (TICK-2).
    pub fn new(instant: DateTime<Utc>, tie: u64) -> Result<Self> {
        let outside = || Error::of(LogFault::Instant(format!("{instant:?}")));
        let ticks = ticks::from_datetime(instant).ok_or_else(outside)?;
        Ok(Self { ticks, tie })
    }

    /// Creates a stamp from ticks and a tiebreaker. Ticks after the year 9999 are clamped to the end of that year.
    #[must_use]
    pub fn from_ticks(ticks: u64, tie: u64) -> Self {
        Self { ticks: ticks.min(ticks::MAX), tie }
    }

    /// Returns the event's time.
    #[must_use]
    pub fn instant(self) -> DateTime<Utc> {
        ticks::to_datetime(self.ticks).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    /// Returns the event's time in [ticks].
    #[must_use]
    pub const fn ticks(self) -> u64 {
        self.ticks
    }

    /// Returns the tiebreaker. It distinguishes stamps with the same time.
    #[must_use]
    pub const fn tie_breaker(self) -> u64 {
        self.tie
    }

    /// Returns a stamp halfway between two stamps. Returns `None` if no stamp lies between them.
    pub(super) fn between(after: Self, before: Self) -> Option<Self> {
        let (low, high) = (after.number(), before.number());
        let middle = low + (high.checked_sub(low)? / 2);
        #[expect(clippy::cast_possible_truncation, reason = "the number is split into its two halves")]
        let stamp = Self { ticks: (middle >> 64) as u64, tie: middle as u64 };
        (stamp > after && stamp < before).then_some(stamp)
    }

    fn number(self) -> u128 {
        (u128::from(self.ticks) << 64) | u128::from(self.tie)
    }
}

impl fmt::Display for LogStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:019}_{:016x}", ticks::MAX - self.ticks, !self.tie)
    }
}

impl FromStr for LogStamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        read(text).ok_or_else(|| Error::of(LogFault::Stamp(text.to_owned())))
    }
}

fn read(text: &str) -> Option<LogStamp> {
    let (inverted, tie) = text.split_once('_').filter(|_| text.len() == WIDTH)?;
    let digits = inverted.len() == TICKS && inverted.bytes().all(|byte| byte.is_ascii_digit());
    let lower_hex = tie.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !(digits && lower_hex) {
        return None;
    }
    let ticks = ticks::invert(inverted.parse().ok()?)?;
    Some(LogStamp { ticks, tie: !u64::from_str_radix(tie, 16).ok()? })
}

/// The key codec for [`LogStamp`], which sorts the latest stamp first.
///
/// ```
/// use table_patterns::key::codec::KeyCodec;
/// use table_patterns::log_tail::{Inverted, LogStamp};
///
/// let key = |ticks| {
///     let mut text = String::new();
///     Inverted::encode(&LogStamp::from_ticks(ticks, 0), &mut text).map(|()| text)
/// };
/// assert!(key(2)? < key(1)?);
/// assert_eq!(Inverted::decode(&key(1)?)?, LogStamp::from_ticks(1, 0));
/// # Ok::<(), table_patterns::Error>(())
/// ```
#[derive(Debug)]
pub enum Inverted {}

#[diagnostic::do_not_recommend]
impl KeyCodec<LogStamp> for Inverted {
    const NAME: &'static str = "logstamp";
    const FORM: Form = Form::fixed(WIDTH, true, Alphabet::of("0123456789_abcdef"));
    const FACTS: Facts = Facts { descending: true, follows_time: true, ..Facts::NONE };

    fn encode(value: &LogStamp, out: &mut String) -> Result<()> {
        write!(out, "{value}").map_err(|error| Error::of(LogFault::Unwritable(error)))
    }

    fn decode(text: &str) -> Result<LogStamp> {
        text.parse()
    }
}

#[diagnostic::do_not_recommend]
impl KeyPart for LogStamp {
    type Codec = Inverted;
}

#[cfg(test)]
mod tests;
