mod chunks;

use std::time::Duration;

use chrono::NaiveDate;
use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::{Entity, ErrorCode, Selection, TableEntity, TableStoreExt};

use super::*;
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "MessageCounts")]
#[partition_key(employee)]
#[row_key(day)]
struct MessageCounts {
    #[digits(6)]
    employee: u32,
    day: NaiveDate,
    office: Option<String>,
}

impl Series for MessageCounts {
    type Value = i32;
    const SLOTS: &'static [&'static str] = HOURS;
}

type Counts = SeriesTable<MessageCounts, FaultyStore<Engine>>;

fn day(day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(2014, 4, day).unwrap()
}

fn of(day_of_april: u32) -> MessageCounts {
    MessageCounts { employee: 123, day: day(day_of_april), office: None }
}

fn counts() -> (Counts, FaultyStore<Engine>) {
    let store = FaultyStore::new(Engine::in_memory());
    let table = block_on(store.table::<MessageCounts>().create_if_missing()).unwrap();
    store.heal();
    // The limit is higher than the number of increments in any test. Even the slowest writer therefore succeeds in the end.
    let retry = Retry::new(256, Duration::from_micros(10), Duration::from_millis(2));
    (SeriesTable::new(table).with_retry(retry), store)
}

fn read(counts: &Counts, day_of_april: u32) -> SeriesRow<MessageCounts> {
    block_on(counts.get(MessageCounts::key(123, day(day_of_april)))).unwrap().unwrap().into_value()
}

#[test]
fn pat_ser_1_a_single_slot_can_be_read() {
    let (counts, store) = counts();
    let get = |slot| block_on(sendable(counts.get_slot(MessageCounts::key(123, day(23)), slot)));
    assert_eq!(get(9).unwrap(), None, "the period does not exist");
    block_on(counts.set_all(&of(23), [(9, 42), (10, 7)])).unwrap();
    store.heal();
    assert_eq!((get(9).unwrap(), get(11).unwrap()), (Some(42), None));
    assert_eq!(store.calls(), [Call::Get, Call::Get]);
    assert_eq!(get(24).unwrap_err().code(), ErrorCode::OutOfRangeInput);
}

