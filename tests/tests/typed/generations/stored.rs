//! Tests several releases that open a table. The tests check which schema is stored, and which work is then pending.

use pollster::block_on;
use table_core::schema::StoredSchema;
use table_core::table::LEASE;
use table_core::{Entity, EntitySet, ErrorCode, Result, TableEntity, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::index::IndexState;
use tests::time::Time;

use super::settling::shared;
use super::{refused, table_at};

macro_rules! staff {
    ($release:ident, $first:ident, $second:ident) => {
        mod $release {
            #[derive(table_core::Entity, Clone, Debug)]
            #[entity(table = "Staff")]
            #[partition_key(team)]
            #[row_key($first, "_", $second)]
            pub(super) struct Member {
                pub team: String,
                #[digits(3)]
                pub id: u32,
                #[digits(3)]
                pub chief: u32,
            }
        }
    };
}

staff!(by_chief, chief, id);
staff!(by_id, id, chief);

/// Tests two releases whose keys have the same form and whose schemas have the same fingerprint.
#[test]
fn evo_14_a_handle_with_the_key_parts_in_other_places_is_refused_once_the_new_schema_is_accepted() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<by_chief::Member>(&time, &store).create_if_missing().await.unwrap();
        let member = |id| by_chief::Member { team: "a".into(), id, chief: 9 };
        old.insert(&member(1)).await.unwrap();
        assert_eq!(by_chief::Member::SCHEMA.fingerprint(), by_id::Member::SCHEMA.fingerprint());
        assert!(refused(table_at::<by_id::Member>(&time, &store).create_if_missing().await));
        table_at::<by_id::Member>(&time, &store).accept_schema("rewritten").await.unwrap();
        // The process remembers that it has replaced a schema, so it rejects the older handle immediately.
        assert!(refused(old.insert(&member(2)).await));
        assert!(refused(table_at::<by_chief::Member>(&time, &store).create_if_missing().await));
        let record = old.schema_record().await.unwrap().unwrap();
        assert_eq!((record.generation, record.since.is_some()), (2, true));
        let new = table_at::<by_id::Member>(&time, &store).create_if_missing().await.unwrap();
        new.insert(&by_id::Member { team: "a".into(), id: 2, chief: 9 }).await.unwrap();
    });
}

macro_rules! release {
    ($release:ident, $digits:literal, $index:meta) => {
        mod $release {
            #[derive(table_core::Entity, Clone, Debug)]
            #[entity(table = "Guests")]
            #[partition_key(hotel)]
            #[row_key("guest_", id)]
            #[$index]
            pub(super) struct Guest {
                pub hotel: String,
                #[digits($digits)]
                pub id: u32,
                #[without('_')]
                pub mail: String,
            }

            pub(super) fn guest(id: u32) -> Guest {
                Guest { hotel: "a".into(), id, mail: "ada".into() }
            }
        }
    };
}

release!(by_mail, 4, index(ByMail, row_key("mail_", mail, "_", id)));
release!(by_number, 4, index(ByNumber, row_key("number_", id, "_", mail)));

/// Tests a newer release that replaces the only index with a different one. The program must accept this change explicitly.
#[test]
fn an_index_misses_no_entity_of_an_older_release_that_writes_the_first_row() {
    block_on(async {
        let time = Time::default();
        let store = shared(time.engine());
        let open = || store.entities::<by_mail::Guest>().with_runtime(time.runtime());
        let old = open().create_if_missing().await.unwrap();
        let new = store.entities::<by_number::Guest>().with_runtime(time.runtime());
        assert!(refused(new.clone().create_if_missing().await.map(drop)));
        new.table().accept_schema("no program reads ByMail").await.unwrap();
        let new = new.create_if_missing().await.unwrap();
        // The handle has just read the older schema, so its write is still accepted.
        old.insert(&by_mail::guest(1)).await.unwrap();
        assert_eq!(new.states().await.unwrap(), [("ByNumber", IndexState::Building)]);
        new.backfill::<by_number::GuestByNumber>().assume_no_older_programs().run().await.unwrap();
        assert_eq!(new.query(by_number::Guest::by_number_rows("a")).collect().await.unwrap().len(), 1);

        // The same applies to an older release whose schema is accepted a second time.
        let store = shared(time.engine());
        let open = || store.entities::<by_mail::Guest>().with_runtime(time.runtime());
        open().create_if_missing().await.unwrap();
        let new = store.entities::<by_number::Guest>().with_runtime(time.runtime());
        new.table().accept_schema("no program reads ByMail").await.unwrap();
        let new = new.create_if_missing().await.unwrap();
        assert!(refused(open().create_if_missing().await.map(drop)));
        open().table().accept_schema("the release is withdrawn").await.unwrap();
        let old = open().create_if_missing().await.unwrap();
        new.insert(&by_number::guest(1)).await.unwrap();
        assert_eq!(old.states().await.unwrap(), [("ByMail", IndexState::Building)]);
    });
}

