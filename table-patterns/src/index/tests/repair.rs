//! Tests that a check finds exactly the inconsistencies that exist, and that a repair corrects them, even while other writers write.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pollster::block_on;
use proptest::prelude::*;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::table::TableStoreExt;
use table_core::{Entity, Result};

use super::disturbed::Disturbed;
use super::kit::{Records, Staff, StaffByAge, ada, expected, staff, stored};
use crate::EntityStore;
use crate::index::FindingKind;
use crate::index::fixture::{Employee, jones};

/// A change that another tool makes to index rows.
#[derive(Clone, Debug)]
enum Damage {
    /// Deletes an index row.
    Delete(prop::sample::Index),
    /// Changes properties of an index row.
    Change(prop::sample::Index),
    /// Copies an index row to the key of another value.
    Misplace(prop::sample::Index, &'static str),
    /// Makes an index row unreadable.
    Blank(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let keys = vec!["email_zz", "age_019_000009", "age_018_000001", "lastname_Cao", "lastname_Jones"];
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Delete),
        any::<prop::sample::Index>().prop_map(Damage::Change),
        (any::<prop::sample::Index>(), prop::sample::select(keys))
            .prop_map(|(at, key)| Damage::Misplace(at, key)),
        any::<prop::sample::Index>().prop_map(Damage::Blank),
    ]
}

async fn inflict(engine: &Engine, damage: &Damage) -> Result<()> {
    let bags = engine.untyped("Company")?.query_text("PartitionKey eq 'Sales'")?.collect().await?;
    let rows: Vec<TableEntity> = bags.into_iter().filter(|bag| !row_key(bag).starts_with("empid_")).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let table = engine.untyped("Company")?;
    match damage {
        Damage::Delete(at) => {
            let key = key_of(at.get(&rows));
            table.delete(&key, IfMatch::Any).await?;
        }
        Damage::Change(at) => {
            let bag = at.get(&rows).clone().with("Note", 77).with("EmployeeId", "000005");
            table.insert_or_replace(&bag).await?;
        }
        Damage::Misplace(at, row) => {
            let mut misplaced = TableEntity::new("Sales", *row)?;
            for (name, value) in at.get(&rows).iter() {
                misplaced.insert(name.to_owned(), value.clone());
            }
            table.insert_or_replace(&misplaced).await?;
        }
        Damage::Blank(at) => {
            let key = key_of(at.get(&rows));
            table.insert_or_replace(&TableEntity::new("Sales", key.row_key.as_str())?).await?;
        }
    }
    Ok(())
}

fn key_of(bag: &TableEntity) -> EntityKey {
    table_core::ToEntity::entity_key(bag).unwrap()
}

fn row_key(bag: &TableEntity) -> String {
    key_of(bag).row_key.into_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_damage_is_found_by_a_dry_run_and_fixed_by_a_repair(
        entities in prop::collection::vec(staff(), 1..8),
        damages in prop::collection::vec(damage(), 0..6),
    ) {
        block_on(async {
            let engine = Engine::in_memory();
            let table = engine.entities::<Staff>().create_if_missing().await?;
            let mut model: BTreeMap<EntityKey, Staff> = BTreeMap::new();
            for staff in entities {
                if table.insert_or_replace(&staff).await.is_ok() {
                    model.insert(staff.key_of()?, staff);
                }
            }
            let whole = expected(model.values());
            for damage in &damages {
                inflict(&engine, damage).await?;
            }
            let damaged = stored(&engine, &["Company"]).await?;
            let report = table.check().run().await?;
            assert_eq!(report.is_clean(), damaged == whole, "{report:?}");
            assert_eq!(stored(&engine, &["Company"]).await?, damaged, "a dry run changes nothing");
            let repair = table.check().repair().run().await?;
            assert_eq!(stored(&engine, &["Company"]).await?, whole, "{damages:?}: {report:?} {repair:?}");
            assert!(table.check().run().await?.is_clean());
            Ok::<(), table_core::Error>(())
        }).unwrap();
    }
}

