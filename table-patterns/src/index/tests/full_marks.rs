//! Tests leftover index rows that have no room for a mark, and marks that are left behind.

use std::collections::BTreeMap;
use std::ops::Range;

use pollster::block_on;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::limits::ENTITY_RESERVE;
use table_core::schema::UNCLAIMED;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::testing::LimitedStore;
use table_core::{Entity, ErrorCode, Result, Value};

use super::kit::Records;
use super::marks::{TABLE, copies, lists, remote, remote_lists, unique};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::FindingKind;

/// Opens a handle whose remote entries are settled only by repairs.
async fn open<E: Entity + Send + Sync, S: TableStore + Clone + 'static>(
    store: &S,
) -> Result<Entities<E, S, Records>> {
    store.entities_with_outbox::<E, _>(Records::default()).create_if_missing().await
}

/// Writes the mail of an entity without its index.
async fn write<S: TableStore + Clone + 'static>(store: &S, id: u8, mail: &str) -> Result<()> {
    let entity = TableEntity::new("Sales", format!("no_{id}"))?.with("Mail", mail);
    store.untyped(TABLE)?.insert_or_replace(&entity).await.map(drop)
}

/// Repairs the index, and checks that the result is clean.
async fn assert_repairs<E: Entity + Send + Sync, S: TableStore + Clone + 'static>(
    people: &Entities<E, S, Records>,
    case: &str,
) -> Result<()> {
    let repaired = people.check().repair().run().await?;
    assert!(repaired.findings.iter().all(|finding| finding.repaired), "{case}: {repaired:?}");
    let report = people.check().run().await?;
    assert!(report.is_clean(), "{case}: {report:?}");
    Ok(())
}

/// Returns the given number of properties.
fn properties(count: usize) -> BTreeMap<String, Value> {
    (0..count).map(|at| (format!("P{at:03}"), Value::from(1))).collect()
}

fn characters(count: usize) -> BTreeMap<String, Value> {
    let sizes = (0..count).step_by(32_000).map(|from| (count - from).min(32_000));
    sizes.enumerate().map(|(at, size)| (format!("P{at:03}"), Value::from("x".repeat(size)))).collect()
}

/// Finds the largest copy that a store accepts. Repairs leftover copies of slightly smaller sizes.
macro_rules! fills {
    ($module:ident) => {
        for (fill, range) in
            [(properties as fn(usize) -> _, 240..260), (characters as fn(usize) -> _, 523_000..524_500)]
        {
            block_on(async {
                let accepts = |size| async move {
                    let engine = Engine::in_memory();
                    let people = open::<$module::Person, _>(&engine).await?;
                    let (department, mail) = ("Sales".to_owned(), "ada".to_owned());
                    people.insert(&$module::Person { department, id: 1, mail, rest: fill(size) }).await?;
                    let is_whole = people.check().repair().run().await?;
                    assert!(is_whole.findings.iter().all(|finding| finding.repaired), "{is_whole:?}");
                    write(&engine, 1, "other").await?;
                    // Another entity gets the value without the index.
                    write(&engine, 2, "ada").await?;
                    assert_repairs(&people, &format!("{} {size}", stringify!($module))).await
                };
                let (mut low, mut high) = (range.start, range.end);
                accepts(low).await?;
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    match accepts(middle).await {
                        Ok(()) => low = middle,
                        Err(error) => {
                            let codes = [ErrorCode::TooManyProperties, ErrorCode::EntityTooLarge];
                            assert!(codes.contains(&error.code()), "{error}");
                            high = middle;
                        }
                    }
                }
                assert!(high < range.end, "every size is accepted");
                for size in low.saturating_sub(18)..low {
                    accepts(size).await?;
                }
                Ok::<_, table_core::Error>(())
            })
            .unwrap();
        }
    };
}

#[test]
fn a_left_over_copy_without_room_for_a_mark_is_removed() {
    fills!(copies);
    fills!(unique);
    fills!(remote);
}

