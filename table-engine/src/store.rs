//! The engine as a [`TableStore`].

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use table_store::key::EntityKey;
use table_store::limits::TransactionMeasure;
use table_store::name::TableName;
use table_store::query::{Continuation, Page, Query, Select};
use table_store::store::{Capabilities, Committed, DynTableStore, StoredRow, TablePage, TableStore};
use table_store::transaction::Transaction;
use table_store::{Error, Result};
use tracing::Instrument;

use crate::apply::Writes;
use crate::engine::Engine;
use crate::event::event;
use crate::fault::EngineFault;
use crate::key;
use crate::page::{self, PageBounds};
use crate::request::{Request, Write};
use crate::state::State;

/// Counts a call. Returns `true` for every n-th call, where n is `every`. The caller then injects a fault.
fn is_due(every: Option<NonZeroU32>, counter: &AtomicU32) -> bool {
    // If no fault is configured, the counter is not updated, so callers do not contend for its cache line.
    every.is_some_and(|every| (counter.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(every.get()))
}

impl Engine {
    pub(crate) fn check_busy(&self) -> Result<()> {
        if is_due(self.faults.busy_every, &self.inner.calls.all) {
            return Err(Error::of(EngineFault::Busy));
        }
        Ok(())
    }

    /// Returns the bounds on a page. Injected faults can reduce them.
    pub(crate) fn page_bounds(&self) -> PageBounds {
        let faults = &self.faults;
        let most = PageBounds::DEFAULT.entities;
        PageBounds {
            entities: faults.page_entities.map_or(most, |entities| entities.get().min(most)),
            partition: faults.partition_pages,
            ..PageBounds::DEFAULT
        }
    }

    /// Returns the id of a table in a state.
    pub(crate) fn table_id(&self, state: &State, table: &TableName) -> Result<u32> {
        state.catalog.find(table, || self.inner.steady.now()).map(|entry| entry.id)
    }

    fn get_now(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.check_busy()?;
        let state = self.inner.state()?;
        let id = self.table_id(&state, table)?;
        let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
        let found = page::get(&state, id, partition_key, row_key, select);
        let found = self
            .inner
            .shared
            .after_read(found)
            .map_err(|error| error.with_table(table.as_str()).with_key(partition_key, row_key))?;
        event!(
            trace,
            operation = "get",
            table = table.as_str(),
            class = "point query",
            found = found.is_some(),
            bytes = found.as_ref().map_or(0, |found| found.row.as_bytes().len()),
        );
        Ok(found)
    }

    fn query_now(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.check_busy()?;
        let faults = &self.faults;
        let empty_every = faults.empty_page_every.map(|every| every.max(NonZeroU32::MIN.saturating_add(1)));
        let empty_due = is_due(empty_every, &self.inner.calls.pages);
        let state = self.inner.state()?;
        let outcome = self.table_id(&state, table).and_then(|id| {
            let (page, gap) = page::read(&state, (id, table), query, from, self.page_bounds())?;
            self.remember(gap);
            let empty = if empty_due { page::empty_page((id, table), query, from) } else { None };
            Ok(empty.unwrap_or(page))
        });
        let page = self.inner.shared.after_read(outcome).map_err(|error| error.with_table(table.as_str()))?;
        event!(
            debug,
            operation = "query",
            table = table.as_str(),
            class = %query.keys.class(),
            rows_read = page.rows_read,
            rows_returned = page.rows.len(),
            more = page.continuation.is_some(),
        );
        Ok(page)
    }

    /// Checks a transaction against the limits and encodes its keys. Neither step needs the engine's state, so the caller's thread performs both.
    fn writes(&self, transaction: Transaction) -> Result<Writes> {
        if transaction.operations().is_empty() {
            return Err(Error::of(EngineFault::NoOperations));
        }
        let mut limits = self.inner.capabilities.limits;
        if transaction.limits().measure == TransactionMeasure::Unmeasured {
            limits.measure = TransactionMeasure::Unmeasured;
        }
        let transaction =
            if *transaction.limits() == limits { transaction } else { transaction.with_limits(limits)? };
        let (partition_key, operations) = transaction.into_parts();
        let mut key = key::of_rows(partition_key.as_str());
        let keyed = operations.into_iter().map(|operation| (key(operation.row_key.as_str()), operation));
        Ok(Writes { operations: keyed.collect(), partition_key })
    }
}

/// Wraps the engine as a type-erased store. [`DynTableStore::new`] wraps other stores.
///
/// ```
/// use table_core::{DynTableStore, Engine};
///
/// let store: DynTableStore = Engine::in_memory().into();
/// ```
impl From<Engine> for DynTableStore {
    fn from(engine: Engine) -> Self {
        Self::new(engine)
    }
}

impl TableStore for Engine {
    fn capabilities(&self) -> &Capabilities {
        &self.inner.capabilities
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.check_busy()?;
        let span = tracing::debug_span!(target: "table_core::engine", "create_table", table = table.as_str());
        let table = table.clone();
        self.ask(|answer| Request::Write(Write::Create { table, answer })).instrument(span).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.check_busy()?;
        let span = tracing::debug_span!(target: "table_core::engine", "delete_table", table = table.as_str());
        let table = table.clone();
        self.ask(|answer| Request::Write(Write::Drop { table, answer })).instrument(span).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.check_busy()?;
        let top = page::check_top(Some(top))?;
        Ok(self.inner.state()?.catalog.page(prefix, from, top))
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.get_now(table, key, select)
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.query_now(table, query, from)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.check_busy()?;
        let span = tracing::debug_span!(
            target: "table_core::engine",
            "submit",
            table = table.as_str(),
            operations = transaction.operations().len(),
            bytes = transaction.bytes(),
            first = transaction.operations().first().map(|operation| operation.kind.name()),
        );
        let writes = self.writes(transaction).map_err(|error| error.with_table(table.as_str()))?;
        let name = table.clone();
        let committed = self
            .ask(|answer| Request::Write(Write::Submit { table: name, writes, answer }))
            .instrument(span)
            .await?;
        if is_due(self.faults.lose_answer_every, &self.inner.calls.transactions) {
            return Err(Error::of(EngineFault::LostAnswer).with_table(table.as_str()));
        }
        Ok(committed)
    }
}
