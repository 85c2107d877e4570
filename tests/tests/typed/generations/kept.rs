//! Tests copied properties that are added while an older release writes. No write may be rejected, and the backfill must not miss a write.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::table::LEASE;
use table_core::{IfMatch, Result, TableStore, TableStoreExt};
use table_patterns::work::{Sweep, Worker};
use tests::faults::{Control, Controlled};
use tests::time::Time;

use super::desk::{New, Old, named, open_new, open_old, outbox, plain};
use super::kit::{HOUR, Process, raced, under_load};
use super::{kit, refused};

const AGENTS: u32 = 4;

impl<S> New<S>
where
    S: TableStore + table_core::queue::QueueStore + Clone + 'static,
{
    /// Runs one pass of the backfill for agents and one for tickets. Returns the longer of the two delays until the next pass.
    async fn backfill(&self, sources_first: bool) -> Result<Option<Duration>> {
        let agents = async || self.agents.backfill_copies().page(2).run().await;
        let tickets = async || self.tickets.backfill_copies().page(2).run().await;
        let reports = if sources_first {
            [agents().await?, tickets().await?]
        } else {
            [tickets().await?, agents().await?]
        };
        assert!(reports.iter().all(|report| report.failed.is_empty()), "{reports:?}");
        Ok(reports.into_iter().filter_map(|report| report.retry_after).max())
    }
}

/// Completes all work with sweeps and workers. Then compares each ticket with its agent.
async fn check(time: &Time, store: &Engine, new: &New<Engine>, at: &str) {
    let worker =
        Worker::new(outbox(time, store)).with_index_handler(&new.agents).with_index_handler(&new.tickets);
    for _ in 0..4 {
        time.pass(Duration::from_secs(800));
        Sweep::new(outbox(time, store)).sweep_registered().await.unwrap();
        worker.run_until_idle().await.unwrap();
    }
    let tickets = store.table::<named::Ticket>().scan("to compare").max_rows(10_000);
    for ticket in tickets.collect().await.unwrap() {
        let agent = match ticket.agent {
            Some(id) => {
                let key = named::Agent::key("contoso", u32::try_from(id).unwrap());
                new.agents.get(key).await.unwrap().map(|agent| agent.into_value().name)
            }
            None => None,
        };
        assert_eq!(
            (ticket.agent.is_some(), &ticket.agent_name),
            (agent.is_some(), &agent),
            "{at}: {ticket:?}"
        );
    }
}

/// Renames every agent with the newer program. Every ticket with a recorded reference to its agent then receives the new name.
async fn rename_all(new: &New<Engine>, name: &str) {
    for id in 0..AGENTS {
        let renamed = new.agents.update(named::Agent::key("contoso", id), |agent| agent.name = name.into());
        assert!(renamed.await.map_or_else(|error| error.is_not_found(), |_| true));
    }
}

async fn old_round(old: &Old<Engine>, round: u32) {
    let (id, number) = (round % AGENTS, round % 9);
    let (agent, ticket) = (|| plain::Agent::key("contoso", id), || plain::Ticket::key("contoso", number));
    match round % 7 {
        0 | 1 => raced(old.agents.update(agent(), |one| one.name = format!("old{round}")).await),
        2 => raced(old.tickets.insert(&plain::ticket(number, id)).await),
        3 | 4 => raced(old.tickets.update(ticket(), |one| one.agent = i32::try_from(id).ok()).await),
        5 if round.is_multiple_of(2) => raced(old.tickets.delete(ticket(), IfMatch::Any).await),
        5 => raced(old.agents.delete(agent(), IfMatch::Any).await),
        _ => raced(old.agents.insert(&plain::agent(id, &format!("born{round}"))).await),
    }
}

async fn new_round(new: &New<Engine>, round: u32) {
    let (id, number) = (round % AGENTS, round % 9);
    let (agent, ticket) = (|| named::Agent::key("contoso", id), || named::Ticket::key("contoso", number));
    match round % 6 {
        0 | 1 => raced(new.agents.update(agent(), |one| one.name = format!("new{round}")).await),
        2 => raced(new.tickets.insert(&named::ticket(number, id)).await),
        3 => raced(new.tickets.update(ticket(), |one| one.agent = i32::try_from(id).ok()).await),
        4 if round.is_multiple_of(5) => raced(new.agents.delete(agent(), IfMatch::Any).await),
        4 => raced(new.tickets.delete(ticket(), IfMatch::Any).await),
        _ => raced(new.agents.insert(&named::agent(id, &format!("new{round}"))).await),
    }
}

