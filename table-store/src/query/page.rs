//! A page of a query result: rows and a continuation (PAGE rules).

use crate::query::{Continuation, Rows};

/// One page of a query result.
///
/// A short or even empty page is not necessarily the last one (PAGE-4). Keep reading until [`continuation`](Self::continuation) is `None`.
///
/// ```
/// use table_core::query::Page;
///
/// /// Returns `true` for the last page; an empty page need not be the last.
/// fn is_last(page: &Page) -> bool {
///     page.continuation.is_none()
/// }
/// assert!(is_last(&Page::default()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The entities, in key order (QRY-3).
    pub rows: Rows,
    /// The continuation token for the next page, or `None` for the last page.
    pub continuation: Option<Continuation>,
    /// The number of entities that the store read to produce the page, or `None` if unknown.
    pub rows_read: Option<u64>,
    /// The number of stored rows that are missing from the page because they are not valid entities. One example is a row with a date-time before 1601, which
    /// Azurite accepts. Another is an item that a different program wrote to Cosmos DB. The embedded engine never skips rows.
    ///
    /// [`TableStore::get`](crate::store::TableStore::get) fails for such a row, unless the invalid property is not selected.
    pub skipped: u64,
}
