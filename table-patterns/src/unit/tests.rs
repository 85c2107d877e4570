//! Tests units that write the tickets of a support desk. Tickets use every pattern, so each write of a ticket must maintain the rows of all patterns.

mod absent;
mod bad_input;
mod change;
mod dropped;
mod lists;
mod model;
mod processes;
mod slots;
mod steps;
mod timeline;
mod transaction;
mod waits;

use pollster::block_on;
use serde::{Deserialize, Serialize};
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::PartitionKey;
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::queue::QueueName;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Entity, ErrorCode, Result, Selection};

use crate::EntityStore;
use crate::entities::Entities;
use crate::feed::Cursor;
use crate::outbox::{Message, Outbox, Step};
use crate::participant::{Changes, Participant, WithParticipants};
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};
use crate::unit::UnitOfWork;

#[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", number))]
#[index(BySubject, unique, row_key("subject_", subject))]
#[index_entity(ByAgent, at_most = 100, row_key("of_", agent))]
#[index(Subjects, table = "Subjects", partition_key("all_", tenant), row_key(escaped(subject), "!", number))]
struct Ticket {
    tenant: String,
    #[digits(4)]
    number: u32,
    #[without('_')]
    status: String,
    subject: String,
    #[digits(4)]
    agent: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("agent_", id)]
struct Agent {
    tenant: String,
    #[digits(4)]
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("comment_", ticket, "_", number)]
#[index(ByAuthor, row_key("author_", author, "_", ticket, "_", number))]
struct Comment {
    tenant: String,
    #[digits(4)]
    ticket: u32,
    #[digits(4)]
    number: u32,
    #[digits(4)]
    author: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("audit_", id)]
struct Audit {
    tenant: String,
    id: String,
    change: String,
}

/// An entity in a table of its own. All other entities in these tests share one table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[partition_key(tenant)]
#[row_key("elsewhere")]
struct Elsewhere {
    tenant: String,
}

#[derive(Serialize, Deserialize)]
struct Told(String);

impl Message for Told {
    const NAME: &'static str = "told";
    const VERSION: u32 = 1;
}

/// A participant that adds a row for each change and an outbox step for each closed ticket.
struct Trail;

fn text(ticket: Option<&Ticket>) -> String {
    ticket
        .map_or("none".to_owned(), |ticket| format!("{} {} {}", ticket.status, ticket.subject, ticket.agent))
}

impl Participant<Ticket> for Trail {
    fn name(&self) -> &'static str {
        "trail"
    }

    fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(ticket) = new.or(old) else { return Ok(()) };
        if new.is_some_and(|new| new.status == "closed") && old.is_none_or(|old| old.status != "closed") {
            out.add_step(Step::call(&Told(ticket.subject.clone()))?);
        }
        let change = format!("{}: {} > {}", ticket.number, text(old), text(new));
        out.insert(&Audit { tenant: ticket.tenant.clone(), id: out.id(), change })
    }
}

/// A participant that inserts the same row for every ticket. The insert for a second ticket therefore conflicts.
struct Once;
impl Participant<Ticket> for Once {
    fn name(&self) -> &'static str {
        "once"
    }
    fn changes(&self, _: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(ticket) = new else { return Ok(()) };
        let partition = if ticket.number == 7 { "elsewhere" } else { "contoso" };
        out.insert(&Audit { tenant: partition.into(), id: "once".into(), change: String::new() })
    }
}

type Store = FaultyStore<Engine>;
type Desk = WithParticipants<Store>;
type Tickets = Entities<Ticket, Desk, Outbox<Desk, Engine>>;

fn desk() -> (Store, Tickets) {
    let engine = Engine::in_memory();
    let store = FaultyStore::new(engine.clone());
    let desk = store.clone().with_participant::<Ticket>(Trail);
    let outbox = Outbox::new(desk.clone(), engine, QueueName::new("work").unwrap());
    block_on(outbox.create_queues()).unwrap();
    let tickets = desk.entities_with_outbox::<Ticket, _>(outbox);
    let tickets = block_on(tickets.create_if_missing()).unwrap();
    store.heal();
    (store, tickets)
}

fn ticket(number: u32, status: &str, subject: &str, agent: u32) -> Ticket {
    Ticket { tenant: "contoso".into(), number, status: status.into(), subject: subject.into(), agent }
}

fn unit(tickets: &Tickets) -> UnitOfWork<Desk, Outbox<Desk, Engine>> {
    tickets.unit(Ticket::partition("contoso")).unwrap()
}

