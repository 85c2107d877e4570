//! Poison: work that failed too often, kept with its reason (PAT-EC-4, QUE-20).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::queue::{Lease, Message, PutMessage, QueueStore, TimeToLive};
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result, ticks};

use crate::outbox::record::Outbox;
use crate::outbox::rows::{self, Pending, Place, together};
use crate::outbox::work::{Work, portable};
use crate::work::fault::WorkFault;
use crate::work::handler::Keep;
use crate::work::worker::Worker;

/// The time for which an entry is hidden while it is requeued or discarded.
const HIDDEN: Duration = Duration::from_secs(60);
/// The number of entries per receive request (QUE-10).
const PORTION: usize = 32;

/// An intent or a message that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct PoisonEntry {
    /// The message that describes the work, as found in the queue.
    pub work: String,
    /// The last error, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of started attempts, or the number of deliveries for an unreadable message.
    #[serde(alias = "DequeueCount")]
    pub attempts: u32,
    /// The time at which the work was set aside, in [ticks](table_core::ticks).
    pub at: u64,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Creates an entry with the current time.
    pub(super) fn poisoned(&self, work: String, error: Option<String>, attempts: u32) -> PoisonEntry {
        PoisonEntry { work, error, attempts, at: self.outbox.runtime().now() }
    }

    /// Puts an entry into the poison queue. The row or the message of the entry is moved or deleted
    /// afterwards, so a crash in between leaves two entries rather than none.
    pub(super) async fn put_aside(&self, lease: &dyn Keep, entry: &PoisonEntry) -> Result<()> {
        let text = serde_json::to_string(entry).map_err(|error| Error::of(WorkFault::Poison(error)))?;
        let text = portable(&text);
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
    /// Returns at most `count` poison entries, 1 to 32, without removing them.
    /// A message that is not an entry is returned as an entry whose work is the text of the message, with an error.
    ///
    /// # Errors
    /// Any error from the queue store.
    pub async fn poison(&self, count: usize) -> Result<Vec<PoisonEntry>> {
        let messages = self.queues().peek(&self.queue().poison()?, count).await?;
        Ok(messages.iter().map(PoisonEntry::of).collect())
    }

    /// Requeues the next poison entry, with its attempts reset, and returns it. Returns `None` if the queue is empty.
    ///
    /// # Errors
    /// Any error from the stores. The entry then becomes visible again after a minute.
    pub async fn requeue_poison(&self) -> Result<Option<PoisonEntry>> {
        let Some(lease) = self.next_poison(1).await?.pop() else { return Ok(None) };
        let entry = PoisonEntry::of(&lease.message);
        self.requeue(&lease, &entry).await?;
        Ok(Some(entry))
    }

    /// Deletes the next poison entry together with its row, and returns it. Returns `None` if the queue is empty.
    ///
    /// # Errors
    /// Any error from the stores. The entry then becomes visible again after a minute.
    pub async fn discard_poison(&self) -> Result<Option<PoisonEntry>> {
        let Some(lease) = self.next_poison(1).await?.pop() else { return Ok(None) };
        let entry = PoisonEntry::of(&lease.message);
        self.discard(&lease, &entry).await?;
        Ok(Some(entry))
    }

    /// Requeues all poison entries that a filter selects, and returns the number of these entries.
    /// The other entries become visible again after a minute.
    ///
    /// # Errors
    /// Any error from the stores. Entries that were requeued before the error remain requeued.
    ///
    /// ```
    /// # use table_patterns::{Engine, QueueName, outbox::Outbox};
    /// # pollster::block_on(async {
    /// # let store = Engine::in_memory();
    /// # let outbox = Outbox::new(store.clone(), store, QueueName::new("work")?);
    /// # outbox.create_queues().await?;
    /// let of_mail = |error: &str| error.contains("mail server");
    /// outbox.requeue_poison_if(|entry| entry.error.as_deref().is_some_and(of_mail)).await?;
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn requeue_poison_if(&self, chosen: impl Fn(&PoisonEntry) -> bool + Send) -> Result<u64> {
        let mut requeued = 0;
        loop {
            let leases = self.next_poison(PORTION).await?;
            if leases.is_empty() {
                return Ok(requeued);
            }
            for lease in leases {
                let entry = PoisonEntry::of(&lease.message);
                if chosen(&entry) {
                    self.requeue(&lease, &entry).await?;
                    requeued += 1;
                }
            }
        }
    }

    /// Deletes all poison entries that a filter selects, together with their rows.
    /// Returns the number of these entries. The other entries become visible again after a minute.
    ///
    /// # Errors
    /// Any error from the stores. Entries that were deleted before the error remain deleted.
    pub async fn discard_poison_if(&self, chosen: impl Fn(&PoisonEntry) -> bool + Send) -> Result<u64> {
        let mut discarded = 0;
        loop {
            let leases = self.next_poison(PORTION).await?;
            if leases.is_empty() {
                return Ok(discarded);
            }
            for lease in leases {
                let entry = PoisonEntry::of(&lease.message);
                if chosen(&entry) {
                    self.discard(&lease, &entry).await?;
                    discarded += 1;
                }
            }
        }
    }

    async fn next_poison(&self, count: usize) -> Result<Vec<Lease>> {
        self.queues().receive(&self.queue().poison()?, count, HIDDEN).await
    }

    async fn requeue(&self, lease: &Lease, entry: &PoisonEntry) -> Result<()> {
        let is_left = match Work::read(&entry.work) {
            Ok(Work::Row { table, partition_key, row_key }) => {
                self.give_back(table, EntityKey { partition_key, row_key }).await?
            }
            _ => true,
        };
        if is_left {
            let message = PutMessage::new(entry.work.as_str()).time_to_live(TimeToLive::Never);
            self.queues().put(self.queue(), message).await?;
        }
        self.finish_poison(lease).await
    }

    async fn discard(&self, lease: &Lease, entry: &PoisonEntry) -> Result<()> {
        if let Ok(Work::Row { table, partition_key, row_key }) = Work::read(&entry.work) {
            let key = EntityKey { partition_key, row_key: rows::poison_key(&row_key)? };
            let delete = rows::alone(&key, OperationKind::Delete(IfMatch::Any), self.limits())?;
            match self.store().submit(&table, delete).await {
                Err(error) if error.is_not_found() => {}
                outcome => drop(outcome?),
            }
        }
        self.finish_poison(lease).await
    }

    async fn finish_poison(&self, lease: &Lease) -> Result<()> {
        self.queues().delete(&self.queue().poison()?, &lease.message.id, &lease.receipt).await
    }

    /// Moves a row that was set aside back to the pending rows. Returns `false` if the row no longer exists.
    async fn give_back(&self, table: TableName, key: EntityKey) -> Result<bool> {
        let aside = EntityKey { row_key: rows::poison_key(&key.row_key)?, ..key.clone() };
        let Some(found) = self.store().get(&table, &aside, &Select::All).await? else {
            // The worker that set the row aside died before it moved the row.
            return Ok(self.store().get(&table, &key, &Select::names(["PartitionKey"])).await?.is_some());
        };
        let pending = Pending::of(Place { table, key }, found.row.view(), found.etag)?;
        let Place { table, key } = &pending.place;
        self.register(table, &key.partition_key).await?;
        let back = together(&key.partition_key, pending.back()?, self.limits())?;
        self.store().submit(table, back).await?;
        Ok(true)
    }

    fn limits(&self) -> Limits {
        self.store().capabilities().limits
    }
}

impl PoisonEntry {
    fn of(message: &Message) -> Self {
        serde_json::from_str(&message.text).unwrap_or_else(|error| Self {
            work: message.text.clone(),
            error: Some(format!(
                "the message is not a poison entry, and was sent by another program: {error}"
            )),
            attempts: message.dequeue_count,
            at: ticks::from_datetime(message.inserted).unwrap_or(0),
        })
    }
}
