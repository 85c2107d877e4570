//! Records where each feed ends when a rebuild of a view starts. The rebuild reads the entities themselves, so earlier changes do not have to be applied from
//! the feeds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table_core::entity::Entity;
use table_core::query::Continuation;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::feed::{self, Cursor, Listed};
use crate::requests::{self, CONCURRENCY};
use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::poison::{gap_in, is_of_partition};
use crate::view::table::ViewTable;

/// The maximum number of recorded ends. The limit keeps a rebuild's resume position small enough to be stored. In partitions beyond the limit, a follower (a
/// process that applies changes) continues from the old cursors. This takes longer but has the same result, because [`ViewTable::read_ends`] replaces unusable
/// cursors.
const MOST: usize = 1_000;

/// The ends of the feeds, by source partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ends(BTreeMap<String, Cursor>);

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Adds the ends of one page of feeds to `ends`, except feeds that cannot be read. The page begins at `from`, has at most `most` partitions, and is in
    /// registry order. Returns the number of registrations whose keys the store does not return, and the continuation if more partitions follow. If the view has
    /// missed changes in a partition, reports the gap and moves the view's cursor to the end, because the feed cannot be followed from the old cursor. If the
    /// registry marks a feed as quiet but the feed's head does not, removes the mark from the registry.
    ///
    /// # Errors
    /// `IndexNotReady` if older programs may still write without the feed, because neither the rebuild nor the feed would contain their changes.
    pub(super) async fn read_ends(
        &self,
        ends: &mut Ends,
        from: Option<&Continuation>,
        most: usize,
    ) -> Result<(u64, Option<Continuation>)> {
        if feed::is_announced(&self.source).await? {
            let fault = ViewFault::AnnouncedFeed(V::Source::SCHEMA.entity);
            return Err(Error::of(fault).with_table(self.source.name()?.as_str()));
        }
        let (partitions, skipped, next) = self.feed().listed_page(self.source.name()?, from, most).await?;
        let read = partitions.into_iter().map(|listed| async move {
            let end = self.usable_end(&listed).await;
            let Listed { partition_key, .. } = listed;
            match end {
                // A follower sets this partition aside. Once the feed can be read again, the follower continues from the old cursor.
                Err(error) if is_of_partition(&error) => Ok(None),
                end => Ok::<_, Error>(Some((partition_key.into_string(), end?))),
            }
        });
        let read: Vec<_> = requests::in_order(read, CONCURRENCY).await?;
        let left = MOST.saturating_sub(ends.0.len());
        ends.0.extend(read.into_iter().flatten().take(left));
        Ok((skipped, next))
    }

    /// Returns the end of a partition's feed. If the view has missed changes in the partition, first reports the gap and moves the view's cursor to the end. If
    /// the registry marks the feed as quiet but its head does not, removes the registry's mark.
    async fn usable_end(&self, listed: &Listed) -> Result<Cursor> {
        let (table, partition_key) = (self.source.name()?, &listed.partition_key);
        loop {
            // IMPORTANT: the cursor is read before the head, so a cursor beyond the head's end must originate from another state of the table, for example from
            // before a restore.
            let (cursor, etag) = self.stored_position(partition_key).await?;
            let head = self.feed().head(table, partition_key).await?;
            // A writer removes the registry's quiet mark only if the head has one too. The two can differ after a restore, because the backup may contain them
            // as of different times.
            if listed.is_quiet() && head.as_ref().is_some_and(|(head, _)| !head.is_quiet()) {
                self.feed().register(table, partition_key).await?;
            }
            let end = head.as_ref().map(|(head, _)| head.end()).unwrap_or_default();
            let is_lost =
                head.as_ref().map_or(cursor != Cursor::default(), |(head, _)| head.is_lost_at(&cursor));
            if !is_lost {
                return Ok(end);
            }
            if self.has_moved(partition_key, etag.as_ref()).await? {
                continue;
            }
            // The report is written even though the rebuild would repair the gap, because the rebuild may never be completed.
            self.set_aside(&gap_in(partition_key)?, &Error::of(ViewFault::Gap)).await?;
            if self.move_cursor(partition_key, &end, etag).await? {
                return Ok(end);
            }
        }
    }

    /// Moves the view's cursors forward to the recorded ends. If a partition's feed does not contain the recorded end, the table was restored, or deleted and
    /// recreated, during the rebuild. Reports a gap in such a partition.
    pub(super) async fn follow_from(&self, ends: &Ends) -> Result<()> {
        let table = self.source.name()?;
        let partitions = self.feed().partitions(table).await?;
        let moves = partitions.into_iter().filter_map(|partition_key| {
            let end = ends.0.get(partition_key.as_str()).filter(|end| **end != Cursor::default())?;
            Some(async move {
                loop {
                    let (cursor, etag) = self.stored_position(&partition_key).await?;
                    let head = match self.feed().head(table, &partition_key).await {
                        // A follower sets this partition aside.
                        Err(error) if is_of_partition(&error) => return Ok(()),
                        head => head?,
                    };
                    if !head.is_some_and(|(head, _)| head.has(end)) {
                        // The rebuild may have applied entities that are no longer in the table.
                        return self.set_aside(&gap_in(&partition_key)?, &Error::of(ViewFault::Gap)).await;
                    }
                    // If another process has just moved the cursor, it is reread.
                    if cursor.is_at(end) || self.move_cursor(&partition_key, end, etag).await? {
                        return Ok::<_, Error>(());
                    }
                }
            })
        });
        requests::all_done(moves, CONCURRENCY).await.map(drop)
    }
}
