//! A fixture with agents and tickets in two releases. Only the newer release copies the names of agents to tickets.

use table_core::retry::Retry;
use table_core::{QueueName, Table, TableStore, TableStoreExt};
use table_patterns::outbox::Outbox;
use table_patterns::{Entities, EntityStore};
use tests::time::Time;

/// The older release: agents, and tickets that refer to them.
pub(super) mod plain {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Agents")]
    #[partition_key(tenant)]
    #[row_key("agent_", id)]
    pub(crate) struct Agent {
        pub tenant: String,
        #[digits(4)]
        pub id: u32,
        pub name: String,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Tickets")]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub(crate) struct Ticket {
        pub tenant: String,
        #[digits(6)]
        pub number: u32,
        pub agent: Option<i32>,
    }

    pub(crate) fn agent(id: u32, name: &str) -> Agent {
        Agent { tenant: "contoso".into(), id, name: name.into() }
    }

    pub(crate) fn ticket(number: u32, agent: u32) -> Ticket {
        Ticket { tenant: "contoso".into(), number, agent: i32::try_from(agent).ok() }
    }
}

/// The newer release, in which tickets also contain copies of the names of their agents.
pub(super) mod named {
    use table_core::Selection;
    use table_core::selection::Point;
    use table_patterns::copies::{CopyRelation, OnDelete};

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Agents", copied_by(Assignee))]
    #[partition_key(tenant)]
    #[row_key("agent_", id)]
    pub(crate) struct Agent {
        pub tenant: String,
        #[digits(4)]
        pub id: u32,
        pub name: String,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Tickets", copies_from(Assignee))]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    pub(crate) struct Ticket {
        pub tenant: String,
        #[digits(6)]
        pub number: u32,
        pub agent: Option<i32>,
        pub agent_name: Option<String>,
    }

    pub(crate) fn agent(id: u32, name: &str) -> Agent {
        Agent { tenant: "contoso".into(), id, name: name.into() }
    }

    pub(crate) fn ticket(number: u32, agent: u32) -> Ticket {
        Ticket { tenant: "contoso".into(), number, agent: i32::try_from(agent).ok(), agent_name: None }
    }

    pub(crate) struct Assignee;

    impl CopyRelation for Assignee {
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

pub(super) type Work<S> = Outbox<S, S>;

/// The handles of the newer program for agents and tickets.
#[derive(Clone)]
pub(super) struct New<S> {
    pub(super) agents: Entities<named::Agent, S, Work<S>>,
    pub(super) tickets: Entities<named::Ticket, S, Work<S>>,
}

/// The handles of the older program for agents and tickets.
#[derive(Clone)]
pub(super) struct Old<S> {
    pub(super) agents: Table<plain::Agent, S>,
    pub(super) tickets: Table<plain::Ticket, S>,
}

pub(super) fn outbox<S: TableStore + table_core::queue::QueueStore + Clone>(
    time: &Time,
    store: &S,
) -> Work<S> {
    Outbox::with_runtime(store.clone(), store.clone(), QueueName::new("copies").unwrap(), time.runtime())
}

pub(super) async fn open_new<S>(time: &Time, store: &S) -> New<S>
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

pub(super) async fn open_old<S: TableStore + Clone>(time: &Time, store: &S) -> Old<S> {
    let retry = || Retry::default().with_runtime(time.runtime());
    let (agents, tickets) = (store.table::<plain::Agent>(), store.table::<plain::Ticket>());
    Old {
        agents: agents.with_retry(retry()).create_if_missing().await.unwrap(),
        tickets: tickets.with_retry(retry()).create_if_missing().await.unwrap(),
    }
}