macro_rules! set {
    ($release:ident, $note:ty, $digits:literal) => {
        mod $release {
            #[derive(table_core::Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Desk")]
            #[partition_key(team)]
            #[row_key("agent_", id)]
            pub(super) struct Agent {
                pub team: String,
                #[digits(4)]
                pub id: u32,
                pub note: $note,
            }

            #[derive(table_core::Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Desk")]
            #[partition_key(team)]
            #[row_key("ticket_", id)]
            pub(super) struct Ticket {
                pub team: String,
                #[digits($digits)]
                pub id: u32,
            }
        }
    };
}

set!(first, String, 4);
set!(second, Option<String>, 6);

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Both {
    Agent(second::Agent),
    Ticket(second::Ticket),
    #[other]
    Other(TableEntity),
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum BothReversed {
    Ticket(second::Ticket),
    Agent(second::Agent),
    #[other]
    Other(TableEntity),
}

#[test]
fn a_set_with_a_refused_member_stores_no_schema() -> Result<()> {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let agents = table_at::<first::Agent>(&time, &store).create_if_missing().await?;
        let tickets = table_at::<first::Ticket>(&time, &store).create_if_missing().await?;
        let agent = |id| first::Agent { team: "a".into(), id, note: String::new() };
        agents.insert(&agent(1)).await?;
        tickets.insert(&first::Ticket { team: "a".into(), id: 1 }).await?;
        let error = store.set::<Both>().create_if_missing().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-11")));
        assert!(refused(store.set::<BothReversed>().create_if_missing().await));
        let stored = agents.schema_record().await?.unwrap();
        assert_eq!(stored.schema, StoredSchema::of(first::Agent::SCHEMA));
        time.pass(LEASE * 2);
        agents.insert(&agent(2)).await?;
        // The members are stored together, once each of them is permitted.
        store.table::<second::Ticket>().accept_schema("rewritten").await?;
        store.set::<Both>().create_if_missing().await?;
        let stored = agents.schema_record().await?.unwrap();
        assert_eq!(stored.schema, StoredSchema::of(second::Agent::SCHEMA));
        Ok(())
    })
}

macro_rules! aged {
    ($release:ident $(, $age:ty)?) => {
        mod $release {
            #[derive(table_core::Entity, Clone, Debug)]
            #[entity(table = "People")]
            #[partition_key(team)]
            #[row_key("person_", id)]
            #[index(ByName, row_key("name_", name, "_", id))]
            pub(super) struct Person {
                pub team: String,
                #[digits(4)]
                pub id: u32,
                #[without('_')]
                pub name: String,
                $(pub age: Option<$age>)?
            }
        }
    };
}

aged!(narrow, i32);
aged!(wide, i64);
aged!(ageless);

#[test]
fn evo_6_a_widened_property_is_pending_until_the_rewrite_is_accepted() -> Result<()> {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = store.entities::<narrow::Person>().with_runtime(time.runtime()).create_if_missing().await?;
        old.insert(&narrow::Person { team: "a".into(), id: 1, name: "ada".into(), age: Some(36) }).await?;
        let opened = || store.entities::<wide::Person>().with_runtime(time.runtime()).create_if_missing();
        opened().await?;
        // A release that does not declare the property does not change the rows. Releases that declare it are compared with the widened type.
        let table = table_at::<ageless::Person>(&time, &store).create_if_missing().await?;
        let pending = async || table.schema_record().await.unwrap().unwrap().pending;
        assert_eq!(pending().await, ["property Age"]);
        let new = store.entities::<wide::Person>().with_runtime(time.runtime());
        store.table::<wide::Person>().accept_schema("back").await?;
        let new = new.create_if_missing().await?;
        assert_eq!(pending().await, ["property Age"]);

        // When the entity is written again, its index row is also converted, because copies contain the stored values. A repair then finds nothing to do.
        let key = || wide::Person::key("a", 1);
        let old_enough = async || {
            let rows = new.query(wide::Person::by_name_rows("a")).filter(wide::Person::AGE.ge(30_i64));
            let entities = new.query(wide::Person::partition("a")).filter(wide::Person::AGE.ge(30_i64));
            (entities.collect().await.unwrap().len(), rows.collect().await.unwrap().len())
        };
        assert_eq!(old_enough().await, (0, 0), "FIL-16");
        new.update(key(), |_| {}).await?;
        assert_eq!(old_enough().await, (1, 1));
        assert_eq!(new.check().repair().run().await?.repaired, 0);
        store.table::<wide::Person>().accept_schema("rewritten and repaired").await?;
        assert!(pending().await.is_empty());
        Ok(())
    })
}
