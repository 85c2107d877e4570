//! Tests appends whose responses are lost. The store may return the rows with different bytes.

use table_core::queue::QueueName;
use table_core::selection::Point;

use super::*;
use crate::EntityStore;
use crate::copies::CopyRelation;
use crate::outbox::Outbox;

/// An event whose properties are not sorted by name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(sensor)]
#[row_key(stamp)]
struct Reading {
    #[digits(6)]
    sensor: u32,
    stamp: LogStamp,
    zone: String,
    note: Option<String>,
    level: f64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", copied_by(Name))]
#[partition_key(department)]
#[row_key("person_", id)]
struct Person {
    department: String,
    #[digits(3)]
    id: u32,
    name: String,
}

/// An event with a copy of a person's name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", copies_from(Name))]
#[partition_key(department)]
#[row_key("event_", stamp)]
struct Visit {
    department: String,
    stamp: LogStamp,
    person: Option<i32>,
    name: Option<String>,
    floor: i32,
}

struct Name;

impl CopyRelation for Name {
    type Source = Person;
    type Holder = Visit;
    type Copied = String;
    const NAME: &'static str = "name";

    fn reference(visit: &Visit) -> Option<Selection<Person, Point>> {
        Some(Person::key(&visit.department, u32::try_from(visit.person?).ok()?))
    }
    fn copied(person: &Person) -> String {
        person.name.clone()
    }
    fn set(visit: &mut Visit, name: String) {
        visit.name = Some(name);
    }
    fn clear(visit: &mut Visit) {
        (visit.person, visit.name) = (None, None);
    }
}

/// Makes the first transaction lose its response. The caller gets the given error instead.
fn lose(store: &FaultyStore<Engine>, code: ErrorCode) {
    let mut is_lost = false;
    store.script(move |call, _| match call {
        Call::Submit if !std::mem::replace(&mut is_lost, true) => Fault::After(code),
        _ => Fault::None,
    });
}

/// The errors that a client may receive although its transaction took effect. Either the outcome is unknown, or the HTTP stack of the client sent the request
/// twice.
const LOST: [ErrorCode; 2] = [ErrorCode::OperationTimedOut, ErrorCode::EntityAlreadyExists];

#[test]
fn con_11_an_event_is_recognised_although_the_store_returns_its_properties_in_another_order() {
    for sorts in [false, true] {
        let store = FaultyStore::new(Engine::in_memory());
        let store = if sorts { store.sorting_properties() } else { store };
        let log = LogTail::new(block_on(store.table::<Reading>().create_if_missing()).unwrap());
        for (level, note) in [(1.5, None), (-0.0, Some("a")), (f64::NAN, None), (f64::INFINITY, Some(""))] {
            for code in LOST {
                lose(&store, code);
                let (zone, note) = ("north".to_owned(), note.map(str::to_owned));
                let event =
                    |stamp| Reading { sensor: 1, stamp, zone: zone.clone(), note: note.clone(), level };
                let appended = block_on(log.append(event));
                assert!(appended.is_ok(), "{level}, {code:?}, sorted: {sorts}: {appended:?}");
            }
        }
        store.heal();
        assert_eq!(block_on(log.newest(Reading::partition(1), 99)).unwrap().len(), 8, "sorted: {sorts}");
    }
}

#[test]
fn con_11_an_event_with_copied_values_is_recognised() {
    let store = FaultyStore::new(Engine::in_memory());
    let outbox = || Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("work").unwrap());
    let people = store.entities_with_outbox::<Person, _>(outbox());
    let people = block_on(people.create_if_missing()).unwrap();
    block_on(people.insert(&Person { department: "Sales".into(), id: 1, name: "Ada".into() })).unwrap();
    let visits = block_on(store.entities_with_outbox::<Visit, _>(outbox()).create_if_missing()).unwrap();
    let log = LogTail::new(visits);
    for code in LOST {
        for given in [None, Some("Byron".to_owned())] {
            lose(&store, code);
            let visit = |stamp| Visit {
                department: "Sales".into(),
                stamp,
                person: Some(1),
                name: given.clone(),
                floor: 7,
            };
            block_on(log.append(visit)).unwrap();
        }
    }
    store.heal();
    let visits = block_on(log.newest(Visit::partition("Sales"), 9)).unwrap();
    assert_eq!(visits.len(), 4);
    assert!(visits.iter().all(|visit| visit.name.as_deref() == Some("Ada")));
}

#[test]
fn con_11_an_event_of_another_writer_with_the_same_stamp_is_not_taken_for_the_own_event() {
    let (log, _, _) = log::<Reading>();
    let reading = |sensor, (zone, note, level): (&str, Option<&str>, f64)| {
        let (zone, note) = (zone.to_owned(), note.map(str::to_owned));
        move |stamp| Reading { sensor, stamp, zone: zone.clone(), note: note.clone(), level }
    };
    let others = [
        ("south", Some("a"), 1.0),
        ("north", Some("b"), 1.0),
        ("north", None, 1.0),
        ("north", Some("a"), 2.0),
    ];
    for (sensor, other) in (1..).zip(others) {
        let twin = LogTail {
            table: log.table.clone(),
            writer: Arc::new(Writer::of_number(standing().0, log.writer.number())),
        };
        let (own, other) = (reading(sensor, ("north", Some("a"), 1.0)), reading(sensor, other));
        let mut is_first = true;
        let stamp = block_on(twin.append(|stamp| {
            if std::mem::take(&mut is_first) {
                block_on(log.table().insert(&other(stamp))).unwrap();
            }
            own(stamp)
        }))
        .unwrap();
        assert_eq!(block_on(log.newest(Reading::partition(sensor), 9)).unwrap().len(), 2, "{sensor}");
        let found = block_on(log.table().get(Reading::key(sensor, stamp))).unwrap().unwrap();
        assert_eq!(found.into_value(), own(stamp));
    }
}
