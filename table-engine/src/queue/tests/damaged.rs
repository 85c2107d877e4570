//! Tests that a corrupted row in a queue does not block other messages.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use proptest::prelude::*;
use table_store::ValueRef;
use table_store::row::{Row, RowWriter};

use super::{
    Arc, AtomicU64, BEGIN, Clock, Duration, Engine, EngineOptions, Ordering, PutMessage, QueueStore, SECOND,
    block_on, clocked, pass, work,
};
use crate::decision::Ground;
use crate::key::{Key, KeyReader, Span, TABLE_BYTES};

/// A way to corrupt a row.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// The row has no properties.
    Empty,
    /// A property is missing.
    Without(usize),
    /// A property has a different type.
    OtherType(usize),
    /// A bit of the encoded row is flipped.
    Flipped(usize),
    /// The row is truncated to the given number of bytes.
    Cut(usize),
    /// A byte of the `RowKey` is replaced.
    Key(usize, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::Empty),
        (0..3_usize).prop_map(Damage::Without),
        (0..3_usize).prop_map(Damage::OtherType),
        any::<usize>().prop_map(Damage::Flipped),
        any::<usize>().prop_map(Damage::Cut),
        (0..41_usize, prop_oneof![Just(b'-'), Just(b'x'), b'0'..=b'9'])
            .prop_map(|(at, byte)| Damage::Key(at, byte)),
    ]
}

impl Damage {
    fn apply(self, key: &Key, row: &Row) -> (Key, Row) {
        let (mut key, mut bytes) = (key.to_vec(), {
            let (shape, body) = row.view().parts();
            [shape, body].concat()
        });
        let length = bytes.len();
        let row = match self {
            Self::Empty => RowWriter::new().finish(),
            Self::Without(_) | Self::OtherType(_) => self.rewritten(row),
            Self::Flipped(bit) => {
                bytes[bit / 8 % length] ^= 1 << (bit % 8);
                Row::from_bytes(bytes.into())
            }
            Self::Cut(at) => {
                bytes.truncate(at % length);
                Row::from_bytes(bytes.into())
            }
            Self::Key(at, byte) => {
                // The first byte of the `RowKey`, which identifies the kind of row, is not changed.
                let at = TABLE_BYTES + 2 + at;
                if let Some(place) = key.get_mut(at) {
                    *place = byte;
                }
                row.clone()
            }
        };
        (key.into(), row)
    }

    fn rewritten(self, row: &Row) -> Row {
        let mut writer = RowWriter::new();
        for index in 0..row.view().len() {
            let property = row.view().at(index).unwrap();
            match self {
                Self::Without(at) if at % row.view().len() == index => {}
                Self::OtherType(at) if at % row.view().len() == index => {
                    writer.property(property.name, ValueRef::Boolean(true));
                }
                _ => writer.property(property.name, property.value),
            }
        }
        writer.finish()
    }
}

/// Returns the queue's rows, each with its `RowKey`.
pub(super) fn rows(ground: &Ground<'_>) -> Vec<(String, Key, Row)> {
    let mut rows = Vec::new();
    let scanned = ground.state.scan(&Span::table(ground.table), |key, row| {
        if let Some(row) = row {
            let key: Key = Arc::from(key.to_vec());
            let row_key = KeyReader::default()
                .split(&key)
                .map(|(_, row_key)| String::from_utf8_lossy(row_key).into_owned())?;
            rows.push((row_key, key, row.to_row()));
        }
        Ok(ControlFlow::Continue(()))
    });
    scanned.unwrap();
    rows
}

/// Corrupts the `nth` row whose `RowKey` starts with the given prefix.
fn spoil(engine: &Engine, prefix: char, nth: usize, damage: Damage) {
    let spoil = move |ground: &mut Ground<'_>| {
        let rows: Vec<_> =
            rows(ground).into_iter().filter(|(row_key, ..)| row_key.starts_with(prefix)).collect();
        let (_, key, row) = &rows[nth % rows.len()];
        let (to, row) = damage.apply(key, row);
        if to != *key {
            ground.delete(Arc::clone(key));
        }
        ground.put(to, row);
        Ok(())
    };
    block_on(engine.decide(&work(), "spoil", spoil)).unwrap();
}

