//! Tests that participants stay attached when stores wrap each other.

use std::sync::Arc;

use pollster::block_on;
use table_advice::meter::Meter;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::store::{DynTableStore, TableStore};
use table_core::testing::LimitedStore;
use table_core::{Entity, ErrorCode, Result, TableStoreExt};

use crate::EntityStore;
use crate::participant::{Changes, Participant, WithParticipants};
use crate::tests::faults::FaultyStore;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Support")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
struct Ticket {
    tenant: String,
    #[digits(4)]
    number: u32,
    is_closed: bool,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Support")]
#[partition_key(tenant)]
#[row_key("agent_", number)]
struct Agent {
    tenant: String,
    #[digits(4)]
    number: u32,
}

/// A row for each change passed to a participant.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Support")]
#[partition_key(tenant)]
#[row_key("mark_", by, "_", id)]
struct Mark {
    tenant: String,
    #[without('_')]
    by: String,
    id: String,
}

/// A participant that adds a row with the participant's name whenever a ticket is written.
struct Marks(&'static str);

impl Participant<Ticket> for Marks {
    fn name(&self) -> &'static str {
        self.0
    }

    fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(ticket) = new.or(old) else { return Ok(()) };
        out.insert(&Mark { tenant: ticket.tenant.clone(), by: self.0.into(), id: out.id() })
    }
}

impl Participant<Agent> for Marks {
    fn name(&self) -> &'static str {
        self.0
    }

    fn changes(&self, old: Option<&Agent>, new: Option<&Agent>, out: &mut Changes) -> Result<()> {
        let Some(agent) = new.or(old) else { return Ok(()) };
        out.insert(&Mark { tenant: agent.tenant.clone(), by: self.0.into(), id: out.id() })
    }
}

/// Attaches a participant in generic code, which knows only that `S` is a store.
fn attach<S: EntityStore>(store: S, name: &'static str) -> WithParticipants<S> {
    store.with_participant::<Ticket>(Marks(name))
}

/// Writes tickets with every kind of write. Returns the number of marks from each participant, sorted by name.
fn marks<S: TableStore + Clone + 'static>(store: &S) -> Vec<(String, usize)> {
    block_on(async {
        let ticket = |number| Ticket { tenant: "t".into(), number, is_closed: false };
        let tickets = store.entities::<Ticket>().create_if_missing().await?;
        tickets.insert(&ticket(1)).await?;
        tickets.update(Ticket::key("t", 1), |ticket| ticket.is_closed = true).await?;
        tickets.bulk().insert_all([ticket(2)]).await.map_err(|stopped| stopped.source)?;
        let mut unit = tickets.unit(Ticket::partition("t"))?;
        unit.insert(&ticket(3))?;
        unit.commit().await?;
        tickets.delete_with_parts(Ticket::key("t", 3)).await?;
        tickets.delete(Ticket::key("t", 2), IfMatch::Any).await?;
        store.entities::<Agent>().insert(&Agent { tenant: "t".into(), number: 1 }).await?;

        let mut counts: Vec<(String, usize)> = Vec::new();
        for mark in store.table::<Mark>().query(Mark::rows("t")).collect().await? {
            match counts.last_mut().filter(|(by, _)| *by == mark.by) {
                Some((_, count)) => *count += 1,
                None => counts.push((mark.by, 1)),
            }
        }
        Ok::<_, table_core::Error>(counts)
    })
    .unwrap()
}

