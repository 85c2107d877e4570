//! The backend trait, `TableStore`, and its data types.

mod ambiguous;
mod dynamic;
mod exclusive;

use std::any::Any;
use std::fmt::{Debug, Display};

pub use ambiguous::AmbiguousWrite;
pub use dynamic::DynTableStore;
pub use exclusive::Exclusive;
#[doc(hidden)]
pub use exclusive::SchemaNotes;

use crate::error::{Error, ErrorCode, Result};
use crate::etag::ETag;
use crate::key::EntityKey;
pub use crate::lease::WriteLease;
use crate::limits::Limits;
use crate::name::TableName;
use crate::query::{Continuation, Page, Query, Select};
use crate::row::Row;
use crate::transaction::Transaction;

/// The capabilities and limits of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The limits that the backend enforces.
    pub limits: Limits,
    /// `true` if results are in key order (ORD-1). `false` for Cosmos DB (COS-1).
    pub ordered: bool,
    /// The maximum page size that a query can request with `$top` (TOP-2).
    pub top: usize,
    /// `true` if a request makes progress without being polled once it has started, as network requests do. Streams of pages then prefetch: they request the
    /// next page before they yield the current one.
    pub looks_ahead: bool,
    /// The resolution of Timestamps, in [ticks](crate::ticks). It is greater than 1 if Timestamps are coarse, such as the whole seconds of Cosmos DB for NoSQL.
    /// On such a store, patterns that order by Timestamp use a different order or are rejected.
    pub timestamp_step: u64,
    /// `true` if transactions can contain [checks](crate::operation::OperationKind::Check) (ENG-21). `false` for the service, whose protocol does not define
    /// them.
    pub checks: bool,
    /// The state shared by all handles to a store that only this process can use, such as a folder that the process has locked. It is `None` for the service,
    /// because other programs may write to it at the same time. These programs may be built with other releases of this crate.
    pub exclusive: Option<Exclusive>,
}

impl Capabilities {
    /// Returns the capabilities of the service, with the given limits.
    #[must_use]
    pub const fn service(limits: Limits) -> Self {
        Self {
            limits,
            ordered: true,
            top: crate::limits::PAGE_ENTITIES,
            looks_ahead: false,
            timestamp_step: 1,
            checks: false,
            exclusive: None,
        }
    }
}

/// An encoded row and its `ETag`, as read from a store.
///
/// ```
/// use table_core::store::StoredRow;
/// use table_core::{IfMatch, OperationKind, Row};
///
/// /// Returns the operation that replaces a row unless another writer changed it.
/// fn replaced(read: StoredRow, new: Row) -> OperationKind {
///     OperationKind::Replace(new, IfMatch::ETag(read.etag))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// The encoded Timestamp and properties.
    pub row: Row,
    /// The row's `ETag` at the time of the read.
    pub etag: ETag,
}

/// The `ETag`s assigned by a transaction, in operation order. A delete's entry is `None` (ETAG-3, DEL-2).
///
/// ```
/// use table_core::ETag;
/// use table_core::store::Committed;
///
/// /// Returns the version after the first operation.
/// fn first(committed: Committed) -> Option<ETag> {
///     committed.into_iter().next().flatten()
/// }
/// assert_eq!(first(vec![None]), None); // a delete
/// ```
pub type Committed = Vec<Option<ETag>>;

/// Returns the `ETag` assigned by an acknowledged write to one entity (ETAG-3).
///
/// # Errors
/// An [ambiguous](Error::is_ambiguous) error if the `ETag` is missing. The write has been applied, but the new version is unknown. The caller must not roll
/// back any steps that prepared the write.
///
/// ```
/// use table_core::store::written;
/// use table_core::{ETag, TableName};
///
/// let table = TableName::new("Employee")?;
/// assert_eq!(written(&table, Some(ETag::from_ticks(7)))?, ETag::from_ticks(7));
/// let error = written(&table, None).unwrap_err();
/// assert!(error.is_ambiguous() && error.last_response().and_then(|cause| cause.rule()) == Some("ETAG-3"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn written(table: &TableName, etag: Option<ETag>) -> Result<ETag> {
    etag.ok_or_else(|| {
        let error = Error::new(ErrorCode::InternalError, "the store acknowledged the write without an ETag");
        error.with_rule("ETAG-3").with_table(table.as_str()).into_ambiguous()
    })
}

