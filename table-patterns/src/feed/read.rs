//! Reading a feed: in the order of the store's Timestamps, though rows lie in the order of the writers' clocks.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Bound;

use table_core::error::{Error, ErrorCode, Result};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::pace::ticks_of;
use table_core::query::{EntityRef, KeyRange, Query, Select, TextRange};
use table_core::store::TableStore;
use table_core::ticks;
use table_core::value::ValueRef;

use crate::feed::{Cursor, FEED_PREFIX, Feed, FeedEntry};
use crate::order::{self, Ordered};

/// Entries that a reader keeps for its next portions.
const AHEAD: usize = 8_192;

/// Entries read that were not asked for yet, and where the next one is looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    at: Cursor,
    entries: VecDeque<FeedEntry>,
}

impl Ahead {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// At most `limit` entries behind a cursor. What was kept is used if it begins there.
    pub(crate) async fn next<S: TableStore>(
        &mut self,
        feed: &Feed<S>,
        (table, partition_key): (&TableName, &PartitionKey),
        from: &Cursor,
        limit: usize,
    ) -> Result<Vec<FeedEntry>> {
        if self.at != *from {
            *self = Self { at: from.clone(), entries: VecDeque::new() };
        }
        if self.entries.is_empty() {
            self.entries = portion(feed, table, partition_key, from, limit.max(AHEAD)).await?.into();
        }
        let some: Vec<_> = self.entries.drain(..limit.min(self.entries.len())).collect();
        if let Some(last) = some.last() {
            self.at = last.cursor.clone();
        }
        Ok(some)
    }
}

/// The feed of one partition, read in portions. Made by [`Feed::reader`].
///
/// ```
/// # use table_patterns::{Engine, Entity, PartitionKey, feed::Cursor};
/// use table_patterns::EntityStore;
///
/// # #[derive(Entity)]
/// # #[entity(table = "Company", feed)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, id: u32 }
/// # pollster::block_on(async {
/// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
/// for id in 0..25 {
///     employees.insert(&Employee { department: "Sales".into(), id }).await?;
/// }
/// let (table, sales) = (employees.table().name()?.clone(), PartitionKey::new("Sales")?);
/// let feed = employees.feed();
/// let mut reader = feed.reader(table, sales, Cursor::default());
/// let mut portions = Vec::new();
/// loop {
///     let some = reader.next(10).await?;
///     if some.is_empty() {
///         break; // nothing yet: a later call looks again
///     }
///     portions.push(some.len());
/// }
/// assert_eq!(portions, [10, 10, 5]);
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
pub struct FeedReader<'a, S> {
    feed: &'a Feed<S>,
    table: TableName,
    partition_key: PartitionKey,
    ahead: Ahead,
}

impl<'a, S> FeedReader<'a, S> {
    pub(super) fn new(
        feed: &'a Feed<S>,
        table: TableName,
        partition_key: PartitionKey,
        from: Cursor,
    ) -> Self {
        Self { feed, table, partition_key, ahead: Ahead { at: from, entries: VecDeque::new() } }
    }

    /// Behind which entry the next portion begins: to be kept once that one was worked on.
    #[must_use]
    pub const fn cursor(&self) -> &Cursor {
        &self.ahead.at
    }
}

impl<S: TableStore> FeedReader<'_, S> {
    /// The next entries, at most `limit`, oldest first; an empty list says that there is none yet.
    ///
    /// # Errors
    /// Those of [`Feed::read`]; the reader stays where it is.
    pub async fn next(&mut self, limit: usize) -> Result<Vec<FeedEntry>> {
        let from = self.ahead.at.clone();
        self.ahead.next(self.feed, (&self.table, &self.partition_key), &from, limit).await
    }
}

impl<S> fmt::Debug for FeedReader<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedReader").field("partition_key", &self.partition_key).finish_non_exhaustive()
    }
}

