//! A page of a result: rows and continuation (PAGE rules).

use crate::query::{Continuation, Rows};

/// One page of a query's result.
///
/// Only [`continuation`](Self::continuation) shows whether more pages exist: a page may be short or empty even if it has a continuation (PAGE-4).
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
    /// The position of the next page; `None` for the last page.
    pub continuation: Option<Continuation>,
    /// The number of entities that were read; `None` if unknown.
    pub rows_read: Option<u64>,
}