/// Returns the rows in the partition whose keys begin with a prefix.
fn rows(store: &Store, prefix: &str) -> Vec<String> {
    let range = Selection::rows("contoso", TextRange::prefix(prefix));
    let bags = store.untyped("Desk").unwrap().query(range);
    let bags = block_on(bags.collect()).unwrap();
    bags.into_iter().map(|bag| bag.key().row_key.as_str().to_owned()).collect()
}

/// Returns the number of rows reserved for patterns, which typed reads skip.
fn reserved(store: &Store, prefix: &str) -> usize {
    let query = Query::new(KeyRange::rows("contoso", TextRange::prefix(prefix)));
    block_on(store.query(&TableName::new("Desk").unwrap(), &query, None)).unwrap().rows.len()
}

#[test]
fn egt_9_a_unit_of_several_types_writes_all_of_their_rows_or_nothing() {
    let (store, tickets) = desk();
    block_on(tickets.insert(&ticket(1, "open", "printer", 9))).unwrap();
    let read = block_on(tickets.get(Ticket::key("contoso", 1))).unwrap().unwrap();
    let comment = Comment { tenant: "contoso".into(), ticket: 1, number: 1, author: 9 };
    let close = || {
        let mut unit = unit(&tickets);
        unit.require(Agent::key("contoso", 9)).unwrap();
        unit.update(&read, |ticket| ticket.status = "closed".into()).unwrap();
        unit.insert(&comment).unwrap();
        unit.add_step(Ticket::key("contoso", 1), Step::call(&Told("by hand".into())).unwrap()).unwrap();
        unit
    };
    let before = rows(&store, "");
    let error = block_on(close().commit()).unwrap_err();
    assert_eq!((error.code(), error.operation()), (ErrorCode::ResourceNotFound, Some(0)));
    assert!(error.to_string().contains("condition on `Agent`"), "{error}");
    assert_eq!(rows(&store, ""), before, "nothing is written");

    let agent = Agent { tenant: "contoso".into(), id: 9 };
    block_on(store.table::<Agent>().insert(&agent)).unwrap();
    // The condition, the ticket and the comment; two rewritten copies, a removed copy and an added copy; two feed records and an audit
    // row; one intent for the remote index, and one intent for all steps.
    assert_eq!(close().operations(), 12);
    let written = block_on(sendable(close().commit())).unwrap();
    assert_eq!((written.len(), written.iter().flatten().count()), (2, 2));
    assert_eq!(rows(&store, "status_"), ["status_closed_0001"]);
    assert_eq!(rows(&store, "author_"), ["author_0009_0001_0001"]);
    assert_eq!(rows(&store, "audit_").len(), 2);
    assert_eq!(reserved(&store, crate::feed::FEED_PREFIX), 3);
    assert_eq!(
        reserved(&store, crate::outbox::OUTBOX_PREFIX),
        3,
        "the index elsewhere twice, both steps in one"
    );

    let mut stale = unit(&tickets);
    stale.unchanged(&read).unwrap().insert(&Comment { number: 2, ..comment }).unwrap();
    let error = block_on(stale.commit()).unwrap_err();
    assert!(error.is_precondition_failed() && error.to_string().contains("condition on `Ticket`"), "{error}");
}

#[test]
fn an_error_names_the_entity_and_the_verb_or_the_pattern() {
    let (store, tickets) = desk();
    block_on(tickets.insert(&ticket(1, "open", "printer", 9))).unwrap();
    let mut again = unit(&tickets);
    again.insert(&ticket(2, "open", "scanner", 9)).unwrap();
    again.insert(&ticket(1, "open", "mouse", 9)).unwrap();
    let error = block_on(again.commit()).unwrap_err();
    assert!(error.is_already_exists() && error.operation() == Some(1), "{error}");
    assert!(error.to_string().contains("insert of `Ticket`"), "{error}");

    let mut taken = unit(&tickets);
    taken.insert(&ticket(2, "open", "printer", 9)).unwrap();
    let error = block_on(taken.commit()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UniqueViolation);

    let desk = tickets.table().store().clone().with_participant::<Ticket>(Once);
    let once = desk.entities_with_outbox::<Ticket, _>(tickets.outbox.clone());
    block_on(once.insert(&ticket(3, "open", "three", 9))).unwrap();
    store.heal();
    let error = block_on(once.insert(&ticket(4, "open", "four", 9))).unwrap_err();
    assert!(error.is_already_exists() && error.to_string().contains("the row of `once`"), "{error}");
    assert!(store.calls().len() < 5, "not tried again and again: {:?}", store.calls());
    let error = block_on(once.insert(&ticket(7, "open", "seven", 9))).unwrap_err();
    assert_eq!(error.rule(), Some("EGT-5"));
    assert!(error.to_string().contains("`once`"), "{error}");
    let mut two = once.unit(Ticket::partition("contoso")).unwrap();
    two.insert(&ticket(5, "open", "five", 9)).unwrap();
    let error = two.insert(&ticket(6, "open", "six", 9)).unwrap_err();
    assert_eq!(error.rule(), Some("EGT-4"));
    assert!(error.to_string().contains("`once` and `once`"), "{error}");
}

