//! Tests a process with group commits while another process moves the head of the partition's feed.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, Error};

use super::super::timeline::Distant;
use super::Run;
use crate::EntityStore;
use crate::entities::Entities;
use crate::feed::Feed;

/// A note whose changes are recorded in the partition's feed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counters", feed)]
#[partition_key(tenant)]
#[row_key("note_", number)]
struct Note {
    tenant: String,
    #[digits(6)]
    number: u32,
    edits: i64,
}

/// The number of edits per task of the slow process.
const EDITS: u32 = 4;

/// The note that the near process edits.
const NEAR: u32 = 9;

/// The maximum number of transactions sent per edit, including those of the reservation.
const SENT: usize = 16;

async fn edit(notes: &Entities<Note, Distant<Engine>>, number: u32) {
    let edited = notes.transaction(Note::partition("t"), async |unit| {
        let note = unit.get(Note::key("t", number)).await?.expect("inserted");
        unit.update(&note, |note| note.edits += 1).map(drop)
    });
    edited.await.map_err(|error: Error| error.to_string()).unwrap();
}

/// Tests that the group of a distant process does not repeat its commit while a near process moves the head of the feed without a pause. The members of the
/// group count the lost attempt and soon reserve the partition. The near process then waits.
#[test]
fn a_group_makes_one_attempt_for_the_head_of_a_feed() {
    for (seed, latency) in [(40, 20), (41, 40), (42, 60)] {
        let run = Run::new(seed);
        let notes = block_on(run.engine.entities::<Note>().create_if_missing()).unwrap();
        for number in [0, 1, NEAR] {
            block_on(notes.insert(&Note { tenant: "t".into(), number, edits: 0 })).unwrap();
        }
        let [slow, near] = [(0, latency), (1, 1)].map(|(number, latency)| {
            let process = run.handle::<Note>(number, Duration::from_millis(latency));
            let store = process.table().store().clone();
            let runtime = store.runtime.clone();
            process.with_feed(Feed::with_runtime(store, runtime))
        });
        let left = Cell::new(2);
        let (slow, near, left) = (&slow, &near, &left);
        let tasks = (0..2).map(|number| -> LocalBoxFuture<'_, ()> {
            Box::pin(async move {
                for _ in 0..EDITS {
                    edit(slow, number).await;
                }
                left.set(left.get() - 1);
            })
        });
        // The near process reads only rows that no other process writes. It notices the reservation because the head of the feed has changed.
        let others: LocalBoxFuture<'_, ()> = Box::pin(async {
            while left.get() > 0 {
                edit(near, NEAR).await;
            }
        });
        run.timeline.run(tasks.chain([others]).collect());
        let edits = 2 * usize::try_from(EDITS).unwrap();
        let sent = slow.table().store().sent.transactions.load(Ordering::Relaxed);
        assert!(sent <= SENT * edits, "seed {seed}: {sent} transactions for {edits} edits");
        assert_eq!(run.reservations(), 0);
    }
}
