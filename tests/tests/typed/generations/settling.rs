//! Tests an optional property that is added while other processes use the store. A program that knows the property
//! delays its first write until all older programs have read the new schema.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::table::SETTLED_AFTER;
use table_core::testing::LimitedStore;
use table_core::{Entity, IfMatch, Table, TableStore, TableStoreExt};
use table_patterns::Entities;
use table_patterns::work::Runtime;
use tests::time::Time;

use super::{before, nicknamed, refused};

/// Returns a store that does not claim exclusive use. Other processes may therefore be using it at the same time.
pub(super) fn shared(engine: Engine) -> LimitedStore<Engine> {
    LimitedStore::new(engine, |capabilities| capabilities.exclusive = None)
}

/// A process whose runtime adds up the time that the process has waited.
struct Process<S> {
    store: S,
    runtime: Runtime,
    waited: Arc<AtomicU64>,
}

impl<S: TableStore + Clone> Process<S> {
    fn new(time: &Time, store: &S) -> Self {
        let (time, waited) = (time.clone(), Arc::new(AtomicU64::new(0)));
        let sum = Arc::clone(&waited);
        let runtime = Runtime::new().clock(time.clock()).sleep_by(move |length| {
            sum.fetch_add(length.as_millis().try_into().unwrap_or(u64::MAX), Ordering::SeqCst);
            let time = time.clone();
            async move { time.pass(length) }.boxed()
        });
        Self { store: store.clone(), runtime, waited }
    }

    async fn open<E: Entity>(&self) -> Table<E, S> {
        let retry = Retry::default().with_runtime(self.runtime.clone());
        self.store.table::<E>().with_retry(retry).create_if_missing().await.unwrap()
    }

    /// Returns the number of seconds for which the process has waited.
    fn waited(&self) -> u64 {
        self.waited.load(Ordering::SeqCst).div_ceil(1_000)
    }
}

fn nicknamed(name: &str) -> nicknamed::Employee {
    let (department, email, nickname) = ("Sales".to_owned(), "ada".to_owned(), Some(name.to_owned()));
    nicknamed::Employee { department, id: 1, email, nickname }
}

async fn nickname<S: TableStore>(newer: &Table<nicknamed::Employee, S>) -> Option<String> {
    newer.get(nicknamed::Employee::key("Sales", 1)).await.unwrap().unwrap().into_value().nickname
}

/// Tests each write that replaces the entire row. The handle is opened just before the newer schema is stored, either
/// by the newer program or with `accept_schema`.
#[test]
fn no_write_of_an_older_handle_removes_a_property_that_a_newer_release_has_just_added() {
    for (write, is_accepted) in (0..7).flat_map(|write| [(write, false), (write, true)]) {
        block_on(async {
            let time = Time::default();
            let store = shared(time.engine());
            let older = Process::new(&time, &store).open::<before::Employee>().await;
            older.insert(&before::employee(1, "ada")).await.unwrap();
            if is_accepted {
                store.table::<nicknamed::Employee>().accept_schema("a test").await.unwrap();
            }
            let process = Process::new(&time, &store);
            let newer = process.open::<nicknamed::Employee>().await;
            assert_eq!(process.waited(), 0, "opening and reading do not wait");
            // Until the newer program writes, the older program cannot lose a property.
            older.insert_or_replace(&before::employee(1, "ada")).await.unwrap();
            newer.insert_or_replace(&nicknamed("countess")).await.unwrap();
            assert_eq!(process.waited(), SETTLED_AFTER.as_secs());

            let (entity, key) = (before::employee(1, "ada"), || before::Employee::key("Sales", 1));
            let etag = older.get(key()).await.unwrap().unwrap().etag().clone();
            let entities = Entities::from(older.clone());
            let outcome = match write {
                0 => older.replace(&entity, IfMatch::Any).await.map(drop),
                1 => older.replace(&entity, etag).await.map(drop),
                2 => older.insert_or_replace(&entity).await.map(drop),
                3 => entities.replace(&entity, etag).await.map(drop),
                4 => entities.insert_or_replace(&entity).await.map(drop),
                5 => {
                    let mut transaction = older.transaction(before::Employee::partition("Sales")).unwrap();
                    transaction.insert_or_replace(&entity).unwrap();
                    transaction.commit().await.map(drop)
                }
                _ => {
                    older.bulk().insert_or_replace_all([entity]).await.map(drop).map_err(|error| error.source)
                }
            };
            assert_eq!(nickname(&newer).await.as_deref(), Some("countess"), "write {write}");
            assert!(refused(outcome), "write {write}");
        });
    }
}

#[test]
fn each_program_waits_until_one_of_them_has_waited() {
    block_on(async {
        let time = Time::default();
        let store = shared(time.engine());
        let older = Process::new(&time, &store).open::<before::Employee>().await;
        older.insert(&before::employee(1, "ada")).await.unwrap();
        let mut first = Process::new(&time, &store);
        first.runtime = Runtime::new().clock(time.clock()).sleep_by(|_| pending().boxed());
        let (second, third) = (Process::new(&time, &store), Process::new(&time, &store));
        let (one, two) =
            (first.open::<nicknamed::Employee>().await, second.open::<nicknamed::Employee>().await);
        // The first program ends while it is waiting.
        assert!(one.insert_or_replace(&nicknamed("first")).now_or_never().is_none());
        assert!(older.schema_record().await.unwrap().unwrap().settling);
        two.insert_or_replace(&nicknamed("second")).await.unwrap();
        assert_eq!(second.waited(), SETTLED_AFTER.as_secs());
        let three = third.open::<nicknamed::Employee>().await;
        three.insert_or_replace(&nicknamed("third")).await.unwrap();
        two.insert_or_replace(&nicknamed("again")).await.unwrap();
        assert_eq!((second.waited(), third.waited()), (SETTLED_AFTER.as_secs(), 0), "the mark is removed");
        assert!(!older.schema_record().await.unwrap().unwrap().settling);
        assert!(refused(older.insert_or_replace(&before::employee(1, "ada")).await));
    });
}

#[test]
fn a_store_of_this_process_alone_needs_no_wait() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let older = Process::new(&time, &store).open::<before::Employee>().await;
        older.insert(&before::employee(1, "ada")).await.unwrap();
        let process = Process::new(&time, &store);
        let newer = process.open::<nicknamed::Employee>().await;
        newer.insert_or_replace(&nicknamed("countess")).await.unwrap();
        assert_eq!(process.waited(), 0);
        // All handles of the process know the schema immediately.
        assert!(refused(older.insert_or_replace(&before::employee(1, "ada")).await));
        assert_eq!(nickname(&newer).await.as_deref(), Some("countess"));
        // A process that serves the store to other processes waits.
        let store = time.engine();
        store.capabilities().exclusive.as_ref().unwrap().share();
        let process = Process::new(&time, &store);
        process.open::<before::Employee>().await.insert(&before::employee(1, "ada")).await.unwrap();
        process.open::<nicknamed::Employee>().await.insert_or_replace(&nicknamed("countess")).await.unwrap();
        assert_eq!(process.waited(), SETTLED_AFTER.as_secs());
        // Neither a first schema nor a schema without new properties requires a wait.
        let store = shared(time.engine());
        let process = Process::new(&time, &store);
        process.open::<nicknamed::Employee>().await.insert(&nicknamed("ada")).await.unwrap();
        time.pass(Duration::from_secs(3_600));
        process
            .open::<before::Employee>()
            .await
            .merge(&before::employee(1, "a"), IfMatch::Any)
            .await
            .unwrap();
        assert_eq!(process.waited(), 0);
    });
}
