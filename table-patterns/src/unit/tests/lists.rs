//! Tests transactions that compete with other writers for the rows derived from their entities.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{Entity, Error, TableName};

use crate::EntityStore;
use crate::entities::Entities;
use crate::tests::faults::{Call, Fault, FaultyStore};
use crate::unit::reservation::PREFIX;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Jobs")]
#[partition_key(tenant)]
#[row_key("job_", number)]
#[index_entity(ByAgent, at_most = 1000, row_key("of_", agent))]
struct Job {
    tenant: String,
    #[digits(4)]
    number: u32,
    #[digits(4)]
    agent: u32,
}

fn job(number: u32) -> Job {
    Job { tenant: "t".into(), number, agent: 9 }
}

/// Returns a handle whose first `times` submits all lose the race for an agent's list.
fn losing(times: u32, attempts: usize) -> (FaultyStore<Engine>, Entities<Job, FaultyStore<Engine>>) {
    let store = FaultyStore::new(Engine::in_memory());
    let retry = Retry::new(attempts, Duration::from_micros(1), Duration::from_micros(10));
    let jobs = block_on(store.entities::<Job>().with_retry(retry).create_if_missing()).unwrap();
    let (other, mut lost) = (store.inner().clone().entities::<Job>(), 0);
    store.script(move |call, _| {
        if call != Call::Submit || lost == times {
            return Fault::None;
        }
        lost += 1;
        let (other, rival) = (other.clone(), job(1_000 + lost));
        Fault::Meanwhile(Box::new(move || drop(block_on(other.insert(&rival)).unwrap())))
    });
    (store, jobs)
}

async fn insert(jobs: &Entities<Job, FaultyStore<Engine>>) -> Result<(), Error> {
    let inserted = jobs.transaction(Job::partition("t"), async |unit| unit.insert(&job(1)).map(drop));
    inserted.await.map(drop)
}

#[test]
fn con_3_a_transaction_that_loses_a_list_runs_again_and_reserves_the_partition() {
    for times in [5, 20] {
        let (store, jobs) = losing(times, 64);
        block_on(insert(&jobs)).unwrap();
        let found = block_on(jobs.get_by_index(Job::by_agent("t", 9))).unwrap();
        assert_eq!(found.len(), usize::try_from(times).unwrap() + 1);
        let reservations = Query::new(KeyRange::rows("t", TextRange::prefix(PREFIX)));
        let left = block_on(store.query(&TableName::new("Jobs").unwrap(), &reservations, None)).unwrap();
        assert_eq!(left.rows.len(), 0, "the commit deletes the reservation");
    }
}

#[test]
fn con_3_a_transaction_that_always_loses_a_list_ends_with_the_error_of_the_policy() {
    let (_, jobs) = losing(u32::MAX, 7);
    let error = block_on(insert(&jobs)).unwrap_err();
    assert_eq!(error.rule(), Some("CON-3"), "{error}");
    let (_, jobs) = losing(0, 7);
    block_on(insert(&jobs)).unwrap();
    assert!(block_on(insert(&jobs)).unwrap_err().is_already_exists(), "the own error of the unit");
}
