//! Tests relations that a program does not declare. A later release has removed them, or a newer release has stored only the schema of the holders so far.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, IfMatch, TableStoreExt};
use table_patterns::work::{Sweep, Worker, WorkerOptions};
use table_patterns::{Entities, EntityStore};
use tests::time::Time;

use super::desk::{named, open_new, outbox, plain};
use super::relations::{Tickets, Work, check, open_reviewed, reviewed};

/// Returns a ticket whose assignee and reviewer are both agent 1.
fn ticket() -> reviewed::Ticket {
    let (tenant, number, agent) = ("contoso".to_owned(), 5, Some(1));
    reviewed::Ticket { tenant, number, agent, agent_name: None, reviewer_name: None }
}

async fn open<E: Entity + Send + Sync>(time: &Time, store: &Engine) -> Entities<E, Engine, Work> {
    let entities = store.entities_with_outbox::<E, _>(outbox(time, store)).with_runtime(time.runtime());
    entities.create_if_missing().await.unwrap()
}

#[test]
fn a_removed_relation_blocks_neither_its_sources_nor_their_workers() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        outbox(&time, &store).create_queues().await.unwrap();
        let (agents, tickets) = open_reviewed(&time, &store).await;
        agents
            .insert(&reviewed::Agent { tenant: "contoso".into(), id: 1, name: "Ada".into() })
            .await
            .unwrap();
        tickets.insert(&ticket()).await.unwrap();
        store.table::<named::Agent>().accept_schema("the release is withdrawn").await.unwrap();
        store.table::<named::Ticket>().accept_schema("the release is withdrawn").await.unwrap();

        let desk = open_new(&time, &store).await;
        let work = async || {
            let worker = Worker::new(outbox(&time, &store));
            let worker = worker.with_index_handler(&desk.agents).with_index_handler(&desk.tickets);
            for _ in 0..4 {
                time.pass(Duration::from_secs(800));
                Sweep::new(outbox(&time, &store)).sweep_registered().await.unwrap();
                worker.run_until_idle().await.unwrap();
            }
            let backlog = outbox(&time, &store).backlog().await.unwrap();
            assert_eq!((worker.metrics().failures, backlog.poison, backlog.waiting), (0, 0, 0));
        };
        // Processes the changes that the withdrawn release recorded.
        work().await;
        let agent = || named::Agent::key("contoso", 1);
        desk.agents.update(agent(), |one| one.name = "Byron".into()).await.unwrap();
        work().await;
        desk.agents.settle_copies(agent()).await.unwrap();
        let found = desk.tickets.get(named::Ticket::key("contoso", 5)).await.unwrap().unwrap();
        assert_eq!(found.agent_name.as_deref(), Some("Byron"));
        desk.agents.delete(agent(), IfMatch::Any).await.unwrap();
        work().await;
        let found = desk.tickets.get(named::Ticket::key("contoso", 5)).await.unwrap().unwrap();
        assert_eq!((found.agent, found.agent_name.clone()), (None, None));
    });
}

#[test]
fn sources_are_written_by_an_older_program_before_a_newer_one_has_opened_their_table() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        outbox(&time, &store).create_queues().await.unwrap();
        let old = open_new(&time, &store).await;
        for id in 0..4 {
            old.agents.insert(&named::agent(id, "Ada")).await.unwrap();
        }
        let tickets: Tickets = open(&time, &store).await;
        tickets.insert(&ticket()).await.unwrap();
        old.agents.update(named::Agent::key("contoso", 1), |one| one.name = "Byron".into()).await.unwrap();
        old.agents.settle_copies(named::Agent::key("contoso", 1)).await.unwrap();
        let desk = (open(&time, &store).await, tickets);
        desk.0.backfill_copies().assume_no_older_programs().run().await.unwrap();
        desk.1.backfill_copies().assume_no_older_programs().run().await.unwrap();
        check(&time, &store, &desk).await;
    });
}

/// Lets two workers receive changes for relations that only the newer release declares. The first worker is of an older release, and the second is of the newer
/// release.
async fn leaves<E: Entity + Send + Sync>() {
    let time = Time::default();
    let store = time.engine();
    let outbox = outbox(&time, &store);
    outbox.create_queues().await.unwrap();
    let old: Entities<E, _, _> = open(&time, &store).await;
    let desk = open_reviewed(&time, &store).await;
    for id in 0..4 {
        let agent = reviewed::Agent { tenant: "contoso".into(), id, name: "Ada".into() };
        desk.0.insert(&agent).await.unwrap();
    }
    desk.1.insert(&ticket()).await.unwrap();
    let worker = Worker::new(outbox.clone()).with_index_handler(&old);
    for _ in 0..600 {
        worker.run_once().await.unwrap();
        time.pass(Duration::from_secs(60));
    }
    assert!(worker.metrics().left > 20, "{:?}", worker.metrics());
    assert_eq!((worker.metrics().failures, outbox.backlog().await.unwrap().poison), (0, 0));
    let worker = Worker::new(outbox.clone()).with_index_handler(&desk.1);
    // The older worker has chosen a redelivery delay. After this delay, the newer program's worker can process the changes.
    let longest = WorkerOptions::default().redelivery.max;
    for _ in 0..longest.as_secs() + 2 {
        worker.run_once().await.unwrap();
        time.pass(Duration::from_secs(1));
    }
    assert_eq!(outbox.backlog().await.unwrap().waiting, 0);
    check(&time, &store, &desk).await;
}

#[test]
fn workers_of_an_older_program_leave_the_changes_of_a_relation_that_it_lacks() {
    block_on(leaves::<named::Ticket>());
    block_on(leaves::<plain::Ticket>());
}
