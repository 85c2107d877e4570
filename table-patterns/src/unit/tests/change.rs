//! Tests changes to entities whose rows contain undeclared properties, such as slots of a series, properties of a newer program version, or copies.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::entity::Versioned;
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::{Entity, ErrorCode, IfMatch, TableEntity, TableStoreExt};

use crate::EntityStore;
use crate::copies::CopyRelation;
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::series::{HOURS, Series, SeriesRow, SeriesTable};
use crate::tests::faults::{Call, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copies_from(Owner))]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByStatus, row_key("status_", status, "_", number))]
struct Ticket {
    tenant: String,
    #[digits(2)]
    number: u32,
    #[digits(1)]
    status: u32,
    note: Option<String>,
    owner: Option<String>,
}

impl Series for Ticket {
    type Value = i32;
    const SLOTS: &'static [&'static str] = HOURS;
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", copied_by(Owner))]
#[partition_key(tenant)]
#[row_key("person")]
struct Person {
    tenant: String,
    name: String,
}

struct Owner;

impl CopyRelation for Owner {
    type Source = Person;
    type Holder = Ticket;
    type Copied = String;
    const NAME: &'static str = "owner";

    fn reference(ticket: &Ticket) -> Option<Selection<Person, Point>> {
        Some(Person::key(&ticket.tenant))
    }

    fn copied(person: &Person) -> String {
        person.name.clone()
    }

    fn set(ticket: &mut Ticket, name: String) {
        ticket.owner = Some(name);
    }

    fn clear(ticket: &mut Ticket) {
        ticket.owner = None;
    }
}

type Store = FaultyStore<Engine>;
type Work = Outbox<Store, Engine>;
type Tickets = Entities<Ticket, Store, Work>;

fn ticket(note: Option<&str>) -> Ticket {
    Ticket { tenant: "contoso".into(), number: 7, status: 1, note: note.map(Into::into), owner: None }
}

/// Returns handles to a table with a ticket that has a value in its third slot.
fn tickets() -> (Tickets, SeriesTable<Ticket, Store, Work>, Store) {
    let engine = Engine::in_memory();
    let store = FaultyStore::new(engine.clone());
    let outbox = Outbox::new(store.clone(), engine, QueueName::new("work").unwrap());
    block_on(outbox.create_queues()).unwrap();
    let people = store.entities_with_outbox::<Person, _>(outbox.clone());
    let tickets = store.entities_with_outbox::<Ticket, _>(outbox);
    let (people, tickets) =
        (block_on(people.create_if_missing()).unwrap(), block_on(tickets.create_if_missing()).unwrap());
    let person = Person { tenant: "contoso".into(), name: "Ada".into() };
    block_on(people.insert(&person)).unwrap();
    let series = SeriesTable::new(tickets.clone());
    block_on(series.set(&ticket(Some("urgent")), 2, 30)).unwrap();
    store.heal();
    (tickets, series, store)
}

fn read(tickets: &Tickets) -> Versioned<Ticket> {
    block_on(tickets.get(Ticket::key("contoso", 7))).unwrap().unwrap()
}

fn row(series: &SeriesTable<Ticket, Store, Work>) -> SeriesRow<Ticket> {
    block_on(series.get(Ticket::key("contoso", 7))).unwrap().unwrap().into_value()
}

#[test]
fn an_update_in_a_unit_keeps_slots_copies_and_indexes() {
    let (tickets, series, _) = tickets();
    for (status, note) in [(2, Some("urgent".to_owned())), (3, None)] {
        let old = read(&tickets);
        let mut unit = tickets.unit(Ticket::partition("contoso")).unwrap();
        unit.update(&old, |ticket| (ticket.status, ticket.note) = (status, note.clone())).unwrap();
        block_on(unit.commit()).unwrap();
        let row = row(&series);
        assert_eq!((row.entity.status, &row.entity.note, row.slot(2)), (status, &note, Some(&30)));
        assert_eq!(row.entity.owner.as_deref(), Some("Ada"));
        let found = block_on(tickets.query(Ticket::by_status("contoso", status)).collect()).unwrap();
        assert_eq!(found, [row.entity]);
    }
    assert!(block_on(tickets.check().run()).unwrap().is_clean());
}

