//! Queries that read the tables of several periods.

use std::fmt;
use std::marker::PhantomData;

use futures_core::Stream;
use futures_util::{TryStreamExt, stream};
use table_core::Result;
use table_core::column::Condition;
use table_core::entity::{Entity, Versioned};
use table_core::filter::Filter;
use table_core::limits::PAGE_ENTITIES;
use table_core::name::TableName;
use table_core::query::{KeyRange, Query};
use table_core::selection::{Class, Selection};
use table_core::store::TableStore;

use crate::periods::merge::Merge;

/// A builder for a query over several periods. Created by [`PeriodTables::query`](crate::periods::PeriodTables::query).
///
/// ```
/// use table_patterns::periods::PeriodQuery;
/// use table_patterns::{Entity, Result, TableStore};
///
/// /// Returns the first ten entities, and the number of tables queried.
/// async fn first<E: Entity, S: TableStore>(query: PeriodQuery<E, S>) -> Result<(usize, usize)> {
///     let tables = query.tables().len();
///     Ok((query.limit(10).collect().await?.len(), tables))
/// }
/// ```
#[must_use = "a query reads nothing until it is asked for its stream or collection"]
pub struct PeriodQuery<E, S> {
    store: S,
    tables: Vec<TableName>,
    ranges: Result<Vec<KeyRange>>,
    filter: Option<Filter>,
    limit: usize,
    of: PhantomData<fn() -> E>,
}

impl<E: Entity, S: TableStore> PeriodQuery<E, S> {
    pub(super) fn new<C: Class>(store: S, tables: Vec<TableName>, selection: Selection<E, C>) -> Self {
        let ranges = selection.into_ranges();
        Self { store, tables, ranges, filter: None, limit: usize::MAX, of: PhantomData }
    }

    /// Returns only entities that satisfy the condition. If this function is called several times, an entity must satisfy all conditions.
    pub fn filter(mut self, condition: Condition<E>) -> Self {
        let filter = condition.into_filter();
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(filter),
            None => filter,
        });
        self
    }

    /// Limits the number of returned entities.
    pub fn limit(self, entities: usize) -> Self {
        Self { limit: entities, ..self }
    }

    /// Returns the tables that the query reads. Each takes at least one request. A missing table counts as empty.
    #[must_use]
    pub fn tables(&self) -> &[TableName] {
        &self.tables
    }

    /// Streams the entities of all periods in key order, page by page from each table. If the store's pages are not in key order, every table is read
    /// completely before the first entity is returned.
    pub fn stream(self) -> impl Stream<Item = Result<Versioned<E>>> + use<E, S> {
        let top = (self.limit < PAGE_ENTITIES).then_some(self.limit.max(1));
        let query = |keys: KeyRange| Query {
            filter: self.filter.clone(),
            select: E::select(),
            top,
            ..Query::new(keys)
        };
        let queries = self.ranges.map(|ranges| ranges.into_iter().map(query).collect::<Vec<_>>());
        let merge = queries.map(|queries| Merge::new(self.store, self.tables, &queries));
        stream::try_unfold((Some(merge), self.limit), |(merge, left)| async move {
            let (Some(merge), Some(rest)) = (merge, left.checked_sub(1)) else { return Ok(None) };
            let mut merge = merge?;
            let next = merge.next::<E>().await?;
            Ok(next.map(|next| (next, (Some(Ok(merge)), rest))))
        })
    }

    /// Runs the query and returns all entities.
    ///
    /// # Errors
    /// `EntityMismatch` if a stored entity is not an `E`; any error from the store.
    pub async fn collect(self) -> Result<Vec<E>> {
        self.stream().map_ok(Versioned::into_value).try_collect().await
    }
}

debug_fields!([E, S: fmt::Debug] PeriodQuery[E, S] { tables, ranges, filter, limit, .. });
