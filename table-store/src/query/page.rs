//! A page of a query result: rows and a continuation (PAGE rules).

use crate::query::{Continuation, Rows};

/// One page of a query result.
///
/// Only [`continuation`](Self::continuation) shows whether more pages exist: even a short or empty page may have a continuation (PAGE-4).
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
    /// The start of the next page, or `None` for the last page.
    pub continuation: Option<Continuation>,
    /// The number of entities that the store read for the page, or `None` if unknown.
    pub rows_read: Option<u64>,
}