/// Returns the rows whose `RowKey` starts with a prefix, each with its `RowKey`.
fn under(engine: &Engine, prefix: char) -> Vec<(String, Row)> {
    let read = move |ground: &mut Ground<'_>| {
        let rows = rows(ground).into_iter().filter(|(row_key, ..)| row_key.starts_with(prefix));
        Ok(rows.map(|(row_key, _, row)| (row_key, row)).collect())
    };
    block_on(engine.decide(&work(), "read", read)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn one_damaged_row_under_any_prefix_stops_no_other_message(
        hidden in prop::collection::vec(0..20_u8, 2..40),
        taken in 0..5_usize,
        prefix in prop_oneof![Just('v'), Just('m')],
        (nth, damage) in (any::<usize>(), damage()),
        checkpoint in any::<bool>(),
        count in 1..33_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (options, time) = clocked();
        let mut engine = options.clone().open(folder.path()).unwrap();
        block_on(engine.create_queue(&work())).unwrap();
        for (n, hidden) in hidden.iter().enumerate() {
            let message = PutMessage::new(n.to_string()).hidden(Duration::from_secs((*hidden).into()));
            block_on(engine.put(&work(), message)).unwrap();
        }
        // Received messages are rewritten under new keys, and leave tombstones.
        if taken > 0 {
            block_on(engine.receive(&work(), taken, Duration::from_secs(10))).unwrap();
        }
        spoil(&engine, prefix, nth, damage);
        if checkpoint {
            block_on(engine.checkpoint()).unwrap();
            drop(engine);
            engine = options.open(folder.path()).unwrap();
        }
        let mut received = BTreeSet::new();
        for _ in 0..2 {
            pass(&time, 20);
            block_on(engine.peek(&work(), 32)).unwrap();
            block_on(engine.approximate_count(&work())).unwrap();
            loop {
                let leases = block_on(engine.receive(&work(), count, Duration::from_secs(60))).unwrap();
                if leases.is_empty() {
                    break;
                }
                for lease in leases {
                    // A flipped bit can make a message refer to another message's text.
                    let id = &lease.message.id;
                    prop_assert!(received.insert(id.clone()), "{id} twice");
                    block_on(engine.delete(&work(), &lease.message.id, &lease.receipt)).unwrap();
                }
            }
        }
        prop_assert!(received.len() + 1 >= hidden.len(), "{received:?} of {}", hidden.len());
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn every_damaged_visibility_is_set_aside_with_its_key_and_the_reason(
        messages in 1..40_usize, damaged in 1..40_usize, count in 1..33_usize,
    ) {
        let (options, time) = clocked();
        let engine = options.in_memory();
        block_on(engine.create_queue(&work())).unwrap();
        for n in 0..messages {
            block_on(engine.put(&work(), PutMessage::new(n.to_string()))).unwrap();
        }
        let damaged = damaged.min(messages);
        let before: Vec<String> = under(&engine, 'v').into_iter().take(damaged).map(|(row_key, _)| row_key).collect();
        for nth in 0..damaged {
            spoil(&engine, 'v', nth, Damage::Without(0));
        }
        pass(&time, 1);
        let mut received = 0;
        loop {
            let leases = block_on(engine.receive(&work(), count, Duration::from_secs(60))).unwrap();
            if leases.is_empty() {
                break;
            }
            received += leases.len();
        }
        prop_assert_eq!(received, messages - damaged);
        let aside = under(&engine, 'x');
        prop_assert!(aside.iter().map(|(row_key, _)| &row_key[1..]).eq(before.iter().map(String::as_str)));
        for (row_key, row) in aside {
            let reason = row.view().find("Reason", &mut 0).unwrap();
            prop_assert_eq!(reason, Some(ValueRef::String("Corrupted: a stored message has a damaged id")), "{}", row_key);
            prop_assert!(matches!(row.view().find("Row", &mut 0), Ok(Some(ValueRef::Binary(bytes))) if !bytes.is_empty()));
        }
        prop_assert_eq!(block_on(engine.approximate_count(&work())).unwrap(), (messages - damaged) as u64);
    }
}

#[test]
fn a_receive_examines_each_message_with_a_damaged_text_once_on_a_slow_disk() {
    const MESSAGES: usize = 50;
    const MOST: u64 = 5_000;
    let readings = Arc::new(AtomicU64::new(0));
    let read = Arc::clone(&readings);
    // Each reading advances the clock by a second, so each decision takes at least a second. After `MOST` readings, the clock stops.
    let clock = Clock::new(move || BEGIN + SECOND * read.fetch_add(1, Ordering::SeqCst).min(MOST));
    let engine = EngineOptions::new().clock(clock).in_memory();
    block_on(engine.create_queue(&work())).unwrap();
    for n in 0..MESSAGES {
        block_on(engine.put(&work(), PutMessage::new(n.to_string()))).unwrap();
        spoil(&engine, 'm', n, Damage::Empty);
    }
    let before = readings.load(Ordering::SeqCst);
    let leases = block_on(engine.receive(&work(), 1, Duration::from_secs(1))).unwrap();
    let after = readings.load(Ordering::SeqCst);
    assert!(leases.is_empty());
    assert!(after - before < 10 * MESSAGES as u64, "{} readings", after - before);
}
