//! Queries of typed entities: filter, projection, pages, streams.

pub(crate) mod refused;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use futures_core::Stream;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};

use crate::column::IntoCondition;
use crate::entity::{FromEntity, ProjectionOf, Versioned};
use crate::error::{Error, Result};
use crate::filter::{Filter, Term};
use crate::name::TableName;
use crate::query::{Continuation, EntityRef, KeyRange, Page, Plan, QueryClass, Select};
use crate::schema::IndexSchema;
use crate::selection::{IntoSelection, Paged, Primary, ReadableAs, Source};
use crate::set::SetOf;
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::{PageSource, Paging, Table, decode, request};

/// One page of entities.
///
/// Only the continuation shows whether more pages exist: a page that is short or empty may still have one (PAGE-4).
///
/// ```
/// use table_core::table::EntityPage;
///
/// /// Returns `true` if a list needs a "more" button.
/// fn has_more<T>(page: &EntityPage<T>) -> bool {
///     page.continuation.is_some() // not: page.items.len() == 1_000
/// }
/// # fn page(page: &EntityPage<u8>) -> bool { has_more(page) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityPage<T> {
    /// The entities, in key order (QRY-3).
    pub items: Vec<Versioned<T>>,
    /// The start of the next page; `None` for the last page. The continuation does not depend on the store's state and can be saved (PAGE-7).
    pub continuation: Option<Continuation>,
    /// The number of entities that the store read for the page; `None` if unknown.
    pub rows_read: Option<u64>,
}

/// A query under construction on a table of `E`. Its entities are read from `F` as `T`. No request is sent until [`page`](Self::page),
/// [`stream`](Self::stream) or one of the `collect` functions is called, or the query is awaited.
///
/// ```
/// # use table_core::{Entity, Table, TableStoreExt, embedded::Engine};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// employees.insert(&ada).await?;
/// let query = employees.query(Employee::partition("Sales")).filter(Employee::AGE.ge(30)).page_size(50);
/// assert!(query.plan()?.to_string().contains("PartitionKey eq 'Sales' and Age ge 30"));
/// let page = query.page().await?;
/// assert_eq!((page.items.len(), page.continuation), (1, None));
/// assert_eq!(query.collect().await?, [ada]);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a query has no effect until a page, a stream or a collection is requested"]
pub struct EntityQuery<E, S, T = E, F = Primary> {
    source: PageSource<S>,
    paging: Paging,
    class: QueryClass,
    of: PhantomData<fn() -> (E, T)>,
    from: PhantomData<fn() -> F>,
}

impl<E: FromEntity, S: TableStore + Clone> Table<E, S> {
    /// Starts a query of a selection that can span several pages: a range, a partition, or a fan-out.
    ///
    /// To read a point, use [`get`](Self::get); to read the entire table, use [`scan`](Self::scan). A selection from an index reads the copies in the
    /// index's table.
    pub fn query<C: Paged, F: Source>(
        &self,
        selection: impl IntoSelection<E, C, F>,
    ) -> EntityQuery<E, S, E, F> {
        let selection = selection.into_selection();
        let class = selection.class();
        self.query_ranges(selection.into_ranges(), class)
    }

    pub(crate) fn query_ranges<F: Source>(
        &self,
        ranges: Result<Vec<KeyRange>>,
        class: QueryClass,
    ) -> EntityQuery<E, S, E, F> {
        let mut paging = Paging::new(ranges);
        paging.select = E::select();
        paging.is_mixed = F::INDEX.is_none() && E::IS_MIXED;
        let table = request::table_of::<F>(self.name()).map(Cow::into_owned);
        EntityQuery {
            source: PageSource { store: self.store.clone(), table },
            paging,
            class,
            of: PhantomData,
            from: PhantomData,
        }
    }

    pub(super) fn source(&self) -> PageSource<S> {
        PageSource { store: self.store.clone(), table: self.name.clone() }
    }
}

impl<E, S: TableStore + Clone, T> EntityQuery<E, S, T> {
    /// Reads all rows with the selected keys as members of a set. Each row is recognised by its key or kind (PAT-HET-4). A row that belongs to no
    /// member is read as a [`TableEntity`](crate::TableEntity) (PAT-HET-6).
    pub fn read_as<U: SetOf<E>>(self) -> EntityQuery<E, S, U> {
        self.reading()
    }
}

impl<E, S: TableStore + Clone, T, F: Source> EntityQuery<E, S, T, F> {
    /// Adds a condition. All conditions must match.
    ///
    /// A filter reduces the result, but not the rows that are read, so the cost class is unchanged (CLS-4).
    ///
    /// A query of an index fails with `InvalidInput` if the condition uses a property that the copies do not store.
    pub fn filter(mut self, condition: impl IntoCondition<E>) -> Self {
        let filter = condition.into_condition().into_filter();
        if let Some(error) = F::INDEX.and_then(|index| not_stored(index, &filter))
            && self.paging.ranges.is_ok()
        {
            self.paging.ranges = Err(error);
        }
        self.paging.and(filter);
        self
    }

