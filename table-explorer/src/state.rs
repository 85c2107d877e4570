//! The state of an explorer: its store, the catalog and the session.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use table_core::queue::DynQueueStore;
use table_core::{DynTableStore, Engine};
use table_inspect::load::PartitionLoad;

use crate::catalog::Catalog;
use crate::growth::Growth;
use crate::notebook::Notebook;
use crate::reader::Reader;
use crate::session::Session;
use crate::store_names::StoreNames;

/// The store shown by an explorer.
#[derive(Clone, Debug)]
pub struct Source {
    /// The table store.
    pub(crate) tables: DynTableStore,
    /// The queue store, if any.
    pub(crate) queues: Option<DynQueueStore>,
    /// The engine behind the tables, if any, for statistics.
    pub(crate) engine: Option<Engine>,
    /// The store name shown on pages, without secrets.
    pub(crate) name: String,
    /// The store's identifier in files, or `None` if the name identifies the store.
    pub(crate) identity: Option<String>,
    /// The file for saved queries and the history; `None` to keep them in memory.
    pub(crate) notebook: Option<PathBuf>,
    /// The file for growth samples; `None` to keep them in memory.
    pub(crate) growth: Option<PathBuf>,
    /// The request counts of other programs, if this process serves them.
    pub(crate) load: Option<PartitionLoad>,
}

impl Source {
    /// Creates a source from tables. `name` is shown on pages.
    #[must_use]
    pub fn new(tables: DynTableStore, name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            tables,
            queues: None,
            engine: None,
            name,
            identity: None,
            notebook: None,
            growth: None,
            load: None,
        }
    }

    /// Sets the store's identifier, such as a folder's canonical path, in files shared by several explorers. The default is the name. Entries stored under the
    /// name by an earlier release are still shown.
    ///
    /// ```
    /// use table_core::{DynTableStore, Engine};
    /// use table_explorer::Source;
    ///
    /// let tables = DynTableStore::new(Engine::in_memory());
    /// let source = Source::new(tables, "data").with_identity("/home/ada/data");
    /// # drop(source);
    /// ```
    #[must_use]
    pub fn with_identity(self, identity: impl Into<String>) -> Self {
        Self { identity: Some(identity.into()), ..self }
    }

    /// Returns the strings that refer to this store in files.
    pub(crate) fn names(&self) -> StoreNames {
        let identity = self.identity.clone().unwrap_or_else(|| self.name.clone());
        StoreNames { identity, shown: self.name.clone() }
    }

    /// Adds the engine behind the tables. Pages then show its statistics and queues, and can run its checks.
    #[must_use]
    pub fn with_engine(self, engine: Engine) -> Self {
        let queues = self.queues.or_else(|| Some(DynQueueStore::new(engine.clone())));
        Self { queues, engine: Some(engine), ..self }
    }

    /// Adds a queue store. Pages then show its poison messages.
    #[must_use]
    pub fn with_queues(self, queues: DynQueueStore) -> Self {
        Self { queues: Some(queues), ..self }
    }

    /// Stores saved queries and the query history in a file, which several explorers may share. The file contains parts of keys and is readable only by its
    /// owner.
    #[must_use]
    pub fn with_notebook(self, file: impl Into<PathBuf>) -> Self {
        Self { notebook: Some(file.into()), ..self }
    }

    /// Stores samples of table sizes in a file, which several explorers may share. The file contains table names and is readable only by its owner.
    #[must_use]
    pub fn with_growth(self, file: impl Into<PathBuf>) -> Self {
        Self { growth: Some(file.into()), ..self }
    }

    /// Adds request counts of other programs, shown live on pages. A server in the same process provides such counts, and
    /// [`CountingStore`](table_inspect::load::CountingStore) counts requests to any store.
    #[must_use]
    pub fn with_load(self, load: PartitionLoad) -> Self {
        Self { load: Some(load), ..self }
    }
}

/// The state shared by all requests.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) source: Source,
    pub(crate) catalog: Catalog,
    pub(crate) session: Session,
    pub(crate) notebook: Notebook,
    pub(crate) growth: Growth,
    /// The number of rows that the store omitted from the reads of all pages.
    pub(crate) omitted: Arc<AtomicU64>,
    pub(crate) is_writable: bool,
}

impl State {
    /// Creates a reader, which counts the requests and rows of one page.
    pub(crate) fn reader(&self) -> Reader {
        Reader::new(self.source.tables.clone(), Arc::clone(&self.omitted))
    }
}
