//! Change feed: the changes in a partition in commit order, readable from any position.
//!
//! # Context
//! A feed lets a read model, an audit trail or another system follow every change in a partition, in order and at its own pace. An [`outbox`](crate::outbox) is
//! different: its workers process each intent once and discard it. A feed keeps its entries until they are trimmed.
//!
//! # Key layout
//! In the partition of the change:
//!
//! | RowKey | properties |
//! |---|---|
//! | `U+FFFC feed_` and 20 digits: the number of the last change in the row | `Source`, `Kind`, `Payload` of the first change, `Source1`, `Kind1`, `Payload1` of the second, …; an empty payload is omitted |
//! | `U+FFFC feed_head` | `Id`: a random number that distinguishes the feed from the feed of a deleted table with the same name; `Last`: the number of its last change; `Floor`: the number of the last trimmed change; `Quiet`: `true` if [`FEEDS`] does not list the partition, or marks it as quiet; `Kept`: `true` if the feed is never marked as quiet |
//!
//! Changes are numbered from 1 without gaps. All changes of one transaction are in one row, or in a few rows if they are large. Typed reads skip these rows, as
//! they skip outbox rows.
//!
//! The table [`FEEDS`] lists the partitions that have a feed. Its `PartitionKey` is the table's name in lower case, `_` and one of 16 buckets; its `RowKey` is
//! the partition. A `Quiet` property marks the partition as quiet: a follower has read all changes up to the cursor in this property.
//!
//! # Guarantee
//! - A change and its entry are written in one transaction.
//! - Entries are in commit order, both for changes to one entity and for changes to several. To ensure this, each transaction replaces the head, conditional on
//!   its `ETag`. The order does not depend on the clock of any writer, reader or store.
//! - No entry ever appears before a returned [`Cursor`]. If others commit while a writer is suspended, the writer's commit is refused, however long the
//!   suspension lasted. The writer then rereads the head and takes the next number.
//! - Each reader receives each untrimmed entry at least once. A reader that stores its cursor after processing a page may receive the page again after a crash.
//! - A partition is listed in [`FEEDS`] before its first entry is committed.
//!
//! `docs/models/feed.rs` checks this protocol. It also shows that removing any one of the protocol's conditions breaks the guarantee.
//!
//! # Cost
//! **Write.** A write adds two operations to the transaction: the entries and the head. If a transaction has more than 80 changes or more than 256 KiB of
//! payloads, its entries take several rows. After a commit, the handle remembers the partition's head. A process therefore reads the head only before its first
//! write and after a conflict. Writes to one partition through one handle take turns in arrival order, because each write needs the head that the previous one
//! left. If writers in different processes compete, the loser retries as often as its handle's retry policy permits.
//!
//! **Read.** If nothing is new, a read takes one request, for the head. Otherwise, it also reads the pages with the new rows.
//!
//! **Poll of all partitions.** A poll takes one request per 1,000 quiet partitions. When a follower has read a feed to its end, it marks the partition as quiet
//! (two writes). The next writer removes the mark (one write) before it commits.
//!
//! **Trim.** A trim replaces the head. For every 100 rows to delete, it also reads the rows' keys and the head, and sends one transaction.
//!
//! # Bounds
//! One partition commits its recorded transactions one after another, about as many per second as the store serves sequential requests. For a higher rate,
//! distribute the changes over several partitions, or write many entities per transaction. Up to 80 entities share one row of entries. A transaction has room
//! for 97 entities, two rows of entries and the head.
//!
//! Restore a table from a backup together with [`FEEDS`], or with a [`Migration`](crate::migrate::Migration), which registers the table's partitions.
//! Otherwise, followers may consider a restored feed quiet and ignore its changes. After a restore, restart the followers of views, because they remember the
//! quiet feeds.
//!
//! A backup or copy of a store that is in use must read [`FEEDS`] after the other tables, as `tables backup` does. It then lists every partition whose entries
//! were read.
//!
//! # Declared feeds
//! With `#[entity(feed)]` on a struct, every [handle](crate::Entities) to its entities records each change as `inserted`, `updated` or `deleted`, without a
//! payload. The entry is written in the same transaction as the entity, its index rows and its participants' rows. A plain write of such an entity does not
//! compile. To record another kind of change or a payload, use [`Changes::record`](crate::participant::Changes::record) in a [participant](crate::participant).
//!
//! If the entity's type has no indexes, participants or copies, `insert_or_replace` and `insert_or_merge` do not read the entity, so they record `updated` even
//! for a new entity.
//!
//! ```
//! # use table_patterns::{Engine, Entity, IfMatch};
//! use table_patterns::feed::Cursor;
//! use table_patterns::EntityStore;
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Company", feed)]
//! #[partition_key(department)]
//! #[row_key("empid_", id)]
//! #[index(ByEmail, unique, row_key("email_", email))]
//! struct Employee { department: String, #[digits(6)] id: u32, email: String }
//!
//! # pollster::block_on(async {
//! let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
//! employees.insert(&Employee { department: "Sales".into(), id: 223, email: "ada@contoso.com".into() }).await?;
//! employees.update(Employee::key("Sales", 223), |ada| ada.email = "lovelace@contoso.com".into()).await?;
//! employees.delete(Employee::key("Sales", 223), IfMatch::Any).await?;
//!
//! let (feed, table) = (employees.feed(), employees.table().name()?);
//! let sales = &feed.partitions(table).await?[0];
//! let entries = feed.read(table, sales, &Cursor::default(), 100).await?;
//! let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
//! assert_eq!(kinds, ["inserted", "updated", "deleted"]);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```
//!
//! # When not to
//! If the order does not matter, use an [`Intent`](crate::outbox::Intent), which leaves nothing behind once it has been processed. No feed covers several
//! partitions: each partition has its own feed, and a reader of several partitions must merge their feeds.