    /// Sets the maximum number of entities in a page, which is one request; the default is 1,000 (TOP-1). To limit the total number of entities,
    /// use [`limit`](Self::limit).
    pub const fn page_size(mut self, entities: usize) -> Self {
        self.paging.top = Some(entities);
        self
    }

    /// Sets the maximum number of entities in total, at least 1. It applies to [`stream`](Self::stream) and the `collect` functions, not to a
    /// single [`page`](Self::page).
    pub fn limit(mut self, entities: usize) -> Self {
        self.paging.limit(entities);
        self
    }

    /// Reads the entities as another type. Only the properties of that type are requested (DQ-13).
    pub fn project<P: ProjectionOf<E>>(self) -> EntityQuery<E, S, P, F>
    where
        F: ReadableAs<P>,
    {
        self.reading()
    }

    fn reading<P>(self) -> EntityQuery<E, S, P, F>
    where
        F: ReadableAs<P>,
    {
        let mut paging = self.paging;
        paging.select = F::select();
        paging.is_mixed = F::IS_MIXED;
        EntityQuery { source: self.source, paging, class: self.class, of: PhantomData, from: PhantomData }
    }

    /// Returns the cost class of the query (CLS-1).
    #[must_use]
    pub const fn class(&self) -> QueryClass {
        self.class
    }

    /// Returns the plan of the query, computed without I/O (design promise 2).
    ///
    /// # Errors
    /// `KeyEncoding` if a value of the selection cannot be encoded in a key.
    pub fn plan(&self) -> Result<Plan> {
        Ok(request::with_index::<F>(Plan::new(self.source.table()?, self.class, &self.paging.queries()?)))
    }

    /// Returns the first page.
    ///
    /// # Errors
    /// `TableNotFound` if the table does not exist (OPT-6); `KeyEncoding` if a value of the selection cannot be encoded in a key; `InvalidInput` for
    /// a page size out of range (TOP-2), a limit of 0, or a range that starts after its end; `EntityMismatch` if a stored row is not a `T`.
    pub async fn page(&self) -> Result<EntityPage<T>>
    where
        F: ReadableAs<T>,
    {
        self.read(self.source.page(&self.paging, None).await?)
    }

    /// Returns the page that follows an earlier page of the same query.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page), and `InvalidInput` for the continuation of another query (PAGE-9).
    pub async fn page_from(&self, continuation: &Continuation) -> Result<EntityPage<T>>
    where
        F: ReadableAs<T>,
    {
        self.read(self.source.page(&self.paging, Some(continuation)).await?)
    }

    fn read(&self, page: Page) -> Result<EntityPage<T>>
    where
        F: ReadableAs<T>,
    {
        Ok(EntityPage {
            items: decode::items::<F, T>(self.source.table()?, &page)?,
            rows_read: page.rows_read,
            continuation: page.continuation,
        })
    }

    /// Streams the entities of all pages (PAGE-4), up to the [`limit`](Self::limit).
    ///
    /// The stream borrows nothing. Each page is a snapshot, but the stream is not (CON-9). One page is buffered, and entities are decoded lazily.
    pub fn stream(self) -> impl Stream<Item = Result<Versioned<T>>> + use<E, S, T, F>
    where
        F: ReadableAs<T>,
    {
        let (limit, table) = (self.paging.limit.unwrap_or(usize::MAX), self.source.table.clone());
        let entities = move |page: Result<Page>| {
            let table = table.as_ref().map_err(Clone::clone)?;
            Ok::<_, Error>(stream::iter(decode::each::<F, T>(table.clone(), page?)))
        };
        self.source.pages(&self.paging).map(entities).try_flatten().take(limit)
    }

    /// Lends each entity to `each`, up to the [`limit`](Self::limit). Returns the number of entities.
    ///
    /// The function buffers one page and decodes each entity into the memory of the previous one. This is the fastest way to read entities, and uses
    /// the least memory. To keep an entity, clone it, or use [`collect`](Self::collect) or [`stream`](Self::stream).
    ///
    /// ```
    /// # use table_core::{Entity, TableStoreExt, embedded::Engine};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
    /// # pollster::block_on(async {
    /// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// # employees.insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await?;
    /// let mut ages = 0;
    /// let handed = employees.query(Employee::partition("Sales")).for_each(|employee| ages += employee.age).await?;
    /// assert_eq!((handed, ages), (1, 36));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Any error from [`page`](Self::page). Entities read before the error have been passed to `each`.
    pub async fn for_each(self, mut each: impl FnMut(&Versioned<T>)) -> Result<u64>
    where
        F: ReadableAs<T>,
    {
        let mut lent = 0;
        let mut each = |entity: &Versioned<T>| {
            lent += 1;
            each(entity);
        };
        self.each_page(|table, page, left| decode::lend::<F, T>(table, page, left, &mut each)).await?;
        Ok(lent)
    }

