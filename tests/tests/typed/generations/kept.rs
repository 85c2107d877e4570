//! A feed, or copies, that are added while programs of the older release write: no write is refused, and none is missed in the end.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::table::LEASE;
use table_core::{Entity, ErrorCode, IfMatch, QueueName, Result, Table, TableStore, TableStoreExt};
use table_patterns::outbox::Outbox;
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::work::{Sweep, Worker};
use table_patterns::{Entities, EntityStore};
use tests::faults::{Control, Controlled};
use tests::time::Time;

use super::{before, fed, refused, table_at};

/// More than the time after which no request of an older program can take effect.
const HOUR: Duration = Duration::from_secs(3_601);
const AGENTS: u32 = 4;

/// Agents, and tickets that refer to them.
mod plain {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Agents")]
    #[partition_key(tenant)]
    #[row_key("agent_", id)]
    pub(super) struct Agent {
        pub tenant: String,
        #[digits(4)]
        pub id: u32,
        pub name: String,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Tickets")]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub(super) struct Ticket {
        pub tenant: String,
        #[digits(6)]
        pub number: u32,
        pub agent: Option<i32>,
    }

    pub(super) fn agent(id: u32, name: &str) -> Agent {
        Agent { tenant: "contoso".into(), id, name: name.into() }
    }

    pub(super) fn ticket(number: u32, agent: u32) -> Ticket {
        Ticket { tenant: "contoso".into(), number, agent: i32::try_from(agent).ok() }
    }
}

/// The same, with the names of the agents in the tickets.
mod named {
    use table_core::Selection;
    use table_core::selection::Point;
    use table_patterns::denormal::{Denormal, OnDelete};

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Agents", copied_by(Assignee))]
    #[partition_key(tenant)]
    #[row_key("agent_", id)]
    pub(super) struct Agent {
        pub tenant: String,
        #[digits(4)]
        pub id: u32,
        pub name: String,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Tickets", copies_from(Assignee))]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub(super) struct Ticket {
        pub tenant: String,
        #[digits(6)]
        pub number: u32,
        pub agent: Option<i32>,
        pub agent_name: Option<String>,
    }

    pub(super) fn agent(id: u32, name: &str) -> Agent {
        Agent { tenant: "contoso".into(), id, name: name.into() }
    }

    pub(super) fn ticket(number: u32, agent: u32) -> Ticket {
        Ticket { tenant: "contoso".into(), number, agent: i32::try_from(agent).ok(), agent_name: None }
    }

    pub(super) struct Assignee;

    impl Denormal for Assignee {
        type Source = Agent;
        type Holder = Ticket;
        type Copied = String;
        const NAME: &'static str = "assignee";
        const ON_DELETE: OnDelete = OnDelete::Clear;

        fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
            Some(Agent::key(&ticket.tenant, u32::try_from(ticket.agent?).ok()?))
        }
        fn copied(agent: &Agent) -> String {
            agent.name.clone()
        }
        fn set(ticket: &mut Ticket, name: String) {
            ticket.agent_name = Some(name);
        }
        fn clear(ticket: &mut Ticket) {
            (ticket.agent, ticket.agent_name) = (None, None);
        }
    }
}

type Work<S> = Outbox<S, S>;

/// The handles of the newer program.
#[derive(Clone)]
struct New<S> {
    agents: Entities<named::Agent, S, Work<S>>,
    tickets: Entities<named::Ticket, S, Work<S>>,
}

/// The handles of the older program.
#[derive(Clone)]
struct Old<S> {
    agents: Table<plain::Agent, S>,
    tickets: Table<plain::Ticket, S>,
}

fn outbox<S: TableStore + table_core::queue::QueueStore + Clone>(time: &Time, store: &S) -> Work<S> {
    Outbox::with_runtime(store.clone(), store.clone(), QueueName::new("copies").unwrap(), time.runtime())
}

async fn open_new<S>(time: &Time, store: &S) -> New<S>
where
    S: TableStore + table_core::queue::QueueStore + Clone + 'static,
{
    let outbox = outbox(time, store);
    let agents = store.entities_with_outbox::<named::Agent, _>(outbox.clone()).with_runtime(time.runtime());
    let tickets = store.entities_with_outbox::<named::Ticket, _>(outbox).with_runtime(time.runtime());
    New {
        agents: agents.create_if_missing().await.unwrap(),
        tickets: tickets.create_if_missing().await.unwrap(),
    }
}

async fn open_old<S: TableStore + Clone>(time: &Time, store: &S) -> Old<S> {
    let retry = || Retry::default().with_runtime(time.runtime());
    let (agents, tickets) = (store.table::<plain::Agent>(), store.table::<plain::Ticket>());
    Old {
        agents: agents.with_retry(retry()).create_if_missing().await.unwrap(),
        tickets: tickets.with_retry(retry()).create_if_missing().await.unwrap(),
    }
}

