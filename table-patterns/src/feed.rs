//! Change feed: the changes of a partition in order, readable from any position.
//!
//! # Context
//! A read model, an audit, another system want to know of every change of a partition, in the order of the changes, at their own speed.
//! Workers of an [`outbox`](crate::outbox) do each intent once and forget it; a feed keeps what happened until it is trimmed.
//!
//! # Key layout
//! In the partition of the change, written in its transaction: RowKey `U+FFFC feed_`, the writer's instant in ticks (19 digits), `_`, 32
//! hexadecimal digits. Properties: `Source`: the row that changed · `Kind`: a word of the program's · `Payload`: Binary. As the outbox's, these
//! rows are left out of typed reads.
//!
//! Which partitions of a table have a feed stands in the table [`FEEDS`]: the `PartitionKey` is the table's name in lower case, `_` and a bucket
//! of 16, the `RowKey` the partition. Handles of entities with `#[entity(feed)]` register them; a program that records by hand calls [`Feed::register`].
//!
//! # Guarantee
//! - A change and its entry are written both or neither.
//! - The order is that of the transactions: by the Timestamp that the store gave, not by the writers' clocks. Entries of one transaction
//!   follow in the order of their `RowKey`s.
//! - At least once: a reader that keeps its [`Cursor`] only after it has worked on a page sees some entries again after a stop, and misses
//!   none. No entry appears behind a cursor that was given out.
//!
//! # Cost
//! A row in the transaction, and an upsert an hour and partition for the registry. A read is a range query from the cursor on, twice where the answer has several pages: a page is a snapshot, two
//! pages are not, and an entry that was written between them must not be passed over. What is older than twice the [`skew`](Feed::skew) is read once, and only as far
//! as asked for. A [`FeedReader`] keeps up to 8,192 entries for the next portion.
//!
//! # Bounds
//! The embedded engine gives out Timestamps in the order of its transactions (ENG-8). On the service the order is that of the clock of the machine
//! that serves the partition, which is not promised across entities (ETAG-7).
//! Where Timestamps are coarser than a [tick](table_core::ticks), as the whole seconds of Cosmos DB for NoSQL, an entry could appear behind a cursor: a
//! feed is refused there when it is opened, recorded in or read.
//!
//! Clocks of writers and readers may differ from the store's, and a transaction may take, ten minutes together ([`Feed::skew`]): so much before the cursor
//! is read again. A read holds what it reads in memory: trim, and read often.
//!
//! # Declared
//! `#[entity(feed)]` on a struct: every [handle](crate::index::Entities) of it records each change in the transaction of the entity, with its indexes and
//! participants, as `inserted`, `updated` or `deleted`, without a payload; a plain write of it does not compile. Another word, or a payload: a
//! [participant](crate::participant).
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
//! Where the order is not needed: an [`Intent`](crate::outbox::Intent) costs nothing once it is done. For one feed of all partitions: each has its
//! own; merge them where they are read.

mod read;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::error::{ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::pace::ticks_of;
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::value::ValueRef;
use uuid::Uuid;

use crate::order::{self, Ordered};
use crate::outbox::registry::{self, Registered};
use crate::work::Pace;
pub(crate) use read::Ahead;
pub use read::FeedReader;

/// The table of the partitions that have a feed. Listings of the program's tables leave it out.
pub const FEEDS: &str = table_core::table::FEEDS;

/// What the `RowKey`s of a feed begin with.
pub const FEED_PREFIX: &str = "\u{FFFC}feed_";

/// What is recorded of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedChange<'a> {
    /// The row that changed.
    pub source: &'a RowKey,
    /// What happened, in a word of the program's.
    pub kind: &'a str,
    /// More of it, in a form of the program's; at most 64 KiB (TYPE-10).
    pub payload: &'a [u8],
}

/// One change as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedEntry {
    /// The row that changed.
    pub source: RowKey,
    /// What happened.
    pub kind: String,
    /// More of it.
    pub payload: Vec<u8>,
    /// Where a reader that has worked on this entry goes on.
    pub cursor: Cursor,
}

/// A place in the feed of a partition. It can be stored, as JSON for example, and used by another process.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// The Timestamp of the last entry read, in ticks.
    timestamp: u64,
    /// Its RowKey.
    row_key: String,
}

impl Cursor {
    /// The Timestamp of the last entry read, in [ticks](table_core::ticks); 0 before the first.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.timestamp
    }
}

/// The feeds of a store's partitions. Cheap to clone.
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
/// feed.record(&mut hire, FeedChange { source: &ada, kind: "hired", payload: b"" })?;
/// store.submit(&employees, hire).await?;
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
    pace: Pace,
    skew: Duration,
    registered: Arc<Registered>,
}

impl<S: TableStore> Feed<S> {
    /// The feeds of a store's partitions.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self::with_pace(store, Pace::new())
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_pace(store: S, pace: Pace) -> Self {
        Self { store, pace, skew: Duration::from_mins(10), registered: Arc::default() }
    }

    /// Bears another difference of clocks than ten minutes, the time of a transaction included.
    #[must_use]
    pub const fn skew(mut self, time: Duration) -> Self {
        self.skew = time;
        self
    }

