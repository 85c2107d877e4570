//! Two relations of the same name. Their stored references could not be told apart (PAT-DEN-3).

use table_patterns::Entity;
use table_patterns::Selection;
use table_patterns::copies::CopyRelation;
use table_patterns::selection::Point;

#[derive(Entity)]
#[entity(table = "Desk", copied_by(Assignee, Reviewer))]
#[partition_key(tenant)]
#[row_key("agent_", id)]
pub struct Agent {
    pub tenant: String,
    pub id: u32,
    pub name: String,
}

#[derive(Entity)]
#[entity(table = "Desk", copies_from(Assignee))]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
pub struct Ticket {
    pub tenant: String,
    pub number: u32,
    pub agent: i32,
    pub agent_name: String,
}

pub struct Assignee;

impl CopyRelation for Assignee {
    type Source = Agent;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "assignee";
    fn reference(ticket: &Ticket) -> Option<Selection<Agent, Point>> {
        Some(Agent::key(&ticket.tenant, ticket.agent.unsigned_abs()))
    }
    fn copied(agent: &Agent) -> String {
        agent.name.clone()
    }
    fn set(ticket: &mut Ticket, name: String) {
        ticket.agent_name = name;
    }
    fn clear(ticket: &mut Ticket) {
        ticket.agent = 0;
    }
}

#[derive(Entity)]
#[entity(table = "Reviews", copies_from(Reviewer))]
#[partition_key(tenant)]
#[row_key("review_", number)]
pub struct Review {
    pub tenant: String,
    pub number: u32,
}

pub struct Reviewer;

impl CopyRelation for Reviewer {
    type Source = Agent;
    type Holder = Review;
    type Copied = ();
    const NAME: &'static str = "assignee";
    fn reference(_: &Review) -> Option<Selection<Agent, Point>> {
        None
    }
    fn copied(_: &Agent) {}
    fn set(_: &mut Review, (): ()) {}
    fn clear(_: &mut Review) {}
}

fn main() {}
