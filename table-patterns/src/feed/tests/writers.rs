//! Tests delayed, dropped and concurrent writers of one feed.

use std::cell::Cell;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt;
use futures_util::future::join_all;
use pollster::block_on;
use table_core::key::{EntityKey, RowKey};
use table_core::store::TableStore;
use table_core::transaction::Transaction;

use super::{DAY, World, numbers};
use crate::feed::head::HEAD;
use crate::feed::{Cursor, Feed, FeedChange};
use crate::tests::faults::{Call, Fault};
use crate::work::Runtime;

#[test]
fn pat_ec_8_a_writer_delayed_before_its_commit_gets_the_next_number() {
    let world = World::new(1_000);
    let (sleeper, others) = (world.feed(0), world.feed(0));
    world.write(&sleeper, &[0]);
    let (store, table, sales) = (world.store.inner().clone(), world.table.clone(), world.sales.clone());
    let time = Arc::clone(&world.time);
    let mut acts = Some(());
    // While the request is in flight, other processes write, read and trim everything, and a day passes.
    world.store.script(move |_, _| match acts.take() {
        Some(()) => {
            let (store, table, sales, time) =
                (store.clone(), table.clone(), sales.clone(), Arc::clone(&time));
            Fault::Meanwhile(Box::new(move || {
                let feed = Feed::new(store.clone());
                let source = RowKey::new("1").unwrap();
                for _ in 0..5 {
                    let transaction = Transaction::new(sales.clone(), store.capabilities().limits).unwrap();
                    let change = [FeedChange { source: &source, kind: "set", payload: b"" }];
                    block_on(feed.submit(&table, transaction, &change)).unwrap();
                }
                let end = block_on(feed.end(&table, &sales)).unwrap();
                block_on(feed.trim(&table, &sales, &end)).unwrap();
                time.fetch_add(DAY, Ordering::SeqCst);
            }))
        }
        None => Fault::None,
    });
    let end = Cursor { number: 6, ..block_on(others.end(&world.table, &world.sales)).unwrap() };
    world.store.calls();
    world.write(&sleeper, &[7]);
    let late = world.read(&others, &end, 100);
    assert_eq!((numbers(&late), late[0].cursor.number()), (vec![7], 7));
}

#[test]
fn pat_ec_8_a_writer_that_is_no_longer_polled_blocks_no_other() {
    let world = World::new(1_000);
    let feed = world.feed(0);
    world.write(&feed, &[0]);
    let source = RowKey::new("1").unwrap();
    let change = [FeedChange { source: &source, kind: "set", payload: b"" }];
    let head = EntityKey { partition_key: world.sales.clone(), row_key: RowKey::new(HEAD).unwrap() };
    // The owner of this turn is never polled again.
    let turn = block_on(feed.turns.enter_entity(&world.table, &head, &feed.pace));
    block_on(feed.submit(&world.table, world.transaction(), &change)).unwrap();
    world.write(&feed, &[2]);
    drop(turn);
    world.write(&feed, &[3]);
    assert_eq!(numbers(&world.read(&feed, &Cursor::default(), 10)), [0, 1, 2, 3]);
}

#[test]
fn pat_ec_8_writers_sharing_a_handle_never_conflict_and_no_entry_is_lost() {
    let world = World::new(1_000);
    let shared = world.feed(0);
    world.write(&shared, &[0]);
    let threads = |own: bool| {
        world.store.heal();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let feed = if own { Feed::new(world.store.clone()) } else { shared.clone() };
                let world = &world;
                scope.spawn(move || (0..25).for_each(|number| world.write(&feed, &[number])));
            }
        });
        world.calls().len()
    };
    let feed = Feed::with_runtime(world.store.clone(), Runtime::new());
    let before = world.read(&feed, &Cursor::default(), 10_000).len();
    threads(true);
    assert_eq!(world.read(&feed, &Cursor::default(), 10_000).len(), before + 100);
    threads(false);
    let entries = world.read(&feed, &Cursor::default(), 10_000);
    let found: Vec<_> = entries.iter().map(|entry| entry.cursor.number()).collect();
    assert_eq!(found, (1..=u64::try_from(before).unwrap() + 200).collect::<Vec<_>>(), "without a gap");
}

#[test]
fn pat_ec_8_writers_sharing_a_handle_write_in_the_order_in_which_they_arrive() {
    for waits_once in [false, true] {
        let world = World::new(1_000);
        // No writer stops waiting for its turn.
        let feed =
            Feed::with_runtime(world.store.clone(), Runtime::new().sleep_by(|_| pending::<()>().boxed()));
        world.write(&feed, &[0]);
        world.store.script(move |call, number| match call {
            Call::Submit if waits_once || number % 3 == 0 => Fault::Later,
            _ => Fault::None,
        });
        let (written, source) = (Cell::new(0), RowKey::new("1").unwrap());
        let writers = (0..4).map(|_| async {
            let mut own = 0;
            while written.get() < 400 {
                let change = [FeedChange { source: &source, kind: "set", payload: b"" }];
                feed.submit(&world.table, world.transaction(), &change).await.unwrap();
                written.set(written.get() + 1);
                own += 1;
            }
            own
        });
        let counts = block_on(join_all(writers));
        assert!(counts.iter().all(|own| (80..=120).contains(own)), "{counts:?}");
    }
}
