//! Poison: work that failed too often, kept with its reason (PAT-EC-4, QUE-20).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::error::{Error, ErrorCode, Result};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::queue::{Lease, Message, PutMessage, QueueStore, TimeToLive};
use table_core::store::TableStore;
use table_core::ticks;

use crate::outbox::record::Outbox;
use crate::outbox::rows::{Note, Pending, Place, together};
use crate::outbox::work::Work;
use crate::work::fault::WorkFault;
use crate::work::handler::Keep;
use crate::work::worker::Worker;

/// How long an entry is hidden while it is requeued.
const REQUEUE: Duration = Duration::from_mins(1);

/// One piece of work that failed too often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct PoisonEntry {
    /// The message that names the work, as it was on the queue.
    pub work: String,
    /// The last error, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many attempts at it were begun; of a message that cannot be read, how often it was delivered.
    #[serde(alias = "DequeueCount")]
    pub attempts: u32,
    /// When it was put aside, in [ticks](table_core::ticks).
    pub at: u64,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// An entry of now.
    pub(super) fn poisoned(&self, work: String, error: Option<String>, attempts: u32) -> PoisonEntry {
        PoisonEntry { work, error, attempts, at: self.outbox.runtime().now() }
    }

    /// Puts work aside. What names it is marked or deleted afterwards: a stop between puts it aside twice, which is better than never.
    pub(super) async fn put_aside(&self, lease: &dyn Keep, entry: &PoisonEntry) -> Result<()> {
        let text = serde_json::to_string(entry).map_err(|error| Error::of(WorkFault::Poison(error)))?;
        let queue = self.outbox.queue().poison()?;
        let queues = self.outbox.queues();
        let message = PutMessage::new(text).time_to_live(TimeToLive::Never);
        self.retry(lease, || async {
            match queues.put(&queue, message.clone()).await {
                Err(error) if error.code() == ErrorCode::QueueNotFound => {
                    queues.create_queue(&queue).await?;
                    queues.put(&queue, message.clone()).await
                }
                outcome => outcome,
            }
        })
        .await?;
        self.count(|metrics| metrics.poisoned += 1);
        Ok(())
    }
}

impl<S: TableStore, Q: QueueStore> Outbox<S, Q> {
    /// At most `count` entries of the poison, 1 to 32, which stay where they are. A message that is not an entry is shown as one: its text
    /// is the work, and its error says so.
    ///
    /// # Errors
    /// Those of the queue store.
    pub async fn poison(&self, count: usize) -> Result<Vec<PoisonEntry>> {
        let messages = self.queues().peek(&self.queue().poison()?, count).await?;
        Ok(messages.iter().map(PoisonEntry::of).collect())
    }

    /// Gives the next entry of the poison back to the workers, as if it had never failed; `None` if there is none.
    ///
    /// # Errors
    /// Those of the stores. The entry then shows again after a minute.
    pub async fn requeue_poison(&self) -> Result<Option<PoisonEntry>> {
        let Some(lease) = self.next_poison().await? else { return Ok(None) };
        let entry = PoisonEntry::of(&lease.message);
        let again = match Work::read(&entry.work) {
            Ok(Work::Row { table, partition_key, row_key }) => {
                let key = EntityKey { partition_key, row_key };
                self.unmark(table, key).await?
            }
            _ => true,
        };
        if again {
            let message = PutMessage::new(entry.work.as_str()).time_to_live(TimeToLive::Never);
            self.queues().put(self.queue(), message).await?;
        }
        self.finish_poison(&lease).await?;
        Ok(Some(entry))
    }

    /// Deletes the next entry of the poison; `None` if there is none. Its row stays in its partition, marked, and no sweep
    /// brings it back.
    ///
    /// # Errors
    /// Those of the queue store.
    pub async fn discard_poison(&self) -> Result<Option<PoisonEntry>> {
        let Some(lease) = self.next_poison().await? else { return Ok(None) };
        let entry = PoisonEntry::of(&lease.message);
        self.finish_poison(&lease).await?;
        Ok(Some(entry))
    }

    async fn next_poison(&self) -> Result<Option<Lease>> {
        Ok(self.queues().receive(&self.queue().poison()?, 1, REQUEUE).await?.pop())
    }

    async fn finish_poison(&self, lease: &Lease) -> Result<()> {
        self.queues().delete(&self.queue().poison()?, &lease.message.id, &lease.receipt).await
    }

    /// Lets workers see a row again; `false` if it is done.
    async fn unmark(&self, table: TableName, key: EntityKey) -> Result<bool> {
        let Some(found) = self.store().get(&table, &key, &Select::All).await? else { return Ok(false) };
        let pending = Pending::of(Place { table, key }, found.row.view(), found.etag)?;
        let Place { table, key } = &pending.place;
        let limits = self.store().capabilities().limits;
        let note = together(&key.partition_key, [pending.note(Note::Requeued)], limits)?;
        self.store().submit(table, note).await?;
        Ok(true)
    }
}

impl PoisonEntry {
    fn of(message: &Message) -> Self {
        serde_json::from_str(&message.text).unwrap_or_else(|error| Self {
            work: message.text.clone(),
            error: Some(format!("the message is no entry of the poison, another program put it: {error}")),
            attempts: message.dequeue_count,
            at: ticks::from_datetime(message.inserted).unwrap_or(0),
        })
    }
}
