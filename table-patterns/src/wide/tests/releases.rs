//! Tests releases with different ranges of slots, numbers of parts and slot fields that write the same entity. No value may be lost.

mod declarations;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::*;
use crate::EntityStore;
use declarations::{DAYS, HOURS, Release, Values, halves, hundred, nine, twelve};

#[derive(Clone, Debug)]
enum Act {
    /// Sets values with a patch. Values whose numbers the release does not declare are omitted.
    Set(Values),
    /// Sets a slot whose number is not declared for its field.
    SetOutside,
    Update(usize, i32),
    InsertOrReplace(Values),
    /// Replaces the entity, alone or in a unit of work. The write requires the version that another release has read.
    Replace(usize, Way, Values),
    /// Deletes the entity, alone or in a unit of work, and then inserts it again. The delete requires the version that another release has read.
    Delete(usize, Way, Values),
    Resize(usize),
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Alone,
    Unit,
}

/// An entity type in the table and partitions of the wide entities. It is needed to create units of work.
#[derive(Entity, Clone, Debug)]
#[entity(table = "Counts")]
#[partition_key(employee)]
#[row_key("employee")]
struct Employee {
    employee: u32,
}

fn act() -> impl Strategy<Value = Act> {
    let way = || prop_oneof![Just(Way::Alone), Just(Way::Unit)];
    let number = || prop_oneof![1_usize..=13, 98..=DAYS + HOURS];
    let values = || prop::collection::btree_map(number(), 0_i32..9, 1..5);
    prop_oneof![
        3 => values().prop_map(Act::Set),
        1 => Just(Act::SetOutside),
        2 => (number(), 0_i32..9).prop_map(|(number, value)| Act::Update(number, value)),
        1 => values().prop_map(Act::InsertOrReplace),
        2 => (0_usize..4, way(), values()).prop_map(|(reader, way, values)| Act::Replace(reader, way, values)),
        2 => (0_usize..4, way(), values()).prop_map(|(reader, way, values)| Act::Delete(reader, way, values)),
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
                Act::Replace(_, Way::Alone, values) => {
                    block_on(table.replace(&R::of(values), version.unwrap())).map(drop)
                }
                Act::Replace(_, Way::Unit, values) => {
                    let mut unit = store.entities::<Employee>().unit(Employee::partition(1))?;
                    unit.put_wide(version, &R::of(values))?;
                    block_on(unit.commit()).map(drop)
                }
                Act::Delete(_, way, values) => {
                    match way {
                        Way::Alone => block_on(table.delete(R::key(), version.unwrap()))?,
                        Way::Unit => {
                            let mut unit = store.entities::<Employee>().unit(Employee::partition(1))?;
                            unit.delete_wide::<R>(R::key(), version.unwrap())?;
                            block_on(unit.commit()).map(drop)?;
                        }
                    }
                    block_on(table.insert(&R::of(values))).map(drop)
                }
                Act::Resize(stored) => block_on(table.resize(R::key(), *stored)).map(drop),
            }
        },
    }
}

/// Returns all stored values of each number, whatever their names and parts.
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

/// Returns only the values whose numbers a release declares.
fn declared(program: &Program, values: &Values) -> Values {
    values
        .iter()
        .filter(|(number, _)| program.numbers.contains(number))
        .map(|(at, value)| (*at, *value))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Tests that only replacements remove values, and that each read returns the last value or fails.
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
                Act::Replace(reader, ..) | Act::Delete(reader, ..) => match (programs[*reader].read)(&store) {
                    Ok(Some((_, version))) => other = Some((programs[*reader].parts, version)),
                    _ => continue,
                },
                _ => {}
            }
            let done = (program.act)(&store, &act, other.as_ref().map(|(_, version)| version));
            match (done, &act) {
                (Ok(()), Act::Set(values)) => model.extend(declared(program, values)),
                (Ok(()), Act::Update(number, value)) => drop(model.insert(*number, *value)),
                (Ok(()), Act::InsertOrReplace(values) | Act::Replace(_, _, values) | Act::Delete(_, _, values)) => {
                    prop_assert!(other.is_none_or(|(parts, _)| parts == program.parts), "{:?}", act);
                    model = declared(program, values);
                }
                // A conversion keeps the value under the declared name. If two names have different values, it may keep the earlier one.
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
