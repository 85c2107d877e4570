//! The explorer of one store: its state, and the entry of every request.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use table_core::queue::DynQueueStore;
use table_core::{DynTableStore, Engine};

use crate::catalog::Catalog;
use crate::response::Body;
use crate::route;
use crate::session::Session;

/// The store that an explorer shows.
#[derive(Clone, Debug)]
pub struct Source {
    /// The tables.
    pub(crate) tables: DynTableStore,
    /// The queues, if the store has them.
    pub(crate) queues: Option<DynQueueStore>,
    /// The engine, for its statistics.
    pub(crate) engine: Option<Engine>,
    /// The name of the store, without secrets.
    pub(crate) name: String,
}

impl Source {
    /// Creates a source from tables and the name by which pages call them.
    #[must_use]
    pub fn new(tables: DynTableStore, name: impl Into<String>) -> Self {
        Self { tables, queues: None, engine: None, name: name.into() }
    }

    /// Adds the engine behind the tables: its statistics, checks and queues are shown.
    #[must_use]
    pub fn with_engine(self, engine: Engine) -> Self {
        let queues = self.queues.or_else(|| Some(DynQueueStore::new(engine.clone())));
        Self { queues, engine: Some(engine), ..self }
    }

    /// Adds queues, of which poison is shown.
    #[must_use]
    pub fn with_queues(self, queues: DynQueueStore) -> Self {
        Self { queues: Some(queues), ..self }
    }
}

/// An explorer. Clones share the session and the catalog.
#[derive(Clone, Debug)]
pub struct Explorer(Arc<State>);

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) source: Source,
    pub(crate) catalog: Catalog,
    pub(crate) session: Session,
    pub(crate) is_writable: bool,
}

impl Explorer {
    /// Creates an explorer that only reads.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self::with(source, false)
    }

    /// Creates an explorer that also inserts, changes and deletes entities.
    #[must_use]
    pub fn writable(source: Source) -> Self {
        Self::with(source, true)
    }

    fn with(source: Source, is_writable: bool) -> Self {
        let (catalog, session) = (Catalog::default(), Session::new());
        Self(Arc::new(State { source, catalog, session, is_writable }))
    }

    /// Returns the path that begins the session: it contains a token that is valid once.
    #[must_use]
    pub fn first_path(&self) -> String {
        self.0.session.first_path()
    }

    /// Answers a request that was sent to a host, such as `127.0.0.1:8000`.
    pub async fn answer(&self, request: Request<Bytes>, host: &str) -> Response<Body> {
        route::answer(&self.0, request, host).await
    }
}
