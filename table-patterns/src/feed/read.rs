//! Reads and trims a feed.

use std::ops::Bound;

use table_core::etag::IfMatch;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, Query, Select, TextRange};
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::converge;
use crate::entities::ReservedRows;
use crate::feed::head::{FEED_PREFIX, HEAD, Head};
use crate::feed::write::{CHANGES, name};
use crate::feed::{Cursor, Feed, FeedEntry};
use crate::paging::Pages;

impl<S: TableStore> Feed<S> {
    /// Reads at most `limit` entries, from a cursor to the end of the feed in `head`. Returns the entries and the new cursor.
    pub(crate) async fn entries(
        &self,
        (table, partition_key): (&TableName, &PartitionKey),
        head: &Head,
        from: &Cursor,
        limit: usize,
    ) -> Result<(Vec<FeedEntry>, Cursor)> {
        let (passed, is_ordered) = (head.passed(from), self.store.capabilities().ordered);
        if passed >= head.last || limit == 0 {
            return Ok((Vec::new(), head.cursor(passed)));
        }
        // A row has at most `CHANGES` changes. If no entry is missing, the first `limit` entries are in rows whose numbers are in this window.
        let window = u64::try_from(limit.saturating_add(CHANGES)).unwrap_or(u64::MAX);
        let (mut lower, mut upper) = (passed + 1, passed.saturating_add(window).min(head.last));
        let (mut entries, mut continuation, mut earlier) = (Vec::new(), None, 0);
        loop {
            let range = KeyRange::rows(partition_key.as_str(), numbers(lower, upper));
            let top = is_ordered.then_some(limit.min(self.store.capabilities().top));
            let query = Query { top, ..Query::new(range) };
            let page = self.store.query(table, &query, continuation.as_ref()).await?;
            for row in page.rows.iter() {
                if let Some(last) = number(row.row_key) {
                    add(row, (head, last), &mut entries)?;
                }
            }
            entries.retain(|entry: &FeedEntry| entry.cursor.number > passed);
            continuation = page.continuation;
            match continuation {
                Some(_) if is_ordered && entries.len() >= limit => break,
                Some(_) => {}
                // Entries are missing: another process has trimmed them, or another program has deleted them.
                None if entries.len() < limit && upper < head.last => {
                    let is_empty = entries.len() == earlier;
                    lower = upper + 1;
                    upper = if is_empty { head.last } else { upper.saturating_add(window).min(head.last) };
                    earlier = entries.len();
                }
                None => break,
            }
        }
        in_order(&mut entries);
        // IMPORTANT: the window may end within a row, which is then not read. The reader moves only to a returned entry or to the end of the feed. At any other
        // position, it could skip entries.
        let is_end = upper == head.last && continuation.is_none() && entries.len() <= limit;
        entries.truncate(limit);
        let reached = match entries.last() {
            Some(last) if !is_end => last.cursor.clone(),
            _ => head.end(),
        };
        Ok((entries, reached))
    }

    /// Deletes the entries before a cursor, in transactions of 100 rows. Readers that have not reached the cursor miss these changes. Returns the number of
    /// changes between the end of the previous trim and the cursor. A call that only completes an earlier trim to the same cursor returns 0.
    ///
    /// If the table is deleted and recreated during the call, the entries of its new feed are kept.
    ///
    /// # Errors
    /// Any error from the store. Rows that were deleted before the error remain deleted. To continue, call the function again.
    pub async fn trim(&self, table: &TableName, partition_key: &PartitionKey, up_to: &Cursor) -> Result<u64> {
        let Some((before, floor)) = self.raise_floor(table, partition_key, up_to).await? else {
            return Ok(0);
        };
        let deleted = floor - before.floor;
        let range = KeyRange::rows(partition_key.as_str(), numbers(0, floor));
        let most = self.store.capabilities().limits.operations.max(1);
        let query = Query { select: Select::names(["RowKey"]), top: Some(most), ..Query::new(range) };
        let mut pages = Pages::new(&self.store, table, &query);
        while let Some(page) = pages.next().await? {
            let rows = page.rows.iter().filter(|row| number(row.row_key).is_some());
            let deletions = rows
                .map(|row| Ok((RowKey::new(row.row_key)?, OperationKind::Delete(IfMatch::ETag(row.etag())))));
            let deletions: Vec<_> = deletions.collect::<Result<_>>()?;
            if !deletions.is_empty() {
                // IMPORTANT: the head is read after the rows, and the rows are deleted only in the version that was read. If the table was deleted and
                // recreated, the rows belong to a new feed, whose entries must be kept. If that happened before the head was read, the head has a different
                // identifier. If it happens later, the rows' versions differ.
                let head = self.head(table, partition_key).await?;
                if head.is_none_or(|(head, _)| head.id != before.id) {
                    return Ok(deleted);
                }
                let submitted = converge::submit(&self.store, table, partition_key, deletions).await;
                if !converge::is_won(submitted)? {
                    // Another process is trimming the feed at the same time. The next call deletes the remaining rows.
                    return Ok(deleted);
                }
            }
        }
        Ok(deleted)
    }

