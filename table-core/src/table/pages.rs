//! Pages of a query over one or more key ranges. The pages follow the order of the ranges, and a page may be empty (PAGE rules).

use std::fmt;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::{FutureExt, StreamExt, TryFutureExt, TryStreamExt, stream};
use table_store::{Error, Result};

use crate::entity::Around;
use crate::filter::Filter;
use crate::limits::PAGE_ENTITIES;
use crate::name::TableName;
use crate::query::{Continuation, KeyRange, Page, Position, Query, Select};
use crate::selection::fault::SelectionFault;
use crate::store::TableStore;
use crate::table::layout::{self, SchemaRecord};
use crate::table::look_ahead::LookAhead;
use crate::table::request;

/// The number of ranges read concurrently in a fan-out, which is a query over several ranges (IMP-5).
const CONCURRENCY: usize = 8;

/// The parameters of a query over key ranges, as set with a query builder.
#[derive(Clone, Debug)]
pub(crate) struct Paging {
    /// The ranges in key order, or the error that the first request returns.
    pub(crate) ranges: Result<Vec<KeyRange>>,
    /// The condition on the entities in the ranges.
    pub(crate) filter: Option<Filter>,
    /// The requested properties.
    pub(crate) select: Select,
    /// The maximum number of entities in a page. A page size of 0 fails the first request.
    pub(crate) top: Option<usize>,
    /// The maximum number of entities in total.
    pub(crate) limit: Option<usize>,
    /// `true` if the query may skip rows of other types. In that case, it may have to read more rows than the limit.
    pub(crate) is_mixed: bool,
    /// A function that removes ranges whose rows could be mistaken for the entities. `None` if no range must be removed.
    pub(crate) around: Option<Around>,
}

impl Paging {
    pub(crate) const fn new(ranges: Result<Vec<KeyRange>>) -> Self {
        Self {
            ranges,
            filter: None,
            select: Select::All,
            top: None,
            limit: None,
            is_mixed: false,
            around: None,
        }
    }

    /// Adds a condition, combined with the existing one by `and`.
    pub(crate) fn and(&mut self, filter: Filter) {
        self.filter = Some(match self.filter.take() {
            Some(earlier) => earlier.and(filter),
            None => filter,
        });
    }

    /// Sets the maximum number of entities in total. A limit of 0 is an error, because the query would read nothing.
    pub(crate) fn limit(&mut self, entities: usize) {
        self.limit = Some(entities).filter(|entities| *entities > 0);
        if entities == 0 && self.ranges.is_ok() {
            self.ranges = Err(Error::of(SelectionFault::NoEntities));
        }
    }

    /// Returns one query per range.
    ///
    /// If the query skips no rows of other types, its page size is at most the limit. Otherwise, rows of other types might fill a small page, so the limit does
    /// not affect the page size.
    pub(crate) fn queries(&self) -> Result<Vec<Query>> {
        self.queries_of(match (self.top, self.limit) {
            (top, Some(limit)) if !self.is_mixed && (1..top.unwrap_or(PAGE_ENTITIES)).contains(&limit) => {
                Some(limit)
            }
            (top, _) => top,
        })
    }

    /// Returns one query per range, with the given page size.
    fn queries_of(&self, top: Option<usize>) -> Result<Vec<Query>> {
        if self.top == Some(0) {
            return Err(Error::of(SelectionFault::EmptyPages));
        }
        let query = |keys: &KeyRange| Query {
            keys: keys.clone(),
            filter: self.filter.clone(),
            select: self.select.clone(),
            top,
        };
        let ranges = self.ranges.as_ref().map_err(Clone::clone)?;
        Ok(match self.around {
            Some(around) => around(ranges.clone()).iter().map(query).collect(),
            None => ranges.iter().map(query).collect(),
        })
    }
}

/// A function that checks a stored schema.
pub(crate) type CheckRecord = Arc<dyn Fn(Option<&SchemaRecord>) -> Result<()> + Send + Sync>;

/// A check of an entity type's stored schema. It runs before the first request of a query.
#[derive(Clone)]
pub(crate) struct SchemaCheck {
    pub(crate) table: TableName,
    pub(crate) entity: &'static str,
    pub(crate) check: CheckRecord,
}

impl SchemaCheck {
    async fn run<S: TableStore>(self, store: S) -> Result<()> {
        // The read is boxed to keep every query's future small. Few queries have a check, but this future is part of every query's future.
        let stored = layout::read(&store, &self.table, self.entity).boxed().await?;
        (self.check)(stored.as_ref()).map_err(|error| error.with_table(self.table.as_str()))
    }
}

impl fmt::Debug for SchemaCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaCheck")
            .field("table", &self.table)
            .field("entity", &self.entity)
            .finish_non_exhaustive()
    }
}

/// The store and table read by a query.
#[derive(Clone, Debug)]
pub(crate) struct PageSource<S> {
    pub(crate) store: S,
    pub(crate) table: Result<TableName>,
    /// The check to run before the first request, or `None` if none is needed.
    pub(crate) check: Option<SchemaCheck>,
}

