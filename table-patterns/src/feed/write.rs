//! Writes feed entries. Adds them to a transaction, which commits only if the head of the feed is unchanged.

use std::borrow::Cow;
use std::ops::Range;

use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Error, ErrorCode, Result, ValueRef};

use crate::converge;
use crate::entities::Recorded;
use crate::feed::head::{FEED_PREFIX, HEAD, Head};
use crate::feed::{Feed, FeedChange};

/// The maximum number of changes in one row of entries. A row has at most 252 properties, and each change needs three.
pub(super) const CHANGES: usize = 80;

/// The maximum size of the changes in one row of entries, in bytes. A larger change gets its own row.
const BYTES: usize = 256 * 1024;

/// A change that a batch of writes records in the feed.
pub(super) use crate::entities::ChangeRecord as Record;

impl Record {
    pub(super) fn of(change: &FeedChange<'_>) -> Self {
        let kind = Cow::Owned(change.kind.to_owned());
        Self { source: change.source.clone(), kind, payload: change.payload.to_vec() }
    }

    /// Creates a record without a payload.
    pub(crate) const fn plain(source: RowKey, kind: &'static str) -> Self {
        Self { source, kind: Cow::Borrowed(kind), payload: Vec::new() }
    }

    fn bytes(&self) -> usize {
        self.source.as_str().len() + self.kind.len() + self.payload.len()
    }
}

/// Returns the error for a head that another writer has created and deleted while this writer tried to create it.
fn created_first() -> Error {
    let message = "another writer has created and deleted the head of the feed; repeat the write";
    Error::new(ErrorCode::UpdateConditionNotSatisfied, message)
}

/// Returns the number of operations that recording the given changes adds to a transaction.
pub(crate) fn operations<'a>(records: impl IntoIterator<Item = &'a Record>) -> usize {
    let rows = rows(records).len();
    if rows == 0 { 0 } else { rows + 1 }
}

/// Distributes records over rows. Returns the range of records in each row.
fn rows<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Range<usize>> {
    let (mut rows, mut bytes) = (Vec::<Range<usize>>::new(), 0);
    for (at, record) in records.into_iter().enumerate() {
        bytes += record.bytes();
        match rows.last_mut() {
            Some(row) if row.len() < CHANGES && bytes <= BYTES => row.end = at + 1,
            _ => {
                bytes = record.bytes();
                rows.push(at..at + 1);
            }
        }
    }
    rows
}

