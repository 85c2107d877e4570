//! One page of entities, with the continuation for the next page.

use crate::entity::Versioned;
use crate::query::Continuation;
use crate::refused::{Refused, refused_by_name, refused_methods};

/// One page of entities.
///
/// Only the continuation indicates whether more pages exist. A page may be short or empty and still have a continuation (PAGE-4).
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
    /// The entities, in key order (QRY-3) unless the store's results are [unordered](crate::store::Capabilities::ordered).
    pub items: Vec<Versioned<T>>,
    /// The continuation for the next page, or `None` for the last page. It does not depend on the store's state, so it may be saved (PAGE-7).
    pub continuation: Option<Continuation>,
    /// The number of rows read by the store for this page, or `None` if unknown.
    pub rows_read: Option<u64>,
    /// The number of rows that the page omits because the store cannot represent them. Rows of every type are counted; see
    /// [`Page::skipped`](crate::query::Page::skipped).
    ///
    /// Functions that return entities without their pages, such as [`collect`](crate::table::EntityQuery::collect), also omit these rows, but do not count
    /// them.
    pub skipped: u64,
}

/// The start of a page, given as the continuation of the previous page.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T267] a page begins at a `Continuation`, not at a `{Self}`",
    label = "write `&cursor.parse::<table_patterns::query::Continuation>()?` for a text `cursor`",
    note = "the continuation of a page is an `Option`: `if let Some(continuation) = &page.continuation {{ query.page_from(continuation).await?; }}`",
    note = "`page()` reads the first page; `continuation.to_string()` is the text of a continuation"
)]
pub trait PageStart {
    /// Returns the continuation.
    fn into_continuation(self) -> Continuation;
}

#[diagnostic::do_not_recommend]
impl PageStart for &Continuation {
    fn into_continuation(self) -> Continuation {
        self.clone()
    }
}

#[diagnostic::do_not_recommend]
impl PageStart for Continuation {
    fn into_continuation(self) -> Continuation {
        self
    }
}

/// Never implemented, so a call to a method such as `next` or `map` is a compile error that suggests the fields `items` and `continuation`.
#[diagnostic::on_unimplemented(
    message = "[T261] a page has no method of this name: its entities and the position of the next page are fields",
    label = "write `items` for the entities, or `continuation` for the position of the next page",
    note = "`for entity in page.items {{ … }}`; `page.continuation.is_some()` is true if more pages follow",
    note = "the next page is a query of the same keys: `query(…).page_from(&continuation)`; `stream()` reads the pages one after another"
)]
pub trait ReadAsFields<T>: Refused {}

impl<T> EntityPage<T> {
    refused_methods! { ReadAsFields<T>: next() map(_) filter(_) last() count(); }
}

impl<T> EntityPage<T>
where
    Self: ReadAsFields<T>,
{
    refused_by_name! {
        items continuation iter len is_empty get first entities results values rows data records documents get_items into_items into_inner into_vec to_vec
        last_evaluated_key next_token next_page next_page_token next_key next_cursor next_link continuation_token end_cursor cursor token has_more has_next
        has_next_page is_last is_done total total_count page_count prev previous get_next_page body
    }
}
