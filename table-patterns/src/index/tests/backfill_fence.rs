//! Tests that a backfill does not take over a pass of another release, whether or not it waits for older programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pollster::block_on;
use table_core::embedded::{Clock, Engine};
use table_core::name::TableName;
use table_core::runtime::ticks_of;
use table_core::{Entity, ErrorCode, Result, TableStore, TableStoreExt};

use crate::EntityStore;
use crate::entities::{Entities, NoOutbox};
use crate::index::IndexState;
use crate::tests::faults::{Call, Fault, FaultyStore};

mod before {
    #[derive(Clone, Debug, table_core::Entity)]
    #[entity(table = "People", schema_name = "Person", crate = table_core)]
    #[partition_key(department)]
    #[row_key("no_", id)]
    pub(super) struct Person {
        pub(super) department: String,
        #[digits(4)]
        pub(super) id: u16,
        pub(super) age: u16,
    }
}

/// Declares a release whose index keys contain the given literal. Its copies include no properties. For copies of whole entities, a backfill would reread the
/// schema.
macro_rules! release {
    ($release:ident: $literal:literal) => {
        mod $release {
            #[derive(Clone, Debug, table_core::Entity)]
            #[entity(table = "People", schema_name = "Person", crate = table_core)]
            #[partition_key(department)]
            #[row_key("no_", id)]
            #[index(ByAge, row_key($literal, age, "_", id), include())]
            pub(super) struct Person {
                pub(super) department: String,
                #[digits(4)]
                pub(super) id: u16,
                pub(super) age: u16,
            }
        }
    };
}

release!(first: "age_");
release!(second: "years_");

/// Opens the table with the schema of a release.
async fn opened<E: Entity + Send + Sync, S: TableStore + Clone + 'static>(
    store: &S,
) -> Result<Entities<E, S, NoOutbox>> {
    store.create_table_if_missing(&TableName::new(E::SCHEMA.table)?).await?;
    store.table::<E>().accept_schema("another release").await?;
    store.entities::<E>().create_if_missing().await
}

/// Opens the table with the second release, and begins its pass.
async fn begin_second(engine: Engine) -> Result<()> {
    let store = FaultyStore::new(engine);
    let people = opened::<second::Person, _>(&store).await?;
    store.script(|call, _| match call {
        Call::Query => Fault::Before(ErrorCode::ServerBusy),
        _ => Fault::None,
    });
    let run = people.backfill::<second::PersonByAge>().assume_no_older_programs().run().await;
    assert!(run.is_err(), "{run:?}");
    Ok(())
}

/// Runs the first release's backfill. Before each of its requests in turn, the second release begins a backfill. If `is_indexed` is `true`, the first release's
/// index is complete. Its backfill then writes nothing, so the second release's schema does not refuse it.
fn races(has_older: bool, is_indexed: bool) {
    for number in 0.. {
        let count = block_on(async {
            let time = Arc::new(AtomicU64::new(ticks_of(Duration::from_secs(1_000_000))));
            let now = Arc::clone(&time);
            let clock = Clock::new(move || now.fetch_add(1, Ordering::SeqCst));
            let engine = Engine::builder().clock(clock).in_memory();
            let old = engine.table::<before::Person>().create_if_missing().await?;
            let ids = 0..3;
            for id in ids.clone().filter(|_| !is_indexed) {
                old.insert(&before::Person { department: "Sales".into(), id, age: 36 }).await?;
            }
            let store = FaultyStore::new(engine.clone());
            let people = opened::<first::Person, _>(&store).await?;
            for id in ids.filter(|_| is_indexed) {
                people.insert(&first::Person { department: "Sales".into(), id, age: 36 }).await?;
            }
            store.heal();
            if has_older {
                let waits = people.backfill::<first::PersonByAge>().run().await?;
                assert!(waits.retry_after.is_some());
                time.fetch_add(ticks_of(Duration::from_secs(7_300)), Ordering::SeqCst);
            }
            let other = engine.clone();
            store.script(move |_, at| {
                let other = other.clone();
                if at == number {
                    Fault::Meanwhile(Box::new(move || block_on(begin_second(other)).unwrap()))
                } else {
                    Fault::None
                }
            });
            let backfill = people.backfill::<first::PersonByAge>().page(1);
            let backfill = if has_older { backfill } else { backfill.assume_no_older_programs() };
            let run = backfill.run().await;
            let count = store.calls().len();
            store.heal();
            if number < count {
                let later = engine.entities::<second::Person>();
                assert_eq!(later.states().await?[0].1, IndexState::Building, "request {number}: {run:?}");
            }
            Ok::<_, table_core::Error>(count)
        });
        if count.unwrap() <= number {
            assert!(number > 5, "raced only {number} times");
            break;
        }
    }
}

