//! Tests lists with a malformed member, or with a member whose value no key can contain.

use pollster::block_on;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Result, ValueRef};

use super::kit::Records;
use super::people::{Employee, EmployeeByLastName, EmployeeNamesakes, jones, scene, settle_all};
use crate::EntityStore;
use crate::index::FindingKind;
use crate::tests::faults::{Fault, FaultyStore};

/// Tests repairs of a remote list with a malformed member. Before any request of the repair, another member may return to the list. The repair must keep that
/// member.
#[test]
fn a_repair_of_a_malformed_remote_list_removes_no_member_that_has_just_joined() {
    let list = EntityKey::new("Jones", "all").unwrap();
    for number in 0.. {
        let store = FaultyStore::new(Engine::in_memory());
        let count: Result<usize> = block_on(async {
            let people =
                store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
            for id in [1, 2] {
                people.insert(&jones(id)).await?;
            }
            settle_all(&people).await?;
            // Another tool changes an entity and the list.
            let renamed = TableEntity::new("Sales", "empid_000001")?.with("LastName", "Smith");
            store.untyped("Company")?.insert_or_merge(&renamed).await?;
            let lists = TableName::new("LastNames")?;
            let row = store.get(&lists, &list, &Select::All).await?.unwrap().row;
            let property = row.view().properties().next().unwrap()?;
            let ValueRef::String(members) = property.value else { panic!("{property:?}") };
            let members = members.replacen("[[", r#"[["Sales","x"],["#, 1);
            let malformed = TableEntity::new("Jones", "all")?.with(property.name, members);
            store.untyped("LastNames")?.insert_or_merge(&malformed).await?;
            let engine = store.inner().clone();
            store.script(move |_, at| {
                let engine = engine.clone();
                let returns = move || {
                    block_on(async {
                        let people = engine.entities_with_outbox::<Employee, _>(Records::default());
                        let people = people.create_if_missing().await?;
                        people
                            .update(Employee::key("Sales", 1), |one| one.last_name = "Jones".into())
                            .await?;
                        settle_all(&people).await
                    })
                    .unwrap();
                };
                if at == number { Fault::Meanwhile(Box::new(returns)) } else { Fault::None }
            });
            let report = people.check().only::<EmployeeNamesakes>().repair().run().await?;
            let missing = report.findings.iter().find(|finding| finding.kind == FindingKind::Missing);
            assert_eq!(missing, None, "the member left the list at request {number}");
            let count = store.calls().len();
            store.heal();
            let found = people.keys_of(Employee::namesakes("Jones")).await?;
            let wanted = if number < count { 2 } else { 1 };
            assert_eq!(found.len(), wanted, "request {number} of {count}");
            assert!(people.check().only::<EmployeeNamesakes>().run().await?.is_clean());
            Ok(count)
        });
        if count.unwrap() <= number {
            assert!(number > 8, "{number} requests");
            break;
        }
    }
}

/// Adds a malformed member to a list, as another tool would.
async fn garble(engine: &Engine, table: &str, key: (&str, &str)) -> Result<()> {
    let list = EntityKey::new(key.0, key.1)?;
    let row = engine.get(&TableName::new(table)?, &list, &Select::All).await?.unwrap().row;
    let property = row.view().properties().next().unwrap()?;
    let ValueRef::String(members) = property.value else { panic!("{property:?}") };
    let members = members.replacen('[', r#"["x","#, 1);
    let malformed = TableEntity::new(key.0, key.1)?.with(property.name, members);
    engine.untyped(table)?.insert_or_merge(&malformed).await.map(drop)
}

/// Tests a list that is large enough for a blob and has a malformed member. It must stay in its entity until a repair has removed this member.
#[test]
fn a_malformed_list_is_written_and_repaired_also_if_it_belongs_in_a_blob() {
    for is_deleted in [false, true] {
        block_on(async {
            let scene = scene(0).await?;
            let engine = &scene.store.engine;
            let without = engine.entities_with_outbox::<Employee, _>(Records::default());
            let without = without.create_if_missing().await?;
            for id in [1, 2] {
                without.insert(&jones(id)).await?;
            }
            garble(engine, "Company", ("Sales", "lastname_Jones")).await?;
            if is_deleted {
                engine
                    .untyped("Company")?
                    .delete(&EntityKey::new("Sales", "empid_000001")?, IfMatch::Any)
                    .await?;
            }
            let people = &scene.people;
            people.insert(&jones(3)).await?;
            let named = scene.named().await?;
            assert_eq!(named, [""; 0], "a blob would lose the member");
            people.rebuild::<EmployeeByLastName>().await?;
            people.backfill::<EmployeeByLastName>().assume_no_older_programs().run().await?;
            let report = people.check().only::<EmployeeByLastName>().run().await?;
            assert!(report.is_clean(), "{report:?}");
            let found = people.keys_of(Employee::by_last_name("Sales", "Jones")).await?;
            assert_eq!(found.len(), if is_deleted { 2 } else { 3 });
            people.insert(&jones(4)).await?;
            assert_eq!(scene.named().await?.len(), 1);
            Ok::<_, table_core::Error>(())
        })
        .unwrap();
    }
}

/// Tests that a lookup omits a member whose value no key can contain, just as it omits an entity that no longer has the value.
#[test]
fn a_member_whose_value_no_key_can_contain_is_omitted() {
    block_on(async {
        let scene = scene(usize::MAX).await?;
        let people = &scene.people;
        for id in [1, 2] {
            people.insert(&jones(id)).await?;
        }
        settle_all(people).await?;
        let long = TableEntity::new("Sales", "empid_000001")?.with("LastName", "x".repeat(700));
        scene.store.engine.untyped("Company")?.insert_or_merge(&long).await?;
        let found = [
            people.get_by_index(Employee::by_last_name("Sales", "Jones")).await?,
            people.get_by_index_eventual(Employee::namesakes("Jones")).await?,
            people.get_page_by_index(Employee::namesakes("Jones"), None, 9).await?.entities,
        ];
        for found in found {
            assert_eq!(found.iter().map(|one| one.id).collect::<Vec<_>>(), [2]);
        }
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
