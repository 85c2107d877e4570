//! Snapshots: fixed states of the engine, for reads that span several pages or lookups.

use std::fmt;
use std::sync::Arc;

use table_store::Result;
use table_store::key::EntityKey;
use table_store::name::TableName;
use table_store::query::{Continuation, Page, Query, Select};
use table_store::store::StoredRow;

use crate::engine::Engine;
use crate::page;
use crate::state::State;

/// A fixed state of an [`Engine`]. All reads from a snapshot are consistent with each other, regardless of later writes.
///
/// Only the embedded engine supports snapshots. No service does (CON-9, ENG-15). Snapshots and the engine use the same continuations, so a query can start on a
/// snapshot and continue on the engine. The engine keeps running while a snapshot exists.
///
/// ```
/// use table_core::embedded::Engine;
/// use table_core::query::{KeyRange, Query};
/// use table_core::{TableName, TableStore};
///
/// let engine = Engine::in_memory();
/// let employees = TableName::new("Employee")?;
/// pollster::block_on(engine.create_table(&employees))?;
/// let before = engine.snapshot()?;
/// pollster::block_on(engine.delete_table(&employees))?;
/// let page = before.query(&employees, &Query::new(KeyRange::ALL), None)?; // the table is still there
/// assert!(page.rows.is_empty() && page.continuation.is_none());
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Snapshot {
    // IMPORTANT: field order matters. This field must be dropped before the engine handle, because dropping the last handle blocks until the base is closed.
    state: Arc<State>,
    engine: Engine,
}

impl Engine {
    /// Returns a snapshot of the engine's current state. All pages read from the snapshot see the same state. Only the embedded engine supports this (ENG-15).
    ///
    /// While the snapshot exists, its rows keep their space, even if they are deleted or replaced.
    ///
    /// # Errors
    /// - `EngineClosed` if the engine is closed.
    /// - `EnginePoisoned` if a panic has interrupted a write to an in-memory engine.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot { state: self.inner.state_to_keep()?, engine: self.clone() })
    }
}

impl Snapshot {
    /// Returns one entity, or `None` if it does not exist.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `EngineClosed` if the engine is closed.
    pub fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.engine.inner.shared.check_open()?;
        let id = self.engine.table_id(&self.state, table)?;
        let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
        let found = page::get(&self.state, id, partition_key, row_key, select);
        self.engine
            .inner
            .shared
            .after_read(found)
            .map_err(|error| error.with_table(table.as_str()).with_key(partition_key, row_key))
    }

    /// Returns one page of a query.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `InvalidInput` if `top` is out of range (TOP-2) or the continuation belongs to another query (PAGE-9).
    /// - `EngineClosed` if the engine is closed.
    pub fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.engine.inner.shared.check_open()?;
        let id = self.engine.table_id(&self.state, table)?;
        let page = page::read(&self.state, (id, table), query, from, self.engine.page_bounds());
        let read = self.engine.inner.shared.after_read(page);
        let (page, gap) = read.map_err(|error| error.with_table(table.as_str()))?;
        self.engine.remember(gap);
        Ok(page)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("engine", &self.engine).finish_non_exhaustive()
    }
}
