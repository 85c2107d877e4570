//! Tests a second copy relation between two types, and the first schema that is stored for existing rows. A relation is identified by its name. A program that
//! lacks the relation can therefore be detected.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::table::LEASE;
use table_core::{ErrorCode, TableName, TableStore, TableStoreExt};
use table_patterns::outbox::Outbox;
use table_patterns::view::ViewTable;
use table_patterns::work::{Sweep, Worker};
use table_patterns::{Entities, EntityStore};
use tests::time::Time;

use super::desk::{New, named, open_new, outbox, plain};
use super::feeds::Headcounts;
use super::kit::{raced, under_load};
use super::{before, fed, refused};

const AGENTS: u32 = 4;

/// The third release of the desk, in which tickets also contain the name of the agent who reviews them.
pub(super) mod reviewed {
    use table_core::Selection;
    use table_core::selection::Point;
    use table_patterns::copies::{CopyRelation, OnDelete};

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Agents", copied_by(Assignee, Reviewer))]
    #[partition_key(tenant)]
    #[row_key("agent_", id)]
    pub(crate) struct Agent {
        pub tenant: String,
        #[digits(4)]
        pub id: u32,
        pub name: String,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Tickets", copies_from(Assignee, Reviewer))]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub(crate) struct Ticket {
        pub tenant: String,
        #[digits(6)]
        pub number: u32,
        pub agent: Option<i32>,
        pub agent_name: Option<String>,
        pub reviewer_name: Option<String>,
    }

    fn agent(tenant: &str, id: Option<i32>) -> Option<Selection<Agent, Point>> {
        Some(Agent::key(tenant, u32::try_from(id?).ok()?))
    }

    pub(crate) struct Assignee;

    impl CopyRelation for Assignee {
        type Source = Agent;
        type Holder = Ticket;
        type Copied = String;
        const NAME: &'static str = "assignee";
        const ON_DELETE: OnDelete = OnDelete::Clear;

        fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
            agent(&ticket.tenant, ticket.agent)
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

    pub(crate) struct Reviewer;

    impl CopyRelation for Reviewer {
        type Source = Agent;
        type Holder = Ticket;
        type Copied = String;
        const NAME: &'static str = "reviewer";
        const ON_DELETE: OnDelete = OnDelete::Clear;

        /// Returns the reviewer of a ticket: the agent whose number is the ticket number modulo the number of agents.
        fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
            agent(&ticket.tenant, i32::try_from(ticket.number % super::AGENTS).ok())
        }
        fn copied(agent: &Agent) -> String {
            agent.name.clone()
        }
        fn set(ticket: &mut Ticket, name: String) {
            ticket.reviewer_name = Some(name);
        }
        fn clear(ticket: &mut Ticket) {
            ticket.reviewer_name = None;
        }
    }
}

pub(super) type Work = Outbox<Engine, Engine>;
pub(super) type Agents = Entities<reviewed::Agent, Engine, Work>;
pub(super) type Tickets = Entities<reviewed::Ticket, Engine, Work>;

pub(super) async fn open_reviewed(time: &Time, store: &Engine) -> (Agents, Tickets) {
    let outbox = outbox(time, store);
    let agents =
        store.entities_with_outbox::<reviewed::Agent, _>(outbox.clone()).with_runtime(time.runtime());
    let tickets = store.entities_with_outbox::<reviewed::Ticket, _>(outbox).with_runtime(time.runtime());
    (agents.create_if_missing().await.unwrap(), tickets.create_if_missing().await.unwrap())
}

/// Runs one pass of the backfill for each type. Returns the delay until the next pass.
async fn backfill((agents, tickets): &(Agents, Tickets)) -> Option<Duration> {
    let agents = agents.backfill_copies().page(2).run().await.unwrap();
    let tickets = tickets.backfill_copies().page(2).run().await.unwrap();
    assert!(agents.failed.is_empty() && tickets.failed.is_empty(), "{agents:?} {tickets:?}");
    agents.retry_after.max(tickets.retry_after)
}

/// Completes all work with sweeps and workers. Then compares both names in each ticket with the names of the agents.
pub(super) async fn check(time: &Time, store: &Engine, desk: &(Agents, Tickets)) {
    let worker = Worker::new(outbox(time, store)).with_index_handler(&desk.0).with_index_handler(&desk.1);
    for _ in 0..4 {
        time.pass(Duration::from_secs(800));
        Sweep::new(outbox(time, store)).sweep_registered().await.unwrap();
        worker.run_until_idle().await.unwrap();
    }
    let agents =
        store.table::<reviewed::Agent>().scan("to compare").max_rows(10_000).collect().await.unwrap();
    let name = |id: u32| agents.iter().find(|agent| agent.id == id).map(|agent| agent.name.clone());
    let tickets = store.table::<reviewed::Ticket>().scan("to compare").max_rows(10_000);
    let tickets = tickets.collect().await.unwrap();
    assert!(!tickets.is_empty());
    for ticket in tickets {
        let agent = ticket.agent.and_then(|id| name(u32::try_from(id).unwrap()));
        let names = (agent, name(ticket.number % AGENTS));
        assert_eq!((ticket.agent_name.clone(), ticket.reviewer_name.clone()), names, "{ticket:?}");
    }
}