/// The limits on the size of entities in the tested stores. The size of the list's entity lies between the smallest and the largest limit.
const BYTES: Range<usize> = ENTITY_RESERVE + 50..ENTITY_RESERVE + 250;

/// Repairs a list in a store with each limit in turn.
macro_rules! fills_lists {
    ($module:ident) => {
        let mut accepted = 0;
        for bytes in BYTES {
            let done = block_on(async {
                let engine = Engine::in_memory();
                // The stored schema exceeds these limits. It is therefore stored without them.
                open::<$module::Person, _>(&engine).await?;
                let store = LimitedStore::new(engine.clone(), |capabilities| {
                    capabilities.limits.entity_bytes = bytes;
                });
                let people = open::<$module::Person, _>(&store).await?;
                for id in 1..=3 {
                    write(&engine, id, "ada").await?;
                }
                let report = people.check().repair().run().await?;
                if report.findings.iter().any(|finding| !finding.repaired) {
                    return Ok(false);
                }
                write(&engine, 2, "b").await?;
                assert_repairs(&people, &format!("{} {bytes}", stringify!($module))).await?;
                Ok::<_, table_core::Error>(true)
            });
            accepted += usize::from(done.unwrap());
        }
        assert!((1..BYTES.len()).contains(&accepted), "{accepted} of the lists were accepted");
    };
}

#[test]
fn a_left_over_member_of_a_list_without_room_for_a_mark_is_removed() {
    fills_lists!(lists);
    fills_lists!(remote_lists);
}

#[test]
fn the_mark_of_a_copy_is_not_read_as_a_property_of_the_entity() {
    block_on(async {
        let engine = Engine::in_memory();
        let people = open::<copies::Person, _>(&engine).await?;
        let ada = copies::Person {
            department: "Sales".to_owned(),
            id: 1,
            mail: "ada".to_owned(),
            rest: properties(2),
        };
        people.insert(&ada).await?;
        let rows = engine.untyped(TABLE)?;
        let mark = TableEntity::new("Sales", "mail_ada_1")?.with(UNCLAIMED, true);
        rows.insert_or_merge(&mark).await?;
        let read: Vec<_> = people.query(copies::Person::by_mail("Sales", "ada")).collect().await?;
        assert_eq!(read, [ada]);
        // Another program wrote an entity with such a property. The entity has no copies.
        let entity = TableEntity::new("Sales", "no_1")?.with(UNCLAIMED, true);
        rows.insert_or_merge(&entity).await?;
        let error = people.update(copies::Person::key("Sales", 1), |_| {}).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::DuplicatePropertiesSpecified);
        assert!(error.to_string().contains("marks copies"), "{error}");
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn the_mark_of_a_list_is_one_finding_and_its_repair_writes_only_the_list() {
    block_on(async {
        let engine = Engine::in_memory();
        let people = open::<lists::Person, _>(&engine).await?;
        for id in 1..=5 {
            let (department, mail) = ("Sales".to_owned(), "ada".to_owned());
            people.insert(&lists::Person { department, id, mail, rest: properties(0) }).await?;
        }
        let rows = engine.untyped(TABLE)?;
        let mut list = rows.get(&EntityKey::new("Sales", "mail_ada")?).await?.unwrap().into_value();
        let marked: Vec<_> = list
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) => (name.to_owned(), Value::from(format!(" {text}"))),
                other => (name.to_owned(), other.clone()),
            })
            .collect();
        for (name, value) in marked {
            list.insert(name, value);
        }
        rows.insert_or_replace(&list).await?;
        let etags = || async {
            let mut etags = Vec::new();
            for id in 1..=5_u8 {
                let found = people.get(lists::Person::key("Sales", id)).await?;
                etags.push(found.unwrap().etag().clone());
            }
            Ok::<_, table_core::Error>(etags)
        };
        let before = etags().await?;
        let report = people.check().run().await?;
        let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::Stale]);
        let report = people.check().repair().run().await?;
        assert_eq!(report.findings.len(), 1, "{report:?}");
        assert_eq!(etags().await?, before);
        assert!(people.check().run().await?.is_clean());
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
