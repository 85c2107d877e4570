//! .NET ticks: intervals of 100 ns since 0001-01-01T00:00:00Z (TICK-1).

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc};

/// The ticks of `DateTime.MaxValue`: 9999-12-31T23:59:59.9999999Z (TICK-2).
pub const MAX: u64 = 3_155_378_975_999_999_999;
/// The Unix epoch in ticks (TICK-3).
pub const UNIX_EPOCH: u64 = 621_355_968_000_000_000;
/// The ticks of the earliest `Edm.DateTime`, 1601-01-01T00:00:00Z (TYPE-1, TICK-3).
pub const EDM_MIN: u64 = 504_911_232_000_000_000;

const PER_SECOND: u64 = 10_000_000;
const PER_DAY: u64 = 86_400 * PER_SECOND;

/// Returns the ticks of `instant`, or `None` outside the years 1 to 9999. Fractions of a tick are rounded down (TICK-6).
///
/// ```
/// use chrono::{DateTime, Utc};
/// use table_core::ticks;
///
/// let t6: DateTime<Utc> = "2014-08-22T00:50:32.1234567Z".parse()?;
/// assert_eq!(ticks::from_datetime(t6), Some(635_442_654_321_234_567)); // T6
/// # Ok::<(), chrono::ParseError>(())
/// ```
#[must_use]
#[inline]
pub fn from_datetime(instant: DateTime<Utc>) -> Option<u64> {
    // chrono represents a leap second as 1_000_000_000 or more nanoseconds. Ticks have no leap seconds (TICK-1), so a leap second becomes part of the next
    // second.
    let whole = instant.timestamp().checked_mul(PER_SECOND.cast_signed())?;
    let ticks = whole
        .checked_add(i64::from(instant.timestamp_subsec_nanos() / 100))?
        .checked_add_unsigned(UNIX_EPOCH)?;
    u64::try_from(ticks).ok().filter(|ticks| *ticks <= MAX)
}

/// Converts ticks to a date-time. Returns `None` above [`MAX`].
#[must_use]
pub fn to_datetime(ticks: u64) -> Option<DateTime<Utc>> {
    if ticks > MAX {
        return None;
    }
    // The date is computed from the number of days since the year 1, as in chrono's internal representation. A conversion through Unix time would need twice as
    // many divisions.
    let (days, of_day) = (i32::try_from(ticks / PER_DAY).ok()?, ticks % PER_DAY);
    let seconds = u32::try_from(of_day / PER_SECOND).ok()?;
    let nanos = u32::try_from(of_day % PER_SECOND).ok()? * 100;
    let date = NaiveDate::from_num_days_from_ce_opt(days + 1)?;
    Some(date.and_time(NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanos)?).and_utc())
}

/// Parses a date-time in any format accepted by the service, with a resolution of one tick.
///
/// - The text is a date (`2026-11-20`), a time to the minute (`2026-11-20T08:00Z`), or a time to the second with or without a fraction
///   (`2026-11-20T08:00:00.1234567Z`).
/// - The time zone is `Z` or an offset such as `+01:00`, which is converted to UTC (TYPE-7). A missing time zone means UTC.
/// - Fractional digits below 100 ns are truncated (TICK-6).
///
/// Returns `None` for any other string, and for a date-time outside the years 1 to 9999.
///
/// ```
/// use table_core::ticks;
///
/// let eight = ticks::read("2026-11-20T08:00:00Z");
/// assert_eq!(eight, Some(639_307_584_000_000_000));
/// for same in ["2026-11-20T08:00", "2026-11-20T08:00:00.000", "2026-11-20T09:30:00+01:30"] {
///     assert_eq!(ticks::read(same), eight);
/// }
/// assert_eq!(ticks::read("20 November 2026"), None);
/// ```
#[must_use]
pub fn read(text: &str) -> Option<u64> {
    parse(text, ":").or_else(|| read_lenient(text))
}

