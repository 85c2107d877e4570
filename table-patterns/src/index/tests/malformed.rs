//! Tests of a remote list with a malformed member, which belongs to no entity.

use pollster::block_on;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Result, ValueRef};

use super::kit::Records;
use super::people::{Employee, jones, settle_all};
use crate::EntityStore;
use crate::faults::{Fault, FaultyStore};
use crate::index::FindingKind;

/// Tests that a repair of a remote list with a malformed member keeps a member that has just returned to the list, at each request of the repair.
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
            let report = people.check().only("Namesakes").repair().run().await?;
            let missing = report.findings.iter().find(|finding| finding.kind == FindingKind::Missing);
            assert_eq!(missing, None, "the member left the list at request {number}");
            let count = store.calls().len();
            store.heal();
            let found = people.keys_of(Employee::namesakes("Jones")).await?;
            let wanted = if number < count { 2 } else { 1 };
            assert_eq!(found.len(), wanted, "request {number} of {count}");
            assert!(people.check().only("Namesakes").run().await?.is_clean());
            Ok(count)
        });
        if count.unwrap() <= number {
            assert!(number > 8, "{number} requests");
            break;
        }
    }
}