#[test]
fn pat_ser_1_the_layout_matches_the_catalogue() {
    let (counts, store) = counts();
    let row = SeriesRow::with_values(of(23), (0..24).map(|hour| (hour % 3 > 0).then_some(hour))).unwrap();
    block_on(counts.insert_or_replace(&row)).unwrap();
    let rows =
        block_on(store.untyped("MessageCounts").unwrap().query(Selection::partition("000123")).collect());
    let stored: &TableEntity = &rows.unwrap()[0];
    let key = format!("{} | {}", stored.key().partition_key, stored.key().row_key);
    let names: Vec<&str> = stored.iter().map(|(name, _)| name).collect();
    insta::assert_snapshot!(format!("{key}\n{}", names.join(" ")), @r"
    000123 | 20140423
    Hour01 Hour02 Hour04 Hour05 Hour07 Hour08 Hour10 Hour11 Hour13 Hour14 Hour16 Hour17 Hour19 Hour20 Hour22 Hour23
    ");
    store.heal();
    assert_eq!(read(&counts, 23), row);
    assert_eq!(store.calls(), [Call::Get]);
}

#[test]
fn pat_ser_2_a_slot_is_one_merge_that_keeps_the_rest() {
    let (counts, store) = counts();
    let with_office = MessageCounts { office: Some("Oslo".into()), ..of(23) };
    block_on(counts.set(&with_office, 3, 30)).unwrap();
    store.heal();
    block_on(sendable(counts.set_all(&of(23), [(4, 1), (4, 40)]))).unwrap();
    assert_eq!(store.calls(), [Call::Submit]);
    let found = read(&counts, 23);
    assert_eq!((found.slot(3), found.slot(4), found.slot(5)), (Some(&30), Some(&40), None));
    assert_eq!(found.entity, with_office);
}

#[test]
fn pat_ser_2_a_slot_written_with_an_old_entity_keeps_newer_properties() {
    let (counts, store) = counts();
    let of_office = |office: &str| MessageCounts { office: Some(office.into()), ..of(23) };
    block_on(counts.set(&of_office("Oslo"), 3, 30)).unwrap();
    let move_to = |office: &str| {
        let key = MessageCounts::key(123, day(23));
        block_on(counts.table().update(key, |counts| counts.office = Some(office.into()))).unwrap();
    };
    move_to("Bergen");
    block_on(counts.set(&of_office("Oslo"), 3, 40)).unwrap();
    assert_eq!(block_on(counts.increment(&of_office("Oslo"), 3, 2)).unwrap(), 42);
    let found = read(&counts, 23);
    assert_eq!((found.slot(3), found.entity.office.as_deref()), (Some(&42), Some("Bergen")));
    // Another writer inserts the entity between the merge and the insert of the first slot.
    let (other, mut calls) = (counts.clone(), 0);
    store.script(move |call, _| {
        calls += usize::from(matches!(call, Call::Submit));
        let other = other.clone();
        match calls {
            2 => Fault::Meanwhile(Box::new(move || {
                let office = MessageCounts { office: Some("Bergen".into()), ..of(24) };
                drop(block_on(other.set(&office, 5, 7)).unwrap());
            })),
            _ => Fault::None,
        }
    });
    block_on(counts.set(&MessageCounts { office: Some("Oslo".into()), ..of(24) }, 3, 1)).unwrap();
    store.heal();
    let found = read(&counts, 24);
    assert_eq!(
        (found.slot(3), found.slot(5), found.entity.office.as_deref()),
        (Some(&1), Some(&7), Some("Bergen"))
    );
}

#[test]
fn pat_ser_3_no_increment_is_lost() {
    let (counts, _) = counts();
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let counts = counts.clone();
            scope.spawn(move || {
                for _ in 0..25 {
                    block_on(sendable(counts.increment_all(&of(23), &[(0, 1), (1 + thread, 2)]))).unwrap();
                }
            });
        }
    });
    let found = read(&counts, 23);
    assert_eq!(found.slot(0), Some(&200));
    assert!((1..=8).all(|slot| found.slot(slot) == Some(&50)));
}

/// Tests the limit on the number of slots, which the compiler checks: 252 properties, including those of the entity itself.
#[test]
fn pat_ser_4_more_slots_than_an_entity_holds_are_refused() {
    let own = MessageCounts::SCHEMA.properties.len();
    let names: Vec<String> = (0..=252).map(|slot| format!("Slot{slot:03}")).collect();
    let slots: Vec<&str> = names.iter().map(String::as_str).collect();
    check_slots::<MessageCounts>(&slots[..252 - own], 0);
    let refused = std::panic::catch_unwind(|| check_slots::<MessageCounts>(&slots[..253 - own], 0));
    let message = refused.unwrap_err();
    assert!(message.downcast_ref::<&str>().unwrap().contains("take a wide entity (PAT-SER-4)"));
}

/// Entity types that cannot be series with certain slots.
mod refused {
    use std::collections::BTreeMap;

    use table_core::Value;

    use super::*;

    #[derive(Entity)]
    #[entity(table = "Counts", kind = "Kind")]
    #[partition_key(employee)]
    #[row_key("kind")]
    pub(super) struct Kind {
        employee: u32,
        #[property(chunks)]
        note: Option<String>,
    }

    #[derive(Entity)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key("collected")]
    pub(super) struct Rest {
        employee: u32,
        #[property(rest)]
        others: BTreeMap<String, Value>,
    }
}

#[test]
fn pat_ser_4_slots_are_told_apart_from_all_other_properties() {
    let is_refused = |check: fn(), expected: &str| {
        let refused = std::panic::catch_unwind(check).err();
        refused
            .is_some_and(|message| message.downcast_ref().is_some_and(|text: &&str| text.contains(expected)))
    };
    let refused: [(fn(), &str); 5] = [
        (|| check_slots::<refused::Rest>(HOURS, 0), "would collect its slots"),
        (|| check_slots::<refused::Kind>(&["A", "Timestamp"], 0), "reserved name"),
        (|| check_slots::<refused::Kind>(&["EntityType"], 0), "`EntityType`"),
        (|| check_slots::<refused::Kind>(&["A", "Note15"], 0), "the name of a property"),
        (|| check_slots::<refused::Kind>(HOURS, 252 - 24 - 16), "PAT-SER-4"),
    ];
    let accepted = refused.into_iter().filter(|(check, expected)| !is_refused(*check, expected));
    assert_eq!(accepted.map(|(_, expected)| expected).collect::<Vec<_>>(), [""; 0]);
    check_slots::<refused::Kind>(&["Note16"], 0);
    // The entity kind and the sixteen chunks are also stored as properties.
    check_slots::<refused::Kind>(HOURS, 252 - 24 - 17);
}

