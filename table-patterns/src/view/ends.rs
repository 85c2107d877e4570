//! The ends of the feeds when a rebuild begins. What is before them is read from the entities and not followed again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table_core::error::{Error, Result};
use table_core::key::PartitionKey;
use table_core::store::TableStore;

use crate::feed::Cursor;
use crate::requests::{self, CONCURRENCY};
use crate::view::View;
use crate::view::table::ViewTable;

/// Partitions whose ends are kept one by one: a position is stored, and must stay small.
const MOST: usize = 1_000;

/// Where the feeds ended at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ends {
    /// Of all partitions: before it every transaction is over.
    settled: Cursor,
    /// Of partitions with younger entries.
    young: BTreeMap<String, Cursor>,
}

impl Ends {
    fn of(&self, partition_key: &PartitionKey) -> &Cursor {
        self.young.get(partition_key.as_str()).unwrap_or(&self.settled)
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// The ends of the feeds now.
    pub(super) async fn ends(&self) -> Result<Ends> {
        let (feed, table) = (self.feed(), self.source.name()?);
        let settled = feed.settled();
        let partitions = feed.partitions(table).await?;
        let ends = partitions.into_iter().take(MOST).map(|partition_key| async move {
            let end = feed.end(table, &partition_key).await?;
            Ok::<_, Error>((partition_key.as_str().to_owned(), end))
        });
        let ends: Vec<_> = requests::in_order(ends, CONCURRENCY).await?;
        let young = ends.into_iter().filter(|(_, end)| *end > settled).collect();
        Ok(Ends { settled, young })
    }

    /// Moves the cursors of all feeds to these ends, where they are before them.
    pub(super) async fn follow_from(&self, ends: &Ends) -> Result<()> {
        let partitions = self.feed().partitions(self.source.name()?).await?;
        let moves = partitions.into_iter().map(|partition_key| async move {
            let end = ends.of(&partition_key);
            loop {
                let (cursor, etag) = self.cursor(&partition_key).await?;
                // One that was just moved by a process that catches up is looked at again.
                if cursor >= *end || self.move_cursor(&partition_key, end, etag).await? {
                    return Ok::<_, Error>(());
                }
            }
        });
        requests::all_done(moves, CONCURRENCY).await.map(drop)
    }
}
