//! The entity type under test, which declares every pattern. If a run does not use a pattern, the fields of that pattern stay empty. The feed is part of every
//! run.

use table_core::selection::{Point, Selection};
use table_core::{Entity, EntitySet, Result, TableEntity};
use table_patterns::copies::CopyRelation;
use table_patterns::large::{BlobRef, Large};
use table_patterns::participant::{Changes, Participant};
use table_patterns::series::{self, Series};
use table_patterns::view::{Projection, View};

pub const TENANT: &str = "contoso";

#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed, copies_from(Owner), set = Desk)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", number))]
#[index(ByMail, unique, row_key("mail_", mail))]
#[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
#[index(Queues, table = "Queues", partition_key("queue_", tenant), row_key(queue, "_", number))]
#[index(Badges, unique, table = "Badges", partition_key("badge"), row_key(badge))]
#[index_entity(Tags, at_most = 100, table = "Tags", partition_key(tag), row_key("all"))]
pub struct Ticket {
    pub tenant: String,
    #[digits(3)]
    pub number: u32,
    #[without('_')]
    pub status: Option<String>,
    pub mail: Option<String>,
    pub agent: Option<String>,
    #[without('_')]
    pub queue: Option<String>,
    pub badge: Option<u32>,
    pub tag: Option<String>,
    pub amount: i64,
    #[blob]
    pub photo: Option<BlobRef>,
    pub owner: Option<u32>,
    pub owner_name: Option<String>,
}

/// The hours of work on a ticket. They are stored as slots in the ticket's row.
impl Series for Ticket {
    type Value = i64;
    const SLOTS: &'static [&'static str] = series::HOURS;
}

/// The owner of a ticket. The owner's name and firm are copied to the tickets. One of the two owners is in the partition of the
/// tickets. The field `firm` is itself copied from another entity.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copied_by(Owner), copies_from(Employer))]
#[partition_key(home)]
#[row_key("person_", id)]
pub struct Person {
    pub home: String,
    #[digits(1)]
    pub id: u32,
    pub name: String,
    pub is_employed: bool,
    pub firm: Option<String>,
}

/// The firm that employs all owners. It is stored in the partition of the tickets.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copied_by(Employer))]
#[partition_key(home)]
#[row_key("firm")]
pub struct Firm {
    pub home: String,
    pub name: String,
}

pub struct Employer;

impl CopyRelation for Employer {
    type Source = Firm;
    type Holder = Person;
    type Copied = String;
    const NAME: &'static str = "employer";

    fn reference(person: &Person) -> Option<Selection<Firm, Point>> {
        person.is_employed.then(|| Firm::key(TENANT))
    }

    fn copied(firm: &Firm) -> String {
        firm.name.clone()
    }

    fn set(person: &mut Person, firm: String) {
        person.firm = Some(firm);
    }

    fn clear(person: &mut Person) {
        (person.is_employed, person.firm) = (false, None);
    }
}

/// Returns the text that tickets copy from their owner.
pub fn signature(person: &str, firm: Option<&str>) -> String {
    format!("{person} of {firm:?}")
}

/// The number of owners.
pub const PEOPLE: u32 = 2;

pub fn person(id: u32) -> Selection<Person, Point> {
    Person::key(if id == 0 { TENANT } else { "elsewhere" }, id)
}

pub struct Owner;

impl CopyRelation for Owner {
    type Source = Person;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "owner";

    fn reference(ticket: &Ticket) -> Option<Selection<Person, Point>> {
        ticket.owner.map(person)
    }

    fn copied(person: &Person) -> String {
        signature(&person.name, person.firm.as_deref())
    }

    fn set(ticket: &mut Ticket, name: String) {
        ticket.owner_name = Some(name);
    }

    fn clear(ticket: &mut Ticket) {
        (ticket.owner, ticket.owner_name) = (None, None);
    }
}