#[test]
fn egt_2_unit_limits_are_checked_before_sending_and_name_what_adds_rows() {
    let (store, tickets) = desk();
    let mut full = unit(&tickets);
    let error = (0..).find_map(|n| full.insert(&ticket(n, "open", &format!("s{n}"), n)).err()).unwrap();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("EGT-2")));
    let text = error.to_string();
    for part in ["of entities", "of `BySubject`", "of `ByAgent`", "of intents", "of the feed", "of `trail`"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(full.operations() <= Limits::PORTABLE.operations, "the unit stays as it was");
    assert!(block_on(unit(&tickets).commit()).unwrap_err().rule() == Some("EGT-12"));
    assert_eq!(store.calls(), []);

    let rule = |error: table_core::Error| error.rule().map(str::to_owned);
    let mut one = unit(&tickets);
    one.insert(&ticket(1, "open", "one", 1)).unwrap();
    let elsewhere = Ticket { tenant: "fabrikam".into(), ..ticket(2, "open", "two", 1) };
    assert_eq!(rule(one.insert(&elsewhere).unwrap_err()).as_deref(), Some("EGT-5"));
    let other = Elsewhere { tenant: "contoso".into() };
    assert_eq!(rule(one.insert(&other).unwrap_err()).as_deref(), Some("EGT-1"));
    assert_eq!(rule(one.insert(&ticket(1, "open", "three", 1)).unwrap_err()).as_deref(), Some("EGT-4"));
    assert_eq!(rule(one.insert(&ticket(3, "open", "one", 1)).unwrap_err()).as_deref(), Some("PAT-INTRA-5"));
    // Two guarded steps of one change have the same target. One of them would be lost.
    let target = table_core::EntityKey::new("a", "b").unwrap();
    let step = || Step::delete_if_exists(TableName::new("Subjects").unwrap(), target.clone());
    one.add_step(Ticket::key("contoso", 1), step())
        .unwrap()
        .add_step(Ticket::key("contoso", 1), step())
        .unwrap();
    assert_eq!(rule(block_on(one.commit()).unwrap_err()).as_deref(), Some("PAT-EC-2"));
    assert!(rows(&store, "").is_empty(), "nothing is written");
}

#[test]
fn pat_ec_8_a_step_without_an_outbox_is_refused() {
    let store = Engine::in_memory();
    let agents = block_on(store.entities::<Agent>().create_if_missing()).unwrap();
    let mut unit = agents.unit(Agent::partition("contoso")).unwrap();
    unit.insert(&Agent { tenant: "contoso".into(), id: 1 }).unwrap();
    unit.add_step(Agent::key("contoso", 1), Step::call(&Told(String::new())).unwrap()).unwrap();
    assert_eq!(block_on(unit.commit()).unwrap_err().rule(), Some("PAT-EC-8"));
}

#[test]
fn an_entity_without_declarations_is_written_without_a_read() {
    let store = FaultyStore::new(Engine::in_memory());
    let agents = block_on(store.entities::<Agent>().create_if_missing()).unwrap();
    store.heal();
    let agent = Agent { tenant: "contoso".into(), id: 1 };
    block_on(agents.insert_or_replace(&agent)).unwrap();
    let etag = block_on(agents.replace(&agent, IfMatch::Any)).unwrap();
    block_on(agents.merge(&agent, etag)).unwrap();
    block_on(agents.insert_or_merge(&agent)).unwrap();
    block_on(agents.delete(Agent::key("contoso", 1), IfMatch::Any)).unwrap();
    assert!(block_on(agents.delete(Agent::key("contoso", 1), IfMatch::Any)).unwrap_err().is_not_found());
    assert_eq!(store.calls(), [Call::Submit; 6]);
}
