//! The cost of a request: what its answer took.

use table_core::query::QueryClass;

/// What an answer took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Of a read of entities.
    pub(crate) class: Option<QueryClass>,
    pub(crate) rows_read: u64,
    pub(crate) rows_returned: u64,
    /// Entities of a write.
    pub(crate) rows_written: u64,
    /// Of a scan of a table, what made it one.
    pub(crate) filter: Option<String>,
}

impl Cost {
    /// A look-up of one entity.
    pub(crate) const fn point(found: u64) -> Self {
        Self {
            class: Some(QueryClass::Point),
            rows_read: found,
            rows_returned: found,
            rows_written: 0,
            filter: None,
        }
    }

    /// A write of so many entities.
    pub(crate) fn write(rows_written: usize) -> Self {
        Self { rows_written: rows_written as u64, ..Self::default() }
    }
}