    /// Makes sure that a partition is known to have a feed. To be called before a change is recorded in it; at most once an hour
    /// and partition it sends an upsert.
    ///
    /// # Errors
    /// `Unsupported` where [Timestamps](table_core::store::Capabilities::timestamp_step) give changes no order; those of the store.
    pub async fn register(&self, table: &TableName, partition_key: &PartitionKey) -> Result<()> {
        order::require(&self.store, Ordered::Feed).map_err(|error| error.with_table(table.as_str()))?;
        let known = (FEEDS, &*self.registered);
        registry::register(&self.store, known, table, partition_key, self.pace.now()).await
    }

    /// The partitions of a table that are known to have a feed, in the order of the registry.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn partitions(&self, table: &TableName) -> Result<Vec<PartitionKey>> {
        registry::partitions(&self.store, FEEDS, table).await
    }

    /// Takes the partitions of a table that was dropped out of the registry.
    pub(crate) async fn forget(&self, table: &TableName) -> Result<()> {
        registry::forget_table(&self.store, FEEDS, table).await
    }

    /// The operation that records a change, for programs that put a transaction together themselves.
    ///
    /// # Errors
    /// `Unsupported` where Timestamps give changes no order; none else but for a clock beyond the year 9999.
    pub fn operation(&self, change: FeedChange<'_>) -> Result<Operation> {
        order::require(&self.store, Ordered::Feed)?;
        let mut writer = RowWriter::with_capacity(3);
        writer.property("Source", ValueRef::String(change.source.as_str()));
        writer.property("Kind", ValueRef::String(change.kind));
        writer.property("Payload", ValueRef::Binary(change.payload));
        let id = Uuid::new_v4().simple();
        let row_key = RowKey::new(format!("{FEED_PREFIX}{:019}_{id}", self.pace.now()))?;
        Ok(Operation { row_key, kind: OperationKind::Insert(writer.finish()) })
    }

    /// Adds the record of a change to its transaction.
    ///
    /// # Errors
    /// Those of [`Transaction::push`]: `PropertyValueTooLarge` for a payload over 64 KiB.
    pub fn record(&self, transaction: &mut Transaction, change: FeedChange<'_>) -> Result<()> {
        transaction.push(self.operation(change)?)
    }

    /// At most `limit` entries behind a cursor, oldest first; an empty list says that there is none yet.
    ///
    /// To read on and on take a [`reader`](Self::reader): each of these calls reads what is young anew.
    ///
    /// # Errors
    /// `Unsupported` where Timestamps give changes no order; those of the store; `Corrupted` for a row that is not an entry.
    pub async fn read(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        from: &Cursor,
        limit: usize,
    ) -> Result<Vec<FeedEntry>> {
        read::portion(self, table, partition_key, from, limit).await
    }

    /// The end of a partition's feed as it is now: what is committed after this call lies behind it.
    ///
    /// For a reader that takes what happened so far from the entities themselves. It asks for the end first: what changes while it reads the entities, the feed brings
    /// again. Reads what was recorded in the last twenty minutes (twice the [`skew`](Self::skew)), however long the feed is.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
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
        let settled = self.settled();
        let young = read::portion(self, table, partition_key, &settled, usize::MAX).await?;
        Ok(young.into_iter().next_back().map_or(settled, |last| last.cursor))
    }

    /// A place in the feeds of all partitions at which every transaction is over, whatever the clocks: twice the skew ago.
    pub(crate) fn settled(&self) -> Cursor {
        let timestamp = self.pace.now().saturating_sub(ticks_of(self.skew).saturating_mul(2));
        Cursor { timestamp, row_key: String::new() }
    }

    /// Reads a partition's feed in portions from a cursor on, each entry once or twice however small they are.
    #[must_use]
    pub fn reader(&self, table: TableName, partition_key: PartitionKey, from: Cursor) -> FeedReader<'_, S> {
        FeedReader::new(self, table, partition_key, from)
    }

    /// Deletes the entries up to and with a cursor, in transactions of 100; how many. Readers that have not come so far miss them.
    ///
    /// # Errors
    /// Those of the store; what was deleted before stays so, and a second call goes on.
    pub async fn trim(&self, table: &TableName, partition_key: &PartitionKey, up_to: &Cursor) -> Result<u64> {
        let old = read::cursors(self, table, partition_key, up_to).await?;
        let limits = self.store.capabilities().limits;
        let mut trimmed = 0;
        for some in old.chunks(limits.operations.max(1)) {
            let mut transaction = Transaction::new(partition_key.clone(), limits)?;
            for cursor in some {
                let row_key = RowKey::new(cursor.row_key.as_str())?;
                transaction.push(Operation { row_key, kind: OperationKind::Delete(IfMatch::Any) })?;
                trimmed += 1;
            }
            match self.store.submit(table, transaction).await {
                // Another process trims too: what is left is found by the next call.
                Err(error) if error.code() == ErrorCode::ResourceNotFound => return Ok(trimmed),
                outcome => outcome?,
            };
        }
        Ok(trimmed)
    }
}

impl<S> fmt::Debug for Feed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("skew", &self.skew).finish_non_exhaustive()
    }
}
