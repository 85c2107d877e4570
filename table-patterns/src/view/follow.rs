//! Following of the feeds: applies their changes in order, and measures the lag.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use table_core::error::Result;
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::mixed::{Belonging, judge_key};
use table_core::store::TableStore;

use crate::converge::upsert;
use crate::feed::{Cursor, FeedEntry, Listed};
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::record;
use crate::view::table::ViewTable;

/// Partitions whose cursors a follower remembers.
const REMEMBERED: usize = 100_000;

/// The result of a call of [`ViewTable::catch_up`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaughtUp {
    /// Changes read from the feeds.
    pub changes: usize,
    /// Entities applied. Several changes of one entity that were read together count once.
    pub applied: usize,
    /// `true` if changes are left: call again.
    pub is_behind: bool,
}

/// The lag of a view behind its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Freshness {
    /// Changes that are not applied.
    pub pending: u64,
    /// Timestamp of the oldest of them, in [ticks](table_core::ticks).
    pub oldest: Option<u64>,
}

impl Freshness {
    /// Returns the age of the oldest pending change at an instant, in [ticks](table_core::ticks); zero if none is pending.
    #[must_use]
    pub fn lag(&self, now: u64) -> Duration {
        let waited = self.oldest.map_or(0, |oldest| now.saturating_sub(oldest));
        Duration::from_micros(waited / 10)
    }
}

/// State of a follower between calls.
#[derive(Debug, Default)]
pub(super) struct Following {
    /// The partition that the next call begins with, so that a busy one does not starve the others.
    turn: AtomicUsize,
    /// Where each partition was found.
    found: Mutex<HashMap<PartitionKey, Found>>,
}

/// A partition as the last call left it.
#[derive(Clone, Debug)]
struct Found {
    cursor: Cursor,
    /// `true` if the last call found changes.
    was_active: bool,
}

