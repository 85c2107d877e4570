//! The store of the examples: an embedded engine in a folder or in memory, or an account. It meters calls to tables, and includes queues and blobs.

#[cfg(feature = "azure")]
mod account;

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use table_advice::meter::Meter;
use table_core::query::Select;
use table_core::queue::{DynQueueStore, QueueName, QueueStore};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    Continuation, DynTableStore, Engine, EntityKey, Error, ErrorCode, Page, Query, Result, TableName,
    TableStore, Transaction,
};

use crate::cost::Cost;

#[cfg(feature = "azure")]
pub use account::azure;

/// The name of the file that marks a folder as created by an example.
const MARK: &str = "README.txt";
const MARK_TEXT: &str = "This folder was created by the example programs of Tables. It can be deleted.\n";
/// The name of the engine's folder, inside the example's folder.
const TABLES: &str = "tables";
/// The name of the blob folder, inside the example's folder.
const BLOBS: &str = "blobs";

/// The store of the examples and recipes. It can have any backend. All clones share the meter.
#[derive(Clone)]
pub struct Store {
    tables: Meter<DynTableStore>,
    queues: DynQueueStore,
    blobs: Arc<dyn ObjectStore>,
    run: Arc<Run>,
}

/// The resources that a run has created in an account. They are deleted at the end of the run.
#[derive(Default)]
struct Run {
    /// The prefix of this run's queue names.
    prefix: String,
    queues: Mutex<BTreeSet<QueueName>>,
    container: Option<DeleteContainer>,
}

/// A function that deletes the blob container of a run.
type DeleteContainer = Box<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// The location of the store of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The store is in a new temporary folder, which is deleted at the end of the run.
    Temporary,
    /// The store is in the given folder, which must be missing or empty. The folder is kept.
    Folder(PathBuf),
    /// The store is in memory.
    Memory,
    /// The store is in an account, given by its connection string.
    Account(String),
}

impl Place {
    /// Returns the location selected by the command-line options.
    #[must_use]
    pub fn of(path: Option<PathBuf>, memory: bool, account: Option<String>) -> Self {
        match (path, account) {
            (Some(folder), _) => Self::Folder(folder),
            (None, Some(connection_string)) => Self::Account(connection_string),
            (None, None) if memory => Self::Memory,
            (None, None) => Self::Temporary,
        }
    }
}

/// Opens the store in a folder. Creates the folder if it is missing.
///
/// # Errors
/// - `FolderNotOurs` if the folder contains files but was not created by an example.
/// - `Io` if a folder cannot be created.
/// - Any error from [`Engine::open`].
pub fn open(folder: &Path) -> Result<Store> {
    own(folder)?;
    let blobs = folder.join(BLOBS);
    std::fs::create_dir_all(&blobs).map_err(|error| cannot("create", &blobs, error))?;
    let blobs = LocalFileSystem::new_with_prefix(&blobs).map_err(|error| cannot("open", &blobs, error))?;
    let engine = Engine::open(folder.join(TABLES))?;
    Ok(Store::new(engine.clone(), engine, Arc::new(blobs)))
}

/// Returns an error if a folder contains files but was not created by an example. An example must write and delete only in its own folders.
fn own(folder: &Path) -> Result<()> {
    let mark = folder.join(MARK);
    if std::fs::read_to_string(&mark).is_ok_and(|text| text == MARK_TEXT) {
        return Ok(());
    }
    require_empty(folder)?;
    std::fs::create_dir_all(folder).map_err(|error| cannot("create", folder, error))?;
    std::fs::write(&mark, MARK_TEXT).map_err(|error| cannot("write", &mark, error))
}

/// Checks that a folder is empty or missing.
///
/// # Errors
/// `FolderNotOurs` if the folder is not empty, or `Io` if it cannot be read.
pub fn require_empty(folder: &Path) -> Result<()> {
    let mut entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| cannot("read", folder, error))?,
    };
    if entries.next().transpose().map_err(|error| cannot("read", folder, error))?.is_some() {
        let text = format!("{} contains files of another program; choose a new folder", folder.display());
        return Err(Error::new(ErrorCode::FolderNotOurs, text));
    }
    Ok(())
}

fn cannot(verb: &str, path: &Path, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorCode::Io, format!("cannot {verb} {}: {error}", path.display())).with_source(error)
}

/// Creates an in-memory store. Its content is lost when the last handle is dropped.
#[must_use]
pub fn in_memory() -> Store {
    let engine = Engine::in_memory();
    Store::new(engine.clone(), engine, Arc::new(InMemory::new()))
}

impl Store {
    /// Creates a store from its tables, queues and blobs.
    #[must_use]
    pub fn new(
        tables: impl TableStore + 'static,
        queues: impl QueueStore + 'static,
        blobs: Arc<dyn ObjectStore>,
    ) -> Self {
        let tables = Meter::new(DynTableStore::new(tables));
        Self { tables, queues: DynQueueStore::new(queues), blobs, run: Arc::default() }
    }

    /// Returns the metered tables.
    #[must_use]
    pub const fn meter(&self) -> &Meter<DynTableStore> {
        &self.tables
    }

    /// Returns the current reading of the meter.
    #[must_use]
    pub fn cost(&self) -> Cost {
        Cost::from(&*self.tables.reading())
    }

    /// Returns the tables without the meter, for requests that do not count towards the cost of a recipe.
    #[must_use]
    pub const fn unmetered(&self) -> &DynTableStore {
        self.tables.unmetered()
    }

    /// Returns the queues.
    #[must_use]
    pub const fn queues(&self) -> &DynQueueStore {
        &self.queues
    }

    /// Returns the name of a queue for this run. The prefix of the name is unique to the run, so no other queue in the account has this name.
    ///
    /// # Errors
    /// Any error from [`QueueName::new`].
    pub fn queue(&self, name: &str) -> Result<QueueName> {
        let queue = QueueName::new(&format!("{}{name}", self.run.prefix))?;
        let mut named = self.run.queues.lock().unwrap_or_else(PoisonError::into_inner);
        named.extend([queue.clone(), queue.poison()?]);
        Ok(queue)
    }

    /// Returns the blob store: a folder, an in-memory store or a container.
    #[must_use]
    pub fn blobs(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.blobs)
    }

    /// Deletes the queues and the container created by this run.
    ///
    /// # Errors
    /// The first error from a queue or from the container. All other deletions are still attempted.
    pub async fn delete_queues_and_blobs(&self) -> Result<()> {
        let named = std::mem::take(&mut *self.run.queues.lock().unwrap_or_else(PoisonError::into_inner));
        let mut outcome = Ok(());
        for queue in named {
            match self.queues.delete_queue(&queue).await {
                Err(error) if error.code() == ErrorCode::QueueNotFound => {}
                deleted => outcome = outcome.and(deleted),
            }
        }
        match &self.run.container {
            Some(delete) => outcome.and(delete().await),
            None => outcome,
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({self})")
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; queues: {}; blobs: {}", self.tables, self.queues, self.blobs)
    }
}

/// The table operations, all counted by the meter.
impl TableStore for Store {
    fn capabilities(&self) -> &Capabilities {
        self.tables.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.tables.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.tables.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.tables.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.tables.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.tables.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.tables.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.tables.submit(table, transaction).await
    }
}
