//! Access patterns are the queries that a program sends. Each is declared with its maximum cost (design promise 2).

mod ceiling;
#[cfg(feature = "derive")]
mod list;

#[doc(hidden)]
pub use ceiling::Asked;
pub use ceiling::{SameSource, WithinCeiling};

use crate::query::QueryClass;

/// The run-time description of an access pattern. It is used for documentation, and to estimate costs and load.
///
/// [`access_patterns!`](crate::access_patterns) creates it, and documents the syntax.
///
/// ```
/// use table_core::{Entity, access_patterns};
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(digits(6, id))]
/// # struct Employee { department: String, id: u32 }
///
/// access_patterns! {
///     Personnel for Employee {
///         /// One employee.
///         by_id(department: &str, id: u32) <= point = Employee::key(department, id);
///         /// A whole department.
///         department(department: &str) <= partition = Employee::partition(department);
///     }
/// }
///
/// let mut page = String::new();
/// for pattern in Personnel::PATTERNS {
///     page += &format!("{} At most a {}.\n", pattern.doc, pattern.ceiling);
/// }
/// assert_eq!(page, "One employee. At most a point query.\nA whole department. At most a partition scan.\n");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessPattern {
    /// The name of the function that returns the selection.
    pub name: &'static str,
    /// The pattern's doc comment, with one line for each `///`.
    pub doc: &'static str,
    /// The names of the function's arguments.
    pub arguments: &'static [&'static str],
    /// The name of the entity type.
    pub entity: &'static str,
    /// The table that the pattern reads, which is the entity's table or the index's table.
    pub table: &'static str,
    /// The maximum cost class (CLS-1).
    pub ceiling: QueryClass,
    /// The index read by the pattern, or `None` if it reads the entities.
    pub index: Option<&'static str>,
}
