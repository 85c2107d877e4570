//! Tests an optional property that is added while other processes use the store. A program that knows the property delays its first write until all older
//! programs have read the new schema.

use std::future::{pending, poll_fn};
use std::mem::replace;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::table::{LEASE, SETTLED_AFTER};
use table_core::testing::LimitedStore;
use table_core::{Entity, IfMatch, Result, Table, TableStore, TableStoreExt};
use table_patterns::Entities;
use table_patterns::work::Runtime;
use tests::faults::{Control, Controlled};
use tests::time::Time;

use super::{before, nicknamed, refused};

/// Returns a store that does not claim exclusive use. Other processes may therefore be using it at the same time.
pub(super) fn shared(engine: Engine) -> LimitedStore<Engine> {
    LimitedStore::new(engine, |capabilities| capabilities.exclusive = None)
}

/// A process whose runtime records the total time that the process has waited.
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

    /// Returns the number of seconds the process has waited.
    fn waited(&self) -> u64 {
        self.waited.load(Ordering::SeqCst).div_ceil(1_000)
    }
}

pub(super) fn nicknamed(name: &str) -> nicknamed::Employee {
    let (department, email, nickname) = ("Sales".to_owned(), "ada".to_owned(), Some(name.to_owned()));
    nicknamed::Employee { department, id: 1, email, nickname }
}

pub(super) async fn nickname<S: TableStore>(newer: &Table<nicknamed::Employee, S>) -> Option<String> {
    newer.get(nicknamed::Employee::key("Sales", 1)).await.unwrap().unwrap().into_value().nickname
}

/// Tests each write that replaces the entire row. The handle is opened just before the newer schema is stored. The newer program stores the schema, or
/// `accept_schema` does.
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

/// Tests a handle whose schema was replaced by the older one and was then stored again. In between, programs with the older schema may have read it.
#[test]
fn a_handle_waits_again_if_its_schema_is_stored_again() {
    block_on(async {
        let time = Time::default();
        let store = shared(time.engine());
        Process::new(&time, &store).open::<before::Employee>().await;
        let process = Process::new(&time, &store);
        let newer = process.open::<nicknamed::Employee>().await;
        for round in 1..4 {
            newer.insert_or_replace(&nicknamed("duchess")).await.unwrap();
            assert_eq!(process.waited(), round * SETTLED_AFTER.as_secs());
            store.table::<before::Employee>().accept_schema("back").await.unwrap();
            time.pass(LEASE * 2);
            let older = Process::new(&time, &store).open::<before::Employee>().await;
            older.insert_or_replace(&before::employee(1, "ada")).await.unwrap();
            store.table::<nicknamed::Employee>().accept_schema("forth").await.unwrap();
            newer.insert_or_replace(&nicknamed("countess")).await.unwrap();
            let outcome = older.insert_or_replace(&before::employee(1, "ada")).await;
            assert_eq!(nickname(&newer).await.as_deref(), Some("countess"), "round {round}");
            assert!(refused(outcome));
        }
    });
}

const WRITES: u32 = 50;

/// Opens the newer handle in a process whose sleeps yield only once. Does not write anything.
async fn waiting(control: &Control) -> Table<nicknamed::Employee, Controlled<LimitedStore<Engine>>> {
    let time = Time::default();
    let store = shared(time.engine());
    Process::new(&time, &store).open::<before::Employee>().await;
    let mut process = Process::new(&time, &control.over(store));
    process.runtime = Runtime::new().clock(time.clock()).sleep_by(|_| {
        let mut waited = false;
        let sleep = poll_fn(move |context| {
            context.waker().wake_by_ref();
            if replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
        });
        sleep.boxed()
    });
    process.open().await
}

/// Inserts all employees at the same time.
async fn insert_all(newer: &Table<nicknamed::Employee, Controlled<LimitedStore<Engine>>>) {
    let employees: Vec<_> = (1..=WRITES).map(|id| nicknamed::Employee { id, ..nicknamed("ada") }).collect();
    let outcomes = join_all(employees.iter().map(|one| newer.insert(one))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(!newer.schema_record().await.unwrap().unwrap().settling, "the mark is removed");
}

#[test]
fn writes_that_wait_at_the_same_time_remove_the_mark_once() {
    block_on(async {
        let control = Control::default();
        let newer = waiting(&control).await;
        let before = control.calls();
        insert_all(&newer).await;
        // Two requests remove the mark, and one reads the record at the end.
        assert_eq!(control.calls() - before, WRITES as usize + 3);
    });
}

#[test]
fn another_write_removes_the_mark_if_the_first_one_is_dropped() {
    for steps in 0..8 {
        block_on(async {
            let control = Control::default();
            let newer = waiting(&control).await;
            let control = control.stepped().answering_late();
            let employee = nicknamed("first");
            let mut first = Box::pin(newer.insert_or_replace(&employee));
            for _ in 0..steps {
                control.step(&mut first);
            }
            drop(first);
            newer.insert_or_replace(&employee).await.unwrap();
            assert!(!newer.schema_record().await.unwrap().unwrap().settling, "{steps} steps");
        });
    }
}
