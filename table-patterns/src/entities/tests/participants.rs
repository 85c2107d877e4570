//! Tests of participants in bulk writes, and in writes of entity types with copies.

use pollster::block_on;
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::{Engine, Entity, Error, ErrorCode, Result, TableStoreExt};

use crate::EntityStore;
use crate::copies::CopyRelation;
use crate::outbox::Outbox;
use crate::participant::{Changes, Participant};

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

/// A participant that refuses new tickets that are already closed.
struct OpenFirst;

impl Participant<Ticket> for OpenFirst {
    fn name(&self) -> &'static str {
        "open first"
    }

    fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, _: &mut Changes) -> Result<()> {
        match new {
            Some(new) if old.is_none() && new.is_closed => {
                Err(Error::new(ErrorCode::Unsupported, "a new ticket is open"))
            }
            _ => Ok(()),
        }
    }
}

#[test]
fn a_bulk_write_shows_participants_the_stored_entity() {
    let tickets = Engine::in_memory().with_participant::<Ticket>(OpenFirst).entities::<Ticket>();
    let ticket = |number, is_closed| Ticket { tenant: "t".into(), number, is_closed };
    block_on(async {
        let tickets = tickets.create_if_missing().await.unwrap();
        tickets.bulk().insert_all((0..3).map(|number| ticket(number, false))).await.unwrap();
        let closed = || (0..3).map(|number| ticket(number, true));
        tickets.bulk().insert_or_replace_all(closed()).await.unwrap();
        tickets.bulk().insert_or_merge_all(closed()).await.unwrap();
        let refused = tickets.bulk().insert_or_replace_all([ticket(7, true)]).await.unwrap_err();
        assert_eq!(refused.source.code(), ErrorCode::Unsupported);
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Support")]
#[partition_key(tenant)]
#[row_key("latest")]
struct Latest {
    tenant: String,
    number: i32,
}

/// A participant that records which ticket was written last.
struct RecordLatest;

impl Participant<Ticket> for RecordLatest {
    fn name(&self) -> &'static str {
        "latest"
    }

    fn changes(&self, _: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
        let Some(Ticket { tenant, number, .. }) = new else { return Ok(()) };
        out.insert_or_replace(&Latest { tenant: tenant.clone(), number: number.cast_signed() })
    }
}

#[test]
fn participants_of_entities_in_a_bulk_write_may_write_the_same_row() {
    let store = Engine::in_memory().with_participant::<Ticket>(RecordLatest);
    let ticket = |number| Ticket { tenant: "t".into(), number, is_closed: false };
    block_on(async {
        let tickets = store.entities::<Ticket>().create_if_missing().await.unwrap();
        for round in 0..2 {
            tickets.bulk().insert_or_replace_all((round..round + 5).map(ticket)).await.unwrap();
            let latest = store.table::<Latest>().get(Latest::key("t")).await.unwrap().unwrap();
            assert_eq!(latest.number.cast_unsigned(), round + 4);
        }
        tickets.bulk().insert_all((7..9).map(ticket)).await.unwrap();
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", copied_by(Name))]
#[partition_key(department)]
#[row_key("person_", id)]
struct Person {
    department: String,
    #[digits(3)]
    id: u32,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", copies_from(Name))]
#[partition_key(department)]
#[row_key("desk_", number)]
struct Desk {
    department: String,
    #[digits(3)]
    number: u32,
    person: Option<i32>,
    name: Option<String>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("claim_", number)]
struct Claim {
    department: String,
    #[digits(3)]
    number: u32,
}

struct Name;

impl CopyRelation for Name {
    type Source = Person;
    type Holder = Desk;
    type Copied = String;
    const NAME: &'static str = "name";

    fn reference(desk: &Desk) -> Option<Selection<Person, Point>> {
        Some(Person::key(&desk.department, u32::try_from(desk.person?).ok()?))
    }
    fn copied(person: &Person) -> String {
        person.name.clone()
    }
    fn set(desk: &mut Desk, name: String) {
        desk.name = Some(name);
    }
    fn clear(desk: &mut Desk) {
        (desk.person, desk.name) = (None, None);
    }
}

/// A participant that inserts a row for each new desk.
struct Claims;

impl Participant<Desk> for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn changes(&self, old: Option<&Desk>, new: Option<&Desk>, out: &mut Changes) -> Result<()> {
        match (old, new) {
            (None, Some(Desk { department, number, .. })) => {
                out.insert(&Claim { department: department.clone(), number: *number })
            }
            _ => Ok(()),
        }
    }
}

#[test]
fn the_error_of_a_bulk_write_names_the_entity_with_copies_that_is_refused() {
    let store = Engine::in_memory().with_participant::<Desk>(Claims);
    block_on(async {
        let outbox = || Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("work").unwrap());
        outbox().create_queues().await.unwrap();
        let people = store.entities_with_outbox::<Person, _>(outbox());
        let people = people.create_if_missing().await.unwrap();
        people.insert(&Person { department: "Sales".into(), id: 1, name: "Ada".into() }).await.unwrap();
        let desks = store.entities_with_outbox::<Desk, _>(outbox()).create_if_missing().await.unwrap();
        let desk = |number, person| Desk { department: "Sales".into(), number, person, name: None };
        for (round, refused) in [0, 2, 5].into_iter().enumerate() {
            // Some of the other desks refer to no person. No person has the number 9.
            let person = |at| if at == refused { Some(9) } else { (at % 3 > 0).then_some(1) };
            for verb in 0..3 {
                let first = u32::try_from(10 * (3 * round + verb)).unwrap();
                let all = || (0..6).map(|at| desk(first + at, person(at)));
                let written = match verb {
                    0 => desks.bulk().insert_all(all()).await,
                    1 => desks.bulk().insert_or_replace_all(all()).await,
                    _ => desks.bulk().insert_or_merge_all(all()).await,
                };
                let error = written.unwrap_err();
                let at = usize::try_from(refused).unwrap();
                assert_eq!(
                    (error.source.code(), error.at),
                    (ErrorCode::ResourceNotFound, Some(at)),
                    "verb {verb}"
                );
            }
        }
    });
}

#[test]
fn a_refused_row_of_a_participant_is_reported_with_its_name_for_a_type_with_copies() {
    let store = Engine::in_memory().with_participant::<Desk>(Claims);
    block_on(async {
        let outbox = || Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("work").unwrap());
        outbox().create_queues().await.unwrap();
        let people = store.entities_with_outbox::<Person, _>(outbox());
        let people = people.create_if_missing().await.unwrap();
        let desks = store.entities_with_outbox::<Desk, _>(outbox()).create_if_missing().await.unwrap();
        people.insert(&Person { department: "Sales".into(), id: 1, name: "Ada".into() }).await.unwrap();
        store.table::<Claim>().insert(&Claim { department: "Sales".into(), number: 7 }).await.unwrap();
        let desk = |number| Desk { department: "Sales".into(), number, person: Some(1), name: None };
        desks.insert(&desk(6)).await.unwrap();
        let refused = desks.insert(&desk(7)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::EntityAlreadyExists, "{refused}");
        assert!(refused.to_string().contains("claims"), "{refused}");
        let refused = desks.bulk().insert_all([desk(7)]).await.unwrap_err().source;
        assert_eq!(refused.code(), ErrorCode::EntityAlreadyExists, "{refused}");
    });
}
