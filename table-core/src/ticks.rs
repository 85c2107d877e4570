//! .NET ticks: 100 ns since 0001-01-01T00:00:00Z (TICK-1).

use chrono::{DateTime, Utc};

/// `DateTime.MaxValue.Ticks`: 9999-12-31T23:59:59.9999999Z (TICK-2).
pub const MAX: u64 = 3_155_378_975_999_999_999;
/// The Unix epoch in ticks (TICK-3).
pub const UNIX_EPOCH: u64 = 621_355_968_000_000_000;
/// The earliest `Edm.DateTime`, 1601-01-01T00:00:00Z (TYPE-1, TICK-3).
pub const EDM_MIN: u64 = 504_911_232_000_000_000;

const PER_SECOND: i64 = 10_000_000;

/// Ticks of an instant, precision below 100 ns truncated towards the past (TICK-6); `None` outside the years 1 to 9999.
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
pub fn from_datetime(instant: DateTime<Utc>) -> Option<u64> {
    // chrono keeps a leap second as nanoseconds of 1_000_000_000 and more; ticks have none (TICK-1): it counts on.
    let whole = instant.timestamp().checked_mul(PER_SECOND)?;
    let ticks = whole
        .checked_add(i64::from(instant.timestamp_subsec_nanos() / 100))?
        .checked_add_unsigned(UNIX_EPOCH)?;
    u64::try_from(ticks).ok().filter(|ticks| *ticks <= MAX)
}

/// The instant of a tick count; `None` above [`MAX`].
#[must_use]
pub fn to_datetime(ticks: u64) -> Option<DateTime<Utc>> {
    if ticks > MAX {
        return None;
    }
    let unix = i64::try_from(ticks).ok()?.checked_sub_unsigned(UNIX_EPOCH)?;
    let nanos = u32::try_from(unix.rem_euclid(PER_SECOND)).ok()? * 100;
    DateTime::from_timestamp(unix.div_euclid(PER_SECOND), nanos)
}

/// [`MAX`] minus the ticks, so that newer is smaller (TICK-5); its own inverse (TICK-8); `None` above [`MAX`].
#[must_use]
pub const fn invert(ticks: u64) -> Option<u64> {
    MAX.checked_sub(ticks)
}

/// The present instant at tick resolution, so that a key made of it decodes to the same value.
#[must_use]
pub fn now() -> DateTime<Utc> {
    truncate(Utc::now())
}

/// The instant with what is below 100 ns cut off (TICK-6).
#[must_use]
pub fn truncate(instant: DateTime<Utc>) -> DateTime<Utc> {
    from_datetime(instant).and_then(to_datetime).unwrap_or(instant)
}

#[cfg(test)]
mod tests {
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

    /// T11 before T10 before T9: the newest is first.
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
    fn outside_the_calendar_is_none() {
        assert_eq!(from_datetime(DateTime::<Utc>::MIN_UTC), None);
        assert_eq!(from_datetime(DateTime::<Utc>::MAX_UTC), None);
        assert_eq!(to_datetime(MAX + 1), None);
        assert_eq!(invert(MAX + 1), None);
    }
}
