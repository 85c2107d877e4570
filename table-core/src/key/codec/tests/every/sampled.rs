//! Generates test values, from seeds, for each type that can be a key part.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use chrono::{Datelike, NaiveTime, TimeDelta, TimeZone, Timelike};

use super::*;

/// Seeds from which the values of all types are derived.
pub(super) struct Seeds {
    pub(super) numbers: Vec<u128>,
    pub(super) texts: Vec<String>,
}

/// A type whose values can be derived from seeds, including its extreme values.
pub(super) trait Sampled: Sized {
    fn of(seeds: &Seeds) -> Vec<Self>;
}

macro_rules! sampled_integers {
    ($($type:ident),*) => {$(
        impl Sampled for $type {
            #[expect(clippy::allow_attributes, reason = "not every integer is cut")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "any value will do")]
            fn of(seeds: &Seeds) -> Vec<Self> {
                let edges = [$type::MIN, $type::MAX, 0, 1, 9, 10, 15, 16, 99, 100];
                seeds.numbers.iter().map(|number| *number as $type).chain(edges).collect()
            }
        }
    )*};
}

sampled_integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl Sampled for String {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let of_ulids = u128::of(seeds).iter().map(text_of::<Ulid, u128>).collect::<Vec<_>>();
        seeds
            .texts
            .iter()
            .cloned()
            .chain(["", "a", "a/b", "a|z"].map(str::to_owned))
            .chain(of_ulids)
            .collect()
    }
}

impl Sampled for DateTime<Utc> {
    /// Returns three fixed timestamps and, for each seed, its timestamp: unchanged, and truncated to the second, minute, hour, week and month.
    fn of(seeds: &Seeds) -> Vec<Self> {
        let (first, after) = (-62_167_219_200_i64, 253_402_300_800_i64);
        let span = u128::from((after - first).unsigned_abs());
        // The codec of weeks accepts only Mondays, but the seeds may not contain one.
        let monday = Utc.with_ymd_and_hms(1970, 1, 5, 0, 0, 0).unwrap();
        let last = tick_count::to_datetime(tick_count::MAX).unwrap();
        let mut instants = vec![DateTime::UNIX_EPOCH, monday, last];
        for number in &seeds.numbers {
            let seconds = first + i64::try_from(number % span).unwrap();
            let nanos = [0, 1, 100, 1_000_000, 250_000_000][usize::try_from((number >> 64) % 5).unwrap()];
            let at = Utc.timestamp_opt(seconds, nanos).unwrap();
            let hour = at.with_nanosecond(0).unwrap().with_second(0).unwrap().with_minute(0).unwrap();
            instants.extend([
                at,
                at.with_nanosecond(0).unwrap(),
                hour.with_minute(at.minute()).unwrap(),
                hour,
            ]);
            let day = hour.with_hour(0).unwrap();
            let monday = day - TimeDelta::days(day.weekday().num_days_from_monday().into());
            instants.extend([day.with_day(1).unwrap(), monday]);
        }
        instants
    }
}

impl Sampled for NaiveDate {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let edges = [(0, 1, 1), (2012, 2, 29), (9999, 12, 31)];
        let edges = edges.map(|(year, month, day)| Self::from_ymd_opt(year, month, day).unwrap());
        DateTime::of(seeds).iter().map(DateTime::date_naive).chain(edges).collect()
    }
}

impl Sampled for NaiveTime {
    fn of(seeds: &Seeds) -> Vec<Self> {
        DateTime::of(seeds).iter().map(DateTime::time).collect()
    }
}

impl Sampled for Duration {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let edges = [Self::ZERO, Self::MAX, Self::from_nanos(i64::MAX.cast_unsigned())];
        u64::of(seeds).into_iter().map(Self::from_nanos).chain(edges).collect()
    }
}

impl Sampled for TimeDelta {
    fn of(seeds: &Seeds) -> Vec<Self> {
        i64::of(seeds).into_iter().map(Self::nanoseconds).chain([Self::MIN, Self::MAX]).collect()
    }
}

impl Sampled for Ipv4Addr {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u32::of(seeds).into_iter().map(Self::from_bits).collect()
    }
}

impl Sampled for Ipv6Addr {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u128::of(seeds).into_iter().map(Self::from_bits).collect()
    }
}

impl Sampled for IpAddr {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let (older, newer) = (Ipv4Addr::of(seeds), Ipv6Addr::of(seeds));
        older.into_iter().map(Self::V4).chain(newer.into_iter().map(Self::V6)).collect()
    }
}

impl Sampled for Uuid {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u128::of(seeds).into_iter().map(Self::from_u128).collect()
    }
}

impl Sampled for char {
    fn of(seeds: &Seeds) -> Vec<Self> {
        let edges = ['\0', '\u{D7FF}', '\u{E000}', char::MAX];
        seeds.texts.iter().flat_map(|text| text.chars()).chain(edges).collect()
    }
}

impl Sampled for bool {
    fn of(_: &Seeds) -> Vec<Self> {
        vec![false, true]
    }
}

impl Sampled for EmployeeId {
    fn of(seeds: &Seeds) -> Vec<Self> {
        u32::of(seeds).into_iter().map(Self).collect()
    }
}

impl Sampled for Ascending {
    fn of(_: &Seeds) -> Vec<Self> {
        (0..5).filter_map(Self::from_index).collect()
    }
}

impl Sampled for Mixed {
    fn of(_: &Seeds) -> Vec<Self> {
        (0..3).filter_map(Self::from_index).collect()
    }
}
