//! Following the feeds: applies their changes in order, and measures the lag.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use table_core::error::{Error, Result};
use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::mixed::{Belonging, judge_key};
use table_core::runtime::ticks_of;
use table_core::store::TableStore;

use crate::converge::{self, upsert};
use crate::failure::Failure;
use crate::feed::{Cursor, FEED_PREFIX, FeedEntry, Listed};
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::following::Found;
use crate::view::poison::Aside;
use crate::view::record::{self, Position};
use crate::view::table::ViewTable;

/// The pause of a call that only found partitions which other followers are processing.
const BUSY: Duration = Duration::from_millis(50);

/// The number of calls that find the same lease after which its follower is considered dead, regardless of the clock.
const LEASE_POLLS: u32 = 600;

/// The result of a call of [`ViewTable::catch_up`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaughtUp {
    /// Number of changes read from the feeds.
    pub changes: usize,
    /// Number of entities applied. Several changes of one entity that were read together count once.
    pub applied: usize,
    /// Number of entities set aside because they cannot be applied; see [`ViewTable::poison`].
    pub failed: usize,
    /// Number of partitions with changes that another follower is processing.
    pub busy: usize,
    /// `true` if more changes remain, so `catch_up` should be called again.
    pub is_behind: bool,
}

/// The lag of a view behind its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Freshness {
    /// Number of changes that have not been applied yet.
    pub pending: u64,
    /// The Timestamp of the oldest pending change, in [ticks](table_core::ticks).
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

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Applies at most `most` changes from all partitions of the source. An entity that cannot be applied is [set aside](Self::poison) and does not
    /// block the others.
    ///
    /// Followers share the work: each partition is applied by one of them at a time. The lease of a dead follower expires after [a
    /// period](Self::with_lease) that the other followers measure themselves.
    ///
    /// # Errors
    /// - `LayoutMismatch` once a later version of the view is ready.
    /// - `InvalidInput` if more entities are set aside than the [limit](Self::with_poison_limit).
    /// - An outage of the store, reported after the other partitions have been processed.
    ///
    /// Changes that were applied before the error remain applied.
    pub async fn catch_up(&self, most: usize) -> Result<CaughtUp> {
        self.check_version().await?;
        let mut partitions = self.feed.listed(self.source.name()?).await?;
        let turn = self.memory.following.turn.fetch_add(1, Ordering::Relaxed);
        let turn = turn.checked_rem(partitions.len()).unwrap_or(0);
        partitions.rotate_left(turn);
        let partitions = partitions.into_iter().filter(|listed| {
            let known = self.memory.following.get(&listed.partition_key);
            !listed.is_read_at(&known.cursor)
        });
        let mut partitions = partitions.peekable();
        let mut all = CaughtUp::default();
        if partitions.peek().is_none() {
            return Ok(all);
        }
        let (mut aside, mut outage) = (self.aside().await?, None);
        for listed in partitions {
            let left = most.saturating_sub(all.changes);
            if left == 0 {
                all.is_behind = true;
                break;
            }
            match self.follow(&listed.partition_key, left, Some(&listed), &mut aside).await {
                Ok(some) => {
                    all.changes += some.changes;
                    all.applied += some.applied;
                    all.failed += some.failed;
                    all.busy += some.busy;
                    all.is_behind |= some.is_behind;
                }
                Err(error) if Failure::of(&error) == Failure::Lasting => {
                    all.failed +=
                        usize::from(self.fail(feed_of(&listed.partition_key)?, &error, &mut aside).await?);
                }
                Err(error) => outage = outage.or(Some(error)),
            }
        }
        if all.changes == 0 && all.busy > 0 {
            // The pause prevents a caller in a loop from polling continuously while another follower works.
            self.retry.runtime().sleep(BUSY).await;
        }
        outage.map_or(Ok(all), Err)
    }

    /// Applies at most `most` changes of one partition of the source, in order, and moves its cursor after them.
    ///
    /// # Errors
    /// `Corrupted` if the head of the feed cannot be read; any error of [`catch_up`](Self::catch_up).
    pub async fn catch_up_partition(&self, partition_key: &PartitionKey, most: usize) -> Result<CaughtUp> {
        self.check_version().await?;
        let mut aside = self.aside().await?;
        self.follow(partition_key, most, None, &mut aside).await
    }

    async fn follow(
        &self,
        partition_key: &PartitionKey,
        most: usize,
        listed: Option<&Listed>,
        aside: &mut Aside,
    ) -> Result<CaughtUp> {
        let table = self.source.name()?;
        let known = self.memory.following.get(partition_key);
        let (position, etag) = self.stored_position(partition_key).await?;
        let cursor = position.cursor;
        if listed.is_some_and(|listed| listed.is_read_at(&cursor)) {
            self.memory.following.set(partition_key, Found { cursor, ..Found::default() });
            return Ok(CaughtUp::default());
        }
        let Some((head, head_etag)) = self.feed.head(table, partition_key).await? else {
            return Ok(CaughtUp::default());
        };
        let (entries, reached) = self.feed.entries((table, partition_key), &head, &cursor, most).await?;
        let (mut applied, mut failed) = (0, 0);
        if reached != cursor {
            let lease = self.take_lease(partition_key, (&cursor, position.holder), etag, known.lease).await?;
            let Some(lease) = lease else {
                return Ok(CaughtUp { busy: 1, is_behind: true, ..CaughtUp::default() });
            };
            let done = self.apply_entries(partition_key, &entries, aside).await;
            // IMPORTANT: done after the changes are applied. Any other process that has moved the cursor has also applied them.
            let to = if done.is_ok() { &reached } else { &cursor };
            self.move_cursor(partition_key, to, Some(lease)).await?;
            (applied, failed) = done?;
        }
        take_out(aside, &feed_of(partition_key)?, self).await?;
        let (is_behind, is_active) = (reached != head.end(), !entries.is_empty());
        // A feed with changes in two consecutive calls is likely to change again soon, which would remove the mark.
        if let Some(listed) = listed.filter(|_| !is_behind && (!is_active || !known.was_active)) {
            self.feed.mark_quiet(table, listed, (head, head_etag)).await?;
        }
        let found = Found { cursor: reached, was_active: is_active, lease: None };
        self.memory.following.set(partition_key, found);
        Ok(CaughtUp { changes: entries.len(), applied, failed, busy: 0, is_behind })
    }

    /// Takes the lease of a partition, under the version of its cursor. Returns the new version, or `None` if another follower holds the lease.
    async fn take_lease(
        &self,
        partition_key: &PartitionKey,
        (cursor, holder): (&Cursor, Option<String>),
        etag: Option<ETag>,
        seen: Option<(ETag, u64, u32)>,
    ) -> Result<Option<ETag>> {
        let (following, now) = (&self.memory.following, self.retry.runtime().now());
        if let (Some(_), Some(etag)) = (holder.filter(|holder| *holder != following.id), &etag) {
            // If the lease has been unchanged for this time or number of calls, its holder is considered dead. The clock of the holder is not used.
            let (since, times) = match seen {
                Some((known, since, times)) if known == *etag => (since.min(now), times + 1),
                _ => (now, 1),
            };
            let is_kept = now - since < ticks_of(self.lease) && times < LEASE_POLLS;
            if is_kept && (following.has_called() || !self.is_sighted_long(partition_key, etag).await?) {
                let lease = Some((etag.clone(), since, times));
                following.set(partition_key, Found { cursor: cursor.clone(), lease, ..Found::default() });
                return Ok(None);
            }
        }
        let key = record::cursor_key(partition_key)?;
        let write = upsert(record::write_position(cursor, Some(&following.id))?, etag);
        let (store, table) = (self.rows.store(), self.rows.name()?);
        match converge::submit(store, table, &key.partition_key, [(key.row_key, write)]).await {
            Ok(committed) => match committed.into_iter().next().flatten() {
                Some(etag) => Ok(Some(etag)),
                None => Ok(self.stored_position(partition_key).await?.1),
            },
            Err(error) if error.is_conflict() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Applies the entities of feed entries. Returns the numbers of entities that were applied and set aside.
    async fn apply_entries(
        &self,
        partition_key: &PartitionKey,
        entries: &[FeedEntry],
        aside: &mut Aside,
    ) -> Result<(usize, usize)> {
        let (mut sources, mut seen, mut failed) = (Vec::new(), HashSet::new(), 0);
        for entry in entries.iter().filter(|entry| seen.insert(&entry.source)) {
            // If one entity has several changes, only its last state is applied.
            let source = EntityKey { partition_key: partition_key.clone(), row_key: entry.source.clone() };
            match judge_key::<V::Source>(partition_key.as_str(), entry.source.as_str()) {
                Ok(Belonging::Own) => sources.push(source),
                Ok(_) => {}
                Err(error) => failed += usize::from(self.fail(source, &error, aside).await?),
            }
        }
        let all = sources.len();
        let refused = self.apply_all(sources.iter().cloned().map(Applied::from)).await?;
        let applied = all - refused.len();
        let mut right: HashSet<_> = sources.into_iter().filter(|source| aside.contains_key(source)).collect();
        for (Applied { source, .. }, error) in refused {
            right.remove(&source);
            failed += usize::from(self.fail(source, &error, aside).await?);
        }
        for source in right {
            take_out(aside, &source, self).await?;
        }
        Ok((applied, failed))
    }

    /// Sets an entity aside as poison. Returns `false` if it has already been set aside.
    async fn fail(&self, source: EntityKey, error: &Error, aside: &mut Aside) -> Result<bool> {
        if aside.contains_key(&source) {
            return Ok(false);
        }
        self.set_aside(&source, error).await?;
        aside.insert(source.clone(), record::poison_key(&source)?.row_key);
        Ok(true)
    }

    /// Returns the position of the view in the feed of a partition. All earlier changes have been applied.
    ///
    /// # Errors
    /// Any error of the store.
    pub async fn position(&self, partition_key: &PartitionKey) -> Result<Cursor> {
        Ok(self.stored_position(partition_key).await?.0.cursor)
    }

    /// Returns the cursor of a partition and the follower that holds its lease, with the ETag of their row.
    pub(super) async fn stored_position(
        &self,
        partition_key: &PartitionKey,
    ) -> Result<(Position, Option<ETag>)> {
        let key = record::cursor_key(partition_key)?;
        let Some(found) = self.get(&key).await? else { return Ok((Position::default(), None)) };
        let position = record::read_position(found.row.view()).map_err(|error| self.at(error, &key))?;
        Ok((position, Some(found.etag)))
    }

    /// Moves the cursor of a partition and ends its lease. Returns `false` if another process has moved the cursor since it was read.
    pub(super) async fn move_cursor(
        &self,
        partition_key: &PartitionKey,
        to: &Cursor,
        etag: Option<ETag>,
    ) -> Result<bool> {
        let key = record::cursor_key(partition_key)?;
        self.submit(&key.partition_key, vec![(key.row_key, upsert(record::write_position(to, None)?, etag))])
            .await
    }

    /// Measures the lag behind the source over all partitions. For each partition, this reads the cursor, the head of the feed, and one more row if
    /// changes are pending.
    ///
    /// # Errors
    /// Any error of the store.
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

/// Returns the key under which a partition with an unreadable feed is set aside.
fn feed_of(partition_key: &PartitionKey) -> Result<EntityKey> {
    EntityKey::new(partition_key.as_str(), FEED_PREFIX)
}

/// Removes an entity from the ones set aside, after it could be applied again.
async fn take_out<V: View, S: TableStore>(
    aside: &mut Aside,
    source: &EntityKey,
    view: &ViewTable<V, S>,
) -> Result<()> {
    match aside.remove(source) {
        Some(row_key) => view.take_back(&row_key).await,
        None => Ok(()),
    }
}
