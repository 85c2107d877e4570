//! A fixture with tickets, their comments, notes of two kinds, and a view. Tickets have indexes in their own partition and in other partitions of the table.

use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, EntitySet, Projection, Result, TableEntity, TableStoreExt};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::view::{self, View, ViewTable};
use tests::time::Time;

pub const TENANT: &str = "contoso";

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed, set = Desk)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", number))]
#[index(ByMail, unique, row_key("mail_", mail))]
#[index_entity(ByAgent, at_most = 100, row_key("agent_", agent))]
pub struct Ticket {
    pub tenant: String,
    #[digits(3)]
    pub number: u32,
    #[without('_')]
    pub status: String,
    #[without('_')]
    pub mail: String,
    #[without('_')]
    pub agent: String,
    pub amount: i64,
}

/// A comment on a ticket. One of its properties has the same name as a property of the ticket.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed, set = Desk)]
#[partition_key(tenant)]
#[row_key("ticket_", ticket, "_", number)]
pub struct Comment {
    pub tenant: String,
    #[digits(3)]
    pub ticket: u32,
    #[digits(2)]
    pub number: u32,
    pub amount: i64,
}

/// A note. Its keys have the same format as those of an [`Alarm`]; only the stored kind differs.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", kind = "Note", set = Desk)]
#[partition_key(tenant)]
#[row_key("note_", number)]
pub struct Note {
    pub tenant: String,
    #[digits(3)]
    pub number: u32,
    pub amount: i64,
}

/// A second type of note. Its keys have the same format as those of a [`Note`]; only the stored kind differs.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", kind = "Alarm", set = Desk)]
#[partition_key(tenant)]
#[row_key("note_", number)]
pub struct Alarm {
    pub tenant: String,
    #[digits(3)]
    pub number: u32,
    pub amount: i64,
}

/// All entity types in the table.
#[derive(EntitySet, Debug)]
pub enum Desk {
    Ticket(Ticket),
    Comment(Comment),
    Note(Note),
    Alarm(Alarm),
    #[other]
    Other(TableEntity),
}

/// A projection of a ticket to a property that comments have too.
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Ticket)]
pub struct Amount {
    pub amount: i64,
}

/// A projection of a note. Its rows can only be recognised by their stored kind.
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Note)]
pub struct NoteAmount {
    pub amount: i64,
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

#[derive(Clone, Copy)]
pub struct Totals;

impl View for Totals {
    type Source = Ticket;
    type Row = Total;

    fn project(ticket: &Ticket, view: &mut view::Projection<Total>) -> Result<()> {
        view.add(Total::key(&ticket.tenant), Total::TICKETS, 1)?;
        view.add(Total::key(&ticket.tenant), Total::AMOUNT, ticket.amount)
    }
}

pub fn ticket(number: u32) -> Ticket {
    Ticket {
        tenant: TENANT.to_owned(),
        number,
        status: "open".to_owned(),
        mail: format!("m{number}"),
        agent: "joan".to_owned(),
        amount: i64::from(number),
    }
}

pub fn comment(ticket: u32, number: u32) -> Comment {
    Comment { tenant: TENANT.to_owned(), ticket, number, amount: 1_000 }
}

pub fn note(number: u32) -> Note {
    Note { tenant: TENANT.to_owned(), number, amount: 10 }
}

pub fn alarm(number: u32) -> Alarm {
    Alarm { tenant: TENANT.to_owned(), number, amount: 20 }
}

/// The numbers of the tickets created by [`World::filled`].
pub const NUMBERS: [u32; 3] = [1, 2, 3];

/// A store with a separate clock, and a handle for tickets. Each test creates one.
pub struct World {
    pub engine: Engine,
    pub tickets: Entities<Ticket, Engine>,
    time: Time,
}

impl World {
    /// Creates a store with tickets 1 to 3, two comments on each ticket, notes 2, 4 and 6, and alarms 3, 5 and 7.
    pub fn filled() -> Self {
        let world = Self::empty();
        block_on(async {
            let tickets = world.tickets.clone().create_if_missing().await.unwrap();
            for number in NUMBERS {
                tickets.insert(&ticket(number)).await.unwrap();
            }
        });
        world.with_others()
    }

    /// Creates a store without tables.
    pub fn empty() -> Self {
        let time = Time::default();
        let engine = time.engine();
        Self { tickets: engine.entities().with_runtime(time.runtime()), engine, time }
    }

    /// Inserts entities of all types other than tickets.
    pub fn with_others(self) -> Self {
        block_on(async {
            let comments = self.engine.entities::<Comment>().create_if_missing().await.unwrap();
            let notes = self.engine.table::<Note>().create_if_missing().await.unwrap();
            let alarms = self.engine.table::<Alarm>().create_if_missing().await.unwrap();
            for number in NUMBERS {
                comments.insert(&comment(number, 1)).await.unwrap();
                comments.insert(&comment(number, 2)).await.unwrap();
                notes.insert(&note(number * 2)).await.unwrap();
                alarms.insert(&alarm(number * 2 + 1)).await.unwrap();
            }
        });
        self.pass(60);
        self
    }

    pub fn pass(&self, seconds: u64) {
        self.time.pass(Duration::from_secs(seconds));
    }

    /// Inserts a row that belongs to no declared type.
    pub fn stray(&self, row_key: &str) {
        let stray = TableEntity::new(TENANT, row_key).unwrap().with("Amount", 5_i64);
        block_on(self.engine.untyped("Desk").unwrap().insert(&stray)).unwrap();
    }

    pub fn view(&self) -> ViewTable<Totals, Engine> {
        block_on(ViewTable::new(self.engine.clone()).create_if_missing()).unwrap()
    }
}
