//! Handle on a view: following the feeds, and its lag.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use table_core::Table;
use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::mixed::{Belonging, judge_key};
use table_core::operation::OperationKind;
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use uuid::Uuid;

use crate::converge::upsert;
use crate::feed::{Ahead, Cursor, Feed, FeedEntry};
use crate::order::{self, Ordered};
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::fault::ViewFault;
use crate::view::record;
use crate::view::standing::Standing;

/// How long a view that was ready is taken to be so: ten seconds.
const KNOWN_TICKS: u64 = 100_000_000;

/// The rows of a view and what keeps them: see [the pattern](crate::view). Cheap to clone.
pub struct ViewTable<V: View, S> {
    pub(super) source: Table<V::Source, S>,
    pub(super) rows: Table<V::Row, S>,
    feed: Feed<S>,
    pub(super) retry: Retry,
    memory: Arc<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    /// When it was last known to be ready, in ticks; 0 if never. A table that was deleted and made anew is building again.
    ready: AtomicU64,
    /// The partition that the next call begins with, so that a busy one does not keep the others waiting.
    turn: AtomicUsize,
    /// What was read of the feeds and not applied yet.
    ahead: Mutex<HashMap<PartitionKey, Ahead>>,
}

/// Whether a view can be read.
///
/// ```
/// use table_patterns::view::ViewState;
///
/// /// Whether a page that reads the view can be shown.
/// fn may_be_shown(state: ViewState) -> bool {
///     state == ViewState::Ready
/// }
/// assert!(!may_be_shown(ViewState::Building));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewState {
    /// It has not been built: rows from before the view may be missing.
    Building,
    /// It has all rows, but for what the feeds have not brought yet.
    Ready,
}

/// What a call of [`ViewTable::catch_up`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaughtUp {
    /// Changes read from the feeds.
    pub changes: usize,
    /// Entities applied: several changes of one that were read together are one.
    pub applied: usize,
    /// Whether the bound was reached: there may be more.
    pub is_behind: bool,
}

/// How far a view is behind its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Freshness {
    /// Changes that are not applied.
    pub pending: usize,
    /// The Timestamp of the oldest of them, in [ticks](table_core::ticks).
    pub oldest: Option<u64>,
}

impl Freshness {
    /// How long the oldest change has waited at an instant, in [ticks](table_core::ticks); nothing if none waits.
    #[must_use]
    pub fn lag(&self, now: u64) -> Duration {
        let waited = self.oldest.map_or(0, |oldest| now.saturating_sub(oldest));
        Duration::from_micros(waited / 10)
    }
}

impl<V: View, S: TableStore + Clone> ViewTable<V, S> {
    /// A view in a store, of the tables that the designs of its two types name.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self {
            source: store.table(),
            rows: store.table(),
            feed: Feed::new(store),
            retry: Retry::default(),
            memory: Arc::default(),
        }
    }

    /// Makes the table of the view if it is not there; a new view is [building](ViewState::Building).
    ///
    /// # Errors
    /// `Unsupported` where Timestamps give changes no order, and so no [feed](crate::feed); those of [`Table::create_if_missing`].
    pub async fn create_if_missing(self) -> Result<Self> {
        order::require(self.rows.store(), Ordered::View)
            .map_err(|error| error.with_table(V::Row::SCHEMA.table))?;
        self.rows.clone().create_if_missing().await?;
        let key = record::state_key()?;
        let building = Standing::default().row();
        self.submit(&key.partition_key, vec![(key.row_key, OperationKind::Insert(building))]).await?;
        Ok(self)
    }
}

impl<V: View, S> ViewTable<V, S> {
    /// The same with other feeds: with another clock, or another skew.
    #[must_use]
    pub fn with_feed(self, feed: Feed<S>) -> Self {
        Self { feed, ..self }
    }

    /// The same with another back-off for races.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// The feeds that it follows.
    #[must_use]
    pub const fn feed(&self) -> &Feed<S> {
        &self.feed
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// The table of the view, for reads. Asks for its state until that is ready, and then every ten seconds: a view whose table was deleted
    /// and made anew is building again.
    ///
    /// # Errors
    /// `IndexNotReady` while it is building: [`rebuild`](Self::rebuild) it.
    pub async fn rows(&self) -> Result<&Table<V::Row, S>> {
        if self.state().await? == ViewState::Building {
            return Err(Error::of(ViewFault::Building).with_table(V::Row::SCHEMA.table));
        }
        Ok(&self.rows)
    }

    /// Whether it can be read.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn state(&self) -> Result<ViewState> {
        let now = self.retry.pace().now().max(1);
        let known = self.memory.ready.load(Ordering::Relaxed);
        if known > 0 && now.abs_diff(known) <= KNOWN_TICKS {
            return Ok(ViewState::Ready);
        }
        let (standing, _) = self.standing().await?;
        self.memory.ready.store(if standing.ready { now } else { 0 }, Ordering::Relaxed);
        Ok(if standing.ready { ViewState::Ready } else { ViewState::Building })
    }

    /// What is stored of the view itself.
    pub(super) async fn standing(&self) -> Result<(Standing, Option<ETag>)> {
        match self.get(&record::state_key()?).await? {
            Some(found) => Ok((Standing::read(found.row.view())?, Some(found.etag))),
            None => Ok((Standing { ready: false, id: Uuid::nil() }, None)),
        }
    }