#[test]
fn slots_changed_one_after_another_keep_the_other_slots_and_undeclared_properties_of_a_type_with_copies() {
    let (tickets, series, store) = tickets();
    let newer = store.untyped("Desk").unwrap();
    let property = TableEntity::new("contoso", "ticket_07").unwrap().with("Newer", 1);
    block_on(newer.insert_or_merge(&property)).unwrap();
    for (slot, in_one_unit) in [(3, false), (4, false), (5, true)] {
        let done = block_on(tickets.transaction(Ticket::partition("contoso"), async |unit| {
            unit.increment(&ticket(None), &[(slot, 5)]).await?;
            if in_one_unit {
                unit.increment(&ticket(None), &[(slot + 1, 5)]).await?;
            }
            Ok::<_, table_core::Error>(())
        }));
        done.unwrap();
        assert_eq!(row(&series).slot(slot), Some(&5));
    }
    let row = row(&series);
    let slots = [2, 3, 4, 5, 6].map(|slot| row.slot(slot).copied());
    assert_eq!(slots, [Some(30), Some(5), Some(5), Some(5), Some(5)]);
    assert_eq!((row.entity.note.as_deref(), row.entity.owner.as_deref()), (Some("urgent"), Some("Ada")));
    let kept = block_on(newer.get(Selection::point("contoso", "ticket_07"))).unwrap().unwrap();
    assert!(kept.get("Newer").is_some());
}

#[test]
fn a_changed_series_keeps_the_additions_of_a_newer_program() {
    let (tickets, series, _) = tickets();
    let old = block_on(series.get(Ticket::key("contoso", 7))).unwrap().unwrap();
    let mut unit = tickets.unit(Ticket::partition("contoso")).unwrap();
    let mut new = old.value().clone();
    *new.slot_mut(2).unwrap() = None;
    *new.slot_mut(3).unwrap() = Some(1);
    unit.put_series(Some(&old), &new).unwrap();
    block_on(unit.commit()).unwrap();
    assert_eq!(row(&series), new);
}

#[test]
fn a_change_of_an_old_version_writes_nothing() {
    let (tickets, series, _) = tickets();
    let old = read(&tickets);
    block_on(series.set(&ticket(Some("urgent")), 3, 1)).unwrap();
    for note in [Some("later".to_owned()), None] {
        let mut unit = tickets.unit(Ticket::partition("contoso")).unwrap();
        unit.update(&old, |ticket| ticket.note = note.clone()).unwrap();
        let error = block_on(unit.commit()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::UpdateConditionNotSatisfied, "{error}");
        assert!(error.to_string().contains("replace of `Ticket`"), "{error}");
    }
    assert_eq!(row(&series).entity.note.as_deref(), Some("urgent"));
}

/// An action after a unit was created and before it is committed.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The unit reads the ticket.
    Read,
    /// The handle reads the ticket.
    Find,
    /// Another writer sets one of the ticket's slots, or inserts the ticket.
    Set,
    /// Another writer deletes the ticket.
    Remove,
}

/// The unit's write to the ticket.
#[derive(Clone, Copy, Debug)]
enum Write {
    Insert,
    Update,
    Delete,
}

