//! Queries of typed entities: condition, projection, pages, streams.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::column::Condition;
use crate::entity::{FromEntity, ProjectionOf, Versioned};
use crate::error::{Error, Result};
use crate::filter::{Filter, Term};
use crate::name::TableName;
use crate::query::{Continuation, EntityRef, KeyRange, Page, Plan, QueryClass, Select};
use crate::schema::IndexSchema;
use crate::selection::{Paged, Primary, Reads, Selection, Source};
use crate::set::SetOf;
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::{PageSource, Paging, Table, decode, request};

/// One page of entities.
///
/// Only the continuation says whether more may come: a page may be short, or empty, and still have one (PAGE-4).
///
/// ```
/// use table_core::table::EntityPage;
///
/// /// Whether a list shows a button for more.
/// fn has_more<T>(page: &EntityPage<T>) -> bool {
///     page.continuation.is_some() // and not: page.items.len() == 1_000
/// }
/// # fn page(page: &EntityPage<u8>) -> bool { has_more(page) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityPage<T> {
    /// The entities, in key order (QRY-3).
    pub items: Vec<Versioned<T>>,
    /// The position of the next page; `None` at the end. It holds no state of the store and may be kept (PAGE-7).
    pub continuation: Option<Continuation>,
    /// How many entities were read to find these; `None` if the backend does not say.
    pub rows_read: Option<u64>,
}

/// A query of a table of `E` under construction, whose entities will be read from `F` as `T`. Sends nothing before it is asked
/// for [`page`](Self::page), [`stream`](Self::stream) or one of the collecting verbs.
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
/// let query = employees.query(Employee::partition("Sales")).filter(Employee::AGE.ge(30)).top(50);
/// assert!(query.plan()?.to_string().contains("PartitionKey eq 'Sales' and Age ge 30"));
/// let page = query.page().await?;
/// assert_eq!((page.items.len(), page.continuation), (1, None));
/// assert_eq!(query.collect().await?, [ada]);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a query reads nothing until it is asked for its page, stream or collection"]
pub struct EntityQuery<E, S, T = E, F = Primary> {
    source: PageSource<S>,
    paging: Paging,
    class: QueryClass,
    of: PhantomData<fn() -> (E, T)>,
    from: PhantomData<fn() -> F>,
}

impl<E: FromEntity, S: TableStore + Clone> Table<E, S> {
    /// Begins a query of a selection that is answered in pages: a range, a partition, a fan-out.
    ///
    /// A point is read by [`get`](Self::get); reading the whole table is another verb, [`scan`](Self::scan).
    /// Rows of an index are read from its copies, in their table.
    pub fn query<C: Paged, F: Source>(
        &self,
        selection: impl Into<Selection<E, C, F>>,
    ) -> EntityQuery<E, S, E, F> {
        let selection = selection.into();
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
    /// Reads all rows of the keys as the members of a set, each recognized by its key or its kind (PAT-HET-4); a row of no
    /// member is kept as a bag (PAT-HET-6).
    pub fn read_as<U: SetOf<E>>(self) -> EntityQuery<E, S, U> {
        self.reading()
    }
}

impl<E, S: TableStore + Clone, T, F: Source> EntityQuery<E, S, T, F> {
    /// Only entities that satisfy the condition; several conditions must all hold.
    ///
    /// It narrows the answer, not what is read: the class of the query stays (CLS-4).
    ///
    /// Of an index the condition is on what its copies store; where it is not, the query is refused (`InvalidInput`).
    pub fn filter(mut self, condition: Condition<E>) -> Self {
        let filter = condition.into_filter();
        if let Some(error) = F::INDEX.and_then(|index| not_stored(index, &filter))
            && self.paging.ranges.is_ok()
        {
            self.paging.ranges = Err(error);
        }
        self.paging.and(filter);
        self
    }

    /// At most this many entities a page, 1,000 by default (TOP-1). For a bound on the whole answer see
    /// [`limit`](Self::limit).
    pub const fn top(mut self, entities: usize) -> Self {
        self.paging.top = Some(entities);
        self
    }

    /// At most this many entities in all. Counts for what follows the pages ([`stream`](Self::stream) and the collecting
    /// verbs), not for a single [`page`](Self::page).
    pub const fn limit(mut self, entities: usize) -> Self {
        self.paging.limit = Some(entities);
        self
    }

    /// Reads the entities as another type, which asks the store for its own properties only (DQ-13).
    pub fn project<P: ProjectionOf<E>>(self) -> EntityQuery<E, S, P, F>
    where
        F: Reads<P>,
    {
        self.reading()
    }

    fn reading<P>(self) -> EntityQuery<E, S, P, F>
    where
        F: Reads<P>,
    {
        let mut paging = self.paging;
        paging.select = F::select();
        paging.is_mixed = F::IS_MIXED;
        EntityQuery { source: self.source, paging, class: self.class, of: PhantomData, from: PhantomData }
    }

    /// The cost class of the query (CLS-1).
    #[must_use]
    pub const fn class(&self) -> QueryClass {
        self.class
    }