    /// Says that the view is built, if it is still as it was; whether it was.
    pub(super) async fn set_ready(&self, standing: Standing, etag: Option<ETag>) -> Result<bool> {
        let (key, ready) = (record::state_key()?, Standing { ready: true, ..standing });
        self.submit(&key.partition_key, vec![(key.row_key, upsert(ready.row(), etag))]).await
    }

    /// Applies at most `most` changes, of all partitions of the source.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply) and of the store; what was applied stays so, and the next call goes on there.
    pub async fn catch_up(&self, most: usize) -> Result<CaughtUp> {
        let mut partitions = self.feed.partitions(self.source.name()?).await?;
        let turn = self.memory.turn.fetch_add(1, Ordering::Relaxed);
        let turn = turn.checked_rem(partitions.len()).unwrap_or(0);
        partitions.rotate_left(turn);
        let mut all = CaughtUp::default();
        for partition in partitions {
            let left = most.saturating_sub(all.changes);
            if left == 0 {
                all.is_behind = true;
                break;
            }
            let some = self.catch_up_partition(&partition, left).await?;
            all.changes += some.changes;
            all.applied += some.applied;
            all.is_behind |= some.is_behind;
        }
        Ok(all)
    }

    /// Applies at most `most` changes of one partition of the source, in order, and moves its cursor behind them.
    ///
    /// # Errors
    /// Those of [`catch_up`](Self::catch_up); `EntityMismatch` (PAT-HET-6) for a change of an entity that no declared type explains; the cursor stays where it was, and what was applied is applied again.
    pub async fn catch_up_partition(&self, partition_key: &PartitionKey, most: usize) -> Result<CaughtUp> {
        let (cursor, etag) = self.cursor(partition_key).await?;
        let entries = self.next(partition_key, &cursor, most).await?;
        let Some(last) = entries.last() else { return Ok(CaughtUp::default()) };
        let (mut sources, mut seen) = (Vec::new(), HashSet::new());
        for entry in &entries {
            // Of several changes of one entity the state after the last is what counts.
            let belonging = judge_key::<V::Source>(partition_key.as_str(), entry.source.as_str())?;
            if belonging == Belonging::Own && seen.insert(&entry.source) {
                sources
                    .push(EntityKey { partition_key: partition_key.clone(), row_key: entry.source.clone() });
            }
        }
        let applied = sources.len();
        self.apply_all(sources.into_iter().map(Applied::from)).await?;
        // IMPORTANT: after the changes. A process that has moved it has applied them, too.
        self.move_cursor(partition_key, &last.cursor, etag).await?;
        Ok(CaughtUp { changes: entries.len(), applied, is_behind: entries.len() == most })
    }

    /// The next changes of a partition, from what was read ahead as far as it goes.
    async fn next(&self, partition_key: &PartitionKey, from: &Cursor, most: usize) -> Result<Vec<FeedEntry>> {
        let memory = || self.memory.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ahead = memory().remove(partition_key).unwrap_or_default();
        let entries = ahead.next(&self.feed, (self.source.name()?, partition_key), from, most).await?;
        if !ahead.is_empty() {
            memory().insert(partition_key.clone(), ahead);
        }
        Ok(entries)
    }

    /// How far the feed of a partition is applied.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn position(&self, partition_key: &PartitionKey) -> Result<Cursor> {
        Ok(self.cursor(partition_key).await?.0)
    }

    /// The same with the ETag of what says so.
    pub(super) async fn cursor(&self, partition_key: &PartitionKey) -> Result<(Cursor, Option<ETag>)> {
        let key = record::cursor_key(partition_key)?;
        let Some(found) = self.get(&key).await? else { return Ok((Cursor::default(), None)) };
        let cursor = record::read_cursor(found.row.view()).map_err(|error| self.at(error, &key))?;
        Ok((cursor, Some(found.etag)))
    }

    /// Says how far the feed of a partition is applied; `false` if another process has said so since the ETag.
    pub(super) async fn move_cursor(
        &self,
        partition_key: &PartitionKey,
        to: &Cursor,
        etag: Option<ETag>,
    ) -> Result<bool> {
        let key = record::cursor_key(partition_key)?;
        self.submit(&key.partition_key, vec![(key.row_key, upsert(record::write_cursor(to)?, etag))]).await
    }

    /// How far it is behind its source, over all partitions. Reads what is pending: a look now and then, not before each read.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn freshness(&self) -> Result<Freshness> {
        let table = self.source.name()?;
        let mut freshness = Freshness::default();
        for partition_key in self.feed.partitions(table).await? {
            let cursor = self.position(&partition_key).await?;
            let entries = self.feed.read(table, &partition_key, &cursor, usize::MAX).await?;
            freshness.pending += entries.len();
            let oldest = entries.first().map(|entry| entry.cursor.ticks());
            freshness.oldest = freshness.oldest.into_iter().chain(oldest).min();
        }
        Ok(freshness)
    }
}

impl<V: View, S: Clone> Clone for ViewTable<V, S> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            rows: self.rows.clone(),
            feed: self.feed.clone(),
            retry: self.retry.clone(),
            memory: Arc::clone(&self.memory),
        }
    }
}

impl<V: View, S: fmt::Debug> fmt::Debug for ViewTable<V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewTable")
            .field("source", &self.source)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}