/// One page of table names.
///
/// ```
/// use table_core::store::TablePage;
///
/// /// Returns `true` if all names have been listed.
/// fn is_last(page: &TablePage) -> bool {
///     page.next.is_none()
/// }
/// assert!(is_last(&TablePage::default()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablePage {
    /// The table names in their original case, sorted (OPT-5).
    pub names: Vec<TableName>,
    /// The token for the next page, or `None` for the last page (PAGE-12). It is opaque to callers.
    pub next: Option<String>,
}

/// A backend that stores tables of entities. A table has one clustered index, its key. A transaction is limited to one partition.
///
/// The trait is not dyn-compatible, because its functions return futures. To choose a store at run time, wrap it in a [`DynTableStore`] with
/// `DynTableStore::new(store)`. A type that works with every store is generic: `struct App<S: TableStore + Clone>`.
///
/// # Contract
/// - A read sees every write acknowledged before the read started (CON-2). A page is a snapshot of its partition (CON-8).
/// - A transaction is applied completely or not at all (EGT-9). An acknowledged transaction is durable, unless the backend is in memory or was opened
///   with relaxed durability (CON-1).
/// - Errors contain the service's code (ERR-3), the table, the key, and the index of the failed operation (IMP-3).
/// - Operations that exceed the [`Capabilities`] are rejected before anything is written.
///
/// `Table` in `table-core` builds higher-level functions on this trait, for every backend.
///
/// ```
/// use table_core::{BlockOn, TableName, TableStore, embedded::Engine};
///
/// # async {
/// let store = Engine::in_memory();
/// let company = TableName::new("Company")?;
/// store.create_table(&company).await?;
/// assert_eq!(store.create_table(&company).await.unwrap_err().rule(), Some("OPT-2"));
/// assert!(store.capabilities().ordered);
/// # Ok::<(), table_core::Error>(())
/// # }.block_on().unwrap();
/// ```
pub trait TableStore: Debug + Display + Send + Sync {
    /// Returns the capabilities of this backend.
    fn capabilities(&self) -> &Capabilities;

    /// Returns the extensions that a higher layer attached to this store. An example is a `table-patterns` participant, a function that writes extra rows.
    ///
    /// A wrapper around another store must forward the call. Otherwise, handles to the wrapper lack the extensions.
    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    /// Creates a table.
    ///
    /// # Errors
    /// - `TableAlreadyExists` if the table exists (OPT-2).
    /// - `TableBeingDeleted` if an earlier table with this name is still being deleted (OPT-4).
    fn create_table(&self, table: &TableName) -> impl Future<Output = Result<()>> + Send;

    /// Deletes a table with all its entities.
    ///
    /// # Errors
    /// `ResourceNotFound` if the table does not exist (OPT-3).
    fn delete_table(&self, table: &TableName) -> impl Future<Output = Result<()>> + Send;

    /// Returns one page of up to `top` table names starting with `prefix` (OPT-5). `from` is the previous page's [`next`](TablePage::next) token.
    fn list_tables(
        &self,
        prefix: &str,
        from: Option<&str>,
        top: usize,
    ) -> impl Future<Output = Result<TablePage>> + Send;

    /// Returns one entity, or `None` if it does not exist.
    ///
    /// # Errors
    /// `TableNotFound` if the table does not exist (OPT-6).
    fn get(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> impl Future<Output = Result<Option<StoredRow>>> + Send;

    /// Returns one page of a query. This is the first page, or the page that starts at the continuation `from`.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist (OPT-6).
    /// - `InvalidInput` if `top` is out of range (TOP-2), or if the continuation belongs to another query (PAGE-9).
    fn query(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> impl Future<Output = Result<Page>> + Send;

    /// Applies a transaction. A single write is a transaction with one operation.
    ///
    /// A store that delays or retries requests checks the transaction's [lease](Transaction::lease) immediately before each attempt.
    ///
    /// # Errors
    /// - `TableNotFound`, `EntityAlreadyExists`, `ResourceNotFound` or `UpdateConditionNotSatisfied` if an operation fails. The error contains the index of the
    ///   operation (EGT-34).
    /// - `EntityTooLarge` or `TooManyProperties` if the result of a merge exceeds a limit (SIZE-6).
    ///
    /// After an error that [is ambiguous](Error::is_ambiguous), the transaction may have been applied. After any other error, it was not applied and never will
    /// be (CON-11).
    fn submit(
        &self,
        table: &TableName,
        transaction: Transaction,
    ) -> impl Future<Output = Result<Committed>> + Send;
}