impl<S> PageSource<S> {
    pub(crate) const fn new(store: S, table: Result<TableName>) -> Self {
        Self { store, table, check: None }
    }
}

impl<S: TableStore + Clone> PageSource<S> {
    pub(crate) fn table(&self) -> Result<&TableName> {
        self.table.as_ref().map_err(Clone::clone)
    }

    /// Returns the first page, or the page after the given continuation. Ignores the limit.
    pub(crate) async fn page(&self, paging: &Paging, from: Option<&Continuation>) -> Result<Page> {
        if let Some(check) = self.check.clone() {
            check.run(self.store.clone()).await?;
        }
        let table = self.table()?;
        let queries = paging.queries_of(paging.top)?;
        let (index, from) = match from {
            None => (0, None),
            Some(from) => place(table, &queries, from)?,
        };
        let Some(query) = queries.get(index) else { return Ok(Page::default()) };
        let mut page = request::page(&self.store, table, query, from).await?;
        if page.continuation.is_none() {
            page.continuation = queries.get(index + 1).map(|next| Continuation::start(table, next));
        }
        Ok(page)
    }
}

impl<S: TableStore + Clone> PageSource<S> {
    /// Streams all pages in key order. In a fan-out, the first pages of several ranges are requested concurrently. If the store [looks
    /// ahead](crate::store::Capabilities::looks_ahead), the next page is prefetched.
    pub(crate) fn pages(self, paging: &Paging) -> impl Stream<Item = Result<Page>> + Send + use<S> {
        let queries = self.table().cloned().and_then(|table| Ok((table, paging.queries()?)));
        let (queries, error) = match queries {
            Ok((table, queries)) => (queries.into_iter().map(|query| (table.clone(), query)).collect(), None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        let (store, check, top) = (self.store, self.check, paging.top);
        let looks_ahead = store.capabilities().looks_ahead;
        let checked = check.map(|check| check.run(store.clone()));
        let first =
            stream::iter(queries).map(move |(table, query)| first_page(store.clone(), table, query, top));
        let pages = stream::iter(error).chain(first.buffered(CONCURRENCY).map_ok(following).try_flatten());
        let pages = if looks_ahead {
            LookAhead::new(pages, paging.limit).left_stream()
        } else {
            pages.right_stream()
        };
        match checked {
            Some(checked) => checked.map_ok(move |()| pages).try_flatten_stream().left_stream(),
            None => pages.right_stream(),
        }
    }
}

/// The state of a range being read. It contains the current page, and the parameters of the next request.
struct UnderWay<S> {
    store: S,
    table: TableName,
    query: Query,
    page: Option<Page>,
    from: Option<Continuation>,
}

/// Requests the first page of a range. `top` is the page size for the later pages of the range.
async fn first_page<S: TableStore>(
    store: S,
    table: TableName,
    mut query: Query,
    top: Option<usize>,
) -> Result<UnderWay<S>> {
    let mut page = request::page(&store, &table, &query, None).await?;
    let from = page.continuation.take();
    query.top = top;
    Ok(UnderWay { store, table, query, page: Some(page), from })
}

fn following<S: TableStore>(range: UnderWay<S>) -> impl Stream<Item = Result<Page>> + Send + use<S> {
    stream::try_unfold(range, |mut range| async move {
        if let Some(page) = range.page.take() {
            return Ok(Some((page, range)));
        }
        let Some(from) = range.from.take() else { return Ok(None) };
        let mut page = request::page(&range.store, &range.table, &range.query, Some(&from)).await?;
        range.from = page.continuation.take();
        Ok(Some((page, range)))
    })
}

/// Returns `true` if the continuation marks the start of a range.
///
/// Earlier releases encoded the start of a partition as a continuation without a row key. That format is accepted too. No page of the partition ends at such a
/// continuation, so it cannot mean anything else.
fn is_start(table: &TableName, query: &Query, from: &Continuation) -> bool {
    let of_partition = |partition_key: &str| {
        let position = Position { partition_key: partition_key.to_owned(), row_key: None };
        Continuation::new(table, query, position)
    };
    *from == Continuation::start(table, query)
        || query.keys.partition_key.single().map(of_partition).as_ref() == Some(from)
}

/// Returns the index of the query whose range contains the continuation. Also returns the continuation itself, or `None` if it marks the start of the range.
fn place<'a>(
    table: &TableName,
    queries: &[Query],
    from: &'a Continuation,
) -> Result<(usize, Option<&'a Continuation>)> {
    let mut refused = None;
    for (index, query) in queries.iter().enumerate() {
        match from.check(table, query) {
            Ok(()) => {
                let is_start = index > 0 && is_start(table, query, from);
                return Ok((index, (!is_start).then_some(from)));
            }
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| Error::of(SelectionFault::NoKeys)))
}