#[test]
fn two_programs_under_load_are_not_refused_and_the_copies_miss_nothing() {
    for sources_first in [true, false] {
        let time = Time::default();
        let store = time.engine();
        block_on(outbox(&time, &store).create_queues()).unwrap();
        let old = block_on(open_old(&time, &store));
        (0..20).for_each(|round| block_on(old_round(&old, round)));
        let new = block_on(open_new(&time, &store));
        under_load(
            &time,
            150,
            |round| block_on(old_round(&old, round)),
            |round| {
                block_on(new_round(&new, round));
                if round % 20 == 0 {
                    let waits = block_on(new.backfill(sources_first)).unwrap();
                    assert!(waits.is_some(), "the older program writes");
                }
            },
        );
        // One side is complete while the older program is still writing to the other.
        block_on(async {
            let mut round = 1_000;
            loop {
                let waits = if sources_first {
                    new.agents.backfill_copies().run().await.unwrap().retry_after
                } else {
                    new.tickets.backfill_copies().run().await.unwrap().retry_after
                };
                let Some(rest) = waits else { break };
                time.pass(rest);
            }
            time.pass(LEASE * 2);
            for _ in 0..40 {
                round += 1;
                let (id, number) = (round % AGENTS, round % 9);
                new_round(&new, round).await;
                if sources_first {
                    raced(old.tickets.insert(&plain::ticket(number, id)).await);
                    let key = plain::Ticket::key("contoso", (number + 1) % 9);
                    raced(old.tickets.update(key, |one| one.agent = i32::try_from(id).ok()).await);
                } else {
                    let key = plain::Agent::key("contoso", id);
                    raced(old.agents.update(key, |one| one.name = format!("late{round}")).await);
                }
                time.pass(Duration::from_secs(3));
            }
            while let Some(rest) = new.backfill(sources_first).await.unwrap() {
                time.pass(rest);
            }
            time.pass(LEASE * 2);
            assert!(refused(old.tickets.insert(&plain::ticket(77, 1)).await));
            assert!(refused(old.agents.insert(&plain::agent(77, "late")).await));
            check(&time, &store, &new, "completed").await;
            rename_all(&new, "renamed").await;
            check(&time, &store, &new, "renamed").await;
        });
    }
}

type Written = Process<Result<()>>;
type Verb = fn(Old<Controlled<Engine>>) -> Written;

/// Tests all interleavings of a write by the older program and the backfills. Each of them is suspended at one of its calls.
#[test]
fn a_write_of_the_older_program_at_any_point_of_the_backfill_is_in_the_copies() {
    let verbs: [Verb; 5] = [
        |old| Box::pin(async move { old.tickets.insert(&plain::ticket(9, 1)).await.map(drop) }),
        |old| Box::pin(async move { old.tickets.merge(&plain::ticket(1, 2), IfMatch::Any).await.map(drop) }),
        |old| {
            Box::pin(async move { old.tickets.delete(plain::Ticket::key("contoso", 1), IfMatch::Any).await })
        },
        |old| {
            Box::pin(async move { old.agents.merge(&plain::agent(1, "Byron"), IfMatch::Any).await.map(drop) })
        },
        |old| Box::pin(async move { old.agents.delete(plain::Agent::key("contoso", 1), IfMatch::Any).await }),
    ];
    let mut refusals = 0;
    for (at, verb) in verbs.into_iter().enumerate() {
        for of_write in 0..6 {
            for of_backfill in (0..40).step_by(2) {
                refusals += u32::from(interleave((at, verb), of_write, of_backfill));
            }
        }
    }
    assert!(refusals > 0, "a write after the pass has begun is refused");
}

/// Makes the first `of_backfill` store calls of the backfills and the first `of_write` calls of the write. Then completes all of them. Returns `true` if the
/// write was rejected.
fn interleave((at, verb): (usize, Verb), of_write: usize, of_backfill: usize) -> bool {
    let (time, control, sources_first) = (Time::default(), Control::default(), of_backfill.is_multiple_of(4));
    let store = time.engine();
    block_on(outbox(&time, &store).create_queues()).unwrap();
    let old = block_on(open_old(&time, &control.over(store.clone())));
    let new = block_on(async {
        for id in 1..3 {
            old.agents.insert(&plain::agent(id, "Ada")).await.unwrap();
        }
        old.tickets.insert(&plain::ticket(1, 1)).await.unwrap();
        let new = open_new(&time, &store).await;
        new.tickets.insert(&named::ticket(2, 1)).await.unwrap();
        new.backfill(sources_first).await.unwrap();
        new
    });
    time.pass(HOUR);
    let (writer, builder) = (control.stepped(), Control::default().stepped());
    let (stepped, its_time) = (builder.over(store.clone()), time.clone());
    let built: Process<()> = Box::pin(async move {
        let new = open_new(&its_time, &stepped).await;
        drop(new.backfill(sources_first).await);
    });
    let outcome = kit::interleave((&builder, built, of_backfill), (&writer, verb(old), of_write));
    let is_refused = refused(outcome);
    let name = format!("verb {at}, {of_write} calls of the write, {of_backfill} of the backfill");
    block_on(async {
        while let Some(rest) = new.backfill(sources_first).await.unwrap() {
            time.pass(rest);
        }
        check(&time, &store, &new, &name).await;
        rename_all(&new, "renamed").await;
        check(&time, &store, &new, &format!("{name}, renamed")).await;
    });
    is_refused
}
