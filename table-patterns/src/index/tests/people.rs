//! A fixture for list tests: an entity with a list in its partition and a remote list. Its table can store lists in blobs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::embedded::{Clock, Engine};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::runtime::{Runtime, ticks_of};
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Entity, Result};

use super::disturbed::Disturbed;
use super::kit::{Records, records};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::{ListBlobs, RemoteChange};
use crate::tests::faults::FaultyBlobs;

/// `ByLastName` is option 2 of PAT-IX, and `Namesakes` is option 3. If their lists are in blobs, both are option 1.
#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", crate = table_core)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index_entity(ByLastName, at_most = 200_000, row_key("lastname_", escaped(last_name)))]
#[index_entity(
    Namesakes,
    at_most = 250_000,
    table = "LastNames",
    partition_key(escaped(last_name)),
    row_key("all")
)]
pub(super) struct Employee {
    pub(super) department: String,
    #[digits(6)]
    #[property("EmployeeId")]
    pub(super) id: u32,
    pub(super) last_name: String,
}

pub(super) const DEPARTMENTS: [&str; 2] = ["Sales", "Marketing"];
const GRACE: std::time::Duration = std::time::Duration::from_secs(60 * 60);
const NOON: u64 = 635_338_512_000_000_000;

pub(super) fn person(department: &str, id: u32, last_name: &str) -> Employee {
    Employee { department: department.to_owned(), id, last_name: last_name.to_owned() }
}

pub(super) fn jones(id: u32) -> Employee {
    person("Sales", id, "Jones")
}

pub(super) type People<S = Disturbed> = Entities<Employee, S, Records>;

/// A table with a table store and a blob store that can both fail, and with a clock that the test controls.
pub(super) struct Scene {
    pub(super) store: Disturbed,
    pub(super) blobs: FaultyBlobs,
    pub(super) people: People,
    pub(super) now: Arc<AtomicU64>,
}

/// Creates a fixture that stores lists with more than `beyond` members in blobs.
pub(super) async fn scene(beyond: usize) -> Result<Scene> {
    let (store, blobs) = (Disturbed::new(Engine::in_memory()), FaultyBlobs::default());
    let now = Arc::new(AtomicU64::new(NOON));
    let people = opened(&store, &blobs, beyond, &now).await?;
    Ok(Scene { store, blobs, people, now })
}

async fn opened<S: TableStore + Clone + 'static>(
    store: &S,
    blobs: &FaultyBlobs,
    beyond: usize,
    now: &Arc<AtomicU64>,
) -> Result<People<S>> {
    let hand = Arc::clone(now);
    let clock = Clock::new(move || hand.load(Ordering::SeqCst));
    let lists = ListBlobs::new(Arc::new(blobs.clone()), "indexes").spill_above(beyond).grace(GRACE);
    let table = store.entities_with_outbox::<Employee, _>(Records::default()).with_list_blobs(lists);
    table.with_runtime(Runtime::new().clock(clock).sleep_by(|_| Box::pin(async {}))).create_if_missing().await
}

impl Scene {
    /// Returns another program's handle to the table. It uses the engine directly, so its requests to the table never fail.
    pub(super) async fn other(&self, beyond: usize) -> Result<People<Engine>> {
        opened(&self.store.engine, &self.blobs, beyond, &self.now).await
    }

    /// Advances the clock by the grace period.
    pub(super) fn wait(&self) {
        self.now.fetch_add(ticks_of(GRACE), Ordering::SeqCst);
    }

    /// Runs the collector until it has removed all unreferenced blobs.
    pub(super) async fn collect_all(&self) -> Result<()> {
        for _ in 0..3 {
            self.wait();
            self.people.collect_orphaned_lists().await?;
        }
        Ok(())
    }

    /// Returns the names of the referenced blobs.
    pub(super) async fn named(&self) -> Result<Vec<String>> {
        let mut names = BTreeSet::new();
        for table in ["Company", "LastNames"] {
            let rows =
                self.store.engine.untyped(table)?.scan("names of blobs in every row").max_rows(1_000_000);
            let rows = rows.collect().await?;
            for row in rows {
                for (name, value) in row.iter() {
                    if let (true, table_core::Value::String(text)) = (name.ends_with("Blob"), value) {
                        names.insert(text.split(' ').next().unwrap().to_owned());
                    }
                }
            }
        }
        Ok(names.into_iter().collect())
    }
}

/// Settles all recorded changes in the remote lists, and deletes their records.
pub(super) async fn settle_all<S: TableStore + Clone + 'static>(people: &People<S>) -> Result<()> {
    for department in DEPARTMENTS {
        let store = people.table().store();
        for (record, changes) in records::<Employee, _>(store, department).await? {
            for change in changes {
                people.settle(&change).await?;
            }
            store.untyped("Company")?.delete(&record, IfMatch::Any).await?;
        }
    }
    Ok(())
}

/// Returns the recorded changes that have not been settled yet.
pub(super) async fn recorded<S: TableStore + Clone>(people: &People<S>) -> Result<Vec<RemoteChange>> {
    let mut changes = Vec::new();
    for department in DEPARTMENTS {
        let found = records::<Employee, _>(people.table().store(), department).await?;
        changes.extend(found.into_iter().flat_map(|(_, changes)| changes));
    }
    Ok(changes)
}

pub(super) fn model<'p>(people: impl IntoIterator<Item = &'p Employee>) -> Model {
    people.into_iter().map(|person| (person.key_of().unwrap(), person.clone())).collect()
}

/// A model of the table: the employees by key.
pub(super) type Model = BTreeMap<EntityKey, Employee>;

/// Asserts that every list agrees with the model, whether it is in an entity or a blob.
pub(super) async fn assert_lists<S: TableStore + Clone>(
    people: &People<S>,
    model: &Model,
    names: &[&str],
) -> Result<()> {
    for name in names {
        let of_name = || model.values().filter(|person| person.last_name == *name);
        let all: Vec<_> = of_name().map(|person| person.key_of().unwrap()).collect();
        assert_eq!(people.keys_of(Employee::namesakes(*name)).await?, all, "{name}");
        for department in DEPARTMENTS {
            let theirs: Vec<_> = of_name().filter(|person| person.department == department).collect();
            let found = people.get_by_index(Employee::by_last_name(department, *name)).await?;
            assert_eq!(
                found.iter().map(table_core::Versioned::value).collect::<Vec<_>>(),
                theirs,
                "{department} {name}"
            );
        }
    }
    assert!(people.check().run().await?.is_clean());
    Ok(())
}
