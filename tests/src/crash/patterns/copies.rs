//! Crash tests of copied properties. Desks and rooms contain the name of their owner. It is copied from the same partition or from a different table.

use std::collections::BTreeMap;

use table_core::query::{KeyRange, Query, TextRange};
use table_core::selection::Point;
use table_core::{Entity, Result, Selection, TableStore};
use table_patterns::copies::{CopyRelation, REFERENCE_PREFIX};

use super::ledger::Values;
use super::stores::Stores;

/// The partition that contains people and desks.
pub(super) const TEAM: &str = "team";
/// The number of people.
pub(super) const PEOPLE: u32 = 4;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "People", copied_by(OwnerOfDesk, OwnerOfRoom))]
#[partition_key(team)]
#[row_key("person_", id)]
pub(super) struct Person {
    pub(super) team: String,
    #[digits(3)]
    pub(super) id: u32,
    pub(super) name: String,
}

/// A desk. It is in the same partition as its owner.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "People", copies_from(OwnerOfDesk))]
#[partition_key(team)]
#[row_key("desk_", id)]
pub(super) struct Desk {
    pub(super) team: String,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) owner: Option<i32>,
    pub(super) owner_name: Option<String>,
}

/// A room. It is in a different table from its owner.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Rooms", copies_from(OwnerOfRoom))]
#[partition_key(floor)]
#[row_key(id)]
pub(super) struct Room {
    #[digits(1)]
    pub(super) floor: u32,
    #[digits(6)]
    pub(super) id: u32,
    pub(super) owner: Option<i32>,
    pub(super) owner_name: Option<String>,
}

fn person(owner: Option<i32>) -> Option<Selection<Person, Point>> {
    Some(Person::key(TEAM, u32::try_from(owner?).ok()?))
}

macro_rules! owned {
    ($relation:ident, $holder:ident, $name:literal) => {
        pub(super) struct $relation;

        impl CopyRelation for $relation {
            type Source = Person;
            type Holder = $holder;
            type Copied = String;
            const NAME: &'static str = $name;

            fn reference(holder: &$holder) -> Option<Selection<Person, Point>> {
                person(holder.owner)
            }

            fn copied(person: &Person) -> String {
                person.name.clone()
            }

            fn set(holder: &mut $holder, name: String) {
                holder.owner_name = Some(name);
            }

            fn clear(holder: &mut $holder) {
                (holder.owner, holder.owner_name) = (None, None);
            }
        }
    };
}

owned!(OwnerOfDesk, Desk, "desk");
owned!(OwnerOfRoom, Room, "room");

/// Returns the names of the stored people, keyed by id.
pub(super) async fn people(stores: &Stores) -> Result<Values> {
    let people = stores.people.table().query(Person::rows(TEAM)).collect().await?;
    Ok(people.into_iter().map(|person| (person.id.to_string(), person.name)).collect())
}

/// Returns the owner of each desk and room. Each desk and room must contain the name of its owner. Each owner must have references to their desks and rooms.
pub(super) async fn holders(stores: &Stores, people: &Values, wrong: &mut Vec<String>) -> Result<Values> {
    let desks = stores.desks.table().query(Desk::rows(TEAM)).collect().await?;
    let desks = desks.into_iter().map(|desk| (format!("desk/{}", desk.id), desk.owner, desk.owner_name));
    let rooms = stores.rooms.table().scan("check after a crash").max_rows(10_000_000).collect().await?;
    let rooms = rooms.into_iter().map(|room| (format!("room/{}", room.id), room.owner, room.owner_name));
    let (mut held, mut owned) = (Values::new(), BTreeMap::new());
    for (key, owner, name) in desks.chain(rooms) {
        let expected = owner.and_then(|owner| people.get(&owner.to_string()));
        if name.as_ref() != expected {
            wrong.push(format!("copies {key}: it has {name:?}, its owner {owner:?} is {expected:?}"));
        }
        if let Some(owner) = owner {
            *owned.entry(owner).or_insert(0_usize) += 1;
        }
        held.insert(key, owner.map_or_else(|| "none".to_owned(), |owner| owner.to_string()));
    }
    for id in 0..PEOPLE {
        // This removes references whose holder was never written.
        stores.people.settle_copies(Person::key(TEAM, id)).await?;
        let prefix = format!("{REFERENCE_PREFIX}person_{id:03}");
        let query = Query::new(KeyRange::rows(TEAM, TextRange::prefix(&prefix)));
        let (table, mut from, mut found) = (stores.people.table().name()?, None, 0);
        loop {
            let page = stores.engine.query(table, &query, from.as_ref()).await?;
            found += page.rows.len();
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        let wanted = i32::try_from(id).ok().and_then(|id| owned.get(&id)).copied().unwrap_or_default();
        if found != wanted {
            wrong.push(format!("copies: the person {id} has {found} references and {wanted} holders"));
        }
    }
    Ok(held)
}