mod backfill;
mod contributor;
mod head;
mod heads;
mod read;
mod registry;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::Result;
use table_core::entity::Entity;
use table_core::key::{PartitionKey, RowKey};
use table_core::mixed::{RowOwner, classify_key};
use table_core::name::TableName;
use table_core::query::KeyRange;
use table_core::retry::Retry;
use table_core::selection::{Point, Selection};
use table_core::store::{Committed, TableStore};
use table_core::transaction::Transaction;

use crate::entities::{Recorded, Turns};
use crate::work::Runtime;
pub use backfill::FeedBackfill;
pub(crate) use backfill::is_announced;
pub(crate) use contributor::FeedRecorder;
pub use head::FEED_PREFIX;
pub(crate) use head::{HEAD as FEED_HEAD, Head, sets_feed_back};
use heads::Heads;
pub(crate) use registry::Listed;
use write::Record;

/// The longest time that one writer may hold the head of a feed while others wait. The limit is needed because that writer's future may never be polled again.
const TIMEOUT: Duration = Duration::from_millis(200);

/// The table that lists the partitions with a feed. Listings of the program's tables omit it.
pub const FEEDS: &str = table_core::table::FEEDS;

/// A change to record in a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedChange<'a> {
    /// The RowKey of the changed row.
    pub source: &'a RowKey,
    /// The kind of change. The program chooses its name.
    pub kind: &'a str,
    /// The details of the change, in a format chosen by the program; at most 64 KiB (TYPE-10).
    pub payload: &'a [u8],
}

/// A recorded change, as read from a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedEntry {
    /// The RowKey of the changed row.
    pub source: RowKey,
    /// The kind of change, as named by the program that recorded it.
    pub kind: String,
    /// The details of the change, in the format of the program that recorded it.
    pub payload: Vec<u8>,
    /// The transaction's Timestamp, assigned by the store, in [ticks](table_core::ticks). It does not define the order.
    pub timestamp: u64,
    /// A cursor just past this entry.
    pub cursor: Cursor,
}

/// A position in a partition's feed. It can be stored, for example as JSON, and used by another process.
///
/// If the table was deleted and recreated, an old cursor reads the new feed from its beginning. After a restore from a backup, a cursor may be beyond the end
/// of the feed. Such a cursor also reads from the beginning, until the feed has grown to the cursor's number.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// The random identifier of the cursor's feed. It is 0 in the default cursor, which stands at the beginning of every feed.
    feed: u64,
    number: u64,
}

impl FeedEntry {
    /// Returns the key of the changed entity, provided that its `RowKey` has the format of `E`'s keys. A feed contains the changes to entities of all types in
    /// its partition. [`mixed`](crate::mixed) describes how to tell the types apart.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore, PartitionKey, feed::Cursor};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[entity(table = "Company", feed)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32 }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
    /// employees.insert(&Employee { department: "Sales".into(), id: 223 }).await?;
    /// let (feed, table, sales) = (employees.feed(), employees.table().name()?, PartitionKey::new("Sales")?);
    /// for entry in feed.read(table, &sales, &Cursor::default(), 100).await? {
    ///     let Some(key) = entry.source_as::<Employee>(&sales) else { continue };
    ///     let employee = employees.get(key).await?.expect("not deleted");
    ///     assert_eq!(employee.id, 223);
    /// }
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn source_as<E: Entity>(&self, partition_key: &PartitionKey) -> Option<Selection<E, Point>> {
        let belonging = classify_key::<E>(partition_key.as_str(), self.source.as_str()).ok()?;
        let key = KeyRange::point(partition_key.as_str(), self.source.as_str());
        (belonging == RowOwner::Own).then(|| Selection::new(Ok(vec![key])))
    }
}

impl Cursor {
    /// A cursor that matches no feed. Real feed identifiers have at most 53 bits.
    pub(crate) const UNKNOWN: Self = Self { feed: u64::MAX, number: 0 };

    /// Returns the number of the last change before the cursor. Returns 0 at the beginning of the feed.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Returns `true` if the cursor is at or after another cursor in the same feed.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        self.is_of(other) && self.number >= other.number
    }

    /// Returns `true` if both cursors belong to the same feed.
    pub(crate) const fn is_of(&self, other: &Self) -> bool {
        self.feed == other.feed
    }
}