/// Tests all sequences of reads by the unit and writes by others.
#[test]
fn a_unit_commits_only_if_every_version_that_it_read_or_writes_is_the_stored_one() {
    use Step::{Find, Read, Remove, Set};
    let (tickets, series, _) = tickets();
    let key = || Ticket::key("contoso", 7);
    let stored = || block_on(series.get(key())).unwrap();
    let run = |steps: &[Step], write: Write| {
        block_on(series.set(&ticket(Some("urgent")), 2, 30)).unwrap();
        let mut unit = tickets.unit(Ticket::partition("contoso")).unwrap();
        let (mut read, mut found) = (None, None);
        for step in steps {
            match step {
                Read => {
                    let version = block_on(unit.get(key())).unwrap().map(|ticket| ticket.etag().clone());
                    let first = read.get_or_insert_with(|| version.clone());
                    assert_eq!(*first, version, "a row is read once");
                }
                Find => found = block_on(tickets.get(key())).unwrap(),
                Set => drop(block_on(series.set(&ticket(Some("urgent")), 9, 42)).unwrap()),
                Remove if stored().is_some() => block_on(tickets.delete(key(), IfMatch::Any)).unwrap(),
                Remove => {}
            }
        }
        let required = match (write, &found) {
            (Write::Insert, _) => unit.insert(&ticket(Some("new"))).map(|_| None).unwrap(),
            (_, None) => return,
            (Write::Update, Some(found)) => {
                unit.update(found, |ticket| ticket.note = None).unwrap();
                Some(found.etag().clone())
            }
            (Write::Delete, Some(found)) => {
                unit.delete(found).unwrap();
                Some(found.etag().clone())
            }
        };
        let before = stored();
        let version = before.as_ref().map(|row| row.etag().clone());
        let is_current = required == version && read.is_none_or(|read| read == version);
        let committed = block_on(unit.commit());
        let after = stored();
        match committed {
            Ok(_) => assert!(is_current, "{steps:?} {write:?}"),
            Err(error) => {
                assert!(!is_current && error.is_conflict(), "{steps:?} {write:?}: {error}");
                assert_eq!(after.as_ref().map(|row| row.etag().clone()), version);
            }
        }
        if let (Write::Update, true, Some(before), Some(after)) = (write, is_current, before, after) {
            let mut row = before.into_value();
            row.entity.note = None;
            assert_eq!(after.into_value(), row, "{steps:?}");
        }
    };
    for length in 0..=4 {
        for number in 0..4_usize.pow(length) {
            let step = |at| [Read, Find, Set, Remove][number / 4_usize.pow(at) % 4];
            let steps: Vec<_> = (0..length).map(step).collect();
            for write in [Write::Insert, Write::Update, Write::Delete] {
                run(&steps, write);
            }
        }
    }
}

#[test]
fn a_transaction_runs_again_if_it_has_read_two_versions_of_a_row() {
    let (tickets, series, _) = tickets();
    let outdated = read(&tickets);
    let mut runs = 0;
    let done = block_on(tickets.transaction(Ticket::partition("contoso"), async |unit| {
        runs += 1;
        unit.get(Ticket::key("contoso", 7)).await?;
        if runs == 1 {
            series.set(&ticket(Some("urgent")), 9, 42).await?;
        }
        let newer = tickets.get(Ticket::key("contoso", 7)).await?.unwrap();
        unit.update(&newer, |ticket| ticket.note = None).map(drop)
    }));
    done.unwrap();
    assert_eq!((runs, row(&series).slot(9)), (2, Some(&42)));

    // A version that was read outside the unit remains outdated.
    let done = block_on(tickets.transaction(Ticket::partition("contoso"), async |unit| {
        unit.get(Ticket::key("contoso", 7)).await?;
        unit.update(&outdated, |ticket| ticket.note = None).map(drop)
    }));
    let error = done.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UpdateConditionNotSatisfied, "{error}");
    assert!(error.to_string().contains("replace of `Ticket`"), "{error}");
}

/// Two entity types for the same rows, without declared patterns. One type lacks a property of the other.
mod plain {
    use super::*;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Counts")]
    #[partition_key(tenant)]
    #[row_key("count")]
    struct Count {
        tenant: String,
        value: i32,
        note: Option<String>,
    }

    impl Series for Count {
        type Value = i32;
        const SLOTS: &'static [&'static str] = HOURS;
    }

    #[test]
    fn a_change_reads_only_if_it_removes_a_property() {
        let store = FaultyStore::new(Engine::in_memory());
        let counts = block_on(store.entities::<Count>().create_if_missing()).unwrap();
        let series = SeriesTable::new(counts.clone());
        let count = Count { tenant: "contoso".into(), value: 1, note: Some("x".into()) };
        block_on(series.set(&count, 2, 30)).unwrap();
        for (note, calls) in [(Some("y"), vec![Call::Submit]), (None, vec![Call::Get, Call::Submit])] {
            let old = block_on(counts.get(Count::key("contoso"))).unwrap().unwrap();
            let mut unit = counts.unit(Count::partition("contoso")).unwrap();
            unit.update(&old, |count| count.note = note.map(Into::into)).unwrap();
            store.heal();
            block_on(unit.commit()).unwrap();
            assert_eq!(store.calls(), calls);
            let row = block_on(series.get(Count::key("contoso"))).unwrap().unwrap();
            assert_eq!((row.entity.note.as_deref(), row.slot(2)), (note, Some(&30)));
        }
    }
}
