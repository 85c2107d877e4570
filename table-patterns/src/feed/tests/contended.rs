//! Tests entity writes while another process commits to the partition's feed before each attempt.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::{PartitionKey, RowKey};
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, Error, Result, TableName};

use crate::EntityStore;
use crate::entities::Entities;
use crate::feed::head::HEAD;
use crate::feed::{Feed, FeedChange};
use crate::tests::faults::{Call, Fault, FaultyStore};
use crate::unit::UnitOfWork;
use crate::work::Runtime;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    number: u32,
    title: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("agent_", number)]
#[index(ByName, unique, row_key("name_", name))]
#[index_entity(ByTeam, at_most = 1000, row_key("team_", team))]
struct Agent {
    tenant: String,
    number: u32,
    name: String,
    team: String,
}

const ATTEMPTS: usize = 3;
/// The maximum number of transactions that one write submits. The first attempt submits two: one with the remembered head, and one after it has read the head.
const SENT: usize = ATTEMPTS + 1;

fn ticket(number: u32) -> Ticket {
    Ticket { tenant: "contoso".into(), number, title: "printer".into() }
}

fn agent(number: u32) -> Agent {
    Agent { tenant: "contoso".into(), number, name: format!("ada {number}"), team: "night".into() }
}

/// Commits a change to the feed of the partition, as another process does.
fn disturb(feed: &Feed<Engine>, engine: &Engine) {
    let (partition_key, source) = (PartitionKey::new("contoso").unwrap(), RowKey::new("other").unwrap());
    let transaction = Transaction::new(partition_key, engine.capabilities().limits).unwrap();
    let change = [FeedChange { source: &source, kind: "set", payload: b"" }];
    block_on(feed.submit(&TableName::new("Desk").unwrap(), transaction, &change)).unwrap();
}

type Handle<E> = Entities<E, FaultyStore<Engine>>;
type Verb<E> = (&'static str, usize, fn(&Handle<E>) -> BoxFuture<'_, Result<()>>);

/// Runs each verb while another process commits before each of its transactions. Then runs it again, and the other process commits before all permitted
/// transactions except the last.
fn run<E: Entity + Send + Sync>(first: &E, verbs: &[Verb<E>]) {
    let pace = Runtime::new().sleep_by(|_| Box::pin(async {}));
    for (name, most, verb) in verbs {
        for lost in [usize::MAX, ATTEMPTS - 1] {
            let engine = Engine::in_memory();
            let store = FaultyStore::new(engine.clone());
            let handle = block_on(store.entities::<E>().create_if_missing()).unwrap();
            let handle = handle
                .with_retry(Retry::new(ATTEMPTS, Duration::ZERO, Duration::ZERO).with_runtime(pace.clone()));
            block_on(handle.insert(first)).unwrap();
            let (rival, mut left) = (Feed::new(engine.clone()), lost);
            store.script(move |call, _| match call {
                Call::Submit if left > 0 => {
                    left -= 1;
                    let (rival, engine) = (rival.clone(), engine.clone());
                    Fault::Meanwhile(Box::new(move || disturb(&rival, &engine)))
                }
                _ => Fault::None,
            });
            let outcome = block_on(verb(&handle));
            let sent = store.calls().into_iter().filter(|call| *call == Call::Submit).count();
            store.heal();
            if lost < ATTEMPTS {
                assert_eq!((outcome.map_err(|error| error.to_string()), sent), (Ok(()), ATTEMPTS), "{name}");
                continue;
            }
            let error = outcome.unwrap_err();
            assert!(sent <= *most, "{name}: {sent} transactions");
            assert_eq!(error.rule(), Some("CON-3"), "{name}: {error}");
            assert_eq!(error.key(), Some(("contoso", HEAD)), "{name}: {error}");
        }
    }
}

#[test]
fn con_3_a_lost_race_for_the_head_of_a_feed_counts_as_one_attempt_of_the_write() {
    run::<Ticket>(
        &ticket(1),
        &[
            ("insert", SENT, |all| async { all.insert(&ticket(2)).await.map(drop) }.boxed()),
            ("put", SENT, |all| async { all.insert_or_replace(&ticket(1)).await.map(drop) }.boxed()),
            ("update", SENT, |all| {
                async { all.update(Ticket::key("contoso", 1), |it| it.title.push('s')).await.map(drop) }
                    .boxed()
            }),
            ("delete", SENT, |all| {
                async { all.delete(Ticket::key("contoso", 1), IfMatch::Any).await.map(drop) }.boxed()
            }),
            ("unit", SENT, |all| {
                async {
                    let mut unit = all.unit(Ticket::partition("contoso"))?;
                    unit.insert(&ticket(2))?;
                    unit.commit().await.map(drop)
                }
                .boxed()
            }),
        ],
    );
}

