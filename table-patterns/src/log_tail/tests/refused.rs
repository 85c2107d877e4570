//! Tests appends of events for which a participant writes a row that the store refuses.

use table_core::etag::IfMatch;
use table_core::retry::Retry;
use table_core::runtime::Runtime;
use table_core::{Result, TableEntity};

use super::*;
use crate::EntityStore;
use crate::participant::{Changes, Participant};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(sensor)]
#[row_key("reading_", stamp)]
struct Reading {
    #[digits(6)]
    sensor: u32,
    stamp: LogStamp,
    level: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(sensor)]
#[row_key("first")]
struct First {
    #[digits(6)]
    sensor: u32,
}

/// A participant that permits one reading per sensor.
struct OnlyOne;

impl Participant<Reading> for OnlyOne {
    fn name(&self) -> &'static str {
        "only one"
    }

    fn changes(&self, _: Option<&Reading>, new: Option<&Reading>, out: &mut Changes) -> Result<()> {
        let Some(Reading { sensor, .. }) = new else { return Ok(()) };
        out.insert(&First { sensor: *sensor })
    }
}

#[test]
fn an_append_whose_participant_is_refused_is_not_repeated_under_another_stamp() {
    let store = FaultyStore::new(Engine::in_memory());
    let readings = store.clone().with_participant::<Reading>(OnlyOne).entities::<Reading>();
    let log = LogTail::new(block_on(readings.create_if_missing()).unwrap());
    let reading = |stamp| Reading { sensor: 1, stamp, level: 5 };
    block_on(log.append(reading)).unwrap();
    store.heal();
    let mut stamps = 0;
    let refused = block_on(log.append(|stamp| {
        stamps += 1;
        reading(stamp)
    }));
    let error = refused.unwrap_err();
    assert_eq!((error.code(), stamps), (ErrorCode::EntityAlreadyExists, 1), "{error}");
    assert!(error.to_string().contains("only one"), "{error}");
    assert_eq!(error.key(), Some(("000001", "first")), "{error}");
    assert_eq!(store.calls().into_iter().filter(|call| *call == Call::Submit).count(), 1);
}

#[test]
fn con_3_an_append_whose_stamps_are_all_used_ends_after_the_attempts_of_its_handle() {
    let store = FaultyStore::new(Engine::in_memory());
    let (clock, _) = standing();
    let waits = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&waits);
    let pace = Runtime::new().sleep_by(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    });
    let retry = Retry::new(3, Duration::ZERO, Duration::ZERO).with_runtime(pace);
    let readings = block_on(store.entities::<Reading>().create_if_missing()).unwrap().with_retry(retry);
    let log = |number| LogTail::<_, _> {
        writer: Arc::new(Writer::of_number(clock.clone(), number)),
        ..LogTail::new(readings.clone())
    };
    let (one, other) = (log(7), log(7));
    for _ in 0..3 {
        block_on(one.append(|stamp| Reading { sensor: 1, stamp, level: 5 })).unwrap();
    }
    // The key of each stamp contains a row that is not the event.
    for stored in block_on(one.newest(Reading::partition(1), 9)).unwrap() {
        block_on(readings.delete(Reading::key(1, stored.stamp), IfMatch::Any)).unwrap();
        let row = TableEntity::new("000001", format!("reading_{}", stored.stamp)).unwrap();
        block_on(store.untyped("Readings").unwrap().insert(&row)).unwrap();
    }
    let error = block_on(other.append(|stamp| Reading { sensor: 1, stamp, level: 5 })).unwrap_err();
    assert_eq!((error.rule(), waits.load(Ordering::SeqCst)), (Some("CON-3"), 2), "{error}");
}
