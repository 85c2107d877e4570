//! Tests that transactions reread their rows when they commit, if another process has reserved the partition.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use pollster::block_on;
use table_core::key::{EntityKey, PartitionKey};
use table_core::table::TableStoreExt;
use table_core::{Entity, Error, TableName};

use super::{Counter, Run};
use crate::entities::SeenRows;
use crate::unit::queue::Queue;

/// An entity with a property that a change can remove.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters")]
#[partition_key(tenant)]
#[row_key("note")]
struct Note {
    tenant: String,
    text: Option<String>,
}

#[test]
fn upd_3_a_reservation_that_is_found_at_the_commit_runs_the_function_again() {
    let run = Run::new(1);
    let process = run.process(0, Duration::from_millis(5));
    let note = Note { tenant: "t".into(), text: Some("to remove".into()) };
    let change: LocalBoxFuture<'_, ()> = Box::pin(async {
        let begun = process.transaction(Counter::partition("t"), async |unit| {
            let counter = unit.get(Counter::key("t")).await?.expect("inserted");
            unit.update(&counter, |counter| counter.value += 1)?;
            // The process remembers the version of the note that it has read.
            let found = unit.get(Note::key("t")).await?;
            unit.save(found.as_ref(), &note).map(drop)
        });
        begun.await.unwrap();
        // A dead process had reserved the partition, which changed the note's version.
        let (table, partition_key) = (TableName::new("Counters").unwrap(), PartitionKey::new("t").unwrap());
        let seen = SeenRows::default();
        let queue = Queue { store: &run.engine, table: &table, partition_key: &partition_key, seen: &seen };
        let row_key = EntityKey::new("t", "note").unwrap().row_key;
        queue
            .reserve(None, Duration::from_millis(700), vec![row_key], || 7)
            .await
            .unwrap()
            .expect("reserved");

        let notes = run.engine.table::<Note>();
        let mut runs = 0;
        let removed = process.transaction(Counter::partition("t"), async |unit| {
            runs += 1;
            let counter = unit.get(Counter::key("t")).await?.expect("inserted");
            unit.update(&counter, |counter| counter.value += 1)?;
            let note = notes.get(Note::key("t")).await?.expect("inserted");
            // A property is removed, so the commit reads the note.
            unit.update(&note, |note| note.text = None).map(drop)
        });
        removed.await.map_err(|error: Error| error.to_string()).unwrap();
        assert_eq!(runs, 2);
    });
    run.timeline.run(vec![change]);
    let found = block_on(run.engine.table::<Note>().get(Note::key("t"))).unwrap();
    assert_eq!(found.map(|note| note.text.clone()), Some(None));
    assert_eq!(run.reservations(), 0);
}