impl Following {
    fn get(&self, partition_key: &PartitionKey) -> Option<Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get(partition_key).cloned()
    }

    fn set(&self, partition_key: &PartitionKey, found: Found) {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED && !all.contains_key(partition_key) {
            all.clear();
        }
        all.insert(partition_key.clone(), found);
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Applies at most `most` changes of all partitions of the source.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply) and of the store. What was applied before the error stays applied; the next call continues there.
    pub async fn catch_up(&self, most: usize) -> Result<CaughtUp> {
        let mut partitions = self.feed.listed(self.source.name()?).await?;
        let turn = self.memory.following.turn.fetch_add(1, Ordering::Relaxed);
        let turn = turn.checked_rem(partitions.len()).unwrap_or(0);
        partitions.rotate_left(turn);
        let mut all = CaughtUp::default();
        for listed in partitions {
            let known = self.memory.following.get(&listed.partition_key);
            if known.is_some_and(|known| listed.is_read_at(&known.cursor)) {
                continue;
            }
            let left = most.saturating_sub(all.changes);
            if left == 0 {
                all.is_behind = true;
                break;
            }
            let some = self.follow(&listed.partition_key, left, Some(&listed)).await?;
            all.changes += some.changes;
            all.applied += some.applied;
            all.is_behind |= some.is_behind;
        }
        Ok(all)
    }

    /// Applies at most `most` changes of one partition of the source, in order, and moves its cursor behind them.
    ///
    /// # Errors
    /// Those of [`catch_up`](Self::catch_up); `EntityMismatch` (PAT-HET-6) for a change of an entity that no declared type explains. The cursor stays, and
    /// the next call applies the same changes again.
    pub async fn catch_up_partition(&self, partition_key: &PartitionKey, most: usize) -> Result<CaughtUp> {
        self.follow(partition_key, most, None).await
    }

    async fn follow(
        &self,
        partition_key: &PartitionKey,
        most: usize,
        listed: Option<&Listed>,
    ) -> Result<CaughtUp> {
        let table = self.source.name()?;
        let was_active = self.memory.following.get(partition_key).is_some_and(|known| known.was_active);
        let (cursor, etag) = self.cursor(partition_key).await?;
        if listed.is_some_and(|listed| listed.is_read_at(&cursor)) {
            self.memory.following.set(partition_key, Found { cursor, was_active: false });
            return Ok(CaughtUp::default());
        }
        let Some((head, head_etag)) = self.feed.head(table, partition_key).await? else {
            return Ok(CaughtUp::default());
        };
        let (entries, reached) = self.feed.entries((table, partition_key), &head, &cursor, most).await?;
        let applied = self.apply_entries(partition_key, &entries).await?;
        if reached != cursor {
            // IMPORTANT: after the changes. A process that has moved it has applied them, too.
            self.move_cursor(partition_key, &reached, etag).await?;
        }
        let (is_behind, is_active) = (reached != head.end(), !entries.is_empty());
        // A feed with changes in two calls in a row would soon lose the mark.
        if let Some(listed) = listed.filter(|_| !is_behind && !(is_active && was_active)) {
            self.feed.mark_quiet(table, listed, (head, head_etag)).await?;
        }
        self.memory.following.set(partition_key, Found { cursor: reached, was_active: is_active });
        Ok(CaughtUp { changes: entries.len(), applied, is_behind })
    }

    /// Applies the entities that entries name; returns how many these are.
    async fn apply_entries(&self, partition_key: &PartitionKey, entries: &[FeedEntry]) -> Result<usize> {
        let (mut sources, mut seen) = (Vec::new(), HashSet::new());
        for entry in entries {
            // Of several changes of one entity the state after the last is what counts.
            let belonging = judge_key::<V::Source>(partition_key.as_str(), entry.source.as_str())?;
            if belonging == Belonging::Own && seen.insert(&entry.source) {
                sources
                    .push(EntityKey { partition_key: partition_key.clone(), row_key: entry.source.clone() });
            }
        }
        let applied = sources.len();
        self.apply_all(sources.into_iter().map(Applied::from)).await?;
        Ok(applied)
    }

    /// Returns the cursor of a partition: its changes up to there are applied.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn position(&self, partition_key: &PartitionKey) -> Result<Cursor> {
        Ok(self.cursor(partition_key).await?.0)
    }

    /// Returns the cursor of a partition with the ETag of its row.
    pub(super) async fn cursor(&self, partition_key: &PartitionKey) -> Result<(Cursor, Option<ETag>)> {
        let key = record::cursor_key(partition_key)?;
        let Some(found) = self.get(&key).await? else { return Ok((Cursor::default(), None)) };
        let cursor = record::read_cursor(found.row.view()).map_err(|error| self.at(error, &key))?;
        Ok((cursor, Some(found.etag)))
    }

    /// Moves the cursor of a partition; returns `false` if another process moved it since it was read.
    pub(super) async fn move_cursor(
        &self,
        partition_key: &PartitionKey,
        to: &Cursor,
        etag: Option<ETag>,
    ) -> Result<bool> {
        let key = record::cursor_key(partition_key)?;
        self.submit(&key.partition_key, vec![(key.row_key, upsert(record::write_cursor(to)?, etag))]).await
    }

    /// Measures the lag behind the source, over all partitions: a get of the cursor and one of the head for each partition, and a row where changes are pending.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn freshness(&self) -> Result<Freshness> {
        let table = self.source.name()?;
        let mut freshness = Freshness::default();
        for listed in self.feed.listed(table).await? {
            let partition_key = &listed.partition_key;
            let cursor = self.position(partition_key).await?;
            if listed.is_read_at(&cursor) {
                continue;
            }
            let Some((head, _)) = self.feed.head(table, partition_key).await? else { continue };
            let pending = head.end().number().saturating_sub(head.passed(&cursor));
            if pending > 0 {
                let (first, _) = self.feed.entries((table, partition_key), &head, &cursor, 1).await?;
                let oldest = first.first().map(|entry| entry.timestamp);
                freshness.oldest = freshness.oldest.into_iter().chain(oldest).min();
            }
            freshness.pending += pending;
        }
        Ok(freshness)
    }
}