    /// Passes each page to `read` with the remaining limit. `read` returns the number of entities that it used.
    async fn each_page(self, mut read: impl FnMut(&TableName, &Page, usize) -> Result<usize>) -> Result<()> {
        let table = self.source.table()?.clone();
        let mut left = self.paging.limit.unwrap_or(usize::MAX);
        let mut pages = std::pin::pin!(self.source.pages(&self.paging));
        while left > 0
            && let Some(page) = pages.try_next().await?
        {
            left -= read(&table, &page, left)?;
        }
        Ok(())
    }

    /// Returns the number of entities, up to the [`limit`](Self::limit). Reads all of them, because the service cannot count.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page).
    pub async fn count(self) -> Result<u64>
    where
        F: ReadableAs<T>,
    {
        self.for_each(|_| {}).await
    }

    /// Returns all entities with their versions.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page).
    pub async fn collect_versioned(self) -> Result<Vec<Versioned<T>>>
    where
        F: ReadableAs<T>,
    {
        let mut all = Vec::new();
        let mut take = |entity| all.push(entity);
        self.each_page(|table, page, left| decode::hand_over::<F, T>(table, page, left, &mut take)).await?;
        Ok(all)
    }

    /// Returns all entities.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page).
    pub async fn collect(self) -> Result<Vec<T>>
    where
        F: ReadableAs<T>,
    {
        let mut all = Vec::new();
        let mut take = |entity: Versioned<T>| all.push(entity.into_value());
        self.each_page(|table, page, left| decode::hand_over::<F, T>(table, page, left, &mut take)).await?;
        Ok(all)
    }

    /// Returns the results of `read`, which is called for each stored row with all its properties. Use this function
    /// if you need more than a `T`, such as the key of the index row.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page) or `read`.
    pub async fn collect_with<R>(mut self, read: impl Fn(EntityRef<'_>) -> Result<R>) -> Result<Vec<R>> {
        let limit = self.paging.limit.unwrap_or(usize::MAX);
        self.paging.select = Select::All;
        let table = self.source.table()?.clone();
        let mut all = Vec::new();
        let mut pages = std::pin::pin!(self.source.pages(&self.paging));
        while all.len() < limit
            && let Some(page) = pages.try_next().await?
        {
            for entity in page.rows.iter().take(limit - all.len()) {
                let here = |error: Error| {
                    error.with_table(table.as_str()).with_key(entity.partition_key, entity.row_key)
                };
                all.push(read(entity).map_err(here)?);
            }
        }
        Ok(all)
    }

    /// Returns the first entity in key order, or `None`. Requests pages of one entity, or full pages if the query has a filter or the type belongs to
    /// a set.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page).
    pub async fn first(self) -> Result<Option<Versioned<T>>>
    where
        F: ReadableAs<T>,
    {
        let narrows = self.paging.filter.is_some() || self.paging.is_mixed;
        let query = if narrows { self } else { self.page_size(1) };
        Ok(query.limit(1).collect_versioned().await?.pop())
    }
}

/// Reads all entities, like [`collect`](EntityQuery::collect).
///
/// ```
/// # use table_core::{Entity, TableStoreExt, embedded::Engine};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// let sales: Vec<Employee> = employees.query(Employee::partition("Sales")).await?;
/// assert!(sales.is_empty());
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
impl<E, S, T, F> IntoFuture for EntityQuery<E, S, T, F>
where
    E: 'static,
    S: TableStore + Clone + 'static,
    T: Send + 'static,
    F: ReadableAs<T>,
{
    type Output = Result<Vec<T>>;
    type IntoFuture = BoxFuture<'static, Result<Vec<T>>>;

    fn into_future(self) -> Self::IntoFuture {
        self.collect().boxed()
    }
}

impl<E, S, T, F> EntityQuery<E, S, T, F> {
    pub(crate) fn with_select(mut self, select: Select) -> Self {
        self.paging.select = select;
        self
    }

    pub(crate) fn with_filter(mut self, filter: Filter) -> Self {
        self.paging.and(filter);
        self
    }
}

/// Returns the error for a condition on a property that the copies of an index do not store, which would never match.
fn not_stored(index: &IndexSchema, filter: &Filter) -> Option<Error> {
    let names = filter.terms().iter().filter_map(|term| match term {
        Term::Compare { name, .. } | Term::Bool(name) => Some(name.as_ref()),
        Term::And | Term::Or | Term::Not => None,
    });
    let mut missing = names.filter(|name| {
        let is_stored = index.properties.iter().any(|property| property.name == *name);
        !is_stored && !matches!(*name, "PartitionKey" | "RowKey" | "Timestamp")
    });
    missing.next().map(|name| {
        let fault = TableFault::NotInIndex { index: index.name, name: name.to_owned() };
        Error::of(fault).with_property(name)
    })
}

impl<E, S: Clone, T, F> Clone for EntityQuery<E, S, T, F> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            paging: self.paging.clone(),
            class: self.class,
            of: PhantomData,
            from: PhantomData,
        }
    }
}

impl<E, S: fmt::Debug, T, F> fmt::Debug for EntityQuery<E, S, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityQuery")
            .field("source", &self.source)
            .field("paging", &self.paging)
            .field("class", &self.class)
            .finish()
    }
}
