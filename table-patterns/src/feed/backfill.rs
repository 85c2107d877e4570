//! The backfill of a feed that a later release has added. The feed is complete once programs that do not maintain it can no longer write.

use std::fmt;
use std::time::Duration;

use table_core::Result;
use table_core::entity::Entity;
use table_core::store::TableStore;
use table_core::table::Table;

use crate::entities::Entities;
use crate::fence::{self, Fence};

/// The name of the feed in the schema's list of the features that every writer must maintain.
const FEED: &str = "feed";
/// The name of the feed in the stored schema's list of pending parts.
const NOTE: &str = "keeps feed";

/// A builder for the backfill of a feed. [`Entities::backfill_feed`](crate::Entities::backfill_feed) creates it.
///
/// The backfill writes no entries: a feed contains only changes, and the entities contain the state before them. Once the backfill is complete, the feed
/// contains every later change. A reader that first reads the entities therefore misses nothing. [`ViewTable::rebuild`](crate::view::ViewTable::rebuild) works
/// this way.
///
/// ```
/// use std::time::Duration;
///
/// use table_patterns::{Entities, Entity, Result, TableStore};
///
/// /// Returns the delay after which a job calls this function again; `None` once the feed is complete.
/// async fn complete<E: Entity, S: TableStore, O>(entities: &Entities<E, S, O>) -> Result<Option<Duration>> {
///     entities.backfill_feed().run().await
/// }
/// ```
#[must_use = "a backfill does nothing until it is run"]
pub struct FeedBackfill<'a, E: 'static, S, O> {
    handle: &'a Entities<E, S, O>,
    has_older: bool,
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Creates a backfill of the feed declared by the entity type. If the feed is complete, running it does nothing.
    pub fn backfill_feed(&self) -> FeedBackfill<'_, E, S, O> {
        FeedBackfill { handle: self, has_older: true }
    }
}

impl<E: Entity, S: TableStore, O> FeedBackfill<'_, E, S, O> {
    /// Declares that no program with an older schema is running or has requests in flight. The feed is then complete immediately, and programs with an older
    /// schema can no longer write.
    pub const fn assume_no_older_programs(self) -> Self {
        Self { has_older: false, ..self }
    }

    /// Marks the feed as complete and returns `None`. The feed cannot be marked yet if programs of an older release may have requests in flight, or if another
    /// backfill has since begun. In these cases, returns the delay before the next attempt.
    ///
    /// # Errors
    /// `ResourceNotFound` if the table was never opened with `create_if_missing`; any error from the store.
    pub async fn run(self) -> Result<Option<Duration>> {
        let layout = self.handle.table.update_schema_record(|_| ()).await?;
        if !layout.pending.iter().any(|pending| pending == NOTE) {
            return Ok(None);
        }
        // No rows are scanned, so the pass has no position.
        match self.handle.pass_fence::<()>(&layout, NOTE, self.has_older).await? {
            Fence::Waits(time) => Ok(Some(time)),
            Fence::Passed(run) => Ok((!run.complete(self.handle).await?).then_some(fence::AGAIN)),
        }
    }
}

/// Returns `true` if the entity type declares a feed from which changes of older programs may be missing.
pub(crate) async fn is_announced<E: Entity, S: TableStore>(table: &Table<E, S>) -> Result<bool> {
    if !E::SCHEMA.keeps.contains(&FEED) {
        return Ok(false);
    }
    let layout = table.schema_record().await?;
    Ok(layout.is_some_and(|layout| layout.pending.iter().any(|pending| pending == NOTE)))
}

debug_fields!([E, S: fmt::Debug, O: fmt::Debug] FeedBackfill['_, E, S, O] { handle, .. });
