//! The state of an explorer: its store, the catalog and the session.

use std::path::PathBuf;

use table_core::queue::DynQueueStore;
use table_core::{DynTableStore, Engine};
use table_inspect::load::PartitionLoad;

use crate::catalog::Catalog;
use crate::growth::Growth;
use crate::notebook::Notebook;
use crate::session::Session;
use crate::store_names::StoreNames;

/// The store that an explorer shows.
#[derive(Clone, Debug)]
pub struct Source {
    /// The tables of the store.
    pub(crate) tables: DynTableStore,
    /// The queues of the store, if it has any.
    pub(crate) queues: Option<DynQueueStore>,
    /// The engine that contains the tables, if any. It provides statistics.
    pub(crate) engine: Option<Engine>,
    /// The name of the store as shown on pages. It contains no secrets.
    pub(crate) name: String,
    /// The string that identifies the store in files; `None` if the name identifies it.
    pub(crate) identity: Option<String>,
    /// The file that stores saved queries; `None` to keep them in memory.
    pub(crate) notebook: Option<PathBuf>,
    /// The file that stores the growth samples; `None` to keep them in memory.
    pub(crate) growth: Option<PathBuf>,
    /// The request counts of other programs, if this process handles the requests of those programs.
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

    /// Sets the string that identifies the store in files that several explorers share, such as the canonical path of a folder. The default is the name.
    /// Entries that an earlier release stored under the name are still shown.
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

    /// Returns the strings by which files refer to this store.
    pub(crate) fn names(&self) -> StoreNames {
        let identity = self.identity.clone().unwrap_or_else(|| self.name.clone());
        StoreNames { identity, shown: self.name.clone() }
    }

    /// Adds the engine that contains the tables. Pages then show its statistics and queues and offer its checks.
    #[must_use]
    pub fn with_engine(self, engine: Engine) -> Self {
        let queues = self.queues.or_else(|| Some(DynQueueStore::new(engine.clone())));
        Self { queues, engine: Some(engine), ..self }
    }

    /// Adds a queue store. Pages then show the poison messages in its queues.
    #[must_use]
    pub fn with_queues(self, queues: DynQueueStore) -> Self {
        Self { queues: Some(queues), ..self }
    }

    /// Stores saved queries and the query history in a file, which several explorers may share. The file contains parts of keys, so only its owner can read it.
    #[must_use]
    pub fn with_notebook(self, file: impl Into<PathBuf>) -> Self {
        Self { notebook: Some(file.into()), ..self }
    }

    /// Stores samples of table sizes in a file, which several explorers may share. The file contains table names, so only its owner can read it.
    #[must_use]
    pub fn with_growth(self, file: impl Into<PathBuf>) -> Self {
        Self { growth: Some(file.into()), ..self }
    }

    /// Adds the request counts of other programs, which pages then show live. A server in the same process provides such counts, and
    /// [`CountingStore`](table_inspect::load::CountingStore) counts the requests to any store.
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
    pub(crate) is_writable: bool,
}
