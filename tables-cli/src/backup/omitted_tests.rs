//! Tests of backups of a store that omits rows from its pages.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use table_core::query::KeyRange;
use table_core::{
    DynTableStore, Engine, EntityKey, Error, ErrorCode, IfMatch, Selection, TableEntity, TableName,
    TableStoreExt, UntypedTable, Value,
};

use crate::backup::capture::{CaptureOptions, Captured, capture};
use crate::backup::generation::{Contents, TableRows};
use crate::backup::merged::Merged;
use crate::backup::opened::Opened;
use crate::backup::repository::Repository;
use crate::backup::restore::{Existing, Restoring};
use crate::failure::Result;
use crate::hooked::{Hooked, Hooks};
use crate::transfer::derived::OtherTables;
use crate::transfer::ordered::Entities;

/// A store with rows that it cannot represent.
#[derive(Debug)]
struct Strange {
    engine: Engine,
    /// The row keys of the rows that cannot be read.
    unreadable: Mutex<BTreeSet<String>>,
    code: ErrorCode,
    /// The number of pages read before the store fails.
    left: Mutex<usize>,
}

impl Hooks for Strange {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn unreadable(&self, _: &TableName, key: &EntityKey) -> Option<ErrorCode> {
        self.unreadable.lock().unwrap().contains(key.row_key.as_str()).then_some(self.code)
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        let mut left = self.left.lock().unwrap();
        *left = left.checked_sub(1).ok_or_else(|| Error::new(ErrorCode::InternalError, "the store fails"))?;
        Ok(())
    }
}

/// A store with the rows 0 to 9 in one partition, and its backups.
struct World {
    strange: Arc<Strange>,
    store: DynTableStore,
    folder: tempfile::TempDir,
}

impl World {
    async fn new(code: ErrorCode) -> Self {
        let (engine, unreadable, left) = (Engine::in_memory(), Mutex::default(), Mutex::new(usize::MAX));
        let strange = Arc::new(Strange { engine, unreadable, code, left });
        let store = DynTableStore::new(Hooked(Arc::clone(&strange)));
        let world = Self { strange, store, folder: crate::backup::tests::folder() };
        let table = world.table().create_if_missing().await.unwrap();
        for row in 0..10 {
            table.insert(&TableEntity::new("p", row.to_string()).unwrap().with("V", row)).await.unwrap();
        }
        world
    }

    fn table(&self) -> UntypedTable<DynTableStore> {
        self.store.untyped("Things").unwrap()
    }

    /// Makes the store unable to represent these rows, and all other rows readable.
    fn misread(&self, rows: &[&str]) {
        *self.strange.unreadable.lock().unwrap() = rows.iter().map(|row| (*row).to_owned()).collect();
    }

    async fn capture(&self, options: CaptureOptions) -> Result<Captured> {
        let repository = Repository::create(self.folder.path(), "strange").unwrap();
        capture(&repository, &self.store, &CaptureOptions { page: 3, ..options }).await
    }

    async fn back_up(&self, options: CaptureOptions) -> TableRows {
        let captured = self.capture(options).await.unwrap();
        let Contents::Rows { mut tables } = captured.generation.contents else { panic!("rows") };
        tables.pop().unwrap()
    }

    /// Returns the row keys and the values of the rows in a generation.
    async fn rows(&self, table: &TableRows) -> String {
        let repository = Repository::open(self.folder.path()).unwrap();
        let (mut rows, mut found) = (Merged::open(&repository, Some(table)).unwrap(), Vec::new());
        while let Some(entity) = rows.next().await.unwrap() {
            let Some(Value::Int32(value)) = entity.get("V") else { panic!("no value in {entity:?}") };
            found.push(format!("{}={value}", entity.key().row_key));
        }
        assert_eq!(found.len() as u64, table.rows);
        found.join(" ")
    }
}

#[tokio::test]
async fn a_row_that_a_page_omits_is_kept_as_in_the_earlier_generation() {
    for (code, layers, settle) in [
        (ErrorCode::EntityMismatch, 8, false),
        (ErrorCode::Corrupted, 8, true),
        // The next layer contains all rows.
        (ErrorCode::EntityMismatch, 1, false),
    ] {
        let world = World::new(code).await;
        let options = || CaptureOptions { settle, layers, ..CaptureOptions::default() };
        world.back_up(options()).await;
        for row in ["0", "4", "9"] {
            world.table().insert_or_replace(&TableEntity::new("p", row).unwrap().with("V", 7)).await.unwrap();
        }
        for row in ["1", "8"] {
            world.table().delete(&EntityKey::new("p", row).unwrap(), IfMatch::Any).await.unwrap();
        }
        world.misread(&["0", "4", "9"]);
        let table = world.back_up(options()).await;
        assert_eq!(world.rows(&table).await, "0=0 2=2 3=3 4=4 5=5 6=6 7=7 9=9", "{code:?}, {layers}");
        assert_eq!((table.changes.deleted, table.omitted), (2, 3), "{code:?}, {layers}");
        // Once the row can be read, its present version is backed up.
        world.misread(&[]);
        let table = world.back_up(options()).await;
        assert_eq!(world.rows(&table).await, "0=7 2=2 3=3 4=7 5=5 6=6 7=7 9=7", "{code:?}, {layers}");
        assert_eq!((table.changes.changed, table.omitted), (3, 0), "{code:?}, {layers}");
    }
}

#[tokio::test]
async fn an_interrupted_backup_remembers_the_rows_that_its_pages_omitted() {
    for most in 0..8 {
        let world = World::new(ErrorCode::EntityMismatch).await;
        let options = || CaptureOptions { pause: Duration::ZERO, ..CaptureOptions::default() };
        world.back_up(options()).await;
        // The row ends a page, so the pages after an interruption omit no row.
        world.misread(&["2"]);
        *world.strange.left.lock().unwrap() = most;
        let interrupted = world.capture(options()).await;
        *world.strange.left.lock().unwrap() = usize::MAX;
        if interrupted.is_ok() {
            assert!(most > 3);
            return;
        }
        let table = world.back_up(options()).await;
        assert_eq!(world.rows(&table).await, "0=0 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8 9=9", "{most}");
        assert_eq!((table.changes.deleted, table.omitted), (0, 1), "{most}");
    }
    panic!("every backup was interrupted");
}

#[tokio::test]
async fn a_restore_refuses_a_table_that_omits_rows() {
    let world = World::new(ErrorCode::EntityMismatch).await;
    world.back_up(CaptureOptions::default()).await;
    world.table().insert_or_replace(&TableEntity::new("p", "4").unwrap().with("V", 7)).await.unwrap();
    world.misread(&["4"]);
    let repository = Repository::open(world.folder.path()).unwrap();
    let generation = repository.newest().unwrap().unwrap();
    let backup = Opened::generation(repository, generation).unwrap();
    let name = TableName::new("Things").unwrap();
    let restoring = |existing| Restoring {
        backup: &backup,
        target: &world.store,
        range: &KeyRange::ALL,
        existing,
        others: OtherTables::default(),
        rate: None,
    };
    let refused = restoring(Existing::Refuse).table(&name, &name).await.unwrap_err().to_string();
    assert!(refused.contains("1 row of table Things cannot be compared"), "{refused}");
    let stored = async || {
        let row = world.strange.engine.untyped("Things").unwrap().get(Selection::point("p", "4")).await;
        row.unwrap().unwrap().get("V").cloned()
    };
    assert_eq!(stored().await, Some(Value::Int32(7)));
}
