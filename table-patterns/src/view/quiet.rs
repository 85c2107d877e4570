//! Finds the partitions whose feeds are quiet. A follower skips them.

use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::feed::Listed;
use crate::requests::{self, CONCURRENCY};
use crate::view::View;
use crate::view::fault::ViewFault;
use crate::view::follower::Found;
use crate::view::poison::{Aside, crowded, feed_of};
use crate::view::table::ViewTable;

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Returns the partitions whose feeds may contain changes that the view has not read, and the partitions in `aside`. Remembers the other partitions as
    /// quiet. Sets a partition aside, and omits it, if more of its entities are set aside than the handle allows.
    pub(super) async fn active(&self, partitions: &[Listed], aside: &Aside) -> Result<Vec<Listed>> {
        let (most, crowded) = (self.poison_limit, &crowded(aside, self.poison_limit));
        let checks = partitions.iter().map(|listed| async move {
            let feed = feed_of(&listed.partition_key)?;
            let is_aside = aside.contains_key(&feed);
            if let Some(&found) = crowded.get(&listed.partition_key) {
                if !is_aside {
                    self.set_aside(&feed, &Error::of(ViewFault::Poison { found, most })).await?;
                }
                return Ok(false);
            }
            if is_aside {
                return Ok(true);
            }
            // If this fails, the partition counts as active, so the follower reads it again and handles the error.
            let is_quiet = self.is_quiet(listed).await.unwrap_or(false);
            if is_quiet {
                let quiet = Some(listed.etag.clone());
                self.memory.follower.set(&listed.partition_key, Found { quiet, ..Found::default() });
            }
            Ok(!is_quiet)
        });
        let are_active = requests::in_order(checks, CONCURRENCY).await?;
        let active = partitions.iter().zip(are_active).filter(|(_, is_active)| *is_active);
        Ok(active.map(|(listed, _)| listed.clone()).collect())
    }

    /// Returns `true` if the view has read a feed to its end, and both the registry and the head mark the feed as quiet.
    ///
    /// IMPORTANT: a single mark is not reliable, because a restore may take the registry and the head from different times of a backup.
    async fn is_quiet(&self, listed: &Listed) -> Result<bool> {
        if !listed.is_quiet() {
            return Ok(false);
        }
        let cursor = self.position(&listed.partition_key).await?;
        if !listed.is_read_at(&cursor) {
            return Ok(false);
        }
        let head = self.feed.head(self.source.name()?, &listed.partition_key).await?;
        Ok(head.is_some_and(|(head, _)| head.is_quiet() && head.end() == cursor))
    }
}
