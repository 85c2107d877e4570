//! Queries and their parts: key ranges, filters, requested properties, cost classes, plans, pages and continuations.

mod bounds;
mod check;
mod class;
mod continuation;
mod fault;
mod page;
mod plan;
mod range;
mod rows;
mod select;
mod text;

pub use crate::row::entity::EntityRef;
pub use class::QueryClass;
pub use continuation::{Continuation, Position};
pub use page::Page;
pub use plan::{Lookup, Plan, Requests, Warning};
pub use range::{KeyRange, TextRange};
#[doc(hidden)]
pub use rows::Gather;
pub use rows::Rows;
pub use select::Select;

use crate::filter::Filter;

/// A query: the keys to read, the filter, the requested properties, and the page size (QRY-1).
///
/// ```
/// use table_core::query::{KeyRange, Query, QueryClass, TextRange};
///
/// let query = Query::new(KeyRange::rows("Sales", TextRange::prefix("empid_")));
/// assert_eq!(query.keys.class(), QueryClass::Range);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The keys to read. The query returns all entities in this range that match the filter.
    pub keys: KeyRange,
    /// A further condition on the entities in the key range.
    pub filter: Option<Filter>,
    /// The properties to return.
    pub select: Select,
    /// The maximum number of entities in one page (TOP-1), or `None` for the service's default of 1,000.
    pub top: Option<usize>,
}

impl Query {
    /// Creates a query for all entities in a key range.
    #[must_use]
    pub const fn new(keys: KeyRange) -> Self {
        Self { keys, filter: None, select: Select::All, top: None }
    }
}
