//! Plans: the requests and the cost of a query, computed without I/O (design promise 2).

mod advice;
mod show;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::limits::PAGE_ENTITIES;
use crate::name::TableName;
use crate::query::{KeyRange, Query, QueryClass, Select};

/// The requests and the cost of a query. Data for programs, `Display` for people; computed without I/O.
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
    /// The cost class.
    pub class: QueryClass,
    /// The table.
    pub table: String,
    /// The look-ups, in key order: one, except for a fan-out.
    pub lookups: Vec<Lookup>,
    /// The properties asked for.
    pub select: Select,
    /// The most entities of a page, if the query says it.
    pub top: Option<usize>,
    /// The index that is read instead of the primary key.
    pub index: Option<String>,
    /// Why the whole table is read, in its author's words.
    pub reason: Option<String>,
    /// Requests in the worst case.
    pub requests: Requests,
    /// Warnings for the author of the query.
    pub warnings: Vec<Warning>,
}

/// One range of keys that is asked for.
///
/// ```
/// use table_core::query::Lookup;
///
/// /// Whether the store returns all entities that it reads.
/// fn is_exact(lookup: &Lookup) -> bool {
///     lookup.filter.is_none()
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The range.
    pub keys: KeyRange,
    /// The text of the `$filter`; `None` asks for everything.
    pub filter: Option<String>,
}

/// Requests in the worst case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// Never more than this many.
    AtMost(usize),
    /// One a page. How many pages depends on the data and on the store, which may end a page early or leave it empty
    /// (PAGE-1, PAGE-4): there is no bound.
    OnePerPage {
        /// The most entities of a page.
        entities: usize,
        /// The fewest requests: one for each range.
        at_least: usize,
    },
}

impl Requests {
    fn of(class: QueryClass, queries: &[Query], top: Option<usize>) -> Self {
        // A point yields no token (PAGE-10), and neither does a page of nothing (ENG-5).
        let bounded = |query: &Query| query.keys.class() == QueryClass::Point || query.keys.is_empty();
        if class == QueryClass::Point || top == Some(0) || queries.iter().all(bounded) {
            return Self::AtMost(queries.len());
        }
        Self::OnePerPage { entities: top.unwrap_or(PAGE_ENTITIES), at_least: queries.len() }
    }
}

/// Something about a query that its author should know, with the rule that says it.
///
/// ```
/// use table_core::query::Warning;
///
/// /// Warnings for a log.
/// fn lines(warnings: &[Warning]) -> Vec<String> {
///     warnings.iter().map(|warning| format!("{}: {}", warning.rule, warning.message)).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The rule.
    pub rule: &'static str,
    /// The meaning of the warning, and advice.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.rule)
    }
}

impl Plan {
    /// The plan of queries that are asked together: one, or the ranges of a fan-out, which differ in their keys alone.
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

    /// The same, read from an index.
    #[must_use]
    pub(crate) fn with_index(self, name: impl Into<String>) -> Self {
        Self { index: Some(name.into()), ..self }
    }

    /// The same, with the reason why the whole table is read.
    #[must_use]
    pub(crate) fn with_reason(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

impl Query {
    /// The plan of the query on a table.
    #[must_use]
    pub fn plan(&self, table: &TableName) -> Plan {
        Plan::new(table, self.keys.class(), std::slice::from_ref(self))
    }
}
