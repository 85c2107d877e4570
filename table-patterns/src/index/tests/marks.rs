//! Tests leftover index rows that a pass is about to delete. Meanwhile, their entities get the old value back without an index write.

use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::memory::InMemory;
use pollster::block_on;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Entity, ErrorCode, Result};

use super::kit::Records;
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::{FindingKind, ListBlobs};
use crate::tests::faults::{Fault, FaultyStore};

pub(super) const TABLE: &str = "People";

/// Declares a type with one index and arbitrary properties, as a module.
macro_rules! people {
    ($module:ident: $index:meta) => {
        pub(super) mod $module {
            #[derive(Clone, Debug, PartialEq, table_core::Entity)]
            #[entity(table = "People", schema_name = "Person", crate = table_core)]
            #[partition_key(department)]
            #[row_key("no_", id)]
            #[$index]
            pub(in super::super) struct Person {
                pub(in super::super) department: String,
                #[digits(1)]
                pub(in super::super) id: u8,
                pub(in super::super) mail: String,
                #[property(rest)]
                pub(in super::super) rest: std::collections::BTreeMap<String, table_core::Value>,
            }
        }
    };
}

people!(copies: index(ByMail, row_key("mail_", without('_', mail), "_", id)));
people!(unique: index(ByMail, unique, row_key("mail_", mail)));
people!(remote: index(ByMail, partition_key("mail_", mail), row_key("of_", without('_', department), "_", id)));
people!(lists: index_entity(ByMail, at_most = 100, row_key("mail_", mail)));
people!(remote_lists: index_entity(ByMail, at_most = 100, partition_key("mail_", mail), row_key("all")));

/// The writes of a tool that does not know the index. Each is the written value, or `None` for a delete.
type Tool = [Option<&'static str>; 2];

const TOOLS: [Tool; 2] = [[Some("other"), Some("ada")], [None, Some("ada")]];

async fn write(engine: &Engine, mail: Option<&str>) -> Result<()> {
    let (rows, key) = (engine.untyped(TABLE)?, EntityKey::new("Sales", "no_1")?);
    match mail {
        Some(mail) => {
            rows.insert_or_replace(&TableEntity::new("Sales", "no_1")?.with("Mail", mail)).await.map(drop)
        }
        None => rows.delete(&key, IfMatch::Any).await,
    }
}

/// Repairs the index after a tool has removed the value of an entity. Before each request of the repair in turn, the tool writes the value again, and another
/// repair corrects the index if necessary. The first repair then continues, or dies before its next request.
macro_rules! restores {
    ($module:ident, $blobs:expr) => {
        for (tool, dies) in TOOLS.into_iter().flat_map(|tool| [(tool, false), (tool, true)]) {
            for number in 0.. {
                let blobs = ListBlobs::new(Arc::new(InMemory::new()), "lists").spill_above($blobs);
                let open = |store: FaultyStore<Engine>| {
                    store
                        .entities_with_outbox::<$module::Person, _>(Records::default())
                        .with_list_blobs(blobs.clone())
                };
                let count = block_on(async {
                    let engine = Engine::in_memory();
                    let people = open(FaultyStore::new(engine.clone())).create_if_missing().await?;
                    for (id, mail) in [(1, "ada"), (2, "bea")] {
                        let (department, mail) = ("Sales".to_owned(), mail.to_owned());
                        let rest = BTreeMap::new();
                        people.insert(&$module::Person { department, id, mail, rest }).await?;
                    }
                    people.check().repair().run().await?;
                    write(&engine, tool[0]).await?;
                    let store = FaultyStore::new(engine.clone());
                    let repairs = open(store.clone()).create_if_missing().await?;
                    let others = open(FaultyStore::new(engine.clone())).create_if_missing().await?;
                    store.heal();
                    let (others, engine) = (Arc::new(others), engine.clone());
                    let (again, engine_again) = (Arc::clone(&others), engine.clone());
                    store.script(move |_, at| {
                        let (again, engine) = (Arc::clone(&again), engine_again.clone());
                        if at == number {
                            Fault::Meanwhile(Box::new(move || {
                                block_on(restore(&again, &engine, tool)).unwrap()
                            }))
                        } else if at > number && dies {
                            Fault::Before(ErrorCode::OperationTimedOut)
                        } else {
                            Fault::None
                        }
                    });
                    let run = repairs.check().repair().run().await;
                    let count = store.calls().len();
                    assert!(run.is_ok() || dies, "{run:?}");
                    if number < count {
                        let may_write = !$module::Person::SCHEMA.indexes[0].is_same_partition();
                        assert_whole(&others, (number, dies, may_write)).await?;
                    }
                    Ok::<_, table_core::Error>(count)
                });
                if count.unwrap() <= number {
                    assert!(number > 5, "restored only {number} times");
                    break;
                }
            }
        }
    };
}

async fn restore<E: Entity + Send + Sync, S: TableStore + Clone + 'static>(
    people: &Entities<E, S, Records>,
    engine: &Engine,
    tool: Tool,
) -> Result<()> {
    write(engine, tool[1]).await?;
    people.check().repair().run().await.map(drop)
}

async fn assert_whole<E: Entity + Send + Sync, S: TableStore + Clone + 'static>(
    people: &Entities<E, S, Records>,
    (number, dies, may_write): (usize, bool, bool),
) -> Result<()> {
    let report = people.check().run().await?;
    let is_wrong = |kind| match kind {
        // A copy or a list that the dead run has marked still contains the correct entries.
        FindingKind::Stale => !dies,
        // The run may write a remote entry for the value that the entity had when the run read it.
        FindingKind::Dangling => !may_write,
        _ => true,
    };
    let wrong = report.findings.iter().find(|finding| is_wrong(finding.kind));
    assert_eq!(wrong, None, "after request {number}");
    Ok(())
}

#[test]
fn a_repair_deletes_no_copy_whose_entity_has_its_value_again() {
    restores!(copies, usize::MAX);
    restores!(unique, usize::MAX);
}

#[test]
fn a_repair_removes_no_member_of_a_list_whose_entity_has_its_value_again() {
    restores!(lists, usize::MAX);
    restores!(lists, 0);
}

#[test]
fn a_repair_deletes_no_remote_entry_whose_entity_has_its_value_again() {
    restores!(remote, usize::MAX);
    restores!(remote_lists, usize::MAX);
    restores!(remote_lists, 0);
}
