//! Query plans: the requests and the cost of a query, computed without I/O (design promise 2).

mod advice;
mod show;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::limits::PAGE_ENTITIES;
use crate::name::TableName;
use crate::query::{KeyRange, Query, QueryClass, Select};

/// The requests and cost class of a query, computed without I/O. `Display` formats the plan for human readers.
///
/// ```
/// use table_core::TableName;
/// use table_core::query::{KeyRange, Query, QueryClass, Requests};
///
/// let plan = Query::new(KeyRange::point("Sales", "2")).plan(&TableName::new("Employee")?);
/// assert_eq!((plan.class, plan.requests), (QueryClass::Point, Requests::AtMost(1)));
/// assert!(plan.to_string().contains("PartitionKey eq 'Sales' and RowKey eq '2'"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The cost class of the query.
    pub class: QueryClass,
    /// The name of the table.
    pub table: String,
    /// The key ranges to read, in key order. Only a fan-out has more than one.
    pub lookups: Vec<Lookup>,
    /// The requested properties.
    pub select: Select,
    /// The maximum page size, if the query sets one.
    pub top: Option<usize>,
    /// The index that the query reads, or `None` for the primary key.
    pub index: Option<String>,
    /// The caller's reason for a table scan.
    pub reason: Option<String>,
    /// The worst-case number of requests.
    pub requests: Requests,
    /// Warnings for the author of the query.
    pub warnings: Vec<Warning>,
}

/// A key range that a query reads, with the `$filter` sent to read it.
///
/// ```
/// use table_core::query::Lookup;
///
/// /// Returns `true` if the store returns all entities that it reads.
/// fn is_exact(lookup: &Lookup) -> bool {
///     lookup.filter.is_none()
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The key range to read.
    pub keys: KeyRange,
    /// The `$filter` to send, or `None` to select the entire table.
    pub filter: Option<String>,
}

/// The worst-case number of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// The maximum number of requests.
    AtMost(usize),
    /// One request per page. The number of pages is unknown in advance, because it depends on the data and on the store. A store may return short or empty
    /// pages (PAGE-1, PAGE-4).
    OnePerPage {
        /// The maximum number of entities in a page.
        entities: usize,
        /// The minimum number of requests: one per key range.
        at_least: usize,
    },
}

impl Requests {
    fn of(class: QueryClass, queries: &[Query], top: Option<usize>) -> Self {
        // A point query returns no continuation token (PAGE-10), and neither does an empty range (ENG-5).
        let bounded = |query: &Query| query.keys.class() == QueryClass::Point || query.keys.is_empty();
        if class == QueryClass::Point || top == Some(0) || queries.iter().all(bounded) {
            return Self::AtMost(queries.len());
        }
        Self::OnePerPage { entities: top.unwrap_or(PAGE_ENTITIES), at_least: queries.len() }
    }
}

/// Advice about a query, with its rule number.
///
/// ```
/// use table_core::query::Warning;
///
/// /// Formats warnings for a log.
/// fn lines(warnings: &[Warning]) -> Vec<String> {
///     warnings.iter().map(|warning| format!("{}: {}", warning.rule, warning.message)).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The number of the rule, such as `DQ-5`.
    pub rule: &'static str,
    /// The warning text, with a suggestion.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.rule)
    }
}

impl Plan {
    /// Creates a plan for a single query or for a fan-out. The queries of a fan-out are equal except for their key ranges.
    #[must_use]
    pub fn new(table: &TableName, class: QueryClass, queries: &[Query]) -> Self {
        let first = queries.first();
        let top = first.and_then(|query| query.top);
        Self {
            class,
            table: table.as_str().to_owned(),
            lookups: queries
                .iter()
                .map(|query| Lookup { keys: query.keys.clone(), filter: query.filter_text() })
                .collect(),
            select: first.map_or(Select::All, |query| query.select.clone()),
            top,
            index: None,
            reason: None,
            requests: Requests::of(class, queries, top),
            warnings: first.map_or_else(Vec::new, |query| advice::warnings(class, query)),
        }
    }
}

impl Query {
    /// Returns the query's plan for a table.
    #[must_use]
    pub fn plan(&self, table: &TableName) -> Plan {
        Plan::new(table, self.keys.class(), std::slice::from_ref(self))
    }
}
