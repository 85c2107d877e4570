//! Tests an optional property that is added before an older program's request has been sent. The request is late because the store refuses its first attempts,
//! or because the handle waits for another type of the same transaction.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::name::TableName;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::retry::Retry;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, WriteLease};
use table_core::testing::LimitedStore;
use table_core::{
    Clock, EntityKey, Error, ErrorCode, IfMatch, Result, Table, TableStore, TableStoreExt, Transaction,
};
use table_patterns::Entities;
use table_patterns::work::Runtime;
use tests::time::{Skew, Time};

use super::settling::shared;
use super::{before, nicknamed, refused};

/// The events of other programs, each with the time that passes before it.
type Events = VecDeque<(Duration, Option<Box<dyn FnOnce() + Send>>)>;

/// The store of an older program. It attempts the next transaction several times, as a client of the service would. Before each attempt, time passes and
/// another program may write.
#[derive(Clone)]
struct Late {
    inner: LimitedStore<Engine>,
    time: Time,
    /// The delays and events before the next attempts. All attempts but the last are rejected.
    attempts: Arc<Mutex<Events>>,
}

impl fmt::Debug for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Late")
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl TableStore for Late {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        let event = self.attempts.lock().unwrap().pop_front();
        if let Some((length, event)) = event {
            self.time.pass(length);
            if let Some(event) = event {
                event();
            }
        }
        self.inner.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.inner.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.inner.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.inner.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.inner.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let last = || Some(Error::new(ErrorCode::ServerBusy, "the service is busy"));
        loop {
            let Some((length, event)) = self.attempts.lock().unwrap().pop_front() else { break };
            self.time.pass(length);
            if let Some(event) = event {
                event();
            }
            if transaction.lease().is_some_and(|lease| lease.remaining().is_none()) {
                return Err(WriteLease::ended(last()));
            }
        }
        self.inner.submit(table, transaction).await
    }
}

fn runtime(time: &Time) -> Runtime {
    let of_process = time.clone();
    Runtime::new().clock(time.clock()).sleep_by(move |length| {
        of_process.pass(length);
        std::future::ready(()).boxed()
    })
}

fn retry(time: &Time) -> Retry {
    Retry::default().with_runtime(runtime(time))
}

fn nicknamed(name: &str) -> nicknamed::Employee {
    let (department, email, nickname) = ("Sales".to_owned(), "ada".to_owned(), Some(name.to_owned()));
    nicknamed::Employee { department, id: 1, email, nickname }
}

/// Opens the table as the newer release, and sets the property.
fn set_nickname(time: &Time, store: &LimitedStore<Engine>) {
    block_on(async {
        let newer = store.table::<nicknamed::Employee>().with_retry(retry(time));
        let newer = newer.create_if_missing().await.unwrap();
        newer.insert_or_replace(&nicknamed("countess")).await.unwrap();
    });
}

fn nickname(store: &LimitedStore<Engine>) -> Option<String> {
    let newer = store.table::<nicknamed::Employee>();
    let found = block_on(newer.get(nicknamed::Employee::key("Sales", 1))).unwrap();
    found.unwrap().into_value().nickname
}

/// The number of operations that [`write`] can perform.
const WRITES: usize = 7;