/// Parses the formats that [`read`] accepts but the service never produces.
#[cold]
fn read_lenient(text: &str) -> Option<u64> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00Z"));
    let (clock, offset) = zone(time)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let clock = match (clock.len(), fraction) {
        (5, "0") if !time.contains('.') => format!("{clock}:00"),
        _ => clock.to_owned(),
    };
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction = fraction.get(..7).unwrap_or(fraction);
    let ticks = parse(&format!("{date}T{clock}.{fraction}Z"), ":")?;
    ticks.checked_add_signed(-offset).filter(|ticks| *ticks <= MAX)
}

/// Splits a time of day from its time zone. Returns the text of the time, and the offset from UTC in ticks.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix('Z') {
        return Some((clock, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let (clock, offset) = time.split_at_checked(at)?;
    let [sign, h0, h1, b':', m0, m1] = *offset.as_bytes() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(10).map(i64::from);
    let minutes = digit(h0)? * 600 + digit(h1)? * 60 + digit(m0)? * 10 + digit(m1)?;
    // XML Schema and .NET accept offsets of at most 14 hours.
    if minutes > 14 * 60 || m0 > b'5' {
        return None;
    }
    let ticks = minutes * 60 * PER_SECOND.cast_signed();
    Some((clock, if sign == b'-' { -ticks } else { ticks }))
}

/// Formats a date-time like the service: with at most seven fractional digits and no trailing zeros (TYPE-5). Returns `None` above [`MAX`].
///
/// ```
/// use table_core::ticks;
///
/// assert_eq!(ticks::write(639_307_584_005_000_000).as_deref(), Some("2026-11-20T08:00:00.5Z"));
/// ```
#[must_use]
pub fn write(ticks: u64) -> Option<String> {
    print(ticks, ":").map(|printed| printed.as_str().to_owned())
}

/// Parses a date-time in the service's format: `yyyy-mm-ddThh:mm:ss`, at most seven fractional digits with or without trailing zeros, and `Z` (TYPE-5). `colon`
/// is the text that represents a colon. In an `ETag`, colons are percent-encoded (ETAG-1).
pub(crate) fn parse(text: &str, colon: &str) -> Option<u64> {
    let (front, rest) = text.as_bytes().split_first_chunk::<13>()?;
    let [y0, y1, y2, y3, b'-', o0, o1, b'-', d0, d1, b'T', h0, h1] = *front else { return None };
    let ([m0, m1], rest) = rest.strip_prefix(colon.as_bytes())?.split_first_chunk()?;
    let ([s0, s1], rest) = rest.strip_prefix(colon.as_bytes())?.split_first_chunk()?;
    let mut are_digits = true;
    let mut two = |tens: u8, ones: u8| {
        let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
        are_digits &= tens.max(ones) <= 9;
        u32::from(tens) * 10 + u32::from(ones)
    };
    let (year, month, day) = (two(y0, y1) * 100 + two(y2, y3), two(o0, o1), two(d0, d1));
    let (hour, minute, second) = (two(h0, h1), two(*m0, *m1), two(*s0, *s1));
    if !are_digits || year == 0 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let below = match rest.strip_suffix(b"Z")? {
        [] => 0,
        [b'.', digits @ ..] if (1..=7).contains(&digits.len()) => {
            let mut below = 0;
            for place in 0..7 {
                let digit = digits.get(place).copied().unwrap_or(b'0');
                are_digits &= digit.is_ascii_digit();
                below = below * 10 + u32::from(digit.wrapping_sub(b'0'));
            }
            below
        }
        _ => return None,
    };
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day).filter(|_| are_digits)?;
    let days = u64::try_from(date.num_days_from_ce()).ok()?.checked_sub(1)?;
    let seconds = days * 86_400 + u64::from(hour * 3_600 + minute * 60 + second);
    Some(seconds * PER_SECOND + u64::from(below))
}

/// A date-time, printed in the service's format: with at most seven fractional digits and no trailing zeros (TYPE-5).
pub(crate) struct Printed {
    bytes: [u8; 32],
    len: usize,
}

