//! The declarations of four releases. They store the same values in different parts and fields, and under names with different numbers of digits.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use table_core::selection::Point;

use super::*;

/// The numbers of days and hours in the longest declaration. A number identifies each value: the days are counted from 1, followed by the hours.
pub(super) const DAYS: usize = 100;
pub(super) const HOURS: usize = 3;

pub(super) type Values = BTreeMap<usize, i32>;

/// The declaration of one release for the wide entities that all releases share.
pub(super) trait Release: Wide + Clone {
    /// The numbers of the values that the release declares.
    const NUMBERS: RangeInclusive<usize>;

    fn key() -> Selection<Self::Header, Point>;

    fn new() -> Self;

    /// Returns the value with the given number. The release must declare this number.
    fn value(&mut self, number: usize) -> &mut Option<i32>;

    /// Returns the slot with the given number. The release must declare this number.
    fn slot(number: usize) -> WideProperty<Self, Option<i32>>;

    /// Returns a slot whose number is not declared for its field.
    fn outside() -> WideProperty<Self, Option<i32>>;

    fn of(values: &Values) -> Self {
        let mut whole = Self::new();
        Self::NUMBERS.for_each(|number| *whole.value(number) = values.get(&number).copied());
        whole
    }

    fn values(mut self) -> Values {
        Self::NUMBERS.filter_map(|number| Some((number, (*self.value(number))?))).collect()
    }
}

/// Declares a release whose days are the slots of one field.
macro_rules! release {
    ($module:ident, $last:literal) => {
        pub(super) mod $module {
            #[derive(super::Wide, Clone, Debug)]
            #[entity(table = "Counts")]
            #[partition_key(employee)]
            #[row_key(year)]
            pub(crate) struct Counts {
                pub employee: u32,
                pub year: u16,
                #[slots("Day", 1..=$last)]
                pub days: Vec<Option<i32>>,
            }
        }

        impl Release for $module::Counts {
            const NUMBERS: RangeInclusive<usize> = 1..=$last;

            fn key() -> Selection<Self::Header, Point> {
                Self::key(1, 2014)
            }

            fn new() -> Self {
                Self { employee: 1, year: 2014, days: vec![None; $last] }
            }

            fn value(&mut self, number: usize) -> &mut Option<i32> {
                &mut self.days[number - 1]
            }

            fn slot(number: usize) -> WideProperty<Self, Option<i32>> {
                Self::DAYS.at(number)
            }

            fn outside() -> WideProperty<Self, Option<i32>> {
                Self::DAYS.at($last + 1)
            }
        }
    };
}

release!(nine, 9);
release!(twelve, 12);

/// A release that adds days and hours. The hours are stored in a second part.
pub(super) mod hundred {
    #[derive(super::Wide, Clone, Debug)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(crate) struct Counts {
        pub employee: u32,
        pub year: u16,
        #[slots("Day", 1..=100)]
        pub days: Vec<Option<i32>>,
        #[part(2)]
        #[slots("Hour", 0..=2)]
        pub hours: [Option<i32>; 3],
    }
}

impl Release for hundred::Counts {
    const NUMBERS: RangeInclusive<usize> = 1..=DAYS + HOURS;

    fn key() -> Selection<Self::Header, Point> {
        Self::key(1, 2014)
    }

    fn new() -> Self {
        Self { employee: 1, year: 2014, days: vec![None; DAYS], hours: [None; HOURS] }
    }

    fn value(&mut self, number: usize) -> &mut Option<i32> {
        if number <= DAYS { &mut self.days[number - 1] } else { &mut self.hours[number - DAYS - 1] }
    }

    fn slot(number: usize) -> WideProperty<Self, Option<i32>> {
        if number <= DAYS { Self::DAYS.at(number) } else { Self::HOURS.at(number - DAYS - 1) }
    }

    fn outside() -> WideProperty<Self, Option<i32>> {
        Self::HOURS.at(3)
    }
}

/// A release whose days are the slots of two fields, each in a separate part.
pub(super) mod halves {
    #[derive(super::Wide, Clone, Debug)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(crate) struct Counts {
        pub employee: u32,
        pub year: u16,
        #[slots("Day", 1..=11)]
        pub first: Vec<Option<i32>>,
        #[part(2)]
        #[slots("Day", 12..=20)]
        pub second: Vec<Option<i32>>,
    }
}

impl Release for halves::Counts {
    const NUMBERS: RangeInclusive<usize> = 1..=20;

    fn key() -> Selection<Self::Header, Point> {
        Self::key(1, 2014)
    }

    fn new() -> Self {
        Self { employee: 1, year: 2014, first: vec![None; 11], second: vec![None; 9] }
    }

    fn value(&mut self, number: usize) -> &mut Option<i32> {
        if number <= 11 { &mut self.first[number - 1] } else { &mut self.second[number - 12] }
    }

    fn slot(number: usize) -> WideProperty<Self, Option<i32>> {
        if number <= 11 { Self::FIRST.at(number) } else { Self::SECOND.at(number) }
    }

    /// Returns a slot whose number belongs to the other field.
    fn outside() -> WideProperty<Self, Option<i32>> {
        Self::FIRST.at(15)
    }
}