#[test]
fn each_kind_of_finding_has_its_name() {
    block_on(async {
        let engine = Engine::in_memory();
        let table = engine.entities::<Staff>().create_if_missing().await?;
        let bob = Staff { id: 2, email: Some("bob".to_owned()), ..ada() };
        table.insert(&ada()).await?;
        table.insert(&bob).await?;
        let bags = engine.untyped("Company")?;
        bags.delete(&EntityKey::new("Sales", "email_ada")?, IfMatch::Any).await?;
        let stale = TableEntity::new("Sales", "age_036_000001")?.with("Note", 1);
        bags.insert_or_replace(&stale).await?;
        bags.delete(&EntityKey::new("Sales", "empid_000002")?, IfMatch::Any).await?;
        let report = table.check().run().await?;
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|found| (found.index, found.kind, found.at.row_key.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("ByEmail", FindingKind::Dangling, "email_bob"),
                ("ByEmail", FindingKind::Missing, "email_ada"),
                ("ByAge", FindingKind::Dangling, "age_036_000002"),
                ("ByAge", FindingKind::Stale, "age_036_000001"),
                ("ByLastName", FindingKind::Dangling, "lastname_Lovelace"),
            ]
        );
        assert_eq!(table.check().only::<StaffByAge>().run().await?.found, 2);
        assert_eq!(table.check().repair().run().await?.repaired, 5);

        // Another tool writes a second entity with the same value. The check reports this entity. The duplicate must be resolved manually.
        let twin = Staff { id: 3, ..ada() };
        let mut bag = TableEntity::new("Sales", "empid_000003")?;
        for property in twin.to_row()?.view().properties() {
            let property = property?;
            bag.insert(property.name.to_owned(), table_core::Value::from(property.value));
        }
        bags.insert(&bag).await?;
        let report = table.check().repair().run().await?;
        let duplicates: Vec<_> = report.findings.iter().filter(|found| !found.repaired).collect();
        assert_eq!((duplicates.len(), duplicates[0].kind), (1, FindingKind::Duplicate));
        assert_eq!(table.get(Staff::by_email("Sales", "ada")).await?.map(|found| found.id), Some(1));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn rows_in_other_partitions_are_checked_and_repaired_too() {
    block_on(async {
        let engine = Engine::in_memory();
        let table =
            engine.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
        let jones = Employee { badge: Some(7), ..jones() };
        let cao = Employee {
            id: 9,
            last_name: "Cao".to_owned(),
            email: "cao".to_owned(),
            badge: None,
            ..jones.clone()
        };
        table.insert(&jones).await?;
        table.insert(&cao).await?;
        // No change was relayed. The remote entries are therefore missing, and a repair writes them.
        let report = table.check().run().await?;
        assert!(report.found == 5 && report.findings.iter().all(|found| found.kind == FindingKind::Missing));
        assert_eq!(table.check().repair().run().await?.repaired, 5);
        assert_eq!(stored(&engine, &["Company", "Badges"]).await?, expected([&jones, &cao]));
        table.delete(Employee::key("Sales", 9), IfMatch::Any).await?;
        let report = table.check().repair().run().await?;
        assert!(report.found == 2 && report.findings.iter().all(|found| found.kind == FindingKind::Dangling));
        assert_eq!(stored(&engine, &["Company", "Badges"]).await?, expected([&jones]));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn with_concurrent_writers_a_check_finds_and_a_repair_undoes_nothing() {
    let engine = Engine::in_memory();
    let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        for writer in 0..2_u32 {
            let (table, stop) = (table.clone(), Arc::clone(&stop));
            scope.spawn(move || {
                let mut round = 0_u32;
                while !stop.load(Ordering::Relaxed) {
                    let id = (writer + round) % 4;
                    let now = Staff {
                        id,
                        last_name: ["Jones", "Cao", "Smith"][(round / 3 % 3) as usize].to_owned(),
                        email: Some(format!("{id}{}", round % 2)),
                        age: 17 + u8::try_from(round % 3).unwrap(),
                        ..ada()
                    };
                    let done = if round.is_multiple_of(7) {
                        block_on(table.delete(Staff::key("Sales", id), IfMatch::Any))
                    } else {
                        block_on(table.insert_or_replace(&now)).map(drop)
                    };
                    drop(done);
                    round += 1;
                }
            });
        }
        for round in 0..15 {
            let check = table.check();
            let check = if round % 2 == 0 { check } else { check.repair() };
            let report = block_on(check.run()).unwrap();
            assert!(report.is_clean(), "{report:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    block_on(async {
        let left = table.query(Staff::partition("Sales")).collect().await?;
        assert_eq!(stored(&engine, &["Company"]).await?, expected(&left));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests a list member that is dangling when it is read. Its entity is inserted before the repair writes the list. The repair must keep the member.
#[test]
fn a_repair_removes_no_member_that_has_just_joined() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let table = store.entities::<Staff>().create_if_missing().await?;
        let other = Staff { id: 2, last_name: "Byron".to_owned(), email: None, ..ada() };
        table.insert(&ada()).await?;
        table.insert(&other).await?;
        let list = TableEntity::new("Sales", "lastname_Byron")?;
        let list = list.with("StaffIDs", r#"["000001","000002"]"#);
        store.untyped("Company")?.insert_or_replace(&list).await?;
        store.before_submit(|engine| {
            let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
            let joins = |staff: &mut Staff| staff.last_name = "Byron".to_owned();
            block_on(table.update(Staff::key("Sales", 1), joins)).unwrap();
        });
        let report = table.check().repair().run().await?;
        assert!(report.is_clean(), "he was never out of it: {report:?}");
        let now = Staff { last_name: "Byron".to_owned(), ..ada() };
        assert_eq!(stored(&store, &["Company"]).await?, expected([&now, &other]));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests a check that reads a copy, its owner, and the copy again. Between these reads, the value moves to another entity.
#[test]
fn a_check_reports_no_row_whose_owner_has_just_changed() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let table = store.entities::<Staff>().create_if_missing().await?;
        table.insert(&ada()).await?;
        let heir = Staff { id: 2, ..ada() };
        store.before_get(|engine| {
            let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
            block_on(table.delete(Staff::key("Sales", 1), IfMatch::Any)).unwrap();
        });
        let (new, table_of) = (heir.clone(), |engine: &Engine| {
            block_on(engine.entities::<Staff>().create_if_missing()).unwrap()
        });
        store.before_get(move |engine| drop(block_on(table_of(engine).insert(&new)).unwrap()));
        let report = table.check().run().await?;
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(stored(&store, &["Company"]).await?, expected([&heir]));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