impl Printed {
    pub(crate) fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn push(&mut self, text: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + text.len()) {
            place.copy_from_slice(text);
            self.len += text.len();
        }
    }

    /// Appends a number with exactly `digits` digits.
    fn number(&mut self, mut number: u64, digits: usize) {
        let end = self.len + digits;
        for digit in self.bytes.get_mut(self.len..end).unwrap_or_default().iter_mut().rev() {
            *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
        }
        self.len = end;
    }
}

/// Formats a date-time, or returns `None` above [`MAX`]. `colon` is the text that represents a colon. In an `ETag`, colons are percent-encoded (ETAG-1).
pub(crate) fn print(ticks: u64, colon: &str) -> Option<Printed> {
    let (seconds, below) = (ticks / PER_SECOND, ticks % PER_SECOND);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let date =
        NaiveDate::from_num_days_from_ce_opt(i32::try_from(days).ok()? + 1).filter(|_| ticks <= MAX)?;
    let mut text = Printed { bytes: [0; 32], len: 0 };
    text.number(u64::from(date.year().unsigned_abs()), 4);
    text.push(b"-");
    text.number(u64::from(date.month()), 2);
    text.push(b"-");
    text.number(u64::from(date.day()), 2);
    text.push(b"T");
    text.number(second / 3_600, 2);
    text.push(colon.as_bytes());
    text.number(second / 60 % 60, 2);
    text.push(colon.as_bytes());
    text.number(second % 60, 2);
    if below > 0 {
        text.push(b".");
        text.number(below, 7);
        let zeros = text.as_str().bytes().rev().take_while(|digit| *digit == b'0').count();
        text.len -= zeros;
    }
    text.push(b"Z");
    Some(text)
}

/// Returns [`MAX`] minus the ticks, so later times have smaller numbers (TICK-5). Inverting twice returns the original ticks (TICK-8). Returns `None` above
/// [`MAX`].
#[must_use]
pub const fn invert(ticks: u64) -> Option<u64> {
    MAX.checked_sub(ticks)
}

/// Returns the current time, truncated to a whole tick. A key can represent this time exactly.
#[must_use]
pub fn now() -> DateTime<Utc> {
    truncate(Utc::now())
}

