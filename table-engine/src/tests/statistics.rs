//! Tests that statistics match the writes, in memory and on disk. Checkpoints and merges are also counted.

use std::fmt::Write as _;
use std::sync::Mutex;

use table_store::queue::{PutMessage, QueueName, QueueStore};
use tracing::field::{Field, Visit};

use super::callbacks::AtEvents;
use super::*;
use crate::base::{self, Merged};

#[test]
fn rows_and_bytes_are_counted_by_table_and_partition_in_every_layer() {
    everywhere(|engine, settle| {
        for n in 0..40 {
            submit(engine, &format!("p{}", n % 4), vec![(&format!("{n:03}"), upsert(n))]).unwrap();
        }
        settle();
        submit(engine, "p1", vec![("001", delete()), ("new", insert(7))]).unwrap();
        submit(engine, "p3", vec![("003", upsert(9)), ("999", upsert(9))]).unwrap();
        submit(engine, "\u{e000}", vec![("last", insert(1))]).unwrap();
        let mut partitions = Vec::new();
        let total = engine
            .partition_statistics(&employees(), |partition| {
                assert!(partition.bytes > 20 * partition.rows, "{partition:?}");
                partitions.push((partition.partition_key.to_owned(), partition.rows));
            })
            .unwrap();
        let wanted = [("p0", 10), ("p1", 10), ("p2", 10), ("p3", 11), ("\u{e000}", 1)];
        assert_eq!(partitions, wanted.map(|(key, rows)| (key.to_owned(), rows)));
        assert_eq!((total.rows, total.partitions, total.max_partition_rows), (42, 5, 11));
        assert_eq!(engine.table_statistics(&employees()).unwrap(), total);
        let before = engine.statistics().unwrap();
        engine.table_statistics(&employees()).unwrap();
        let after = engine.statistics().unwrap();
        assert_eq!(after.cache_misses, before.cache_misses, "the cache is left to others");
        assert!(after.groups >= 1 && after.grouped_writes >= 43, "{after:?}");
        assert!(after.largest_group >= 1 && after.largest_group <= after.grouped_writes, "{after:?}");
        let missing = engine.table_statistics(&name("Missing")).unwrap_err();
        assert_eq!(missing.code(), ErrorCode::TableNotFound);
    });
}

#[test]
fn the_internal_tables_of_queues_are_not_counted() {
    everywhere(|engine, _| {
        let queue = QueueName::new("work").unwrap();
        wait(engine.create_queue(&queue)).unwrap();
        wait(engine.put(&queue, PutMessage::new("x"))).unwrap();
        assert_eq!(engine.statistics().unwrap().tables, 1, "the table of the employees");
    });
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

/// Returns a list of events as text, and a subscriber that adds the events of this thread to the list.
fn events() -> (Arc<Mutex<Vec<String>>>, AtEvents) {
    let stored = Arc::<Mutex<Vec<String>>>::default();
    let store = Arc::clone(&stored);
    let subscriber = AtEvents::new(move |event| {
        let mut text = Text(String::new());
        event.record(&mut text);
        store.lock().unwrap().push(text.0);
    });
    (stored, subscriber)
}

#[test]
fn each_checkpoint_and_merge_slice_is_an_event_with_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let (events, subscriber) = events();
    // A second dispatcher is needed. With only one, a callsite that another test's thread reaches first would stay disabled, because that thread has no
    // dispatcher.
    let _second = tracing::Dispatch::new(subscriber.clone());
    tracing::subscriber::with_default(subscriber, || {
        let mut base = base::tests::base(folder.path());
        for n in 0..2 {
            base::tests::put(&mut base, b"\0\0\0\x01p\0r", Some(&row(n)));
        }
        base.merge_all();
        while !matches!(base.merge().unwrap(), Merged::All) {}
    });
    let events = events.lock().unwrap();
    let of = |what: &str| events.iter().filter(|event| event.contains(what)).cloned().collect::<Vec<_>>();
    let (checkpoints, merges) = (of("checkpoint recorded"), of("slice of a merge recorded"));
    assert_eq!((checkpoints.len(), merges.len()), (2, 1), "{events:?}");
    assert!(
        checkpoints.iter().all(|event| event.contains("written_runs=1 written_bytes=")),
        "{checkpoints:?}"
    );
    assert!(merges[0].contains("unmerged_bytes=0") && merges[0].contains("runs=1"), "{merges:?}");
}

#[test]
fn snapshots_of_several_states_of_the_base_share_one_cache() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    let keys: Vec<String> = (0..100).map(|n| format!("{n:03}")).collect();
    for key in &keys {
        write(&engine, key, insert(1)).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    let mut snapshots = vec![engine.snapshot().unwrap()];
    for later in ["1", "2", "3"] {
        submit(&engine, "Support", vec![(later, insert(1))]).unwrap();
        wait(engine.checkpoint()).unwrap();
        snapshots.push(engine.snapshot().unwrap());
    }
    let misses = snapshots.iter().map(|snapshot| {
        for key in &keys {
            let key = EntityKey::new("Sales", key.as_str()).unwrap();
            assert!(snapshot.get(&employees(), &key, &Select::All).unwrap().is_some());
        }
        engine.statistics().unwrap().cache_misses
    });
    let misses: Vec<u64> = misses.collect();
    assert!(misses[0] > 0 && misses.iter().all(|later| *later == misses[0]), "{misses:?}");
}
