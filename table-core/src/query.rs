//! Queries: key ranges, condition, projection and limit, with their class, plan, pages and continuation.

mod bounds;
mod check;
mod class;
mod continuation;
pub(crate) mod fault;
mod page;
mod plan;
mod range;
mod rows;
mod select;
mod text;

pub use crate::row::EntityRef;
pub use class::QueryClass;
pub use continuation::{Continuation, Position};
pub use page::Page;
pub use plan::{Lookup, Plan, Requests, Warning};
pub use range::{KeyRange, TextRange};
#[cfg(feature = "embedded")]
pub(crate) use rows::Gather;
pub use rows::Rows;
pub use select::Select;

use crate::filter::Filter;

/// One query: the keys to read, the condition, the properties wanted, the size of a page (QRY-1).
///
/// ```
/// use table_core::query::{KeyRange, Query, QueryClass, TextRange};
///
/// let query = Query::new(KeyRange::rows("Sales", TextRange::prefix("empid_")));
/// assert_eq!(query.keys.class(), QueryClass::Range);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The keys to read. All that the range contains and the filter accepts is the answer.
    pub keys: KeyRange,
    /// The condition on what the keys do not settle.
    pub filter: Option<Filter>,
    /// The properties wanted.
    pub select: Select,
    /// The most entities of one page (TOP-1); `None` is the service's 1,000.
    pub top: Option<usize>,
}

impl Query {
    /// Everything in a range of keys.
    #[must_use]
    pub const fn new(keys: KeyRange) -> Self {
        Self { keys, filter: None, select: Select::All, top: None }
    }
}