/// Truncates a date-time to 100 ns (TICK-6).
#[must_use]
pub fn truncate(instant: DateTime<Utc>) -> DateTime<Utc> {
    from_datetime(instant).and_then(to_datetime).unwrap_or(instant)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VECTORS: [(&str, u64, u64); 12] = [
        ("0001-01-01T00:00:00Z", 0, 3_155_378_975_999_999_999),
        ("1601-01-01T00:00:00Z", 504_911_232_000_000_000, 2_650_467_743_999_999_999),
        ("1970-01-01T00:00:00Z", 621_355_968_000_000_000, 2_534_023_007_999_999_999),
        ("2000-01-01T00:00:00Z", 630_822_816_000_000_000, 2_524_556_159_999_999_999),
        ("2014-07-31T18:21:46Z", 635_424_277_060_000_000, 2_519_954_698_939_999_999),
        ("2014-08-22T00:50:32.1234567Z", 635_442_654_321_234_567, 2_519_936_321_678_765_432),
        ("2024-02-29T12:00:00.0000005Z", 638_448_048_000_000_005, 2_516_930_927_999_999_994),
        ("2026-01-01T00:00:00Z", 639_028_224_000_000_000, 2_516_350_751_999_999_999),
        ("2026-11-20T08:00:00Z", 639_307_584_000_000_000, 2_516_071_391_999_999_999),
        ("2026-11-20T08:00:00.0000001Z", 639_307_584_000_000_001, 2_516_071_391_999_999_998),
        ("2026-11-20T08:00:00.9999999Z", 639_307_584_009_999_999, 2_516_071_391_990_000_000),
        ("9999-12-31T23:59:59.9999999Z", 3_155_378_975_999_999_999, 0),
    ];

    #[test]
    fn tick_1_to_5_and_8_vectors_t1_to_t12() {
        for (text, ticks, inverted) in VECTORS {
            let instant: DateTime<Utc> = text.parse().unwrap();
            assert_eq!(from_datetime(instant), Some(ticks), "{text}");
            assert_eq!(to_datetime(ticks), Some(instant), "{text}");
            assert_eq!(invert(ticks), Some(inverted), "{text}");
            assert_eq!(invert(inverted), Some(ticks), "{text}");
        }
    }

    /// Tests that the keys for the times T9, T10 and T11 sort from newest to oldest.
    #[test]
    fn tick_9_inverted_ticks_sort_newest_first() {
        let mut instants = [&VECTORS[8], &VECTORS[9], &VECTORS[10]]
            .map(|(text, _, inverted)| (format!("{inverted:019}"), *text));
        instants.sort();
        let expected =
            ["2026-11-20T08:00:00.9999999Z", "2026-11-20T08:00:00.0000001Z", "2026-11-20T08:00:00Z"];
        assert_eq!(instants.map(|(_, text)| text), expected);
    }

    #[test]
    fn tick_6_below_a_tick_is_truncated_also_before_the_epoch() {
        let instant: DateTime<Utc> = "1969-12-31T23:59:59.999999999Z".parse().unwrap();
        assert_eq!(from_datetime(instant), Some(UNIX_EPOCH - 1));
    }

    #[test]
    fn type_5_only_the_services_spelling_is_printed_and_read() {
        for (text, ticks, _) in VECTORS {
            assert_eq!(parse(text, ":"), Some(ticks), "{text}");
            assert_eq!(print(ticks, ":").unwrap().as_str(), text);
            assert_eq!(parse(&text.replace(':', "%3A"), "%3A"), Some(ticks), "{text}");
        }
        for text in [
            "",
            "2014-07-31",
            "0000-01-01T00:00:00Z",
            "2014-02-29T00:00:00Z",
            "2014-07-31T24:00:00Z",
            "2014-07-31T18:60:00Z",
            "2016-12-31T23:59:60Z",
            "2014-07-31T18:21:46.Z",
            "2014-07-31T18:21:46.12345678Z",
            "2014-07-31T18:21:46.1x3Z",
            "2014-07-31T18:21:46",
            "2014-07-31T18:21:46z",
            "2014-07-31T18:21:46+00:00",
            "2014-07-31t18:21:46Z",
            "2014-07-31T18:21:4:Z",
            "\u{660}014-07-31T18:21:46Z",
        ] {
            assert_eq!(parse(text, ":"), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn type_5_printing_agrees_with_chrono(ticks in 0..=MAX, zeros in 0..8_u32) {
            let ticks = ticks - ticks % 10_u64.pow(zeros);
            let whole = to_datetime(ticks).unwrap().format("%Y-%m-%dT%H:%M:%S%.9f").to_string();
            let expected = format!("{}Z", whole.trim_end_matches('0').trim_end_matches('.'));
            prop_assert_eq!(print(ticks, ":").unwrap().as_str().to_owned(), expected);
        }

        #[test]
        fn type_5_reading_agrees_with_chrono(
            ticks in 0..=MAX, digits in 0..9_usize, changed in 0..40_usize, byte in b' '..b'~',
        ) {
            let instant = to_datetime(ticks).unwrap();
            let mut text = instant.format("%Y-%m-%dT%H:%M:%S").to_string();
            if digits > 0 {
                text.push_str(&instant.format("%.9f").to_string()[..=digits]);
            }
            text.push('Z');
            let expected = |text: &str| from_datetime(DateTime::parse_from_rfc3339(text).unwrap().to_utc());
            prop_assert_eq!(parse(&text, ":"), expected(&text).filter(|_| digits <= 7));
            let mut bytes = text.into_bytes();
            if let Some(place) = bytes.get_mut(changed) {
                *place = byte;
            }
            let text = String::from_utf8(bytes).unwrap();
            if let Some(ticks) = parse(&text, ":") {
                prop_assert_eq!(expected(&text), Some(ticks));
            }
        }
    }

    #[test]
    fn sas_1_type_7_and_lit_forms_that_the_service_accepts_are_read() {
        let at = |text: &str| from_datetime(text.parse().unwrap());
        for (text, same) in [
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("2026-11-20T08:05Z", "2026-11-20T08:05:00Z"),
            ("2026-11-20T08:05", "2026-11-20T08:05:00Z"),
            ("2026-11-20T08:05:09", "2026-11-20T08:05:09Z"),
            ("2026-11-20T08:05:09.5", "2026-11-20T08:05:09.5Z"),
            ("2026-11-20T08:05:09.123Z", "2026-11-20T08:05:09.123Z"),
            ("2026-11-20T08:05:09.123456789Z", "2026-11-20T08:05:09.1234567Z"),
            ("2026-11-20T08:05:09+00:00", "2026-11-20T08:05:09Z"),
            ("2026-11-20T08:05+05:30", "2026-11-20T02:35:00Z"),
            ("2026-11-20T08:05:09.25-08:00", "2026-11-20T16:05:09.25Z"),
            ("2026-12-31T23:30:00-14:00", "2027-01-01T13:30:00Z"),
        ] {
            assert_eq!(read(text), at(same), "{text}");
        }
        for text in [
            "",
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-11-20T",
            "2026-11-20Z",
            "2026-11-20T08Z",
            "2026-11-20T08:05.5Z",
            "2026-11-20T08:05:09.Z",
            "2026-11-20T08:05:60Z",
            "2026-11-20T24:00:00Z",
            "2026-11-20T08:05:09+15:00",
            "2026-11-20T08:05:09+01:60",
            "2026-11-20T08:05:09+0100",
            "2026-11-20T08:05:09+01:00Z",
            "2026-11-20 08:05:09Z",
            "+026-11-20",
            " 2026-11-20",
            "2026-11-20T08:05:09Z ",
            "0000-01-01",
            "9999-12-31T23:59:59-01:00",
            "0001-01-01T00:00+01:00",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        /// Tests that all formats of a date-time parse to the same ticks.
        #[test]
        fn every_form_of_an_instant_is_the_same_instant(ticks in EDM_MIN..MAX - PER_DAY, offset in -840..=840_i64, digits in 0..=9_usize) {
            let unit = 10_u64.pow(7 - u32::try_from(digits.min(7)).unwrap());
            let ticks = ticks - ticks % unit;
            let local = to_datetime(ticks).unwrap().naive_utc() + chrono::TimeDelta::minutes(offset);
            let fraction = local.format("%.9f").to_string();
            let fraction = if digits == 0 { "" } else { &fraction[..=digits] };
            let (sign, size) = (if offset < 0 { '-' } else { '+' }, offset.abs());
            let text = format!("{}{fraction}{sign}{:02}:{:02}", local.format("%Y-%m-%dT%H:%M:%S"), size / 60, size % 60);
            prop_assert_eq!(read(&text), Some(ticks), "{}", text);
            let utc = write(ticks).unwrap();
            prop_assert_eq!(read(&utc), Some(ticks));
            prop_assert_eq!(read(utc.trim_end_matches('Z')), Some(ticks));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9TZ:.+-]{0,34}|\\PC{0,20}") {
            if let Some(ticks) = read(&text) {
                prop_assert!(ticks <= MAX);
            }
        }
    }

    #[test]
    fn values_outside_the_calendar_are_none() {
        assert_eq!(from_datetime(DateTime::<Utc>::MIN_UTC), None);
        assert_eq!(from_datetime(DateTime::<Utc>::MAX_UTC), None);
        assert_eq!(to_datetime(MAX + 1), None);
        assert!(print(MAX + 1, ":").is_none() && print(u64::MAX, ":").is_none());
        assert_eq!(invert(MAX + 1), None);
    }
}
