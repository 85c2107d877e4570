//! `Explorer`: the request handler for one store.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use chrono::Utc;
use http::{Request, Response};

use crate::catalog::Catalog;
use crate::growth::Growth;
use crate::notebook::Notebook;
use crate::response::Body;
use crate::route;
use crate::session::Session;
use crate::state::{Source, State};

/// An explorer for one store. Clones share the session and the catalog.
#[derive(Clone, Debug)]
pub struct Explorer(Arc<State>);

impl Explorer {
    /// Creates a read-only explorer.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self::with(source, false)
    }

    /// Creates an explorer that can also insert, edit and delete entities.
    #[must_use]
    pub fn writable(source: Source) -> Self {
        Self::with(source, true)
    }

    fn with(source: Source, is_writable: bool) -> Self {
        let (catalog, session) = (Catalog::default(), Session::new());
        let notebook = source.notebook.clone().map(Notebook::in_file).unwrap_or_default();
        let growth = source.growth.clone().map(Growth::in_file).unwrap_or_default();
        let omitted = Arc::default();
        Self(Arc::new(State { source, catalog, session, notebook, growth, omitted, is_writable }))
    }

    /// Returns the number of stored rows that the pages and exports shown so far lack, because the store cannot represent them as entities. A row that several
    /// pages lack counts for each of them.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.0.omitted.load(Ordering::Relaxed)
    }

    /// Samples the sizes of the store and its tables. Does nothing without an engine.
    pub(crate) async fn sample(&self) {
        let State { source, catalog, growth, .. } = &*self.0;
        let Some(engine) = &source.engine else { return };
        // The catalog is reread to include new tables. If it cannot be read, the pages report the error.
        if let Ok(known) = catalog.read(&source.tables).await {
            growth.sample(source.names(), engine, &known, Utc::now()).await;
        }
    }

    /// Returns the path that opens the session. It contains a single-use token.
    #[must_use]
    pub fn first_path(&self) -> String {
        self.0.session.first_path()
    }

    /// Handles a request to the given host, such as `127.0.0.1:8000`.
    pub async fn handle(&self, request: Request<Bytes>, host: &str) -> Response<Body> {
        route::answer(&self.0, request, host).await
    }
}