/// What lies behind a cursor, at most `limit` entries in order.
pub(super) async fn portion<S: TableStore>(
    feed: &Feed<S>,
    table: &TableName,
    partition_key: &PartitionKey,
    from: &Cursor,
    limit: usize,
) -> Result<Vec<FeedEntry>> {
    order::require(&feed.store, Ordered::Feed).map_err(|error| error.with_table(table.as_str()))?;
    let skew = ticks_of(feed.skew);
    // A key before this was written so long ago that its transaction is over, whatever the clocks.
    let settled = feed.settled().timestamp;
    let mut pass = Pass { feed, table, partition_key, from, entries: Vec::new(), pages: 0 };
    let complete = pass.run(|entries, key| {
        // All keys up to this one were read: whatever has a Timestamp of `skew` before it is among them.
        let complete = key.saturating_sub(skew);
        let known = entries.iter().filter(|entry| entry.cursor.timestamp <= complete).count();
        (key <= settled && known >= limit).then_some(complete)
    });
    let bound = match complete.await? {
        Some(complete) => complete,
        None if pass.pages <= 1 => ticks::MAX,
        None => {
            // IMPORTANT: an entry may have come into a page that was read already, before one that came into a later page. What is
            // not after the newest of the first pass had been written before that pass ended: a second pass sees all of it.
            let newest = pass.entries.iter().map(|entry| entry.cursor.timestamp).max().unwrap_or_default();
            pass.entries.clear();
            pass.run(|_, _| None).await?;
            newest
        }
    };
    let mut entries = pass.entries;
    entries.retain(|entry| entry.cursor.timestamp <= bound);
    entries.sort_by(|one, other| one.cursor.cmp(&other.cursor));
    entries.truncate(limit);
    Ok(entries)
}

/// The places of all entries up to a cursor.
pub(super) async fn cursors<S: TableStore>(
    feed: &Feed<S>,
    table: &TableName,
    partition_key: &PartitionKey,
    up_to: &Cursor,
) -> Result<Vec<Cursor>> {
    let range = KeyRange::rows(partition_key.as_str(), TextRange::prefix(FEED_PREFIX));
    let query = Query { select: Select::names(["RowKey", "Timestamp"]), ..Query::new(range) };
    let (mut cursors, mut from) = (Vec::new(), None);
    loop {
        let page = feed.store.query(table, &query, from.as_ref()).await?;
        cursors.extend(page.rows.iter().map(cursor_of).filter(|cursor| cursor <= up_to));
        from = page.continuation;
        if from.is_none() {
            return Ok(cursors);
        }
    }
}

/// One reading of all rows behind a cursor, and of some that lie before it.
struct Pass<'a, S> {
    feed: &'a Feed<S>,
    table: &'a TableName,
    partition_key: &'a PartitionKey,
    from: &'a Cursor,
    entries: Vec<FeedEntry>,
    pages: usize,
}

impl<S: TableStore> Pass<'_, S> {
    /// Reads to the end, or until `enough` says so after a page, which is given the instant in the key of its last row.
    async fn run(&mut self, enough: impl Fn(&[FeedEntry], u64) -> Option<u64> + Send) -> Result<Option<u64>> {
        let mut rows = TextRange::prefix(FEED_PREFIX);
        let since = self.from.timestamp.saturating_sub(ticks_of(self.feed.skew));
        rows.lower = Bound::Included(format!("{FEED_PREFIX}{since:019}"));
        let query = Query::new(KeyRange::rows(self.partition_key.as_str(), rows));
        let mut continuation = None;
        loop {
            let page = self.feed.store.query(self.table, &query, continuation.as_ref()).await?;
            self.pages += 1;
            let mut last = 0;
            for entity in page.rows.iter() {
                last = instant(entity.row_key);
                if cursor_of(entity) > *self.from {
                    let entry = entry(entity).map_err(|error| error.with_table(self.table.as_str()))?;
                    self.entries.push(entry);
                }
            }
            continuation = page.continuation;
            if continuation.is_none() {
                return Ok(None);
            }
            if let Some(complete) = enough(&self.entries, last) {
                return Ok(Some(complete));
            }
        }
    }
}

/// The writer's instant in the key of an entry; 0 for a key that has none.
fn instant(row_key: &str) -> u64 {
    let digits = row_key.strip_prefix(FEED_PREFIX).and_then(|rest| rest.split('_').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

fn cursor_of(entity: EntityRef<'_>) -> Cursor {
    Cursor { timestamp: entity.row.timestamp(), row_key: entity.row_key.to_owned() }
}

fn entry(entity: EntityRef<'_>) -> Result<FeedEntry> {
    let hint = &mut 0;
    let source = entity.row.find("Source", hint)?;
    let kind = entity.row.find("Kind", hint)?;
    let payload = entity.row.find("Payload", hint)?;
    let (Some(ValueRef::String(source)), Some(ValueRef::String(kind)), Some(ValueRef::Binary(payload))) =
        (source, kind, payload)
    else {
        let message = "the row is no entry of a feed";
        return Err(Error::new(ErrorCode::Corrupted, message).with_key(entity.partition_key, entity.row_key));
    };
    Ok(FeedEntry {
        source: RowKey::new(source)?,
        kind: kind.to_owned(),
        payload: payload.to_vec(),
        cursor: cursor_of(entity),
    })
}