#[test]
fn pat_ser_3_a_write_between_read_and_write_is_detected() {
    let (counts, store) = counts();
    // Between the read and the write of three successive attempts, another writer inserts, changes and deletes the entity.
    let other = counts.clone();
    let table = store.table::<MessageCounts>();
    store.script(move |_, at| {
        let (other, table) = (other.clone(), table.clone());
        match at {
            1 => Fault::Meanwhile(Box::new(move || {
                block_on(other.increment(&of(23), 5, 100)).unwrap();
            })),
            // The other writer's requests count too: the increment above took two.
            5 => Fault::Meanwhile(Box::new(move || drop(block_on(other.set(&of(23), 5, 1_000)).unwrap()))),
            8 => Fault::Meanwhile(Box::new(move || {
                block_on(table.delete(MessageCounts::key(123, day(23)), table_core::etag::IfMatch::Any))
                    .unwrap();
            })),
            _ => Fault::None,
        }
    });
    assert_eq!(block_on(counts.increment(&of(23), 5, 7)).unwrap(), 7);
    assert_eq!(read(&counts, 23).slot(5), Some(&7));
}

#[test]
fn pat_ser_3_attempts_are_bounded() {
    let (counts, store) = counts();
    let counts = counts.with_retry(Retry::new(3, Duration::ZERO, Duration::ZERO));
    store.script(|call, _| match call {
        Call::Submit => Fault::Before(ErrorCode::UpdateConditionNotSatisfied),
        _ => Fault::None,
    });
    let error = block_on(counts.increment(&of(23), 5, 7)).unwrap_err();
    assert_eq!((error.rule(), error.key()), (Some("PAT-SER-3"), Some(("000123", "20140423"))));
    assert_eq!(store.calls().len(), 6);
}

#[test]
fn con_11_an_increment_with_a_lost_response_is_not_repeated() {
    let (counts, store) = counts();
    store.script(|call, _| match call {
        Call::Submit => Fault::After(ErrorCode::OperationTimedOut),
        _ => Fault::None,
    });
    assert!(block_on(counts.increment(&of(23), 5, 7)).unwrap_err().is_ambiguous());
    store.heal();
    assert_eq!(read(&counts, 23).slot(5), Some(&7));
}

#[test]
fn an_overflowing_sum_is_refused_as_a_whole() {
    let (counts, _) = counts();
    block_on(counts.set(&of(23), 5, i32::MAX)).unwrap();
    let error = block_on(counts.increment_all(&of(23), &[(4, 1), (5, 1)])).unwrap_err();
    assert_eq!(error.code(), ErrorCode::OutOfRangeInput);
    assert_eq!(read(&counts, 23).slot(4), None);
    assert_eq!(block_on(counts.set(&of(23), 24, 1)).unwrap_err().rule(), Some("PAT-SER-1"));
    assert!(block_on(counts.increment_all(&of(23), &[(1, 1), (1, 1)])).unwrap_err().is_invalid_input());
}

/// A series whose slots are not declared in alphabetical order.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shifts")]
#[partition_key(employee)]
#[row_key("shifts")]
struct Shifts {
    employee: u32,
}

impl Series for Shifts {
    type Value = i32;
    const SLOTS: &'static [&'static str] = &["Night", "Early", "Late"];
}