    /// Records in the head that the entries before a cursor are trimmed. Returns the previous head, and the number of the last change that this call or an
    /// earlier one has trimmed. Returns `None` if no change has ever been trimmed.
    async fn raise_floor(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        up_to: &Cursor,
    ) -> Result<Option<(Head, u64)>> {
        let retry = Retry::default().with_runtime(self.pace.clone());
        let mut race = retry.start("the feed of the partition");
        loop {
            let Some((head, etag)) = self.head(table, partition_key).await? else { return Ok(None) };
            let floor = head.passed(up_to).min(head.last);
            if floor == head.floor {
                return Ok((floor > 0).then_some((head, floor)));
            }
            let write = Head { floor, ..head }.write(Some(etag))?;
            let write = [(write.row_key, write.kind)];
            if converge::is_won(converge::submit(&self.store, table, partition_key, write).await)? {
                return Ok(Some((head, floor)));
            }
            race.retry(None).await?;
        }
    }
}

/// Returns the key range of the rows whose last change has a number from `first` to `last`.
fn numbers(first: u64, last: u64) -> TextRange {
    let key = |number| Bound::Included(format!("{FEED_PREFIX}{number:020}"));
    TextRange { lower: key(first), upper: key(last) }
}

/// Parses the number of the last change in a row of entries from the row's key. Returns `None` for any other key.
fn number(row_key: &str) -> Option<u64> {
    let digits = row_key.strip_prefix(FEED_PREFIX)?;
    let is_number = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

/// The rules by which index checks report unreadable feed rows.
pub(super) const RESERVED: ReservedRows = ReservedRows { pattern: "feed", prefix: FEED_PREFIX, fault };

fn fault(row: EntityRef<'_>) -> Option<&'static str> {
    if row.row_key == HEAD {
        let is_head = matches!(Head::read(row.row), Ok(Some(_)));
        return (!is_head).then_some("the head of the feed cannot be read; restore it, or delete the feed");
    }
    let is_text = |property| matches!(row.row.find(property, &mut 0), Ok(Some(ValueRef::String(_))));
    let is_entry = number(row.row_key).is_some() && is_text("Source") && is_text("Kind");
    (!is_entry).then_some("the row is not an entry of a feed, and readers skip it; delete it")
}

/// Adds the entries in a row to `entries`. If the row was not written by a feed, adds nothing.
fn add(row: EntityRef<'_>, (head, last): (&Head, u64), entries: &mut Vec<FeedEntry>) -> Result<()> {
    let (begin, hint) = (entries.len(), &mut 0);
    for at in 0..CHANGES {
        let (Some(ValueRef::String(source)), Some(ValueRef::String(kind))) =
            (row.row.find(&name("Source", at), hint)?, row.row.find(&name("Kind", at), hint)?)
        else {
            break;
        };
        let payload = match row.row.find(&name("Payload", at), hint)? {
            Some(ValueRef::Binary(payload)) => payload.to_vec(),
            _ => Vec::new(),
        };
        let Ok(source) = RowKey::new(source) else { break };
        let (kind, timestamp) = (kind.to_owned(), row.row.timestamp());
        entries.push(FeedEntry { source, kind, payload, timestamp, cursor: head.cursor(0) });
    }
    let added = entries.get_mut(begin..).unwrap_or_default();
    for (back, entry) in added.iter_mut().rev().enumerate() {
        entry.cursor.number = last.saturating_sub(u64::try_from(back).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// Sorts entries by number. This function is not generic, because sorting code compiles slowly, and otherwise every program would compile its own copy.
fn in_order(entries: &mut [FeedEntry]) {
    entries.sort_by_key(|entry| entry.cursor.number);
}
