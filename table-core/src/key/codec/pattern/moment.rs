//! Dates and times, split into the units of a pattern.

use std::fmt::Debug;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Timelike, Utc};

/// A type supported by [`Pattern`](crate::key::codec::Pattern): `DateTime<Utc>`, `NaiveDate`, `NaiveTime`.
///
/// ```
/// use chrono::{NaiveDate, NaiveTime};
/// use table_core::key::codec::Moment;
///
/// /// Accepts types that a pattern such as `yyyy-MM-dd` can write.
/// fn written<T: Moment>(_: T) {}
/// written(NaiveDate::default());
/// written(NaiveTime::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "[T030] a pattern cannot write a `{Self}`",
    label = "write `chrono::NaiveDate`, `chrono::NaiveTime` or `chrono::DateTime<chrono::Utc>`"
)]
pub trait Moment: sealed::InUnits {}

/// The units of a date or time, from year to second, and the nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    whole: [u32; 6],
    pub(super) nanos: u32,
}

/// The smallest value of each unit. Truncation sets the dropped units to these values.
const LEAST: [u32; 6] = [0, 1, 1, 0, 0, 0];

impl Units {
    pub(super) const FIRST: Self = Self { whole: LEAST, nanos: 0 };

    pub(super) fn get(&self, unit: u8) -> u32 {
        self.whole.get(usize::from(unit)).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, unit: u8, number: u32) {
        if let Some(place) = self.whole.get_mut(usize::from(unit)) {
            *place = number;
        }
    }

    /// Sets the units below `smallest` to their smallest values, and truncates the fraction to the given number of digits.
    pub(super) fn cut(mut self, smallest: u8, fraction: u32) -> Self {
        for (place, least) in self.whole.iter_mut().zip(LEAST).skip(usize::from(smallest) + 1) {
            *place = least;
        }
        self.nanos -= self.nanos % 10u32.pow(9 - fraction.min(9));
        if fraction == 0 {
            self.nanos = 0;
        }
        self
    }

    fn day(&self) -> Option<NaiveDate> {
        let [year, month, day, ..] = self.whole;
        NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
    }

    fn time(&self) -> Option<NaiveTime> {
        let [.., hour, minute, second] = self.whole;
        NaiveTime::from_hms_nano_opt(hour, minute, second, self.nanos)
    }

    fn of(day: Option<NaiveDate>, time: NaiveTime) -> Option<Self> {
        let mut units = Self::FIRST;
        if let Some(day) = day {
            units.set(0, u32::try_from(day.year()).ok().filter(|year| *year <= 9_999)?);
            units.set(1, day.month());
            units.set(2, day.day());
        }
        units.set(3, time.hour());
        units.set(4, time.minute());
        units.set(5, time.second());
        units.nanos = Some(time.nanosecond()).filter(|nanos| *nanos < 1_000_000_000)?;
        Some(units)
    }
}

pub(super) mod sealed {
    use super::{Debug, Units};

    /// A date or time that can be split into units.
    pub trait InUnits: Sized + Debug {
        /// The index of the largest unit allowed in a pattern of this type, such as 0 for the year or 3 for the hour.
        const FIRST: u8;
        /// The index of the smallest unit allowed in a pattern of this type, such as 2 for the day or 6 for the fraction of a second.
        const LAST: u8;
        /// The number of fractional second digits stored by a property of this type (TICK-6).
        const STORED: u32;

        fn units(&self) -> Option<Units>;
        fn of_units(units: &Units) -> Option<Self>;
    }
}

macro_rules! moments {
    ($($type:ty, $first:literal, $last:literal, $stored:literal, |$value:ident| $units:expr, |$read:ident| $made:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Moment for $type {}

        impl sealed::InUnits for $type {
            const FIRST: u8 = $first;
            const LAST: u8 = $last;
            const STORED: u32 = $stored;

            fn units(&self) -> Option<Units> {
                let $value = self;
                $units
            }

            fn of_units($read: &Units) -> Option<Self> {
                $made
            }
        }
    )*};
}

moments! {
    NaiveDate, 0, 2, 0, |day| Units::of(Some(*day), NaiveTime::MIN), |units| units.day();
    NaiveTime, 3, 6, 9, |time| Units::of(None, *time), |units| units.time();
    DateTime<Utc>, 0, 6, 7, |at| Units::of(Some(at.date_naive()), at.time()), |units| Some(units.day()?.and_time(units.time()?).and_utc());
}
