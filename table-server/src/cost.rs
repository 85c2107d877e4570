//! The cost of a request, for metrics and logs.

use table_core::query::QueryClass;

/// The engine's work for a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// The class of a query.
    pub(crate) class: Option<QueryClass>,
    pub(crate) rows_read: u64,
    pub(crate) rows_returned: u64,
    /// The number of entities changed by a write.
    pub(crate) rows_written: u64,
    /// The filter, if the query scanned a table.
    pub(crate) filter: Option<String>,
}

impl Cost {
    /// Creates the cost of reading one entity by its key.
    pub(crate) const fn point(found: u64) -> Self {
        Self {
            class: Some(QueryClass::Point),
            rows_read: found,
            rows_returned: found,
            rows_written: 0,
            filter: None,
        }
    }

    /// Creates the cost of a write of `rows_written` entities.
    pub(crate) fn write(rows_written: usize) -> Self {
        Self { rows_written: rows_written as u64, ..Self::default() }
    }
}