impl<S> New<S>
where
    S: TableStore + table_core::queue::QueueStore + Clone + 'static,
{
    /// Runs the backfills of sources and holders once. Returns the longest time until the next run.
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

/// Lets the workers finish, and compares each ticket with its agent.
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

/// Changes every agent by the newer program: the copies follow if all references are recorded.
async fn rename_all(new: &New<Engine>, name: &str) {
    for id in 0..AGENTS {
        let renamed = new.agents.update(named::Agent::key("contoso", id), |agent| agent.name = name.into());
        assert!(renamed.await.map_or_else(|error| error.is_not_found(), |_| true));
    }
}

/// Losing a race is a valid outcome; an error about the other program's declaration is not.
fn raced<T>(outcome: Result<T>) {
    if let Err(error) = outcome {
        assert!(error.is_not_found() || error.is_conflict() || error.rule() == Some("CON-3"), "{error}");
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
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0_u32.. {
                    block_on(old_round(&old, round));
                    time.pass(Duration::from_secs(3));
                    if round > 150 && is_over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            for round in 0..150 {
                block_on(new_round(&new, round));
                if round % 20 == 0 {
                    let waits = block_on(new.backfill(sources_first)).unwrap();
                    assert!(waits.is_some(), "the older program writes");
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
        // One side is complete while the older program still writes the other.
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

type Written = Pin<Box<dyn Future<Output = Result<()>>>>;
type Verb = fn(Old<Controlled<Engine>>) -> Written;

/// Interleaves the calls of the older program's write with those of the backfills, suspending each of them at each of its calls.
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

/// Lets the backfills make some calls, then the write, then the backfills end, then the write. Returns `true` if the write was refused.
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
    let mut built: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move {
        let new = open_new(&its_time, &stepped).await;
        drop(new.backfill(sources_first).await);
    });
    let mut written = verb(old);
    let is_built = (0..of_backfill).any(|_| builder.step(&mut built).is_some());
    let outcome = (0..of_write).find_map(|_| writer.step(&mut written));
    if !is_built {
        while builder.step(&mut built).is_none() {}
    }
    let outcome = outcome.unwrap_or_else(|| {
        loop {
            if let Some(outcome) = writer.step(&mut written) {
                return outcome;
            }
        }
    });
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

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Headcounts")]
#[partition_key(department)]
#[row_key("sums")]
struct Headcount {
    department: String,
    employees: i64,
    letters: i64,
}

struct Headcounts;

impl View for Headcounts {
    type Source = fed::Employee;
    type Row = Headcount;

    fn project(employee: &fed::Employee, view: &mut Projection<Headcount>) -> Result<()> {
        let letters = i64::try_from(employee.email.len()).unwrap();
        view.add(Headcount::key(&employee.department), Headcount::EMPLOYEES, 1)?;
        view.add(Headcount::key(&employee.department), Headcount::LETTERS, letters)
    }
}

/// Returns the sums of the view, and those of the entities.
async fn sums(store: &Engine, view: &ViewTable<Headcounts, Engine>) -> [(i64, i64); 2] {
    while view.catch_up(1_000).await.unwrap().is_behind {}
    let row = view.table().await.unwrap().get(Headcount::key("Sales")).await.unwrap();
    let all = store.table::<fed::Employee>().query(fed::Employee::rows("Sales")).collect().await.unwrap();
    let letters = all.iter().map(|employee| i64::try_from(employee.email.len()).unwrap()).sum();
    [row.map_or((0, 0), |row| (row.employees, row.letters)), (i64::try_from(all.len()).unwrap(), letters)]
}

#[test]
fn two_programs_under_load_are_not_refused_and_a_view_of_the_new_feed_misses_nothing() {
    let time = Time::default();
    let store = time.engine();
    let old = block_on(table_at::<before::Employee>(&time, &store).create_if_missing()).unwrap();
    let new = store.entities::<fed::Employee>().with_runtime(time.runtime());
    let new = block_on(new.create_if_missing()).unwrap();
    let retry = Retry::default().with_runtime(time.runtime());
    let view = block_on(ViewTable::new(store.clone()).with_retry(retry).create_if_missing()).unwrap();
    let is_over = AtomicBool::new(false);
    let key = |round: u32| fed::Employee::key("Sales", round % 8);
    let employee = |id, email: String| fed::Employee { department: "Sales".into(), id, email };
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0_u32.. {
                let (id, email) = (round % 8, "o".repeat(1 + usize::try_from(round % 24).unwrap()));
                let key = || before::Employee::key("Sales", id);
                match round % 4 {
                    0 => raced(block_on(old.delete(key(), IfMatch::Any))),
                    1 => raced(block_on(old.update(key(), |one| one.email.clone_from(&email)))),
                    2 => raced(block_on(old.insert_or_replace(&before::employee(id, &email)))),
                    _ => raced(block_on(old.insert(&before::employee(id, &email)))),
                }
                time.pass(Duration::from_secs(3));
                if round > 150 && is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for round in 0..150 {
            let email = "n".repeat(1 + usize::try_from(round % 20).unwrap());
            match round % 3 {
                0 => raced(block_on(new.delete(key(round), IfMatch::Any))),
                1 => raced(block_on(new.insert(&employee(round % 8, email)))),
                _ => raced(block_on(new.update(key(round), |one| one.email.clone_from(&email)))),
            }
            if round % 20 == 0 {
                assert!(block_on(new.backfill_feed().run()).unwrap().is_some(), "the older program writes");
                let error = block_on(view.rebuild().run()).unwrap_err();
                assert_eq!(error.code(), ErrorCode::IndexNotReady, "{error}");
                assert!(error.to_string().contains("backfill_feed"), "{error}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    block_on(async {
        while let Some(rest) = new.backfill_feed().run().await.unwrap() {
            time.pass(rest);
        }
        time.pass(LEASE * 2);
        assert!(refused(old.insert(&before::employee(77, "late")).await));
        view.rebuild().run().await.unwrap();
        let [is, wanted] = sums(&store, &view).await;
        assert_eq!(is, wanted, "rebuilt");
        for id in 0..8 {
            raced(new.update(key(id), |one| one.email.push('!')).await);
        }
        let [is, wanted] = sums(&store, &view).await;
        assert_eq!(is, wanted, "followed");
        assert!(wanted.0 > 0);
    });
}