/// Replaces the employee in the older program. `number` selects the operation.
async fn write(number: usize, time: &Time, older: &Table<before::Employee, Late>) -> Result<()> {
    let entity = before::employee(1, "ada");
    let entities = Entities::from(older.clone()).with_runtime(runtime(time));
    match number {
        0 => older.replace(&entity, IfMatch::Any).await.map(drop),
        1 => older.insert_or_replace(&entity).await.map(drop),
        2 => entities.insert_or_replace(&entity).await.map(drop),
        3 => entities.replace(&entity, IfMatch::Any).await.map(drop),
        4 => {
            let mut transaction = older.transaction(before::Employee::partition("Sales")).unwrap();
            transaction.insert_or_replace(&entity).unwrap();
            transaction.insert(&before::employee(2, "bob")).unwrap();
            transaction.commit().await.map(drop)
        }
        5 => {
            // A conditional write is refused, or fails because the newer program has changed the entity.
            let found = entities.get(before::Employee::key("Sales", 1)).await?;
            let mut unit = entities.unit(before::Employee::partition("Sales")).unwrap();
            unit.save(found.as_ref(), &entity).unwrap();
            unit.commit().await.map(drop)
        }
        _ => older.bulk().insert_or_replace_all([entity]).await.map(drop).map_err(|error| error.source),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    /// Tests a newer program that opens the table and writes before one of the older program's attempts.
    #[test]
    fn evo_3_no_repeated_request_of_an_older_handle_removes_a_property_of_a_newer_release(
        number in 0..WRITES,
        age in 0..6_u64,
        delays in prop::collection::vec(0..12_000_u64, 1..5),
        newer_at in any::<prop::sample::Index>(),
    ) {
        let time = Time::default();
        let inner = shared(time.engine());
        let store = Late { inner: inner.clone(), time: time.clone(), attempts: Arc::default() };
        let older = block_on(store.table::<before::Employee>().with_retry(retry(&time)).create_if_missing()).unwrap();
        block_on(older.insert(&before::employee(1, "ada"))).unwrap();
        time.pass(Duration::from_secs(age));
        let newer_at = newer_at.index(delays.len());
        let events = delays.iter().enumerate().map(|(at, length)| {
            let (time, inner) = (time.clone(), inner.clone());
            let event: Option<Box<dyn FnOnce() + Send>> =
                if at == newer_at { Some(Box::new(move || set_nickname(&time, &inner))) } else { None };
            (Duration::from_millis(*length), event)
        });
        *store.attempts.lock().unwrap() = events.collect();
        let outcome = block_on(write(number, &time, &older));
        // The write may have ended before its last attempt.
        let later: Vec<_> = store.attempts.lock().unwrap().drain(..).collect();
        later.into_iter().filter_map(|(_, event)| event).for_each(|event| event());
        let nickname = nickname(&inner);
        prop_assert_eq!(nickname.as_deref(), Some("countess"), "write {}: {:?}", number, outcome);
        // The outcome depends on the time that remains in the lease and, for a conditional write, on the version of the entity.
        let is_late = outcome.as_ref().is_err_and(|error| WriteLease::has_ended(error) || error.is_conflict());
        prop_assert!(is_late || refused(outcome), "write {}", number);
    }
}

/// Tests a handle of the older program. It has read its own schema, and then takes six seconds to create the table.
#[test]
fn evo_3_a_handle_whose_table_was_created_slowly_reads_the_schema_again() {
    let time = Time::default();
    let inner = shared(time.engine());
    let store = Late { inner: inner.clone(), time: time.clone(), attempts: Arc::default() };
    let open = || block_on(store.table::<before::Employee>().with_retry(retry(&time)).create_if_missing());
    block_on(open().unwrap().insert(&before::employee(1, "ada"))).unwrap();
    let (of_newer, of_store) = (time.clone(), inner.clone());
    let newer: Box<dyn FnOnce() + Send> = Box::new(move || set_nickname(&of_newer, &of_store));
    store.attempts.lock().unwrap().push_back((Duration::from_secs(6), Some(newer)));
    let older = open().unwrap();
    let outcome = block_on(older.insert_or_replace(&before::employee(1, "ada")));
    assert_eq!(nickname(&inner).as_deref(), Some("countess"), "{outcome:?}");
    assert!(refused(outcome));
}

/// A visitor, as declared by an earlier release and by the current one.
mod visitors {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff", schema_name = "Visitor")]
    #[partition_key(department)]
    #[row_key("visitor_", id)]
    pub(super) struct Earlier {
        pub department: String,
        pub id: u32,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff", schema_name = "Visitor")]
    #[partition_key(department)]
    #[row_key("visitor_", id)]
    pub(super) struct Visitor {
        pub department: String,
        pub id: u32,
        pub badge: Option<String>,
    }

    pub(super) fn visitor(id: u32) -> Visitor {
        Visitor { department: "Sales".to_owned(), id, badge: None }
    }
}

/// Tests a transaction that writes employees of an older release, and visitors whose schema has just been stored. It waits for older programs that write
/// visitors. In the meantime, a newer release adds a property to employees.
#[test]
fn evo_3_a_transaction_that_waits_for_one_type_checks_its_other_types_again() {
    for in_unit in [false, true] {
        let time = Time::default();
        let store = shared(time.engine());
        let earlier = store.table::<visitors::Earlier>().with_retry(retry(&time));
        let earlier = block_on(earlier.create_if_missing()).unwrap();
        block_on(earlier.insert(&visitors::Earlier { department: "Sales".to_owned(), id: 1 })).unwrap();
        // While the process waits, the newer release opens the table and writes.
        let event = Arc::new(Mutex::new(None::<Box<dyn FnOnce() + Send>>));
        let (of_process, waiting) = (time.clone(), Arc::clone(&event));
        let waits = Runtime::new().clock(time.clock()).sleep_by(move |length| {
            match waiting.lock().unwrap().take() {
                Some(event) => event(),
                None => of_process.pass(length),
            }
            std::future::ready(()).boxed()
        });
        let own = Retry::default().with_runtime(waits.clone());
        let older = store.table::<before::Employee>().with_retry(own);
        let older = block_on(older.create_if_missing()).unwrap();
        block_on(older.insert(&before::employee(1, "ada"))).unwrap();
        // Another handle of this program stores the schema of visitors and marks it as settling. The transaction therefore has to wait.
        let sibling = store.table::<visitors::Visitor>().with_retry(retry(&time));
        block_on(sibling.create_if_missing()).unwrap();
        let (of_newer, of_store) = (time.clone(), store.clone());
        *event.lock().unwrap() = Some(Box::new(move || set_nickname(&of_newer, &of_store)));

        let outcome = if in_unit {
            let entities = Entities::from(older).with_runtime(waits);
            let found = block_on(entities.get(before::Employee::key("Sales", 1))).unwrap();
            let mut unit = entities.unit(before::Employee::partition("Sales")).unwrap();
            unit.save(found.as_ref(), &before::employee(1, "ada")).unwrap();
            unit.insert(&visitors::visitor(7)).unwrap();
            block_on(unit.commit()).map(drop)
        } else {
            let mut transaction = older.transaction(before::Employee::partition("Sales")).unwrap();
            transaction.insert_or_replace(&before::employee(1, "ada")).unwrap();
            transaction.insert(&visitors::visitor(7)).unwrap();
            block_on(transaction.commit()).map(drop)
        };
        assert!(event.lock().unwrap().is_none(), "the transaction has not waited");
        assert_eq!(nickname(&store).as_deref(), Some("countess"), "{in_unit}: {outcome:?}");
        let is_conflict = outcome.as_ref().is_err_and(Error::is_conflict);
        assert!((in_unit && is_conflict) || refused(outcome), "{in_unit}");
    }
}

#[test]
fn evo_3_a_wrong_clock_refuses_no_write() {
    async fn insert<S: TableStore + Clone>(store: &S, time: &Time, retry: Retry) {
        let table = store.table::<before::Employee>().with_retry(retry).create_if_missing().await.unwrap();
        for id in 0..40 {
            table.insert(&before::employee(id, "ada")).await.unwrap();
            time.pass(Duration::from_secs(2));
        }
    }
    // The jumping clocks jump each time they are read.
    for skew in Skew::ALL.into_iter().chain([Skew::Jumping(8), Skew::Jumping(-8)]) {
        let time = Time::default();
        let retry = || Retry::default().with_runtime(time.runtime_of(skew));
        block_on(insert(&shared(time.engine()), &time, retry()));
        block_on(insert(&time.engine(), &time, retry()));
        let clock = time.skewed(skew);
        let without_elapsed = Runtime::new().clock(Clock::new(move || clock.now()));
        block_on(insert(&time.engine(), &time, Retry::default().with_runtime(without_elapsed)));
    }
}
