//! Table scans read all partitions. They require a stated reason and a limit (design promise 2, DQ-5).

mod refused;

use std::fmt;
use std::future::{Pending, pending};
use std::marker::PhantomData;
use std::pin::Pin;

use futures_core::Stream;
use futures_util::{TryStreamExt, stream};
use table_store::{Error, Result};

use crate::column::IntoCondition;
use crate::entity::{FromEntity, ProjectionOf, Versioned};
use crate::limits::PAGE_ENTITIES;
use crate::name::TableName;
use crate::query::{Page, Plan, QueryClass};
use crate::selection::{IntoSelection, Primary, Scan};
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::{PageSource, Paging, Table, decode};

/// A scan that has a reason, but no limit yet. [`max_rows`](Self::max_rows) turns it into a scan that can run.
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
/// let mut ages = 0;
/// let scan = employees.scan("monthly audit").max_rows(2_000_000);
/// assert_eq!(scan.for_each(|employee| ages += employee.age).await?, 1);
/// assert_eq!(ages, 36);
///
/// let error = employees.scan("monthly audit").max_rows(0).collect().await.unwrap_err();
/// assert_eq!(error.rule(), Some("DQ-5")); // never truncated silently
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a scan has no effect until it is limited and run"]
pub struct TableScan<E, S> {
    source: PageSource<S>,
    paging: Paging,
    reason: String,
    of: PhantomData<fn() -> E>,
}

/// A builder for a scan of a table of `E`, with a reason and a limit. The scan reads the entities as values of type `T`.
///
/// ```
/// use table_core::table::BoundedScan;
/// use table_core::{FromEntity, Result, TableStore};
///
/// /// Returns the number of entities in an audit.
/// async fn audited<E: FromEntity, S: TableStore + Clone>(scan: BoundedScan<E, S>) -> Result<usize> {
///     Ok(scan.collect().await?.len())
/// }
/// ```
#[must_use = "a scan has no effect until it is run"]
pub struct BoundedScan<E, S, T = E> {
    source: PageSource<S>,
    paging: Paging,
    reason: String,
    max_rows: u64,
    of: PhantomData<fn() -> (E, T)>,
}

impl<E: FromEntity, S: TableStore + Clone> Table<E, S> {
    /// Creates a scan of the entire table. The argument states the reason, as in `employees.scan("monthly audit").max_rows(2_000_000)`.
    pub fn scan(&self, reason: impl IntoSelection<E, Scan>) -> TableScan<E, S> {
        let selection = reason.into_selection();
        let reason = selection.reason().to_owned();
        let mut paging = Paging::new(selection.into_ranges());
        paging.select = E::select();
        paging.around = E::AROUND;
        TableScan { source: self.source(), paging, reason, of: PhantomData }
    }
}

impl<E, S> TableScan<E, S> {
    /// Sets the maximum number of entities, which limits the cost of the scan. The scan fails if there are more.
    ///
    /// If the backend reports how many entities it has read, the limit applies to that number. Otherwise, it applies to the number of entities that satisfy the
    /// filter.
    pub fn max_rows(self, rows: u64) -> BoundedScan<E, S> {
        let Self { source, paging, reason, .. } = self;
        BoundedScan { source, paging, reason, max_rows: rows, of: PhantomData }
    }
}

/// A scan with a limit. All functions that run a scan require this trait, so a missing limit is a compile error.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::embedded::Engine;
/// use table_core::table::Bounded;
/// use table_core::TableStoreExt;
///
/// /// Accepts a scan with a limit.
/// fn accept(_: &impl Bounded) {}
/// let employees = Engine::in_memory().table::<Employee>();
/// accept(&employees.scan("monthly audit").max_rows(2_000_000));
/// ```
#[diagnostic::on_unimplemented(
    message = "[T093] this table scan has no limit",
    label = "call `max_rows` first",
    note = "state how many rows it may read before it fails: `scan(\"monthly audit\").max_rows(2_000_000)`"
)]
pub trait Bounded {}

#[diagnostic::do_not_recommend]
impl<E, S, T> Bounded for BoundedScan<E, S, T> {}

/// These functions exist only for their error message. Calling one on a scan without a limit is a compile error that reports the missing limit.
impl<E, S> TableScan<E, S> {
    #[doc(hidden)]
    pub fn collect(self) -> Pending<Result<Vec<E>>>
    where
        Self: Bounded,
    {
        pending()
    }

    #[doc(hidden)]
    pub fn for_each(self, _: impl FnMut(&Versioned<E>)) -> Pending<Result<u64>>
    where
        Self: Bounded,
    {
        pending()
    }
}

impl<E, S: TableStore + Clone, T: FromEntity> BoundedScan<E, S, T> {
    /// Adds a condition. The scan returns only entities that satisfy every condition. A condition does not reduce the number of rows read.
    pub fn filter(mut self, condition: impl IntoCondition<E>) -> Self {
        self.paging.and(condition.into_condition().into_filter());
        self
    }