/// Returns the name of `property` for the change with index `at` in a row. The name ends with the index, except for the first change.
pub(super) fn name(property: &'static str, at: usize) -> Cow<'static, str> {
    if at == 0 { Cow::Borrowed(property) } else { Cow::Owned(format!("{property}{at}")) }
}

/// Returns the operation that writes one row of entries. It replaces any row with the same key. Such a row cannot belong to the feed: the commit that added it
/// would have moved the head past the row's number.
fn entry_row(records: &[Record], last: u64) -> Result<Operation> {
    let mut writer = RowWriter::with_capacity(records.len() * 3);
    for (at, record) in records.iter().enumerate() {
        writer.property(&name("Source", at), ValueRef::String(record.source.as_str()));
        writer.property(&name("Kind", at), ValueRef::String(&record.kind));
        if !record.payload.is_empty() {
            writer.property(&name("Payload", at), ValueRef::Binary(&record.payload));
        }
    }
    let row_key = RowKey::new(format!("{FEED_PREFIX}{last:020}"))?;
    Ok(Operation { row_key, kind: OperationKind::InsertOrReplace(writer.finish()) })
}

impl<S: TableStore> Feed<S> {
    /// Makes one attempt to submit a transaction together with the feed entries for its changes.
    /// The returned `ETag`s and the operation index in an error refer to the operations of `transaction` alone.
    pub(super) async fn attempt(
        &self,
        table: &TableName,
        transaction: Transaction,
        records: &[Record],
    ) -> Result<Recorded> {
        if records.is_empty() {
            let committed = self.store.submit(table, transaction).await?;
            return Ok(Recorded::Committed { committed, is_shared: false });
        }
        let partition_key = transaction.partition_key().clone();
        let own = transaction.operations().len();
        let key = EntityKey { partition_key: partition_key.clone(), row_key: RowKey::new(HEAD)? };
        let at_head = |error: Error| error.with_table(table.as_str()).with_key(partition_key.as_str(), HEAD);
        let _turn = self.turns.enter_entity(table, &key, &self.pace).await;
        let mut remembered = self.heads.take(table, &partition_key);
        let mut is_shared = false;
        loop {
            let is_remembered = remembered.is_some();
            let known = match remembered.take() {
                Some(known) => known,
                None => match self.head_or_new(table, &partition_key).await? {
                    Some(known) => known,
                    None => return Ok(Recorded::Lost(at_head(created_first()))),
                },
            };
            let (recorded, head) =
                self.recorded((table, &partition_key), transaction.clone(), known.clone(), records).await?;
            // The requests for the feed may have outlasted the lease, so the lease is checked here.
            recorded.check_lease()?;
            match self.store.submit(table, recorded).await {
                Ok(mut committed) => {
                    if let Some(etag) = committed.pop().flatten() {
                        self.heads.leave(table, &partition_key, (head, etag));
                    }
                    committed.truncate(own);
                    return Ok(Recorded::Committed { committed, is_shared });
                }
                Err(error) if error.is_conflict() && error.operation().is_some_and(|at| at >= own) => {
                    // The remembered head may have been stale for a long time. It is reread before the attempt counts as a lost race.
                    if !is_remembered {
                        return Ok(Recorded::Lost(at_head(error)));
                    }
                    is_shared = true;
                }
                Err(error) => {
                    // If the store refuses an operation for a reason other than a concurrent change, the remembered head is still valid.
                    let is_changed = error.is_precondition_failed() || error.operation().is_none();
                    if error.is_conflict() && !is_changed {
                        self.heads.leave(table, &partition_key, known);
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Reads the head of a partition's feed. If the head is missing, creates it. Returns `None` if another writer deletes the head at the same time.
    async fn head_or_new(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
    ) -> Result<Option<(Head, ETag)>> {
        if let Some(known) = self.head(table, partition_key).await? {
            return Ok(Some(known));
        }
        match self.create(table, partition_key).await? {
            Some(created) => Ok(Some(created)),
            None => self.head(table, partition_key).await,
        }
    }

    /// Creates the head of a partition's feed. Returns `None` if another writer committed first.
    pub(super) async fn create(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
    ) -> Result<Option<(Head, ETag)>> {
        // IMPORTANT: the head is created before the partition is listed. If the table is dropped and recreated while this writer is suspended, this head no
        // longer exists, so the commit is refused.
        let head = Head::new();
        let Operation { row_key, kind } = head.write(None)?;
        match converge::submit(&self.store, table, partition_key, [(row_key, kind)]).await {
            Ok(committed) => Ok(committed.into_iter().next().flatten().map(|etag| (head, etag))),
            Err(error) if error.is_conflict() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds the rows of entries and the new head to a transaction. If the feed is quiet, first lists the partition in the registry.
    async fn recorded(
        &self,
        (table, partition_key): (&TableName, &PartitionKey),
        mut transaction: Transaction,
        (mut head, etag): (Head, ETag),
        records: &[Record],
    ) -> Result<(Transaction, Head)> {
        let in_table = |error: Error| error.with_table(table.as_str());
        if head.quiet {
            // IMPORTANT: the partition is listed after the head has been read and before the commit. A follower that marks the feed as quiet in the meantime
            // changes the head.
            self.register(table, partition_key).await?;
        }
        for row in rows(records) {
            let records = records.get(row).unwrap_or_default();
            head.last += u64::try_from(records.len()).unwrap_or(u64::MAX);
            transaction.push(entry_row(records, head.last)?).map_err(in_table)?;
        }
        head.quiet = false;
        transaction.push(head.write(Some(etag))?).map_err(in_table)?;
        Ok((transaction, head))
    }
}

#[cfg(test)]
mod tests;
