//! Tests that no value is lost if releases with different slot ranges, part counts and slot fields write the same entity.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use table_core::selection::Point;

use super::*;

/// The number of days and of hours in the longest declaration. Each value has a number: first the days, counted from 1, and then the hours.
const DAYS: usize = 100;
const HOURS: usize = 3;

type Values = BTreeMap<usize, i32>;

/// One release's declaration of the wide entities that all releases share.
trait Release: Wide + Clone {
    /// The numbers of the values that the release declares.
    const NUMBERS: RangeInclusive<usize>;

    fn key() -> Selection<Self::Header, Point>;

    fn new() -> Self;

    /// Returns the value that has a declared number.
    fn value(&mut self, number: usize) -> &mut Option<i32>;

    /// Returns the slot that has a declared number.
    fn slot(number: usize) -> WideProperty<Self, Option<i32>>;

    /// Returns a slot whose number its field does not declare.
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
        mod $module {
            #[derive(super::Wide, Clone, Debug)]
            #[entity(table = "Counts")]
            #[partition_key(employee)]
            #[row_key(year)]
            pub(super) struct Counts {
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

/// A release that adds days and hours. The hours are in a second part.
mod hundred {
    #[derive(super::Wide, Clone, Debug)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(super) struct Counts {
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

/// A release whose days are the slots of two fields, each in its own part.
mod halves {
    #[derive(super::Wide, Clone, Debug)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(super) struct Counts {
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

#[derive(Clone, Debug)]
enum Act {
    /// Sets values with a patch. Values with numbers that the release does not declare are omitted.
    Set(Values),
    /// Sets a slot whose number its field does not declare.
    SetOutside,
    Update(usize, i32),
    InsertOrReplace(Values),
    /// Replaces the entity with the version that another release has read as the condition.
    Replace(usize, Values),
    /// Deletes the entity with the version that another release has read as the condition, and then inserts it.
    Delete(usize, Values),
    Resize(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let number = || prop_oneof![1_usize..=13, 98..=DAYS + HOURS];
    let values = || prop::collection::btree_map(number(), 0_i32..9, 1..5);
    prop_oneof![
        3 => values().prop_map(Act::Set),
        1 => Just(Act::SetOutside),
        2 => (number(), 0_i32..9).prop_map(|(number, value)| Act::Update(number, value)),
        1 => values().prop_map(Act::InsertOrReplace),
        1 => (0_usize..4, values()).prop_map(|(reader, values)| Act::Replace(reader, values)),
        1 => (0_usize..4, values()).prop_map(|(reader, values)| Act::Delete(reader, values)),
        3 => (1_usize..3).prop_map(Act::Resize),
    ]
}

type Found = Result<Option<(Values, WideVersion)>>;

/// The functions of one release.
struct Program {
    parts: usize,
    numbers: RangeInclusive<usize>,
    read: fn(&Engine) -> Found,
    act: fn(&Engine, &Act, Option<&WideVersion>) -> Result<()>,
}

fn program<R: Release>() -> Program {
    Program {
        parts: R::PARTS.len(),
        numbers: R::NUMBERS,
        read: |store| {
            let found = block_on(store.wide::<R>().get(R::key()))?;
            Ok(found.map(|(whole, version)| (whole.values(), version)))
        },
        act: |store, act, version| {
            let table = store.wide::<R>();
            match act {
                Act::Set(values) => {
                    let declared = values.iter().filter(|(number, _)| R::NUMBERS.contains(number));
                    let patch = declared.fold(table.patch(R::key()), |patch, (number, value)| {
                        patch.set(R::slot(*number), *value)
                    });
                    block_on(patch.send())
                }
                Act::SetOutside => block_on(table.set(R::key(), R::outside(), 7)),
                Act::Update(number, value) => block_on(table.update(R::key(), |whole| {
                    *whole.value(*number) = Some(*value);
                }))
                .map(drop),
                Act::InsertOrReplace(values) => block_on(table.insert_or_replace(&R::of(values))).map(drop),
                Act::Replace(_, values) => {
                    block_on(table.replace(&R::of(values), version.unwrap())).map(drop)
                }
                Act::Delete(_, values) => {
                    block_on(table.delete(R::key(), version.unwrap()))?;
                    block_on(table.insert(&R::of(values))).map(drop)
                }
                Act::Resize(stored) => block_on(table.resize(R::key(), *stored)).map(drop),
            }
        },
    }
}

/// Returns the stored values for each number, under all names and in all parts.
fn stored(store: &Engine) -> BTreeMap<usize, BTreeSet<i32>> {
    let rows = block_on(store.untyped("Counts").unwrap().query(Selection::partition("0000000001")).collect());
    let mut found: BTreeMap<usize, BTreeSet<i32>> = BTreeMap::new();
    for row in rows.unwrap() {
        for (name, value) in row.iter() {
            let number = |word| name.strip_prefix(word).and_then(|digits| digits.parse::<usize>().ok());
            if let Some(number) = number("Day").or_else(|| number("Hour").map(|hour| DAYS + 1 + hour))
                && let table_core::Value::Int32(value) = value
            {
                found.entry(number).or_default().insert(*value);
            }
        }
    }
    found
}

/// Returns only the values that a release declares.
fn declared(program: &Program, values: &Values) -> Values {
    values
        .iter()
        .filter(|(number, _)| program.numbers.contains(number))
        .map(|(at, value)| (*at, *value))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Tests that only replacements remove values, and that each read returns the last value or an error.
    #[test]
    fn pat_wide_4_releases_with_other_slots_and_parts_lose_no_value(
        first in 0_usize..4,
        values in prop::collection::btree_map(1_usize..=DAYS + HOURS, 0_i32..9, 0..30),
        acts in prop::collection::vec((0_usize..4, act()), 1..10),
    ) {
        let store = Engine::in_memory();
        block_on(store.wide::<nine::Counts>().create_if_missing()).unwrap();
        let programs = [
            program::<nine::Counts>(),
            program::<twelve::Counts>(),
            program::<hundred::Counts>(),
            program::<halves::Counts>(),
        ];
        (programs[first].act)(&store, &Act::InsertOrReplace(values.clone()), None).unwrap();
        let mut model = declared(&programs[first], &values);
        for (at, act) in acts {
            let program = &programs[at];
            let before = stored(&store);
            let mut other = None;
            match &act {
                Act::Update(number, _) if !program.numbers.contains(number) => continue,
                Act::Replace(reader, _) | Act::Delete(reader, _) => match (programs[*reader].read)(&store) {
                    Ok(Some((_, version))) => other = Some((programs[*reader].parts, version)),
                    _ => continue,
                },
                _ => {}
            }
            let done = (program.act)(&store, &act, other.as_ref().map(|(_, version)| version));
            match (done, &act) {
                (Ok(()), Act::Set(values)) => model.extend(declared(program, values)),
                (Ok(()), Act::Update(number, value)) => drop(model.insert(*number, *value)),
                (Ok(()), Act::InsertOrReplace(values) | Act::Replace(_, values) | Act::Delete(_, values)) => {
                    prop_assert!(other.is_none_or(|(parts, _)| parts == program.parts), "{:?}", act);
                    model = declared(program, values);
                }
                // A conversion keeps the value under the declared name. If two names have different values, this may be the earlier one.
                (Ok(()), Act::Resize(_)) => {
                    let (found, _) = (program.read)(&store).unwrap().unwrap();
                    for (number, value) in found {
                        if before.get(&number).is_some_and(|values| values.len() > 1) {
                            model.insert(number, value);
                        }
                    }
                }
                (Ok(()), Act::SetOutside) => prop_assert!(false, "a slot of no field was set"),
                (Err(error), _) => {
                    prop_assert_eq!(&stored(&store), &before, "{}", error);
                    let is_known = error.is_not_found() || error.is_invalid_input() || error.rule() == Some("PAT-WIDE-4");
                    prop_assert!(is_known, "{}", error);
                }
            }
            let found = stored(&store);
            prop_assert!(found.keys().eq(model.keys()), "{:?} after {:?}: {:?} for {:?}", found, act, before, model);
            prop_assert!(model.iter().all(|(number, value)| found[number].contains(value)), "{:?}: {:?}", found, model);
            for program in &programs {
                match (program.read)(&store) {
                    Ok(found) => prop_assert_eq!(found.map(|(values, _)| values), Some(declared(program, &model))),
                    Err(error) => prop_assert_eq!(error.rule(), Some("PAT-WIDE-4"), "{}", error),
                }
            }
        }
    }
}
