//! Recorded requests, which a workload can replay.

use table_core::query::{QueryClass, TextRange};

/// One data request that passed through a [`Meter::recording`](crate::meter::Meter::recording).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// The name of the table.
    pub table: String,
    /// The `PartitionKey`, or `None` if the request reads several partitions.
    pub partition_key: Option<String>,
    /// The `PartitionKey` range of a query that reads several partitions.
    pub(crate) range: Option<TextRange>,
    /// The class of the read, or `None` for a write.
    pub class: Option<QueryClass>,
    /// `true` if the request read a page after the first page of a query.
    pub further_page: bool,
    /// The number of entities written or examined.
    pub entities: u64,
    /// The number of bytes in the entities sent or returned (SIZE-2).
    pub bytes: u64,
}
