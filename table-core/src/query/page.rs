//! A page of an answer: its rows, and its continuation (PAGE rules).

use crate::query::{Continuation, Rows};

/// One page of a query's answer.
///
/// Only [`continuation`](Self::continuation) says whether more may come: a page may be short, or empty, and still have one
/// (PAGE-4).
///
/// ```
/// use table_core::query::Page;
///
/// /// Whether the answer ends here: an empty page alone does not say so.
/// fn is_last(page: &Page) -> bool {
///     page.continuation.is_none()
/// }
/// assert!(is_last(&Page::default()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The entities, in key order (QRY-3).
    pub rows: Rows,
    /// The position of the next page; `None` at the end.
    pub continuation: Option<Continuation>,
    /// How many entities were read to find them; `None` if the backend does not say.
    pub rows_read: Option<u64>,
}
