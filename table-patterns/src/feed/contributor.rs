//! The feed's contributor, an extension of the write path. It records each change to an entity in the feed, in the same transaction.

use std::any::Any;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::entity::Entity;
use table_core::key::RowKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::store::TableStore;
use table_core::transaction::Transaction;

use crate::entities::{
    ChangeRecord, Contribution, Contributor, Entities, EntityChange, RecordChanges, Recorded, ReservedRows,
};
use crate::feed::{Feed, read, write};

/// The feed that records the changes made through a handle.
pub(crate) struct FeedRecorder<S> {
    feed: Feed<S>,
    recorder: Arc<dyn RecordChanges>,
    /// `true` if every change to an entity is recorded. Entries that participants add are always recorded.
    records: bool,
}

impl<S: TableStore + Clone + 'static> FeedRecorder<S> {
    /// Creates the contributor for a feed. If `records` is `true`, it records changes to entities.
    pub(crate) fn new(feed: Feed<S>, records: bool) -> Self {
        Self { recorder: Arc::new(feed.clone()), feed, records }
    }
}

impl<S> FeedRecorder<S> {
    /// Adds a feed entry of the given kind to `out`, for a change to the row `source`.
    #[expect(clippy::unused_self, reason = "records are added only where a recorder exists")]
    pub(crate) fn record(&self, source: &RowKey, kind: &'static str, out: &mut Contribution) {
        out.records.push(ChangeRecord::plain(source.clone(), kind));
    }

    /// Makes the feed commit the transaction together with the entries of all contributors.
    pub(crate) fn attach(&self, out: &mut Contribution) {
        out.recorder = Some(Arc::clone(&self.recorder));
    }
}

impl<E: Entity, S: TableStore + 'static, H> Contributor<E, H> for FeedRecorder<S> {
    fn needs_old(&self) -> bool {
        false
    }

    fn reserved(&self) -> Option<ReservedRows> {
        Some(read::RESERVED)
    }

    fn contribute(&self, change: &EntityChange<'_, E>, out: &mut Contribution) -> Result<()> {
        self.attach(out);
        if self.records {
            let kind = match change.kind {
                OperationKind::Insert(_) => "inserted",
                OperationKind::Delete(_) => "deleted",
                _ => "updated",
            };
            self.record(&change.key.row_key, kind, out);
        }
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<S: TableStore> RecordChanges for Feed<S> {
    fn operations(&self, records: &[ChangeRecord]) -> usize {
        write::operations(records)
    }

    fn commit<'a>(
        &'a self,
        table: &'a TableName,
        transaction: Transaction,
        records: &'a [ChangeRecord],
    ) -> BoxFuture<'a, Result<Recorded>> {
        self.attempt(table, transaction, records).boxed()
    }
}

impl<E: Entity, S: TableStore + Clone + 'static, O> Entities<E, S, O> {
    /// Sets the feed that records changes, for example one with a different sleep function. Each change to an entity is recorded in its transaction as
    /// `inserted`, `updated` or `deleted`. If the handle does not read an entity before the write, `insert_or_replace` and `insert_or_merge` of a new entity
    /// record `updated`. A type declared with `#[entity(feed)]` has a feed in every program, even without a call of this function.
    #[must_use]
    pub fn with_feed(self, feed: Feed<S>) -> Self {
        self.with_contributor(FeedRecorder::new(feed, true))
    }

    /// Returns a handle to the store's feeds. If this handle already has a feed, both share the cache of heads.
    #[must_use]
    pub fn feed(&self) -> Feed<S> {
        let known = self.feed_recorder().map(|recorder| recorder.feed.clone());
        known.unwrap_or_else(|| Feed::new(self.table.store().clone()))
    }
}

impl<E: Entity, S: 'static, O> Entities<E, S, O> {
    /// Returns the feed of this handle. The feed need not record changes to entities.
    pub(crate) fn feed_recorder(&self) -> Option<&FeedRecorder<S>> {
        self.contributor()
    }

    /// Returns `true` if changes to entities are recorded in the feed.
    pub(crate) fn records_changes(&self) -> bool {
        self.feed_recorder().is_some_and(|recorder| recorder.records)
    }
}
