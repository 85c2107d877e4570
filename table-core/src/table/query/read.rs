//! Sends a query's requests, and returns its results as pages, streams or collections.

use std::pin::Pin;

use futures_core::Stream;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use table_store::{Error, Result};

use crate::entity::Versioned;
use crate::name::TableName;
use crate::query::{EntityRef, Page, Select};
use crate::selection::{ReadableAs, Source};
use crate::store::TableStore;
use crate::table::decode;
use crate::table::query::{EntityPage, EntityQuery, PageStart};

impl<E, S: TableStore + Clone, T, F: Source> EntityQuery<E, S, T, F> {
    /// Returns the first page.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `KeyEncoding` if a value of the selection cannot be encoded in a key.
    /// - `InvalidInput` if the page size is out of range (TOP-2), the limit is 0, or a range starts after its end.
    /// - `EntityMismatch` if a stored row is not a `T`.
    pub async fn page(&self) -> Result<EntityPage<T>>
    where
        F: ReadableAs<T>,
    {
        self.read(self.source.page(&self.paging, None).await?)
    }

    /// Returns the page that follows an earlier page of the same query.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page); `InvalidInput` if the continuation is from another query (PAGE-9).
    pub fn page_from(&self, continuation: impl PageStart) -> BoxFuture<'_, Result<EntityPage<T>>>
    where
        F: ReadableAs<T>,
    {
        let from = continuation.into_continuation();
        async move { self.read(self.source.page(&self.paging, Some(&from)).await?) }.boxed()
    }

    fn read(&self, page: Page) -> Result<EntityPage<T>>
    where
        F: ReadableAs<T>,
    {
        Ok(EntityPage {
            items: decode::items::<F, T>(self.source.table()?, &page)?,
            rows_read: page.rows_read,
            skipped: page.skipped,
            continuation: page.continuation,
        })
    }

    /// Streams the entities of all pages (PAGE-4), up to the [`limit`](Self::limit).
    ///
    /// The stream borrows nothing and is `Unpin`, so `stream.try_next().await?` reads the next entity, with the trait `TryStreamExt` of the crate `futures-util`. It
    /// buffers one page and decodes entities lazily. Each page is a snapshot, but the stream as a whole is not (CON-9). Rows that the store cannot represent are
    /// omitted; [`EntityPage::skipped`] counts them.
    pub fn stream(self) -> Pin<Box<impl Stream<Item = Result<Versioned<T>>> + use<E, S, T, F>>>
    where
        F: ReadableAs<T>,
    {
        let (limit, table) = (self.paging.limit.unwrap_or(usize::MAX), self.source.table.clone());
        let entities = move |page: Result<Page>| {
            let table = table.as_ref().map_err(Clone::clone)?;
            Ok::<_, Error>(stream::iter(decode::each::<F, T>(table.clone(), page?)))
        };
        Box::pin(self.source.pages(&self.paging).map(entities).try_flatten().take(limit))
    }

    /// Calls `each` with a reference to each entity, up to the [`limit`](Self::limit). Returns the number of entities.
    ///
    /// This is the fastest way to read entities, and uses the least memory. The function buffers one page and decodes each entity into the memory of the
    /// previous one. To keep an entity, clone it, or use [`collect`](Self::collect) or [`stream`](Self::stream). The function omits the same rows as
    /// [`collect`](Self::collect).
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
    /// Any error from [`page`](Self::page). Entities read before the error have already been passed to `each`.
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

    /// Passes each page to `read`, with the number of entities that are still wanted. `read` returns the number of entities it has used.
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

    /// Returns the number of entities, up to the [`limit`](Self::limit). The service cannot count entities, so all of them are read. Rows that the store cannot
    /// represent are not counted; see [`EntityPage::skipped`].
    ///
    /// # Errors
    /// Any error from [`page`](Self::page).
    pub async fn count(self) -> Result<u64>
    where
        F: ReadableAs<T>,
    {
        self.for_each(|_| {}).await
    }

    /// Returns all entities with their versions. Omits the same rows as [`collect`](Self::collect).
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

    /// Returns all entities. Rows that the store cannot represent are omitted, because they are not valid entities. [`EntityPage::skipped`] counts them.
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

    /// Calls `read` with each stored row and all its properties, and returns the results. Use this if a `T` is not enough, for example to read the key of an
    /// index row.
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

    /// Returns the first entity in key order, or `None` if there is none. The first request reads a page of one row. If that row is not an entity of the query,
    /// full pages follow. If the type belongs to a set, all pages are full.
    ///
    /// On a store with [unordered](crate::store::Capabilities::ordered) results, such as Cosmos DB for Table, this function returns an arbitrary entity.
    ///
    /// # Errors
    /// Any error from [`page`](Self::page).
    pub async fn first(self) -> Result<Option<Versioned<T>>>
    where
        F: ReadableAs<T>,
    {
        Ok(self.limit(1).collect_versioned().await?.pop())
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