#[test]
fn slots_are_read_in_whatever_order_they_are_stored() {
    let (counts, _) = counts();
    for hour in [23, 0, 11, 12, 5, 4] {
        block_on(counts.increment(&of(23), hour, i32::try_from(hour).unwrap() + 1)).unwrap();
    }
    let expected = (0..24).map(|hour| [23, 0, 11, 12, 5, 4].contains(&hour).then_some(hour + 1));
    assert_eq!(read(&counts, 23), SeriesRow::with_values(of(23), expected).unwrap());

    let shifts = SeriesTable::<Shifts, _>::new(Engine::in_memory().table::<Shifts>());
    block_on(shifts.table().clone().create_if_missing()).unwrap();
    for (slot, count) in [(2, 3), (0, 1), (1, 2)] {
        block_on(shifts.increment(&Shifts { employee: 1 }, slot, count)).unwrap();
    }
    let read = block_on(shifts.get(Shifts::key(1))).unwrap().unwrap();
    assert_eq!(read.slots(), [Some(1), Some(2), Some(3)]);
}

#[test]
fn pat_ser_1_several_days_are_one_range_query() {
    let (counts, store) = counts();
    for april in [20, 21, 23, 28] {
        block_on(counts.set(&of(april), 9, 1)).unwrap();
    }
    store.heal();
    let week = block_on(counts.query(MessageCounts::rows(123).day(day(21)..=day(27))).collect()).unwrap();
    assert_eq!(week.iter().map(|row| row.entity.day).collect::<Vec<_>>(), [day(21), day(23)]);
    assert_eq!(store.calls(), [Call::Query]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Tests that series agree with a model that has one array per day.
    #[test]
    fn pat_ser_2_and_3_series_behave_like_arrays(
        steps in prop::collection::vec((1_u32..4, 0_usize..24, -5_i32..99, 0..3), 0..40),
    ) {
        let (counts, _) = counts();
        let mut model = [[None; 24]; 4];
        for (april, slot, value, verb) in steps {
            let place = &mut model[april as usize][slot];
            if verb == 0 {
                *place = Some(value);
                block_on(counts.set(&of(april), slot, value)).unwrap();
            } else {
                *place = Some(place.unwrap_or(0) + value);
                prop_assert_eq!(Some(block_on(counts.increment(&of(april), slot, value)).unwrap()), *place);
            }
        }
        let found = block_on(counts.query(MessageCounts::partition(123)).collect()).unwrap();
        let expected: Vec<_> = (1_u32..4)
            .filter(|april| model[*april as usize] != [None; 24])
            .map(|april| SeriesRow::with_values(of(april), model[april as usize]).unwrap())
            .collect();
        prop_assert_eq!(found, expected);
    }
}

mod declared {
    use super::*;
    use crate::EntityStore;
    use crate::entities::Entities;
    use crate::feed::Cursor;
    use crate::sequence::GaplessSequence;
    use crate::unit::UnitOfWork;

    /// A meter, with an index and a feed in addition to its slots.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Meters", feed)]
    #[partition_key(site)]
    #[row_key("meter_", number)]
    #[index(ByRoom, row_key("room_", room, "_", number))]
    struct Meter {
        site: String,
        #[digits(3)]
        number: u32,
        #[without('_')]
        room: String,
    }

    impl Series for Meter {
        type Value = i64;
        const SLOTS: &'static [&'static str] = HOURS;
    }

    type Meters = Entities<Meter, FaultyStore<Engine>>;

    fn meters() -> (Meters, SeriesTable<Meter, FaultyStore<Engine>>, FaultyStore<Engine>) {
        let store = FaultyStore::new(Engine::in_memory());
        let meters = block_on(store.entities::<Meter>().create_if_missing()).unwrap();
        store.heal();
        (meters.clone(), SeriesTable::new(meters), store)
    }

    fn meter(room: &str) -> Meter {
        Meter { site: "Oslo".into(), number: 7, room: room.into() }
    }

    fn slots(series: &SeriesTable<Meter, FaultyStore<Engine>>) -> Vec<(usize, i64)> {
        let row = block_on(series.get(Meter::key("Oslo", 7))).unwrap().unwrap();
        row.slots().iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect()
    }

    fn in_room(meters: &Meters, room: &str) -> usize {
        block_on(meters.query(Meter::by_room("Oslo", room)).collect()).unwrap().len()
    }

    #[test]
    fn every_verb_of_a_series_maintains_what_its_entity_declares() {
        let (meters, series, store) = meters();
        block_on(series.set(&meter("attic"), 3, 30)).unwrap();
        assert_eq!(store.calls().last(), Some(&Call::Submit));
        store.heal();
        assert_eq!(block_on(sendable(series.increment(&meter("cellar"), 3, 12))).unwrap(), 42);
        assert_eq!(store.calls(), [Call::Get, Call::Submit]);
        assert_eq!(
            (in_room(&meters, "attic"), in_room(&meters, "cellar")),
            (1, 0),
            "a property is not a slot"
        );
        block_on(meters.update(Meter::key("Oslo", 7), |meter| meter.room = "attic".into())).unwrap();
        assert_eq!(slots(&series), [(3, 42)]);
        block_on(series.insert_or_replace(&SeriesRow::with_values(meter("hall"), [Some(1)]).unwrap()))
            .unwrap();
        assert_eq!((in_room(&meters, "attic"), in_room(&meters, "hall")), (0, 1));
        assert_eq!(slots(&series), [(0, 1)]);

        let (table, site) = (meters.table().name().unwrap(), table_core::PartitionKey::new("Oslo").unwrap());
        let entries = block_on(meters.feed().read(table, &site, &Cursor::default(), 100)).unwrap();
        let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
        assert_eq!(kinds, ["inserted", "updated", "updated", "updated"]);
        assert!(block_on(meters.check().run()).unwrap().is_clean());
    }

    #[test]
    fn pat_ser_1_a_series_is_read_next_to_rows_of_every_other_kind() {
        let (meters, series, store) = meters();
        for number in 1..4 {
            block_on(series.set(&Meter { number, ..meter("attic") }, 3, 30)).unwrap();
        }
        let numbers = GaplessSequence::new(&meters, "readings").unwrap();
        let insert = |number: u32, unit: &mut UnitOfWork<_, _>| {
            unit.insert(&Meter { number: 90 + number, ..meter("cellar") }).map(drop)
        };
        assert_eq!(block_on(numbers.next(Meter::partition("Oslo"), insert)).unwrap(), 1);
        let expected = block_on(meters.query(Meter::partition("Oslo")).collect()).unwrap();
        assert_eq!(expected.len(), 4);
        for pages in [usize::MAX, 1, 3] {
            let series = SeriesTable::new(store.clone().pages_of(pages).entities::<Meter>());
            let read = block_on(series.query(Meter::partition("Oslo")).collect()).unwrap();
            assert_eq!(read.iter().map(|row| row.entity.clone()).collect::<Vec<_>>(), expected);
            assert_eq!(read[0].slot(3), Some(&30));
            let first = block_on(series.query(Meter::partition("Oslo")).first()).unwrap().unwrap();
            assert_eq!(first.entity, expected[0]);
            let scan = series.table().scan("a test").max_rows(100).project::<SeriesRow<Meter>>();
            assert_eq!(block_on(scan.collect()).unwrap().len(), 4);
        }
    }

    #[test]
    fn a_unit_writes_slots_under_the_version_that_was_read() {
        let (meters, series, _) = meters();
        let unit = |old: Option<&_>, value| {
            let mut unit = meters.unit(Meter::partition("Oslo")).unwrap();
            let row = SeriesRow::with_values(meter("attic"), [None, Some(value)]).unwrap();
            unit.put_series(old, &row).unwrap();
            block_on(unit.commit())
        };
        unit(None, 1).unwrap();
        let read = block_on(series.get(Meter::key("Oslo", 7))).unwrap().unwrap();
        block_on(series.increment(&meter("attic"), 1, 1)).unwrap();
        let error = unit(Some(&read), 9).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UpdateConditionNotSatisfied);
        let read = block_on(series.get(Meter::key("Oslo", 7))).unwrap().unwrap();
        unit(Some(&read), 9).unwrap();
        assert_eq!((slots(&series), in_room(&meters, "attic")), (vec![(1, 9)], 1));
        let error = {
            let mut unit = meters.unit(Meter::partition("Oslo")).unwrap();
            let other = SeriesRow::new(Meter { number: 8, ..meter("attic") });
            unit.put_series(Some(&read), &other).unwrap_err()
        };
        assert_eq!(error.rule(), Some("UPD-6"));
    }
}