    /// Reads the entities as a different type. Only the properties of that type are requested (DQ-13).
    pub fn project<P: ProjectionOf<E>>(self) -> BoundedScan<E, S, P> {
        let Self { source, mut paging, reason, max_rows, .. } = self;
        paging.select = P::select();
        paging.around = P::AROUND;
        BoundedScan { source, paging, reason, max_rows, of: PhantomData }
    }

    /// Returns the plan of the scan with its reason, computed without I/O.
    ///
    /// # Errors
    /// `InvalidResourceName`, `OutOfRangeInput` or `InvalidInput` if the table name is invalid.
    pub fn plan(&self) -> Result<Plan> {
        let plan = Plan::new(self.source.table()?, QueryClass::TableScan, &self.paging.queries()?);
        Ok(Plan { reason: Some(self.reason.clone()), ..plan })
    }

    /// Returns the reason for the scan.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Streams the entities. The stream is `Unpin`. If the limit is exceeded, the stream ends with an error. The result is never truncated silently.
    pub fn stream(self) -> Pin<Box<impl Stream<Item = Result<Versioned<T>>> + use<E, S, T>>> {
        let entities = |(table, page)| stream::iter(decode::each::<Primary, T>(table, page));
        Box::pin(self.pages().map_ok(entities).try_flatten())
    }

    /// Streams the pages within the limit, each with the name of the table.
    fn pages(self) -> impl Stream<Item = Result<(TableName, Page)>> + use<E, S, T> {
        let Self { source, mut paging, reason, max_rows, .. } = self;
        tracing::debug!(reason = reason.as_str(), max_rows, "table scan");
        // Reading one row more than the limit is enough to detect that the limit is exceeded.
        let enough = usize::try_from(max_rows.saturating_add(1)).unwrap_or(usize::MAX);
        (paging.top, paging.limit) = (Some(PAGE_ENTITIES.min(enough)), Some(enough));
        let table = source.table.clone();
        let under_way = (Box::pin(source.pages(&paging)), table, reason, 0);
        // After an error, the stream ends and requests no more pages.
        stream::try_unfold(under_way, move |(mut pages, table, reason, mut read)| async move {
            let Some(page) = pages.try_next().await? else { return Ok(None) };
            let name = table.clone()?;
            count(&mut read, &page, max_rows).map_err(|rows| exceeded(&name, &reason, rows, max_rows))?;
            Ok(Some(((name, page), (pages, table, reason, read))))
        })
    }

    /// Runs the scan and calls `each` with a reference to each entity. Returns the number of entities. To keep an entity, clone it, or use
    /// [`collect`](Self::collect) or [`stream`](Self::stream).
    ///
    /// # Errors
    /// `InvalidInput` if more than [`max_rows`](TableScan::max_rows) entities were read. Entities read before the error have already been passed to `each`.
    pub async fn for_each(self, mut each: impl FnMut(&Versioned<T>)) -> Result<u64> {
        let mut lent = 0;
        let mut each = |entity: &Versioned<T>| {
            lent += 1;
            each(entity);
        };
        let mut pages = std::pin::pin!(self.pages());
        while let Some((table, page)) = pages.try_next().await? {
            decode::lend::<Primary, T>(&table, &page, usize::MAX, &mut each)?;
        }
        Ok(lent)
    }

    /// Runs the scan and returns all entities.
    ///
    /// # Errors
    /// `InvalidInput` if more than [`max_rows`](TableScan::max_rows) entities were read.
    pub async fn collect(self) -> Result<Vec<T>> {
        self.stream().map_ok(Versioned::into_value).try_collect().await
    }
}

/// Adds the rows of a page to the number of rows read. Returns the new total as an error if it exceeds the limit.
fn count(read: &mut u64, page: &Page, max_rows: u64) -> std::result::Result<(), u64> {
    let returned = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
    *read = read.saturating_add(page.rows_read.unwrap_or(returned).max(returned));
    if *read > max_rows { Err(*read) } else { Ok(()) }
}

fn exceeded(table: &TableName, reason: &str, read: u64, max_rows: u64) -> Error {
    Error::of(TableFault::ScanTooLong { reason: reason.to_owned(), read, max_rows })
        .with_table(table.as_str())
}

impl<E, S: fmt::Debug> fmt::Debug for TableScan<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableScan")
            .field("source", &self.source)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<E, S: fmt::Debug, T> fmt::Debug for BoundedScan<E, S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundedScan")
            .field("source", &self.source)
            .field("paging", &self.paging)
            .field("reason", &self.reason)
            .field("max_rows", &self.max_rows)
            .finish_non_exhaustive()
    }
}