/// Checks that a wrapper keeps the participants of the wrapped store, and adds those that are attached to the wrapper.
fn check<S: TableStore + Clone + 'static>(wrapper: &str, wrap: impl Fn(WithParticipants<Engine>) -> S) {
    let inner = || attach(Engine::in_memory(), "inner").with_participant::<Agent>(Marks("agent"));
    let expected = |names: &[&str]| -> Vec<_> {
        let count = |name: &&str| if *name == "agent" { 1 } else { 6 };
        names.iter().map(|name| ((*name).to_owned(), count(name))).collect()
    };
    assert_eq!(marks(&wrap(inner())), expected(&["agent", "inner"]), "{wrapper}");
    let outer = attach(wrap(inner()), "outer");
    assert_eq!(marks(&outer), expected(&["agent", "inner", "outer"]), "{wrapper}");
    let twice = attach(attach(wrap(inner()), "outer"), "third");
    assert_eq!(marks(&twice), expected(&["agent", "inner", "outer", "third"]), "{wrapper}");
    let added = outer_of(wrap(inner()));
    assert_eq!(marks(&added), expected(&["agent", "inner", "outer"]), "{wrapper}");
}

/// Wraps a store, and then attaches a participant to the wrapper.
fn outer_of<S: TableStore>(store: S) -> WithParticipants<S> {
    WithParticipants::<S>::from(store).with_participant::<Ticket>(Marks("outer"))
}

#[test]
fn participants_of_every_wrapped_store_are_called() {
    check("the store itself", |store| store);
    check("another list", WithParticipants::new);
    check("`DynTableStore`", DynTableStore::new);
    check("`Arc`", Arc::new);
    check("`Meter`", Meter::new);
    check("`LimitedStore`", |store| LimitedStore::new(store, |_| ()));
    check("`FaultyStore`", FaultyStore::new);
    check("two wrappers", |store| DynTableStore::new(Meter::new(store)));
}

#[test]
fn a_participant_that_is_attached_to_a_clone_is_not_called_by_the_original_store() {
    let store = attach(Engine::in_memory(), "inner");
    let _outer = attach(store.clone(), "outer");
    assert_eq!(marks(&store), [("inner".to_owned(), 6)]);
}

/// A row that is declared in the tickets' table. The case of the table name is different.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "support")]
#[partition_key(tenant)]
#[row_key("note_", number)]
struct Note {
    tenant: String,
    #[digits(4)]
    number: u32,
}

/// A row declared in a different table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Audits")]
#[partition_key(tenant)]
#[row_key("audit_", number)]
struct Audit {
    tenant: String,
    #[digits(4)]
    number: u32,
}

/// A participant that writes a note for each ticket with an even number, and an audit row for each other ticket.
struct Elsewhere;

impl Participant<Ticket> for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }

    fn changes(&self, _: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(Ticket { tenant, number, is_closed }) = new else { return Ok(()) };
        let (tenant, number) = (tenant.clone(), *number);
        match (number % 4, is_closed) {
            (0, false) => out.insert(&Note { tenant, number }),
            (0, true) => out.delete(Note::key(&tenant, number)),
            (1, _) => out.insert(&Audit { tenant, number }),
            (2, _) => out.insert_or_replace(&Audit { tenant, number }),
            _ => out.delete(Audit::key(&tenant, number)),
        }
    }
}

#[test]
fn egt_1_a_row_that_is_declared_in_another_table_is_refused() {
    let store = Engine::in_memory().with_participant::<Ticket>(Elsewhere);
    let tickets = block_on(store.entities::<Ticket>().create_if_missing()).unwrap();
    let ticket = |number| Ticket { tenant: "t".into(), number, is_closed: false };
    block_on(tickets.insert(&ticket(4))).unwrap();
    block_on(tickets.update(Ticket::key("t", 4), |ticket| ticket.is_closed = true)).unwrap();
    for number in 1..4 {
        let refused = block_on(tickets.insert(&ticket(number))).unwrap_err();
        assert_eq!((refused.code(), refused.rule()), (ErrorCode::InvalidInput, Some("EGT-1")), "{refused}");
        let text = refused.to_string();
        assert!(text.contains("`elsewhere`") && text.contains("table `Audits`"), "{text}");
    }
    assert_eq!(block_on(tickets.query(Ticket::rows("t")).collect()).unwrap().len(), 1);
}