#[test]
fn con_3_a_lost_race_for_the_head_of_a_feed_counts_as_one_attempt_of_an_indexed_write() {
    run::<Agent>(
        &agent(1),
        &[
            ("insert", SENT, |all| async { all.insert(&agent(2)).await.map(drop) }.boxed()),
            ("put", SENT, |all| async { all.insert_or_replace(&agent(1)).await.map(drop) }.boxed()),
            ("update", SENT, |all| {
                async { all.update(Agent::key("contoso", 1), |it| it.name.push('s')).await.map(drop) }.boxed()
            }),
            ("delete", SENT, |all| {
                async { all.delete(Agent::key("contoso", 1), IfMatch::Any).await.map(drop) }.boxed()
            }),
        ],
    );
}

#[test]
fn con_3_a_transaction_whose_partition_has_a_feed_with_other_writers_ends_after_its_attempts() {
    let verb: Verb<Ticket> = ("transaction", 12 * SENT, |all| {
        async {
            let run = async |unit: &mut UnitOfWork<_, _>| {
                unit.insert(&ticket(2))?;
                Ok::<_, Error>(())
            };
            all.transaction(Ticket::partition("contoso"), run).await.map(drop)
        }
        .boxed()
    });
    run::<Ticket>(&ticket(1), &[verb]);
}

#[test]
fn con_3_a_head_that_another_process_has_moved_before_the_write_costs_no_attempt() {
    for attempts in [1, 2] {
        let engine = Engine::in_memory();
        let store = FaultyStore::new(engine.clone());
        let all = block_on(store.entities::<Ticket>().create_if_missing()).unwrap();
        let all = all.with_retry(Retry::new(attempts, Duration::ZERO, Duration::ZERO));
        let other = block_on(engine.entities::<Ticket>().create_if_missing()).unwrap();
        for number in 1..5 {
            block_on(all.insert(&ticket(2 * number))).unwrap();
            block_on(other.insert(&ticket(2 * number + 1))).unwrap();
        }
        if attempts > 1 {
            // A rival changes both the entity and the head between the read and the write.
            let (rival, mut left) = (other.clone(), 1);
            store.script(move |call, _| match call {
                Call::Submit if left > 0 => {
                    left -= 1;
                    let rival = rival.clone();
                    let change = move || block_on(rival.insert_or_replace(&ticket(2))).map(drop).unwrap();
                    Fault::Meanwhile(Box::new(change))
                }
                _ => Fault::None,
            });
            block_on(all.update(Ticket::key("contoso", 2), |it| it.title.push('s'))).unwrap();
        }
    }
}

#[test]
fn con_3_transactions_that_are_committed_as_a_group_make_the_attempts_of_their_handle() {
    let engine = Engine::in_memory();
    let store = FaultyStore::new(engine.clone());
    let pace = Runtime::new();
    let all = block_on(store.entities::<Ticket>().create_if_missing()).unwrap();
    let all = all.with_retry(Retry::new(ATTEMPTS, Duration::ZERO, Duration::ZERO).with_runtime(pace));
    block_on(all.insert(&ticket(1))).unwrap();
    let (rival, mut left) = (Feed::new(engine.clone()), ATTEMPTS - 1);
    store.script(move |call, _| match call {
        Call::Submit if left > 0 => {
            left -= 1;
            let (rival, engine) = (rival.clone(), engine.clone());
            Fault::Meanwhile(Box::new(move || disturb(&rival, &engine)))
        }
        Call::Get => Fault::Later,
        _ => Fault::None,
    });
    let runs = (2..5).map(|number| {
        let all = &all;
        async move {
            let run = async |unit: &mut UnitOfWork<_, _>| {
                assert!(unit.get(Ticket::key("contoso", number)).await?.is_none());
                unit.insert(&ticket(number))?;
                Ok::<_, Error>(())
            };
            all.transaction(Ticket::partition("contoso"), run).await.map(drop)
        }
    });
    let outcomes = block_on(join_all(runs));
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let sent = store.calls().into_iter().filter(|call| *call == Call::Submit).count();
    // The group loses once. Then its transactions run one by one, and the first of them loses once more.
    assert_eq!(sent, ATTEMPTS - 1 + outcomes.len());
}