/// The change feeds of a store. Clones share a cache of the feeds' heads.
///
/// ```
/// # use table_patterns::{Engine, EntityKey, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction};
/// # use table_patterns::row::RowWriter;
/// use table_patterns::feed::{Cursor, Feed, FeedChange};
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let employees = TableName::new("Employee")?;
/// store.create_table(&employees).await?;
/// let feed = Feed::new(store.clone());
///
/// let (sales, ada) = (PartitionKey::new("Sales")?, RowKey::new("000223")?);
/// let mut hire = Transaction::new(sales.clone(), store.capabilities().limits)?;
/// # let row = RowWriter::new().finish();
/// hire.push(Operation { row_key: ada.clone(), kind: OperationKind::Insert(row) })?;
/// feed.submit(&employees, hire, &[FeedChange { source: &ada, kind: "hired", payload: b"" }]).await?;
///
/// let entries = feed.read(&employees, &sales, &Cursor::default(), 100).await?;
/// assert_eq!(entries[0].kind, "hired");
/// assert!(feed.read(&employees, &sales, &entries[0].cursor, 100).await?.is_empty());
/// feed.trim(&employees, &sales, &entries[0].cursor).await?;
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Feed<S> {
    store: S,
    pace: Runtime,
    /// The queues of waiting writers, one per partition. Only one writer of this process at a time commits to a feed.
    turns: Turns,
    heads: Arc<Heads>,
}

impl<S: TableStore> Feed<S> {
    /// Creates a handle to the feeds of a store.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self::with_runtime(store, Runtime::new())
    }

    /// Creates a handle with a different clock and sleep function.
    #[must_use]
    pub fn with_runtime(store: S, pace: Runtime) -> Self {
        Self { store, pace, turns: Turns::with_timeout(TIMEOUT), heads: Arc::default() }
    }

    /// Submits a transaction together with the feed entries for its changes.
    ///
    /// # Errors
    /// - `InvalidInput` (EGT-2) if the entries do not fit into the transaction.
    /// - `UpdateConditionNotSatisfied` (CON-3) if another writer committed to the partition during every attempt.
    /// - Any error from [`TableStore::submit`].
    pub async fn submit(
        &self,
        table: &TableName,
        transaction: Transaction,
        changes: &[FeedChange<'_>],
    ) -> Result<Committed> {
        let records: Vec<_> = changes.iter().map(Record::of).collect();
        let retry = Retry::default().with_runtime(self.pace.clone());
        let mut race = retry.start("the feed of the partition");
        loop {
            match self.attempt(table, transaction.clone(), &records).await? {
                Recorded::Committed { committed, .. } => return Ok(committed),
                Recorded::Lost(error) => race.retry(error).await?,
            }
        }
    }

    /// Returns the partitions of a table that have a feed, in the order of the registry [`FEEDS`].
    ///
    /// # Errors
    /// Any error from [`TableStore::query`].
    pub async fn partitions(&self, table: &TableName) -> Result<Vec<PartitionKey>> {
        Ok(self.listed(table).await?.into_iter().map(|listed| listed.partition_key).collect())
    }

    /// Reads at most `limit` entries after a cursor, oldest first. Returns an empty list if no new entries exist.
    ///
    /// # Errors
    /// - `Corrupted` if the head of the feed cannot be read.
    /// - Any error from [`TableStore::get`] or [`TableStore::query`].
    ///
    /// Rows that are not valid entries are skipped. Only a program that writes to reserved keys can have created them.
    pub async fn read(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        from: &Cursor,
        limit: usize,
    ) -> Result<Vec<FeedEntry>> {
        match self.head(table, partition_key).await? {
            Some((head, _)) => Ok(self.entries((table, partition_key), &head, from, limit).await?.0),
            None => Ok(Vec::new()),
        }
    }

    /// Returns a cursor at the end of a partition's feed. All later commits are after this cursor.
    ///
    /// To build a state from the entities and then follow their changes, first get the end, then read the entities, and then follow the feed from the end.
    ///
    /// # Errors
    /// `Corrupted` if the head of the feed cannot be read; any error from [`TableStore::get`].
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore, PartitionKey};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", feed)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, id: u32 }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
    /// employees.insert(&Employee { department: "Sales".into(), id: 223 }).await?;
    /// let (feed, table, sales) = (employees.feed(), employees.table().name()?, PartitionKey::new("Sales")?);
    /// let end = feed.end(table, &sales).await?;
    /// employees.insert(&Employee { department: "Sales".into(), id: 224 }).await?;
    /// assert_eq!(feed.read(table, &sales, &end, 100).await?.len(), 1);
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn end(&self, table: &TableName, partition_key: &PartitionKey) -> Result<Cursor> {
        Ok(self.head(table, partition_key).await?.map(|(head, _)| head.end()).unwrap_or_default())
    }
}

impl<S> fmt::Debug for Feed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").finish_non_exhaustive()
    }
}
