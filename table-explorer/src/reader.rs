//! Reads the store for a page, and counts the requests and rows that the page reports.

mod counted;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use table_core::query::{EntityRef, Select};
use table_core::{
    Continuation, DynTableStore, EntityKey, FromEntity, Page, Query, TableEntity, TableName, TableStore,
};
use table_inspect::TypeSelection;

use crate::failure::Result;

pub(crate) use counted::Counted;

/// The maximum number of requests for reading a query's first rows.
const REQUESTS: usize = 24;

/// A request-counting reader for one page.
#[derive(Debug)]
pub(crate) struct Reader {
    store: Counted,
}

/// A page of rows, with the number of rows that the store read to produce it.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<TableEntity>,
    pub(crate) next: Option<Continuation>,
    /// The number of rows the store read.
    pub(crate) read: u64,
}

/// The first rows of a query result.
#[derive(Debug, Default)]
pub(crate) struct First {
    pub(crate) rows: Vec<TableEntity>,
    /// `true` if the result is complete.
    pub(crate) is_all: bool,
}

impl First {
    /// Returns `true` if the query result is known to be empty.
    pub(crate) fn is_none(&self) -> bool {
        self.rows.is_empty() && self.is_all
    }
}

/// The cost of a page: requests sent and rows read, and the rows that its result lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) requests: u64,
    pub(crate) rows: u64,
    /// The number of stored rows that the store omitted, because it cannot represent them as entities.
    pub(crate) omitted: u64,
}

/// Reads one page of a query result with one request, omitting rows not selected by `entities`. Also returns the number of rows read by the store.
pub(crate) async fn request(
    store: &impl TableStore,
    table: &TableName,
    query: &Query,
    entities: Option<&TypeSelection>,
    from: Option<&Continuation>,
) -> Result<(Page, u64)> {
    let Some(entities) = entities else {
        let page = store.query(table, query, from).await?;
        let read = page.rows_read.unwrap_or(page.rows.len() as u64);
        return Ok((page, read));
    };
    let complete = Query { select: TypeSelection::request(&query.select), ..query.clone() };
    let page = store.query(table, &complete, from).await?;
    let read = page.rows_read.unwrap_or(page.rows.len() as u64);
    Ok((Page { rows: entities.of_page(&page.rows, &query.select)?, ..page }, read))
}

impl Reader {
    /// Creates a reader. The rows that the store omits are also added to `omitted_in_total`.
    pub(crate) fn new(store: DynTableStore, omitted_in_total: Arc<AtomicU64>) -> Self {
        Self { store: Counted::new(store, omitted_in_total) }
    }

    pub(crate) fn cost(&self) -> Cost {
        self.store.cost()
    }

    /// Returns the store, wrapped to count its requests for this page.
    pub(crate) fn store(&self) -> Counted {
        self.store.clone()
    }

    /// Returns the store as a [`DynTableStore`], wrapped to count its requests for this page.
    pub(crate) fn shared(&self) -> DynTableStore {
        DynTableStore::new(self.store())
    }

    /// Counts requests that are not sent through [`store`](Self::store), such as queue requests.
    pub(crate) fn count(&self, requests: u64) {
        self.store.count(requests, 0);
    }

    /// Reads one page of a query result with one request.
    pub(crate) async fn page(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> Result<Found> {
        self.page_of(table, query, None, from).await
    }

    /// Reads one page of a query result with one request, omitting rows not selected by `entities`.
    pub(crate) async fn page_of(
        &self,
        table: &TableName,
        query: &Query,
        entities: Option<&TypeSelection>,
        from: Option<&Continuation>,
    ) -> Result<Found> {
        let (page, read) = request(&self.store, table, query, entities, from).await?;
        let rows = page.rows.iter().map(TableEntity::from_entity).collect::<table_core::Result<Vec<_>>>()?;
        Ok(Found { rows, next: page.continuation, read })
    }

    /// Reads the first rows of a query result: at most `query.top` rows, or all rows if `top` is not set. Follows short and empty pages, but stops after
    /// [`REQUESTS`] requests.
    pub(crate) async fn first(&self, table: &TableName, query: &Query) -> Result<First> {
        let most = query.top.unwrap_or(usize::MAX);
        let mut found = First::default();
        let mut from = None;
        for _ in 0..REQUESTS {
            let page = self.page(table, query, from.as_ref()).await?;
            found.rows.extend(page.rows);
            from = page.next;
            if from.is_none() || found.rows.len() >= most {
                break;
            }
        }
        found.is_all = from.is_none() && found.rows.len() <= most;
        found.rows.truncate(most);
        Ok(found)
    }

    /// Reads one entity with one request.
    pub(crate) async fn get(&self, table: &TableName, key: &EntityKey) -> Result<Option<TableEntity>> {
        let Some(found) = self.store.get(table, key, &Select::All).await? else { return Ok(None) };
        let row = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), found.row.view());
        Ok(Some(TableEntity::from_entity(row.with_etag(&found.etag))?))
    }
}