/// Writes with the release that has only one relation. It does not delete agents, because it cannot clear references from tickets to their reviewers.
async fn old_round(old: &New<Engine>, round: u32) {
    let (id, number) = (round % AGENTS, round % 9);
    let key = || named::Ticket::key("contoso", number);
    match round % 4 {
        0 => raced(
            old.agents.update(named::Agent::key("contoso", id), |one| one.name = format!("old{round}")).await,
        ),
        1 => raced(old.tickets.insert(&named::ticket(number, id)).await),
        2 => raced(old.tickets.update(key(), |one| one.agent = i32::try_from(id).ok()).await),
        _ => raced(old.tickets.delete(key(), table_core::IfMatch::Any).await),
    }
}

async fn new_round((agents, tickets): &(Agents, Tickets), round: u32) {
    let (id, number) = (round % AGENTS, round % 9);
    match round % 3 {
        0 => raced(
            agents.update(reviewed::Agent::key("contoso", id), |one| one.name = format!("new{round}")).await,
        ),
        1 => {
            let ticket = named::ticket(number, id);
            let (tenant, agent) = (ticket.tenant, ticket.agent);
            let ticket = reviewed::Ticket { tenant, number, agent, agent_name: None, reviewer_name: None };
            raced(tickets.insert(&ticket).await);
        }
        _ => {
            let key = reviewed::Ticket::key("contoso", number);
            raced(tickets.update(key, |one| one.agent = i32::try_from(id).ok()).await);
        }
    }
}

#[test]
fn a_second_relation_is_announced_to_programs_that_have_the_first() {
    let time = Time::default();
    let store = time.engine();
    block_on(outbox(&time, &store).create_queues()).unwrap();
    let old = block_on(open_new(&time, &store));
    block_on(async {
        for id in 0..AGENTS {
            old.agents.insert(&named::agent(id, "Ada")).await.unwrap();
        }
    });
    (0..20).for_each(|round| block_on(old_round(&old, round)));
    let new = block_on(open_reviewed(&time, &store));
    under_load(
        &time,
        120,
        |round| block_on(old_round(&old, round)),
        |round| {
            block_on(new_round(&new, round));
            if round % 20 == 0 {
                assert!(block_on(backfill(&new)).is_some(), "the older program writes");
            }
        },
    );
    block_on(async {
        while let Some(rest) = backfill(&new).await {
            time.pass(rest);
        }
        time.pass(LEASE * 2);
        assert!(refused(old.tickets.insert(&named::ticket(77, 1)).await));
        assert!(refused(old.agents.insert(&named::agent(77, "late")).await));
        check(&time, &store, &new).await;
        for id in 0..AGENTS {
            new.0.update(reviewed::Agent::key("contoso", id), |one| one.name.push('!')).await.unwrap();
        }
        check(&time, &store, &new).await;
    });
}

/// Tests rows that programs wrote without opening the table. The copies and the feed lack these rows until they are backfilled.
#[test]
fn the_first_schema_over_existing_rows_awaits_its_copies_and_its_feed() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        outbox(&time, &store).create_queues().await.unwrap();
        for table in ["Agents", "Tickets", "Staff"] {
            store.create_table(&TableName::new(table).unwrap()).await.unwrap();
        }
        store.table::<plain::Agent>().insert(&plain::agent(1, "Ada")).await.unwrap();
        store.table::<plain::Ticket>().insert(&plain::ticket(1, 1)).await.unwrap();
        store.table::<before::Employee>().insert(&before::employee(1, "ada")).await.unwrap();

        let desk = open_new(&time, &store).await;
        let pending = |layout: Option<table_core::table::SchemaRecord>| layout.unwrap().pending;
        assert_eq!(pending(desk.agents.table().schema_record().await.unwrap()), ["keeps copied_by Assignee"]);
        assert_eq!(
            pending(desk.tickets.table().schema_record().await.unwrap()),
            ["keeps copies_from Assignee"]
        );
        for rest in [desk.agents.backfill_copies().run().await, desk.tickets.backfill_copies().run().await] {
            assert!(rest.unwrap().retry_after.is_some());
        }
        desk.agents.backfill_copies().assume_no_older_programs().run().await.unwrap();
        let report = desk.tickets.backfill_copies().assume_no_older_programs().run().await.unwrap();
        assert_eq!((report.scanned, report.written, report.failed.len()), (1, 1, 0));
        let ticket = desk.tickets.get(named::Ticket::key("contoso", 1)).await.unwrap().unwrap();
        assert_eq!(ticket.agent_name.as_deref(), Some("Ada"));

        let staff = store.entities::<fed::Employee>().with_runtime(time.runtime());
        let staff = staff.create_if_missing().await.unwrap();
        assert_eq!(pending(staff.table().schema_record().await.unwrap()), ["keeps feed"]);
        let view = ViewTable::<Headcounts, _>::new(store.clone()).create_if_missing().await.unwrap();
        assert_eq!(view.rebuild().run().await.unwrap_err().code(), ErrorCode::IndexNotReady);
        staff.backfill_feed().assume_no_older_programs().run().await.unwrap();
        view.rebuild().run().await.unwrap();
    });
}

#[test]
fn a_program_completes_only_the_relations_that_it_declares() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        outbox(&time, &store).create_queues().await.unwrap();
        let old = open_new(&time, &store).await;
        old.agents.insert(&named::agent(1, "Ada")).await.unwrap();
        let (agents, _) = open_reviewed(&time, &store).await;
        let report = old.agents.backfill_copies().assume_no_older_programs().run().await.unwrap();
        assert_eq!(report.scanned, 0);
        let layout = agents.table().schema_record().await.unwrap().unwrap();
        assert_eq!(layout.pending, ["keeps copied_by Reviewer"]);
    });
}
