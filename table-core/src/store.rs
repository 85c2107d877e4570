//! The trait of table backends.

mod dynamic;
mod sent;

use std::fmt::{Debug, Display};

pub use dynamic::DynTableStore;
pub use sent::Sent;

use crate::error::{Error, ErrorCode, Result};
use crate::etag::ETag;
use crate::key::EntityKey;
use crate::limits::Limits;
use crate::name::TableName;
use crate::query::{Continuation, Page, Query, Select};
use crate::row::Row;
use crate::transaction::Transaction;

/// The capabilities and limits of a backend: facts, checked before a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The limits it holds its users to.
    pub limits: Limits,
    /// Answers come in key order (ORD-1); not so on Cosmos DB (COS-1).
    pub ordered: bool,
    /// The largest `$top` (TOP-2).
    pub top: usize,
    /// A request that has been begun goes on without being polled, as one over a network does: a stream of pages then asks for
    /// the next page before it hands over the one it has.
    pub looks_ahead: bool,
    /// The smallest difference of two Timestamps, in [ticks](crate::ticks): 1, or more where they are coarser, as the whole seconds of
    /// Cosmos DB for NoSQL. Patterns whose order is that of Timestamps are refused there, or take another order.
    pub timestamp_step: u64,
}

impl Capabilities {
    /// The real service's, under these limits.
    #[must_use]
    pub const fn service(limits: Limits) -> Self {
        Self {
            limits,
            ordered: true,
            top: crate::limits::PAGE_ENTITIES,
            looks_ahead: false,
            timestamp_step: 1,
        }
    }
}

/// An encoded row with the `ETag` it was read at.
///
/// ```
/// use table_core::store::StoredRow;
/// use table_core::{IfMatch, OperationKind, Row};
///
/// /// The replace of what was read, refused if another writer was faster.
/// fn replaced(read: StoredRow, new: Row) -> OperationKind {
///     OperationKind::Replace(new, IfMatch::ETag(read.etag))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Timestamp and properties.
    pub row: Row,
    /// The version.
    pub etag: ETag,
}

/// The `ETag`s that a transaction gave its entities, in the order of its operations; `None` for a delete (ETAG-3, DEL-2).
///
/// ```
/// use table_core::ETag;
/// use table_core::store::Committed;
///
/// /// The version that the first operation of a transaction gave its entity.
/// fn first(committed: Committed) -> Option<ETag> {
///     committed.into_iter().next().flatten()
/// }
/// assert_eq!(first(vec![None]), None); // a delete
/// ```
pub type Committed = Vec<Option<ETag>>;

/// The version that an acknowledged write of one entity must have given (ETAG-3).
///
/// # Errors
/// `InternalError` where it is missing: the write is done, its version is only to be read.
///
/// ```
/// use table_core::store::written;
/// use table_core::{ETag, TableName};
///
/// let table = TableName::new("Employee")?;
/// assert_eq!(written(&table, Some(ETag::from_ticks(7)))?, ETag::from_ticks(7));
/// assert_eq!(written(&table, None).unwrap_err().rule(), Some("ETAG-3"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn written(table: &TableName, etag: Option<ETag>) -> Result<ETag> {
    etag.ok_or_else(|| {
        let message = "the store acknowledged the write without the ETag it must give: read the entity";
        Error::new(ErrorCode::InternalError, message).with_rule("ETAG-3").with_table(table.as_str())
    })
}

/// One page of table names.
///
/// ```
/// use table_core::store::TablePage;
///
/// /// Whether all names have been listed.
/// fn is_last(page: &TablePage) -> bool {
///     page.next.is_none()
/// }
/// assert!(is_last(&TablePage::default()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablePage {
    /// Names in the case they were created with, in order (OPT-5).
    pub names: Vec<TableName>,
    /// The name that the next page begins with; `None` at the end (PAGE-12).
    pub next: Option<String>,
}

/// A backend: tables of entities, one clustered index, transactions inside one partition.
///
/// # Contract
/// - Reads see every write acknowledged before they began (CON-2), and a page is a snapshot of its partition (CON-8).
/// - A transaction applies whole or not at all, and is durable when acknowledged (EGT-9, CON-1).
/// - Errors carry the service's codes (ERR-3), the table, the key, and the position of a failing operation (IMP-3).
/// - What the [`Capabilities`] do not promise is refused before anything is written.
///
/// Conveniences live above it, once for all backends, in [`Table`](crate::Table).
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
    /// The capabilities of this backend.
    fn capabilities(&self) -> &Capabilities;

    /// Creates a table.
    ///
    /// # Errors
    /// `TableAlreadyExists` (OPT-2), `TableBeingDeleted` (OPT-4).
    fn create_table(&self, table: &TableName) -> impl Future<Output = Result<()>> + Send;

    /// Deletes a table and all it holds.
    ///
    /// # Errors
    /// `ResourceNotFound` if it is not there (OPT-3).
    fn delete_table(&self, table: &TableName) -> impl Future<Output = Result<()>> + Send;

    /// One page of at most `top` table names from a name on, whose first `prefix` characters are these (OPT-5).
    fn list_tables(
        &self,
        prefix: &str,
        from: Option<&str>,
        top: usize,
    ) -> impl Future<Output = Result<TablePage>> + Send;

    /// One entity; `None` if it is not there.
    ///
    /// # Errors
    /// `TableNotFound` (OPT-6).
    fn get(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> impl Future<Output = Result<Option<StoredRow>>> + Send;

    /// One page of a query, from its beginning or from where an earlier page of the same query ended.
    ///
    /// # Errors
    /// `TableNotFound` (OPT-6); `InvalidInput` for a `top` out of range (TOP-2) or a continuation that is not of this query
    /// (PAGE-9).
    fn query(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> impl Future<Output = Result<Page>> + Send;

    /// Applies a transaction; one operation is a transaction of one.
    ///
    /// # Errors
    /// `TableNotFound`, `EntityAlreadyExists`, `ResourceNotFound`, `UpdateConditionNotSatisfied`, each with the position of
    /// the operation (EGT-34); `EntityTooLarge`, `TooManyProperties` for the result of a merge (SIZE-6). An error that
    /// [is ambiguous](Error::is_ambiguous) says that the transaction may have been applied; every other one says that it was not,
    /// and never will be (CON-11).
    fn submit(
        &self,
        table: &TableName,
        transaction: Transaction,
    ) -> impl Future<Output = Result<Committed>> + Send;
}
