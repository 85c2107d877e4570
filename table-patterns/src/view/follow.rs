//! Follows the feeds and applies their changes to the view, in order.

use std::collections::HashSet;
use std::time::Duration;

use table_core::key::{EntityKey, PartitionKey};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::feed::{Cursor, FeedEntry, Listed};
use crate::view::View;
use crate::view::applied::Applied;
use crate::view::fault::ViewFault;
use crate::view::follower::Found;
use crate::view::lease::Lease;
use crate::view::poison::{Aside, feed_of, gap_in, is_of_partition};
use crate::view::table::ViewTable;

/// The delay before [`ViewTable::catch_up`] returns if another follower is applying changes.
const BUSY: Duration = Duration::from_millis(50);

/// The result of a [`ViewTable::catch_up`] call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaughtUp {
    /// The number of changes read from the feeds.
    pub changes: usize,
    /// The number of entities applied. An entity with several changes in one call is applied only once.
    pub applied: usize,
    /// The number of entities set aside because they cannot be applied; see [`ViewTable::poison`].
    pub failed: usize,
    /// The number of partitions that this call skipped because another follower is applying changes.
    pub busy: usize,
    /// `true` if more changes remain; call `catch_up` again.
    pub is_behind: bool,
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Applies at most `most` changes from the feeds of all partitions of the source.
    /// An entity that cannot be applied is [set aside](Self::poison) and does not block the other entities.
    ///
    /// Each call begins with the partition that has waited longest for its turn, so a busy partition does not delay the others for long.
    ///
    /// Only one follower (a process that applies changes) works at a time, so followers do not repeat each other's work. A dead follower's lease expires after
    /// [a period](Self::with_lease) that the other followers measure.
    ///
    /// # Errors
    /// - `SchemaMismatch` if a later version of the view is ready.
    /// - `TableNotFound` if the table of the source or of the view does not exist.
    /// - Any store outage, reported after the other partitions have been processed.
    ///
    /// Changes that were applied before the error remain applied.
    pub async fn catch_up(&self, most: usize) -> Result<CaughtUp> {
        self.check_version().await?;
        let mut partitions = self.feed.listed(self.source.name()?).await?;
        self.memory.follower.begin_call();
        self.memory.follower.keep_listed(&partitions);
        partitions.retain(|listed| {
            let known = self.memory.follower.get(&listed.partition_key);
            known.quiet.as_ref() != Some(&listed.etag)
        });
        if partitions.is_empty() {
            return Ok(CaughtUp::default());
        }
        let mut lease = None;
        let caught = self.follow_all(&partitions, most, &mut lease).await;
        let caught = self.released(lease, caught).await?;
        self.pause_if_busy(&caught).await;
        Ok(caught)
    }

    /// Sleeps briefly if another follower holds the lease. The delay prevents a caller in a loop from polling continuously.
    async fn pause_if_busy(&self, caught: &CaughtUp) {
        if caught.changes == 0 && caught.busy > 0 {
            self.retry.runtime().sleep(BUSY).await;
        }
    }

    /// Applies at most `most` changes from the feeds of `partitions`. An outage is reported once all partitions have been tried. A missing table is reported
    /// immediately, because all partitions need it.
    async fn follow_all(
        &self,
        partitions: &[Listed],
        most: usize,
        lease: &mut Option<Lease>,
    ) -> Result<CaughtUp> {
        let (mut all, mut aside, mut outage) = (CaughtUp::default(), self.aside().await?, None);
        let mut partitions = self.active(partitions, &aside).await?;
        // Only partitions that may have changes take turns.
        self.memory.follower.turns().sort(&mut partitions);
        for (at, listed) in partitions.iter().enumerate() {
            let left = most.saturating_sub(all.changes);
            if left == 0 {
                all.is_behind = true;
                break;
            }
            // IMPORTANT: the turn is ended before the first request, because the caller may cancel the call at any point.
            let ended = self.memory.follower.turns().end(&listed.partition_key);
            match self.follow(&listed.partition_key, left, Some(listed), (&mut aside, lease)).await {
                Ok(Some(some)) => {
                    all.changes += some.changes;
                    all.applied += some.applied;
                    all.failed += some.failed;
                    all.is_behind |= some.is_behind;
                }
                Ok(None) => {
                    self.memory.follower.turns().restore(&listed.partition_key, &ended);
                    (all.busy, all.is_behind) = (partitions.len() - at, true);
                    break;
                }
                Err(error) if error.is_table_not_found() => return Err(error),
                Err(error) if is_of_partition(&error) => {
                    // If another process deletes this row in the meantime, the next call writes it again.
                    let feed = feed_of(&listed.partition_key)?;
                    if aside.remove(&feed).is_none() {
                        self.set_aside(&feed, &error).await?;
                        all.failed += 1;
                    }
                }
                Err(error) => outage = outage.or(Some(error)),
            }
        }
        outage.map_or(Ok(all), Err)
    }

    /// Applies at most `most` changes from one partition of the source, in order, and moves the partition's cursor past them.
    ///
    /// # Errors
    /// `Corrupted` if the head of the feed cannot be read; any error from [`catch_up`](Self::catch_up).
    pub async fn catch_up_partition(&self, partition_key: &PartitionKey, most: usize) -> Result<CaughtUp> {
        self.check_version().await?;
        self.memory.follower.begin_call();
        let (mut aside, mut lease) = (self.aside().await?, None);
        let caught = self.follow(partition_key, most, None, (&mut aside, &mut lease)).await;
        let caught = self.released(lease, caught).await?;
        let caught = caught.unwrap_or(CaughtUp { busy: 1, is_behind: true, ..CaughtUp::default() });
        self.pause_if_busy(&caught).await;
        Ok(caught)
    }

    /// Releases the lease if the call holds one, and returns the call's outcome.
    async fn released<T: Send>(&self, lease: Option<Lease>, outcome: Result<T>) -> Result<T> {
        let released = match lease {
            Some(lease) => self.release(lease).await,
            None => Ok(()),
        };
        let outcome = outcome?;
        released.map(|()| outcome)
    }

    /// Applies the changes in one partition's feed. Takes the lease before the first change. Returns `None` if another follower holds the lease.
    async fn follow(
        &self,
        partition_key: &PartitionKey,
        most: usize,
        listed: Option<&Listed>,
        (aside, lease): (&mut Aside, &mut Option<Lease>),
    ) -> Result<Option<CaughtUp>> {
        let table = self.source.name()?;
        let known = self.memory.follower.get(partition_key);
        let (mut cursor, mut etag) = self.stored_position(partition_key).await?;
        let Some((mut head, mut head_etag)) = self.feed.head(table, partition_key).await? else {
            let mut caught = CaughtUp::default();
            // A moved cursor shows that the partition once had a feed, so the table has been deleted and recreated.
            if cursor != Cursor::default() {
                if self.has_moved(partition_key, etag.as_ref()).await? {
                    return Ok(Some(CaughtUp { is_behind: true, ..caught }));
                }
                caught.failed = usize::from(self.report_gap(partition_key, aside).await?);
                caught.is_behind = !self.move_cursor(partition_key, &Cursor::default(), etag).await?;
            }
            delete_poison_row(aside, &feed_of(partition_key)?, self).await?;
            return Ok(Some(caught));
        };
        if cursor != head.end() {
            let is_held = lease.is_some();
            *lease = match lease.take() {
                Some(own) => self.renewed(own).await?,
                None => self.take_lease().await?,
            };
            if lease.is_none() {
                return Ok(None);
            }
            if !is_held {
                // After the head was read, the previous lease holder may have moved the cursor beyond the head's end.
                (cursor, etag) = self.stored_position(partition_key).await?;
                if cursor != Cursor::default()
                    && !head.has(&cursor)
                    && let Some(later) = self.feed.head(table, partition_key).await?
                {
                    (head, head_etag) = later;
                }
            }
        }
        let (entries, reached) = self.feed.entries((table, partition_key), &head, &cursor, most).await?;
        let (mut applied, mut failed) = (0, 0);
        if reached != cursor {
            (applied, failed) = self.apply_entries(partition_key, &entries, aside).await?;
            if head.has_lost(&cursor, &entries, &reached) {
                if self.has_moved(partition_key, etag.as_ref()).await? {
                    // Other processes have applied the missing changes, and the changes were then trimmed.
                    return Ok(Some(CaughtUp {
                        changes: entries.len(),
                        applied,
                        failed,
                        busy: 0,
                        is_behind: true,
                    }));
                }
                failed += usize::from(self.report_gap(partition_key, aside).await?);
            }
            // IMPORTANT: the cursor is moved only after the changes have been applied, so a moved cursor proves that the changes before it have been applied.
            if !self.move_cursor(partition_key, &reached, etag).await? {
                // This follower's lease may have expired, and another follower may have moved the cursor to an earlier position.
                return Ok(Some(CaughtUp {
                    changes: entries.len(),
                    applied,
                    failed,
                    busy: 0,
                    is_behind: true,
                }));
            }
        }
        delete_poison_row(aside, &feed_of(partition_key)?, self).await?;
        let (is_behind, is_active) = (reached != head.end(), !entries.is_empty());
        // Only partitions that the registry lists are remembered, because all others would be forgotten when the registry is next read.
        if let Some(listed) = listed {
            let mut found = Found { quiet: None, was_active: is_active, announced: known.announced };
            // The next change to a feed removes its quiet mark. If two consecutive calls find changes, another change is likely to follow soon, so the feed
            // is not marked.
            if !is_behind && (!is_active || !known.was_active) {
                if head.is_quiet() {
                    found.announce(&listed.etag);
                }
                if !found.awaits_commit() {
                    found.quiet = self.feed.mark_quiet(table, listed, (head, head_etag)).await?;
                }
            }
            self.memory.follower.set(partition_key, found);
        }
        Ok(Some(CaughtUp { changes: entries.len(), applied, failed, busy: 0, is_behind }))
    }

    /// Applies the entities listed in feed entries. Returns the number of entities that were applied, and the number that were set aside as poison.
    async fn apply_entries(
        &self,
        partition_key: &PartitionKey,
        entries: &[FeedEntry],
        aside: &mut Aside,
    ) -> Result<(usize, usize)> {
        let (mut sources, mut seen, mut failed) = (Vec::new(), HashSet::new(), 0);
        for entry in entries.iter().filter(|entry| seen.insert(&entry.source)) {
            // An entity with several changes is applied once, in its latest state.
            let source = EntityKey { partition_key: partition_key.clone(), row_key: entry.source.clone() };
            // A feed also contains changes to other types, such as deleted parts of wide entities.
            if Self::is_source(partition_key.as_str(), entry.source.as_str()) {
                sources.push(source);
            }
        }
        let all = sources.len();
        let refused = self.apply_all(sources.iter().cloned().map(Applied::from)).await?;
        let applied = all - refused.len();
        let mut right: HashSet<_> = sources.into_iter().filter(|source| aside.contains_key(source)).collect();
        for (Applied { source, .. }, error) in refused {
            right.remove(&source);
            failed += usize::from(self.fail(&source, &error, aside).await?);
        }
        for source in right {
            delete_poison_row(aside, &source, self).await?;
        }
        Ok((applied, failed))
    }

    /// Sets an entity aside as poison. Returns `false` if the entity had already been set aside when the call started.
    async fn fail(&self, source: &EntityKey, error: &Error, aside: &mut Aside) -> Result<bool> {
        // IMPORTANT: an existing row is rewritten, which changes its version, so a process that applied the entity before this failure, or a rebuild that
        // started before this gap, can no longer delete the row.
        self.set_aside(source, error).await?;
        Ok(aside.remove(source).is_none())
    }

    /// Sets aside a partition because the view has missed changes in it. Returns `false` if the partition had already been set aside.
    async fn report_gap(&self, partition_key: &PartitionKey, aside: &mut Aside) -> Result<bool> {
        self.fail(&gap_in(partition_key)?, &Error::of(ViewFault::Gap), aside).await
    }
}

/// Deletes an entity's poison row, because the entity has been applied. Does not delete a row that was written after the call started.
async fn delete_poison_row<V: View, S: TableStore>(
    aside: &mut Aside,
    source: &EntityKey,
    view: &ViewTable<V, S>,
) -> Result<()> {
    match aside.remove(source) {
        Some(row) => view.take_back(row).await,
        None => Ok(()),
    }
}
