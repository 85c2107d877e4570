//! Change records. A pattern, such as a feed, commits them in the transaction that makes the changes.

use std::borrow::Cow;
use std::fmt;

use futures_util::future::BoxFuture;
use table_core::key::RowKey;
use table_core::name::TableName;
use table_core::store::Committed;
use table_core::transaction::Transaction;
use table_core::{Error, Result};

/// A change to a row, recorded in the transaction that makes the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangeRecord {
    /// The `RowKey` of the changed row.
    pub(crate) source: RowKey,
    /// The kind of change.
    pub(crate) kind: Cow<'static, str>,
    pub(crate) payload: Vec<u8>,
}

/// A pattern that records a transaction's changes. The changes and their records are committed together.
pub(crate) trait RecordChanges: fmt::Debug + Send + Sync {
    /// Returns the number of operations added to a transaction by change records.
    fn operations(&self, records: &[ChangeRecord]) -> usize;

    /// Makes one attempt to submit a transaction together with its change records. The returned versions cover only the given operations, not the operations
    /// that write the records. The same applies to the operation index in an error.
    fn commit<'a>(
        &'a self,
        table: &'a TableName,
        transaction: Transaction,
        records: &'a [ChangeRecord],
    ) -> BoxFuture<'a, Result<Recorded>>;
}

/// The outcome of an attempt to commit a transaction together with its change records.
pub(crate) enum Recorded {
    Committed {
        committed: Committed,
        /// `true` if another process has recorded changes since this process last recorded any.
        is_shared: bool,
    },
    /// Another writer recorded changes first. Nothing was written. The error contains the key of the contended row, such as the head of a feed.
    Lost(Error),
}