    /// The plan of the query, computed without I/O (design promise 2).
    ///
    /// # Errors
    /// `KeyEncoding` if a value of the selection has no text in a key.
    pub fn plan(&self) -> Result<Plan> {
        Ok(request::with_index::<F>(Plan::new(self.source.table()?, self.class, &self.paging.queries()?)))
    }

    /// The first page.
    ///
    /// # Errors
    /// `TableNotFound` (OPT-6); `KeyEncoding` if a value of the selection has no text in a key; `InvalidInput` for a `top`
    /// out of range (TOP-2); `EntityMismatch` if what is stored is not a `T`.
    pub async fn page(&self) -> Result<EntityPage<T>>
    where
        F: Reads<T>,
    {
        self.read(self.source.page(&self.paging, None).await?)
    }

    /// The page that begins where an earlier one of the same query ended.
    ///
    /// # Errors
    /// Those of [`page`](Self::page), and `InvalidInput` for the continuation of another query (PAGE-9).
    pub async fn page_from(&self, continuation: &Continuation) -> Result<EntityPage<T>>
    where
        F: Reads<T>,
    {
        self.read(self.source.page(&self.paging, Some(continuation)).await?)
    }

    fn read(&self, page: Page) -> Result<EntityPage<T>>
    where
        F: Reads<T>,
    {
        Ok(EntityPage {
            items: decode::items::<F, T>(self.source.table()?, &page)?,
            rows_read: page.rows_read,
            continuation: page.continuation,
        })
    }

    /// The entities one after another, page after page, through empty pages (PAGE-4), at most [`limit`](Self::limit).
    ///
    /// The stream borrows nothing and holds no snapshot: each page is one of its own (CON-9). It holds one page at a time; an
    /// entity is decoded when it is asked for.
    pub fn stream(self) -> impl Stream<Item = Result<Versioned<T>>> + use<E, S, T, F>
    where
        F: Reads<T>,
    {
        let (limit, table) = (self.paging.limit.unwrap_or(usize::MAX), self.source.table.clone());
        let entities = move |page| {
            let table = table.as_ref().map_err(Clone::clone)?;
            Ok(stream::iter(decode::each::<F, T>(table.clone(), page?)))
        };
        self.source.pages(&self.paging).map(entities).try_flatten().take(limit)
    }

    /// Lends each entity to `each`, page after page, at most [`limit`](Self::limit); gives how many.
    ///
    /// One page is held at a time and one entity is decoded at a time, into the memory of the one before it, so that this is the way
    /// with the least memory and time. To keep an entity, clone it, or take it from [`collect`](Self::collect) or
    /// [`stream`](Self::stream).
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
    /// Those of [`page`](Self::page); what was handed over before has been.
    pub async fn for_each(self, mut each: impl FnMut(&Versioned<T>)) -> Result<u64>
    where
        F: Reads<T>,
    {
        let mut lent = 0;
        let mut each = |entity: &Versioned<T>| {
            lent += 1;
            each(entity);
        };
        self.each_page(|table, page, left| decode::lend::<F, T>(table, page, left, &mut each)).await?;
        Ok(lent)
    }

    /// Hands each page to `read` with the number of entities left; it gives how many it took.
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

    /// All entities with their versions.
    ///
    /// # Errors
    /// Those of [`page`](Self::page).
    pub async fn collect_versioned(self) -> Result<Vec<Versioned<T>>>
    where
        F: Reads<T>,
    {
        let mut all = Vec::new();
        let mut take = |entity| all.push(entity);
        self.each_page(|table, page, left| decode::hand_over::<F, T>(table, page, left, &mut take)).await?;
        Ok(all)
    }

    /// All entities.
    ///
    /// # Errors
    /// Those of [`page`](Self::page).
    pub async fn collect(self) -> Result<Vec<T>>
    where
        F: Reads<T>,
    {
        let mut all = Vec::new();
        let mut take = |entity: Versioned<T>| all.push(entity.into_value());
        self.each_page(|table, page, left| decode::hand_over::<F, T>(table, page, left, &mut take)).await?;
        Ok(all)
    }

    /// The result of `read` for each stored row, with all its properties: for readers that want more than a `T`, such as
    /// the key that an index found it by.
    ///
    /// # Errors
    /// Those of [`page`](Self::page) and of `read`.
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

    /// The first entity in key order; `None` if there is none. Asks for pages of one.
    ///
    /// # Errors
    /// Those of [`page`](Self::page).
    pub async fn first(self) -> Result<Option<Versioned<T>>>
    where
        F: Reads<T>,
    {
        let narrows = self.paging.filter.is_some() || self.paging.is_mixed;
        let query = if narrows { self } else { self.top(1) };
        Ok(query.limit(1).collect_versioned().await?.pop())
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

/// The error of a condition on a property that the copies of an index do not store: it would match nothing, silently.
fn not_stored(index: &IndexSchema, filter: &Filter) -> Option<Error> {
    let names = filter.terms().iter().filter_map(|term| match term {
        Term::Compare { name, .. } | Term::Flag(name) => Some(name.as_ref()),
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