/// Tests that a backfill's first run does not record its time if another release has just stored its schema. The waiting period of that release must start at
/// its own first run.
#[test]
fn a_first_run_starts_no_wait_of_another_release() {
    for number in 0.. {
        let count = block_on(async {
            let engine = Engine::in_memory();
            engine.table::<before::Person>().create_if_missing().await?;
            let store = FaultyStore::new(engine.clone());
            let people = store.entities::<first::Person>().create_if_missing().await?;
            let other = engine.clone();
            store.script(move |_, at| {
                let other = other.clone();
                if at == number {
                    Fault::Meanwhile(Box::new(move || {
                        drop(block_on(opened::<second::Person, _>(&other)).unwrap());
                    }))
                } else {
                    Fault::None
                }
            });
            let run = people.backfill::<first::PersonByAge>().run().await;
            let count = store.calls().len();
            store.heal();
            let layout = engine.table::<second::Person>().update_schema_record(|_| ()).await?;
            let is_waiting = layout.waiting.contains_key("index ByAge");
            assert_eq!(is_waiting, number >= count, "request {number} of {count}: {run:?}");
            Ok::<_, table_core::Error>(count)
        });
        if count.unwrap() <= number {
            assert!(number > 2, "raced only {number} times");
            break;
        }
    }
}

/// Before each request of a run of the first release, stores the second release's schema, and then the first release's schema again. The stored schema is then
/// the one that the run has read. Nevertheless, programs of the second release may have requests in flight, so the run must wait again.
fn returns(has_waited: bool) {
    for number in 0.. {
        let count = block_on(async {
            let time = Arc::new(AtomicU64::new(ticks_of(Duration::from_secs(1_000_000))));
            let now = Arc::clone(&time);
            let clock = Clock::new(move || now.fetch_add(1, Ordering::SeqCst));
            let engine = Engine::builder().clock(clock).in_memory();
            engine.table::<before::Person>().create_if_missing().await?;
            let store = FaultyStore::new(engine.clone());
            let people = opened::<first::Person, _>(&store).await?;
            if has_waited {
                assert!(people.backfill::<first::PersonByAge>().run().await?.retry_after.is_some());
                time.fetch_add(ticks_of(Duration::from_secs(7_300)), Ordering::SeqCst);
            }
            store.heal();
            let (other, returned) = (engine.clone(), Arc::new(AtomicU64::new(0)));
            let (since, now) = (Arc::clone(&returned), Arc::clone(&time));
            store.script(move |_, at| {
                let (other, since, now) = (other.clone(), Arc::clone(&since), Arc::clone(&now));
                if at != number {
                    return Fault::None;
                }
                Fault::Meanwhile(Box::new(move || {
                    drop(block_on(opened::<second::Person, _>(&other)).unwrap());
                    drop(block_on(opened::<first::Person, _>(&other)).unwrap());
                    since.store(now.load(Ordering::SeqCst), Ordering::SeqCst);
                }))
            });
            let run = people.backfill::<first::PersonByAge>().run().await;
            let count = store.calls().len();
            store.heal();
            if number < count {
                let layout = engine.table::<first::Person>().update_schema_record(|_| ()).await?;
                assert!(layout.is_announced("ByAge"), "request {number} of {count}: {run:?}");
                let (first, since) = (layout.waiting.get("index ByAge"), returned.load(Ordering::SeqCst));
                assert!(first.is_none_or(|first| *first >= since), "request {number} of {count}: {run:?}");
            }
            Ok::<_, table_core::Error>(count)
        });
        if count.unwrap() <= number {
            assert!(number > 2, "returned only {number} times");
            break;
        }
    }
}

#[test]
fn a_first_run_starts_no_wait_of_its_schema_that_is_stored_again() {
    returns(false);
}

#[test]
fn a_run_that_has_waited_refuses_no_older_programs_after_its_schema_is_stored_again() {
    returns(true);
}

#[test]
fn a_backfill_does_not_take_over_the_pass_of_another_release() {
    for has_older in [false, true] {
        for is_indexed in [false, true] {
            races(has_older, is_indexed);
        }
    }
}
