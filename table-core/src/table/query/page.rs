//! One page of entities, and the position of the next page.

use crate::entity::Versioned;
use crate::query::Continuation;

/// One page of entities.
///
/// Only the continuation indicates whether more pages exist: a page may be short or empty and still have a continuation (PAGE-4).
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
    /// The entities, in key order (QRY-3) unless the store returns entities in [no order](crate::store::Capabilities::ordered).
    pub items: Vec<Versioned<T>>,
    /// The position of the next page, or `None` for the last page. It does not depend on the store's state and may be saved (PAGE-7).
    pub continuation: Option<Continuation>,
    /// The number of rows that the store read for this page, or `None` if unknown.
    pub rows_read: Option<u64>,
}
