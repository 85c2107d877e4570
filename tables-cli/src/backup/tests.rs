//! Compares backups with a simple model, in random sequences of writes, deletions, interrupted backups, and removals of generations.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::query::{KeyRange, Query};
use table_core::{
    DynTableStore, Engine, EntityKey, IfMatch, TableEntity, TableName, TableStore, TableStoreExt,
};

use super::capture::{CaptureOptions, capture};
use super::generation::{Consistency, TableRows};
use super::opened::Opened;
use super::restore::{Existing, Restoring};
use super::storage::{Folder, Storage};
use super::verify::verify;
use super::*;
use crate::failure::Result;
use crate::hooked::{Hooked, Hooks};
use crate::transfer::derived::OtherTables;

/// The content of a store: for each table, the number in each row, keyed by the row's keys.
type Model = BTreeMap<String, BTreeMap<(String, String), i32>>;

const TABLES: [&str; 2] = ["Company", "Logs"];

/// A write by a program that uses the store.
#[derive(Clone, Debug)]
enum Write {
    Put(&'static str, (String, String), i32),
    Delete(&'static str, (String, String)),
    Drop(&'static str),
}

/// A store in use. A query may fail, and another program may write between two queries.
#[derive(Debug)]
struct Live {
    engine: Engine,
    model: Mutex<Model>,
    /// The number of queries until one fails, or `usize::MAX` if no query fails.
    left: AtomicUsize,
    /// The pending writes by another program. One of them is executed before each query.
    writes: Mutex<Vec<Write>>,
    /// All states of the tables since the backup started.
    history: Mutex<Vec<Model>>,
}

impl Live {
    async fn apply(&self, write: &Write) {
        self.write(write).await;
        self.history.lock().unwrap().push(self.model.lock().unwrap().clone());
    }

    async fn write(&self, write: &Write) {
        match write {
            Write::Put(table, (partition, row), value) => {
                let entity = TableEntity::new(partition.as_str(), row.as_str()).unwrap();
                let handle = self.engine.untyped(table).unwrap().create_if_missing().await.unwrap();
                handle.insert_or_replace(&entity.with("V", *value)).await.unwrap();
                let mut model = self.model.lock().unwrap();
                model
                    .entry((*table).to_owned())
                    .or_default()
                    .insert((partition.clone(), row.clone()), *value);
            }
            Write::Delete(table, key) => {
                let found =
                    self.model.lock().unwrap().get_mut(*table).is_some_and(|rows| rows.remove(key).is_some());
                if found {
                    let key = EntityKey::new(key.0.as_str(), key.1.as_str()).unwrap();
                    self.engine.untyped(table).unwrap().delete(&key, IfMatch::Any).await.unwrap();
                }
            }
            Write::Drop(table) => {
                if self.model.lock().unwrap().remove(*table).is_some() {
                    self.engine.delete_table(&TableName::new(table).unwrap()).await.unwrap();
                }
            }
        }
    }
}

impl Hooks for Live {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(Query::parse("V gt").unwrap_err());
        }
        self.left.store(if left == usize::MAX { left } else { left - 1 }, Ordering::Relaxed);
        let write = self.writes.lock().unwrap().pop();
        if let Some(write) = write {
            self.apply(&write).await;
        }
        Ok(())
    }
}

fn write(random: &mut StdRng) -> Write {
    let table = TABLES[random.random_range(0..2)];
    let key = (format!("p{}", random.random_range(0..3)), format!("r{:02}", random.random_range(0..12)));
    match random.random_range(0..20) {
        0 => Write::Drop(table),
        1..6 => Write::Delete(table, key),
        _ => Write::Put(table, key, random.random_range(0..5)),
    }
}

async fn rows(store: &DynTableStore) -> Model {
    let mut model = Model::new();
    for table in crate::rows::all_tables(store).await.unwrap() {
        let mut rows = BTreeMap::new();
        let scan = store.untyped(table.as_str()).unwrap().scan("all are compared").max_rows(1_000);
        for entity in scan.collect().await.unwrap() {
            let key = entity.key();
            let key = (key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned());
            let Some(table_core::Value::Int32(value)) = entity.get("V") else {
                panic!("no value in {entity:?}")
            };
            rows.insert(key, *value);
        }
        model.insert(table.as_str().to_owned(), rows);
    }
    model
}

/// Restores a generation to an empty store, and returns the restored rows.
async fn restored(storage: &Arc<dyn Storage>, id: &str) -> Result<Model> {
    let repository = Repository::open_in(storage.clone())?;
    let generation = repository.read(id)?;
    let backup = Opened::generation(repository, generation)?;
    let target = DynTableStore::new(Engine::in_memory());
    for table in backup.tables().await? {
        let (range, existing) = (&KeyRange::ALL, Existing::Refuse);
        Restoring {
            backup: &backup,
            target: &target,
            range,
            existing,
            others: OtherTables::default(),
            rate: None,
        }
        .table(&table, &table)
        .await?;
    }
    Ok(rows(&target).await)
}

/// The number of times the tests reached each interesting case.
#[derive(Debug, Default)]
pub(super) struct Met {
    pub(super) resumed: usize,
    pub(super) settled: usize,
    pub(super) removed: usize,
    pub(super) deleted: u64,
}

/// Returns a temporary folder, in an in-memory file system if the machine has one, because the tests sync at every step.
pub(super) fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// A function that opens the storage for one command. If the function receives a random number generator, the storage may fail, which ends the command.
pub(super) type Opening<'a> = &'a dyn Fn(Option<&mut StdRng>) -> Arc<dyn Storage>;

/// Runs one random sequence of commands, and compares each generation with the model.
pub(super) async fn program(seed: u64, open: Opening<'_>, met: &mut Met) {
    let mut random = StdRng::seed_from_u64(seed);
    let live = Arc::new(Live {
        engine: Engine::in_memory(),
        model: Mutex::default(),
        left: AtomicUsize::new(usize::MAX),
        writes: Mutex::default(),
        history: Mutex::default(),
    });
    let store = DynTableStore::new(Hooked(Arc::clone(&live)));
    // For each generation, its possible states, and the tables whose rows were all read at the same time.
    let mut wanted: BTreeMap<String, (Vec<Model>, Vec<String>)> = BTreeMap::new();
    for _ in 0..random.random_range(2..7) {
        for _ in 0..random.random_range(0..30) {
            live.apply(&write(&mut random)).await;
        }
        *live.history.lock().unwrap() = vec![live.model.lock().unwrap().clone()];
        let is_live = random.random_bool(0.3);
        if is_live {
            let most = if random.random_bool(0.3) { 80 } else { 6 };
            *live.writes.lock().unwrap() = (0..most).map(|_| write(&mut random)).collect();
        }
        // Each attempt reads a different snapshot, because another program writes between the attempts.
        let is_snapshot = !is_live && random.random_bool(0.4);
        let options = CaptureOptions {
            settle: is_live,
            is_snapshot,
            // Each update of the progress file waits for the disk, so most sequences avoid such updates.
            pause: if is_snapshot || random.random_bool(0.3) { Duration::ZERO } else { Duration::MAX },
            page: random.random_range(2..8),
            layers: random.random_range(1..5),
            ..CaptureOptions::default()
        };
        let mut attempts = 0;
        // The backup may fail several times. Each attempt continues the previous one.
        let captured = loop {
            let left = if attempts < 4 { random.random_range(0..20) } else { usize::MAX };
            live.left.store(left, Ordering::Relaxed);
            let storage = open((attempts < 4).then_some(&mut random));
            let captured = match Repository::create_in(storage, "live") {
                Ok(repository) => capture(&repository, &store, &options).await,
                Err(failure) => Err(failure),
            };
            match captured {
                Ok(captured) => break captured,
                Err(failure) => assert!(attempts < 4, "program {seed}: {failure}"),
            }
            attempts += 1;
            for _ in 0..if is_snapshot { random.random_range(0..20) } else { 0 } {
                live.apply(&write(&mut random)).await;
            }
        };
        live.left.store(usize::MAX, Ordering::Relaxed);
        live.writes.lock().unwrap().clear();
        met.resumed += usize::from(captured.is_resumed);
        let Contents::Rows { tables } = &captured.generation.contents else { panic!("rows") };
        met.deleted += tables.iter().map(|table| table.changes.deleted).sum::<u64>();
        met.settled += tables.iter().filter(|table| table.changes.settled > 0).count();
        let is_still = !is_live && !is_snapshot;
        let of_one_moment = |table: &&TableRows| is_still || table.consistency == Consistency::OneMoment;
        let names = tables.iter().filter(of_one_moment).map(|table| table.name.clone()).collect();
        wanted.insert(captured.generation.id, (live.history.lock().unwrap().clone(), names));
        if random.random_bool(0.3) {
            let repository = Repository::create_in(open(None), "live").unwrap();
            let ids = repository.ids().unwrap();
            let id = &ids[random.random_range(0..ids.len())];
            repository.remove(id).unwrap();
            repository.collect().unwrap();
            wanted.remove(id);
            met.removed += 1;
        }
    }
    for (id, (states, names)) in &wanted {
        let found = restored(&open(None), id).await.unwrap();
        if let [state] = states.as_slice() {
            assert_eq!(found, *state, "program {seed}, generation {id}");
        }
        for name in names {
            let is_state = states.iter().any(|state| state.get(name) == found.get(name));
            assert!(is_state, "program {seed}, generation {id}, {name}: {found:?} is none of {states:?}");
        }
    }
    let found = verify(&Repository::open_in(open(None)).unwrap()).await.unwrap();
    assert!(found.damage.is_empty(), "program {seed}: {found:?}");
}

#[tokio::test]
async fn two_hundred_programs_are_restored_at_every_generation() {
    let mut met = Met::default();
    for seed in 0..200 {
        let folder = folder();
        program(seed, &|_| Arc::new(Folder::new(folder.path())), &mut met).await;
    }
    assert!(met.resumed > 50 && met.settled > 10 && met.removed > 50 && met.deleted > 100, "{met:?}");
}

#[tokio::test]
async fn a_flipped_bit_anywhere_is_reported_and_nothing_damaged_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let store = DynTableStore::new(Engine::in_memory());
    let table = store.untyped("Company").unwrap().create_if_missing().await.unwrap();
    for round in 0..3 {
        for row in 0..4 {
            let entity = TableEntity::new("Sales", format!("{row}")).unwrap().with("V", round * row);
            table.insert_or_replace(&entity).await.unwrap();
        }
        let repository = Repository::create(folder.path(), "memory").unwrap();
        capture(&repository, &store, &CaptureOptions::default()).await.unwrap();
    }
    let repository = Repository::open(folder.path()).unwrap();
    let newest = repository.ids().unwrap().pop().unwrap();
    for sub in ["rows", "generations"] {
        for entry in std::fs::read_dir(folder.path().join(sub)).unwrap() {
            let path = entry.unwrap().path();
            let whole = std::fs::read(&path).unwrap();
            for at in (0..whole.len()).step_by(7) {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << (at % 8);
                std::fs::write(&path, damaged).unwrap();
                let found = verify(&repository).await.unwrap();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                assert!(found.damage.iter().any(|damage| damage.contains(&name)), "{name}, byte {at}");
                if sub == "rows" {
                    assert!(
                        restored(&(Arc::new(Folder::new(folder.path())) as _), &newest).await.is_err(),
                        "{name}, byte {at}"
                    );
                }
            }
            std::fs::write(&path, &whole).unwrap();
        }
    }
    assert!(verify(&repository).await.unwrap().damage.is_empty());
}
