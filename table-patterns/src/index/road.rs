//! The one way of a batch to the store: what is recorded with it, its attempts, and what is notified afterwards.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::error::Result;
use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::retry::Retry;
use table_core::store::TableStore;

use crate::feed::Feed;
use crate::index::batch::Batch;
use crate::index::commit::{Attempt, Mode, attempt};
use crate::index::list::{ListBlobs, Lists};
use crate::index::outbox::IndexOutbox;
use crate::index::remote::RemoteChange;

/// All that a batch of any types needs on its way.
#[derive(Clone, Debug)]
pub(crate) struct Road<S, O> {
    pub(crate) store: S,
    pub(crate) outbox: O,
    pub(crate) feed: Feed<S>,
    pub(crate) blobs: Option<ListBlobs>,
    pub(crate) retry: Retry,
}

/// The same, borrowed.
pub(crate) struct Way<'a, S, O> {
    pub(crate) store: &'a S,
    pub(crate) outbox: &'a O,
    pub(crate) feed: &'a Feed<S>,
    pub(crate) lists: Lists<'a>,
}

impl<S: TableStore, O: IndexOutbox> Way<'_, S, O> {
    /// One attempt. `look` says that copies are not what the entities say.
    ///
    /// Boxed: the writes that wait for it are compiled for each entity, and this is not.
    pub(crate) fn attempt<'a>(&'a self, batch: &'a Batch, look: bool) -> BoxFuture<'a, Result<Attempt>> {
        self.attempt_once(batch, look).boxed()
    }

    async fn attempt_once(&self, batch: &Batch, look: bool) -> Result<Attempt> {
        let (table, partition_key) = (self.lists.table, &batch.partition_key);
        let intents = self.intents(table, partition_key, batch).await?;
        let is_recorded = !intents.is_empty();
        let done = attempt((self.store, self.feed), &self.lists, batch, Mode { look, intents }).await?;
        if is_recorded && matches!(done, Attempt::Done(_)) {
            self.outbox.recorded(table, partition_key).await;
        }
        Ok(done)
    }

    async fn intents(
        &self,
        table: &TableName,
        partition_key: &PartitionKey,
        batch: &Batch,
    ) -> Result<Vec<Operation>> {
        let mut operations = self.outbox.intents(&batch.intents())?;
        for of_entity in batch.remote.chunk_by(|(one, _), (next, _)| one.entity == next.entity) {
            let changes: Vec<RemoteChange> = of_entity.iter().map(|(_, change)| change.clone()).collect();
            if let Some((schema, _)) = of_entity.first() {
                operations.extend(self.outbox.record(schema, &changes)?);
            }
        }
        if !operations.is_empty() {
            self.outbox.prepare(table, partition_key).await?;
            operations = self.outbox.seal(table, partition_key, operations).await?;
        }
        Ok(operations)
    }

    /// Writes a batch whose conditions on entities are the caller's; copies and lists are looked at until that is done.
    pub(crate) async fn commit(
        &self,
        batch: &Batch,
        (retry, mut look): (&Retry, bool),
    ) -> Result<Vec<Option<ETag>>> {
        let mut race = retry.race("the indexes of the entities");
        loop {
            match self.attempt(batch, look).await? {
                Attempt::Done(etags) => return Ok(etags),
                Attempt::Entity(error) => return Err(error),
                Attempt::Index(_) if !look => look = true,
                Attempt::Index(error) => race.lost(error).await?,
            }
        }
    }
}

impl<S: TableStore, O: IndexOutbox> Road<S, O> {
    /// Commits a batch in a table.
    pub(crate) async fn commit(
        &self,
        table: &TableName,
        batch: &Batch,
        look: bool,
    ) -> Result<Vec<Option<ETag>>> {
        let limits = self.store.capabilities().limits;
        let lists = Lists { table, blobs: self.blobs.as_ref(), pace: self.retry.runtime(), limits };
        let way = Way { store: &self.store, outbox: &self.outbox, feed: &self.feed, lists };
        way.commit(batch, (&self.retry, look)).await
    }
}