/// A visit to a customer. Visits are a second entity type in the table of the tickets.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("visit_", number)]
#[index(ByPlace, row_key("place_", place, "_", number))]
#[index(ByTag, row_key("tagged_", tag, "_", number))]
#[index(Rounds, table = "Queues", partition_key("round_", tenant), row_key(place, "_", number))]
pub struct Visit {
    pub tenant: String,
    #[digits(3)]
    pub number: u32,
    #[without('_')]
    pub place: String,
    #[without('_')]
    pub tag: Option<String>,
}

/// Tickets and visits, as declared by an earlier version of the program.
pub mod before {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Desk")]
    #[partition_key(tenant)]
    #[row_key("visit_", number)]
    #[index(ByPlace, row_key("place_", place, "_", number))]
    pub struct Visit {
        pub tenant: String,
        #[digits(3)]
        pub number: u32,
        #[without('_')]
        pub place: String,
        pub tag: Option<String>,
    }

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Desk")]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    #[index(ByStatus, row_key("status_", status, "_", number))]
    pub struct Ticket {
        pub tenant: String,
        #[digits(3)]
        pub number: u32,
        #[without('_')]
        pub status: Option<String>,
        pub mail: Option<String>,
        pub agent: Option<String>,
        pub queue: Option<String>,
        pub badge: Option<u32>,
        pub tag: Option<String>,
        pub amount: i64,
    }
}

/// A comment on a ticket. It is declared as a part of the ticket.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("ticket_", ticket, "_", number)]
pub struct Comment {
    pub tenant: String,
    #[digits(3)]
    pub ticket: u32,
    #[digits(2)]
    pub number: u32,
    pub text: String,
}

/// A row written by the participant for each existing comment.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("mark_", ticket, "_", number)]
pub struct Mark {
    pub tenant: String,
    #[digits(3)]
    pub ticket: u32,
    #[digits(2)]
    pub number: u32,
}

pub struct Marks;

impl Participant<Comment> for Marks {
    fn name(&self) -> &'static str {
        "marks"
    }

    fn changes(&self, old: Option<&Comment>, new: Option<&Comment>, out: &mut Changes) -> Result<()> {
        match (old, new) {
            (None, Some(Comment { tenant, ticket, number, .. })) => {
                out.insert(&Mark { tenant: tenant.clone(), ticket: *ticket, number: *number })
            }
            (Some(old), None) => out.delete(Mark::key(&old.tenant, old.ticket, old.number)),
            _ => Ok(()),
        }
    }
}

/// All entity types in the table.
#[derive(EntitySet)]
pub enum Desk {
    Ticket(Ticket),
    Comment(Comment),
    Mark(Mark),
    Audit(Audit),
    Person(Person),
    Firm(Firm),
    Visit(Visit),
    #[other]
    Other(TableEntity),
}

/// A row written by the participant for each change.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("audit_", id)]
pub struct Audit {
    pub tenant: String,
    pub id: String,
    pub ticket: i64,
    pub difference: i64,
}

pub struct Trail;

impl Participant<Ticket> for Trail {
    fn name(&self) -> &'static str {
        "trail"
    }

    fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(ticket) = new.or(old) else { return Ok(()) };
        let amount = |ticket: Option<&Ticket>| ticket.map_or(0, |ticket| ticket.amount);
        let (id, difference) = (out.id(), amount(new) - amount(old));
        out.insert(&Audit { tenant: ticket.tenant.clone(), id, ticket: ticket.number.into(), difference })
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Totals")]
#[partition_key(tenant)]
#[row_key("total")]
pub struct Total {
    pub tenant: String,
    pub tickets: i64,
    pub amount: i64,
}

pub struct Totals;

impl View for Totals {
    type Source = Ticket;
    type Row = Total;

    fn project(ticket: &Ticket, view: &mut Projection<Total>) -> Result<()> {
        view.add(Total::key(&ticket.tenant), Total::TICKETS, 1)?;
        view.add(Total::key(&ticket.tenant), Total::AMOUNT, ticket.amount)
    }
}
