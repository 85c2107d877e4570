//! Recorded calls, for a dry run to replay.

use table_core::query::QueryClass;

/// One request of data that passed a [`Meter::recording`](crate::meter::Meter::recording).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// The table.
    pub table: String,
    /// The partition; `None` where more than one is read.
    pub partition_key: Option<String>,
    /// The class of what was read; `None` for a write.
    pub class: Option<QueryClass>,
    /// Whether it went on where a page ended.
    pub further_page: bool,
    /// Entities written, or looked at.
    pub entities: u64,
    /// Their bytes: those sent, or those that came back (SIZE-2).
    pub bytes: u64,
}
