//! Tests that remote indexes (in other partitions or tables) converge, in whatever order workers settle the recorded changes (PAT-INTER-3).

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::limits::{ENTITY_BYTES, ENTITY_RESERVE};
use table_core::row::entity_bytes;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Entity, ErrorCode, Result, Value};

use super::disturbed::{Disturbed, Fault};
use super::kit::{Records, expected, records, stored};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::RemoteChange;
use crate::index::fixture::{Employee, employee, jones};
use crate::tests::faults::FaultyStore;

const TABLES: [&str; 2] = ["Company", "Badges"];

async fn settle_all<S: TableStore + Clone + 'static>(table: &Entities<Employee, S, Records>) -> Result<()> {
    let store = table.table().store();
    for partition in ["Sales", "Marketing"] {
        for (record, changes) in records::<Employee, _>(store, partition).await? {
            for change in changes {
                table.settle(&change).await?;
            }
            store.untyped("Company")?.delete(&record, IfMatch::Any).await?;
        }
    }
    Ok(())
}

/// Makes the unique values of the employee depend on its key, because duplicates in different partitions are not refused immediately.
fn apart(employee: Employee) -> Employee {
    let wing = u32::from(employee.department == "Sales") * 100;
    Employee {
        email: format!("{}{}", employee.email, employee.id),
        badge: employee.badge.map(|badge| badge + 10 * employee.id + wing),
        ..employee
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pat_inter_3_changes_settled_late_twice_and_in_any_order_converge(
        steps in prop::collection::vec((employee(), 0_u8..4, prop::collection::vec(any::<prop::sample::Index>(), 0..3)), 1..20),
    ) {
        block_on(async {
            let engine = Engine::in_memory();
            let table = engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
            let mut model: BTreeMap<EntityKey, Employee> = BTreeMap::new();
            let mut seen: Vec<RemoteChange> = Vec::new();
            for (employee, verb, settled) in steps {
                let employee = apart(employee);
                if verb == 0 {
                    let key = Employee::key(&employee.department, employee.id);
                    let was_there = model.remove(&employee.key_of()?).is_some();
                    assert_eq!(table.delete(key, IfMatch::Any).await.is_ok(), was_there);
                } else {
                    table.insert_or_replace(&employee).await?;
                    model.insert(employee.key_of()?, employee);
                }
                for partition in ["Sales", "Marketing"] {
                    let recorded = records::<Employee, _>(&engine, partition).await?;
                    seen.extend(recorded.into_iter().flat_map(|(_, changes)| changes));
                }
                // Earlier changes are delivered again, because a queue may deliver each message several times, in any order.
                for index in settled {
                    if !seen.is_empty() {
                        table.settle(index.get(&seen)).await?;
                    }
                }
            }
            settle_all(&table).await?;
            assert_eq!(stored(&engine, &TABLES).await?, expected(model.values()));
            // Rows that are already consistent are not written.
            for change in &seen {
                assert_eq!(table.settle(change).await?, 0);
            }
            Ok::<(), table_core::Error>(())
        }).unwrap();
    }
}

#[test]
fn pat_inter_3_a_crash_at_any_submit_of_a_settlement_is_recovered() {
    for fault in [Fault::Before, Fault::After] {
        for at in 0..8 {
            block_on(async {
                let store = Disturbed::new(Engine::in_memory());
                let table =
                    store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
                let jones = Employee { badge: Some(7), ..jones() };
                let moved = Employee {
                    last_name: "Cao".to_owned(),
                    email: "x".to_owned(),
                    badge: Some(8),
                    ..jones.clone()
                };
                table.insert(&jones).await?;
                store.die_at(at, fault);
                let _ = settle_all(&table).await;
                let update = table.update(Employee::key("Sales", 223), |now| *now = moved.clone()).await;
                let _ = settle_all(&table).await;
                store.live();
                settle_all(&table).await?;
                let now = table.get(Employee::key("Sales", 223)).await?.unwrap().into_value();
                assert!(now == moved || update.is_err());
                assert_eq!(stored(&store.engine, &TABLES).await?, expected([&now]), "{fault:?} {at}");
                Ok::<(), table_core::Error>(())
            })
            .unwrap();
        }
    }
}

/// Tests a worker that is suspended before one of its requests. It resumes after all other work is done, sends this request, and dies. No other process repairs
/// what it has written.
#[test]
fn pat_inter_3_a_delayed_settlement_that_crashes_leaves_nothing_behind() {
    type Act = fn(&Entities<Employee, Engine, Records>);
    let moved: Act = |table| {
        let change = |now: &mut Employee| {
            (now.email, now.badge, now.last_name) = ("x".to_owned(), Some(8), "Cao".to_owned());
        };
        block_on(table.update(Employee::key("Sales", 223), change)).map(drop).unwrap();
    };
    let gone: Act = |table| block_on(table.delete(Employee::key("Sales", 223), IfMatch::Any)).unwrap();
    // The suspended worker settles a change that has inserted or moved an entity.
    for (was_there, act) in [(false, moved), (false, gone), (true, moved), (true, gone)] {
        for index in 0..3 {
            for asleep_at in 0.. {
                let store = FaultyStore::new(Engine::in_memory());
                let outbox = Records::default();
                let open = || {
                    let table = store.entities_with_outbox::<Employee, _>(outbox.clone());
                    block_on(table.create_if_missing()).unwrap()
                };
                let table = open();
                let jones = Employee { badge: Some(7), ..jones() };
                block_on(table.insert(&jones)).unwrap();
                if was_there {
                    block_on(settle_all(&table)).unwrap();
                    block_on(table.update(Employee::key("Sales", 223), |now| now.badge = Some(9))).unwrap();
                }
                let changes = block_on(records::<Employee, _>(&store, "Sales")).unwrap().remove(0).1;
                let Some(change) = changes.get(index).cloned() else { break };
                let (engine, others) = (store.inner().clone(), outbox.clone());
                let (mut is_dead, mut slept) = (false, false);
                let told = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
                let tell = std::sync::Arc::clone(&told);
                store.script(move |_, call| {
                    if is_dead {
                        return crate::tests::faults::Fault::Before(ErrorCode::EngineClosed);
                    }
                    if call != asleep_at || slept {
                        return crate::tests::faults::Fault::None;
                    }
                    (is_dead, slept) = (true, true);
                    tell.store(true, std::sync::atomic::Ordering::SeqCst);
                    let (engine, others) = (engine.clone(), others.clone());
                    crate::tests::faults::Fault::Meanwhile(Box::new(move || {
                        let table = engine.entities_with_outbox::<Employee, _>(others);
                        let table = block_on(table.create_if_missing()).unwrap();
                        block_on(settle_all(&table)).unwrap();
                        act(&table);
                        block_on(settle_all(&table)).unwrap();
                    }))
                });
                let _ = block_on(table.settle(&change));
                store.heal();
                if !told.load(std::sync::atomic::Ordering::SeqCst) {
                    break;
                }
                let now = block_on(open().get(Employee::key("Sales", 223))).unwrap();
                let now = now.map(table_core::Versioned::into_value);
                let found = block_on(stored(store.inner(), &TABLES)).unwrap();
                assert_eq!(found, expected(now.iter()), "{was_there} {index}: asleep at request {asleep_at}");
            }
        }
    }
}

/// Tests a worker during whose reads and write another worker settles a later change. The first worker must not undo this change.
#[test]
fn an_older_settlement_does_not_undo_a_newer_one() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let table = store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let jones = Employee { badge: Some(7), ..jones() };
        table.insert(&jones).await?;
        let changes = records::<Employee, _>(&store, "Sales").await?.remove(0).1;
        let badge = changes.iter().find(|change| change.of.name() == "ByBadge").unwrap().clone();
        // The worker has found that the copy is missing but should exist. Before it writes the copy, the change is settled and then undone.
        store.before_submit(move |engine| {
            let table = engine.entities_with_outbox::<Employee, _>(Records::default());
            block_on(async {
                let table = table.create_if_missing().await.unwrap();
                for change in &changes {
                    table.settle(change).await.unwrap();
                }
                let unbadged = |now: &mut Employee| now.badge = None;
                // The numbers of the next records must differ from the numbers of the records above.
                for _ in 0..3 {
                    table.outbox.record_number();
                }
                table.update(Employee::key("Sales", 223), unbadged).await.unwrap();
                settle_all(&table).await.unwrap();
            });
        });
        table.settle(&badge).await?;
        let now = Employee { badge: None, ..jones };
        assert_eq!(stored(&store.engine, &TABLES).await?, expected([&now]));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests a value that returns to its earlier owner. The worker has already read the new owner, but not yet the owner of the stored entry.
#[test]
fn pat_ec_4_a_value_that_was_returned_is_not_a_violation() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let table = store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let jones = Employee { badge: Some(7), ..jones() };
        let other = Employee { department: "Marketing".to_owned(), badge: None, ..jones.clone() };
        table.insert(&jones).await?;
        table.insert(&other).await?;
        settle_all(&table).await?;
        let badge = |table: &Entities<Employee, Engine, Records>, department: &str, badge| {
            block_on(table.update(Employee::key(department, 223), |now| now.badge = badge)).map(drop)
        };
        let opened = |engine: &Engine| {
            block_on(engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing())
                .unwrap()
        };
        badge(&opened(&store.engine), "Sales", None)?;
        badge(&opened(&store.engine), "Marketing", Some(7))?;
        let recorded = records::<Employee, _>(&store, "Marketing").await?;
        let mut changes = recorded.into_iter().flat_map(|(_, changes)| changes);
        let change = changes.find(|change| change.of.name() == "ByBadge").unwrap();
        for _ in 0..3 {
            store.before_get(|_| {}); // the guard, the copy, and the entity
        }
        store.before_get(move |engine| {
            badge(&opened(engine), "Marketing", None).unwrap();
            badge(&opened(engine), "Sales", Some(7)).unwrap();
        });
        table.settle(&change).await?;
        settle_all(&table).await?;
        let other = Employee { badge: None, ..other };
        assert_eq!(stored(&store.engine, &TABLES).await?, expected([&jones, &other]));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_inter_5_a_possibly_stale_entity_is_marked_and_can_be_verified() {
    block_on(async {
        let engine = Engine::in_memory();
        let table =
            engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let jones = Employee { badge: Some(7), ..jones() };
        table.insert(&jones).await?;
        assert!(table.get_eventual(Employee::by_badge(7)).await?.is_none(), "not there yet");
        settle_all(&table).await?;
        let found = table.get_eventual(Employee::by_badge(7)).await?.unwrap();
        assert_eq!((found.possibly_stale(), found.owner()), (&jones, &jones.key_of()?));
        assert_eq!(found.verify(&table).await?.as_deref(), Some(&jones));

        table.update(Employee::key("Sales", 223), |now| now.badge = Some(8)).await?;
        let stale = table.get_eventual(Employee::by_badge(7)).await?.unwrap();
        assert_eq!(stale.possibly_stale().badge, Some(7));
        assert_eq!(stale.verify(&table).await?, None);
        assert_eq!(stale.primary(&table).await?.map(|now| now.badge), Some(Some(8)));
        let all = table.query_eventual(Employee::by_badge_rows().badge(..)).collect().await?;
        assert_eq!(all, [stale]);
        settle_all(&table).await?;
        assert!(table.get_eventual(Employee::by_badge(7)).await?.is_none());
        let namesakes = table.get_by_index_eventual(Employee::namesakes("Jones")).await?;
        assert_eq!(namesakes.len(), 1);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// A projection of the properties that the index includes.
#[derive(Clone, Debug, PartialEq, table_core::Projection)]
#[projection(of = Employee, crate = table_core)]
struct Name {
    first_name: String,
    last_name: String,
}

#[test]
fn pat_inter_4_a_partial_copy_is_read_only_as_its_part() {
    block_on(async {
        let engine = Engine::in_memory();
        let table =
            engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        table.insert(&jones()).await?;
        settle_all(&table).await?;
        let email = "jonesj@contoso.com";
        let found =
            table.get_eventual_as::<Name, _>(Employee::email_directory("Sales", email)).await?.unwrap();
        let name = Name { first_name: "Jane".to_owned(), last_name: "Jones".to_owned() };
        assert_eq!((found.possibly_stale(), found.owner()), (&name, &jones().key_of()?));
        // Age and badge are not stored in the copy.
        let key = EntityKey::new("email_Sales", email)?;
        let bag = engine.untyped("Company")?.get(&key).await?.unwrap();
        let names: std::collections::BTreeSet<_> = bag.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["EmployeeId", "FirstName", "LastName"]);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_ec_4_duplicates_in_different_partitions_are_reported_when_settled() {
    block_on(async {
        let engine = Engine::in_memory();
        let table =
            engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let jones = Employee { badge: Some(7), ..jones() };
        table.insert(&jones).await?;
        settle_all(&table).await?;
        let other = Employee { department: "Marketing".to_owned(), ..jones.clone() };
        table.insert(&other).await?;
        let error = settle_all(&table).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::UniqueViolation, Some("PAT-INTRA-5")));
        // When the first entity releases the value, the second entity gets it. Its change was therefore not lost.
        table.update(Employee::key("Sales", 223), |now| now.badge = None).await?;
        settle_all(&table).await?;
        let found = table.get_eventual(Employee::by_badge(7)).await?.unwrap();
        assert_eq!(found.possibly_stale(), &other);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// An entity with arbitrary properties. Its copy in another table contains all of them, and the parts of the entity's key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("any_", id)]
#[index(AnyBadges, unique, table = "Badges", partition_key("badge"), row_key(badge))]
struct Any {
    department: String,
    #[digits(6)]
    id: u32,
    badge: u32,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

impl Any {
    fn new(id: u32, properties: usize, length: usize) -> Self {
        let rest = (1..properties).map(|at| (format!("P{at:03}"), Value::String("x".repeat(length))));
        Self { department: "Sales".to_owned(), id, badge: id, rest: rest.collect() }
    }

    /// Creates an entity of the largest size that a store accepts.
    fn largest(id: u32) -> Result<Self> {
        let mut any = Self::new(id, 17, 32_600);
        let key = any.key_of()?;
        let used = entity_bytes(key.partition_key.as_str(), key.row_key.as_str(), Some(&any.to_row()?));
        // The name and the header of the property take 14 bytes, and each character takes two.
        let rest = (ENTITY_BYTES - ENTITY_RESERVE - used - 14) / 2;
        any.rest.insert("Z".to_owned(), Value::String("x".repeat(rest)));
        Ok(any)
    }

    fn untyped(&self) -> Result<TableEntity> {
        let EntityKey { partition_key, row_key } = self.key_of()?;
        let mut bag = TableEntity::new(partition_key.as_str(), row_key.as_str())?;
        bag.insert("Badge", i64::from(self.badge));
        for (name, value) in &self.rest {
            bag.insert(name.as_str(), value.clone());
        }
        Ok(bag)
    }
}

#[test]
fn pat_inter_3_an_entity_whose_remote_entry_no_store_accepts_is_refused() {
    block_on(async {
        let engine = Engine::in_memory();
        let table = engine.entities_with_outbox::<Any, _>(Records::default()).create_if_missing().await?;
        // The entry stores the department and the number as properties, but not the badge, which is its key.
        for (entity, code) in [
            (Any::new(1, 252, 1), ErrorCode::TooManyProperties),
            (Any::largest(2)?, ErrorCode::EntityTooLarge),
        ] {
            let recorded = records::<Any, _>(&engine, "Sales").await?.len();
            let error = table.insert(&entity).await.unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.to_string().contains("`AnyBadges`") && error.key().is_some(), "{error}");
            assert_eq!(records::<Any, _>(&engine, "Sales").await?.len(), recorded, "nothing for a worker");
            // Another program writes the entity, which is small enough without its index entry. It must still be possible to delete the entity or to make it
            // smaller.
            engine.untyped("Company")?.insert(&entity.untyped()?).await?;
            let key = || Any::key("Sales", entity.id);
            assert_eq!(table.get(key()).await?.as_deref(), Some(&entity));
            let error = table.update(key(), |any| any.badge = 9).await.unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            table.update(key(), |any| any.rest.clear()).await?;
            table.delete(key(), IfMatch::Any).await?;
        }
        table.insert(&Any::new(3, 251, 1)).await?;
        for (_, changes) in records::<Any, _>(&engine, "Sales").await? {
            for change in changes {
                table.settle(&change).await?;
            }
        }
        assert!(table.get_eventual(Any::any_badges(3_u32)).await?.is_some());
        assert!(table.check().run().await?.is_clean());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
