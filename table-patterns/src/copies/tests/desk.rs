//! A fixture for copy tests within a partition: tickets copy the names of two agents, and lines copy properties of their tickets.

use table_core::Entity;
use table_core::selection::{Point, Selection};

use crate::copies::{CopyRelation, OnDelete};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copied_by(Assignee, Reviewer))]
#[partition_key(tenant)]
#[row_key("agent_", id)]
pub(crate) struct Agent {
    pub(crate) tenant: String,
    #[digits(1)]
    pub(crate) id: u32,
    pub(crate) name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copies_from(Assignee, Reviewer), copied_by(OfTicket))]
#[partition_key(tenant)]
#[row_key("ticket_", id)]
#[index(ByName, row_key("name_", agent_name, "_", id))]
pub(crate) struct Ticket {
    pub(crate) tenant: String,
    #[digits(1)]
    pub(crate) id: u32,
    pub(crate) title: String,
    pub(crate) agent: Option<i32>,
    #[without('_')]
    pub(crate) agent_name: Option<String>,
    pub(crate) reviewer: Option<i32>,
    pub(crate) reviewer_name: Option<String>,
}

/// An entity that copies a ticket's title and the name of the ticket's agent, itself a copy in the ticket.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copies_from(OfTicket))]
#[partition_key(tenant)]
#[row_key("line_", id)]
pub(crate) struct Line {
    pub(crate) tenant: String,
    #[digits(1)]
    pub(crate) id: u32,
    pub(crate) ticket: Option<i32>,
    pub(crate) title: Option<String>,
    pub(crate) agent_name: Option<String>,
}

fn agent_of(ticket: &Ticket, id: Option<i32>) -> Option<Selection<Agent, Point>> {
    Some(Agent::key(&ticket.tenant, u32::try_from(id?).ok()?))
}

pub(crate) struct Assignee;

impl CopyRelation for Assignee {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "assignee";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
        agent_of(ticket, ticket.agent)
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

/// The second relation between a ticket and an agent. The reviewer may be the same agent as the assignee.
pub(crate) struct Reviewer;

impl CopyRelation for Reviewer {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "reviewer";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
        agent_of(ticket, ticket.reviewer)
    }

    fn copied(agent: &Agent) -> String {
        agent.name.clone()
    }

    fn set(ticket: &mut Ticket, name: String) {
        ticket.reviewer_name = Some(name);
    }

    fn clear(ticket: &mut Ticket) {
        (ticket.reviewer, ticket.reviewer_name) = (None, None);
    }
}

pub(crate) struct OfTicket;

impl CopyRelation for OfTicket {
    type Source = Ticket;
    type Holder = Line;
    type Copied = (String, Option<String>);
    const NAME: &'static str = "line";
    const ON_DELETE: OnDelete = OnDelete::Refuse;

    fn reference(line: &Line) -> Option<Selection<Ticket, Point>> {
        Some(Ticket::key(&line.tenant, u32::try_from(line.ticket?).ok()?))
    }

    fn copied(ticket: &Ticket) -> Self::Copied {
        (ticket.title.clone(), ticket.agent_name.clone())
    }

    fn set(line: &mut Line, (title, agent_name): Self::Copied) {
        (line.title, line.agent_name) = (Some(title), agent_name);
    }

    fn clear(line: &mut Line) {
        (line.ticket, line.title, line.agent_name) = (None, None, None);
    }
}

pub(crate) fn agent(id: u32, name: &str) -> Agent {
    Agent { tenant: "t".into(), id, name: name.into() }
}

pub(crate) fn ticket(id: u32, agent: Option<i32>) -> Ticket {
    Ticket {
        tenant: "t".into(),
        id,
        title: format!("It beeps {agent:?}"),
        agent,
        agent_name: None,
        reviewer: None,
        reviewer_name: None,
    }
}

pub(crate) fn line(id: u32, ticket: Option<i32>) -> Line {
    Line { tenant: "t".into(), id, ticket, title: None, agent_name: None }
}
