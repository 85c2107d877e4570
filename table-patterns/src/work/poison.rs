//! Poison: work that has failed too often. It is kept, with its last error, until a person requeues or discards it (PAT-EC-4, QUE-20).

use std::collections::HashSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table_core::etag::IfMatch;
use table_core::limits::Limits;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::queue::check::TEXT_BYTES;
use table_core::queue::{Lease, Message, MessageId, PutMessage, QueueStore, TimeToLive};
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result, ticks};

use crate::failure::Failure;
use crate::outbox::notes::Note;
use crate::outbox::place::Place;
use crate::outbox::record::Outbox;
use crate::outbox::rows::{Pending, alone, together};
use crate::outbox::work::{Work, portable};
use crate::work::claim::none_if_deleted;
use crate::work::fault::WorkFault;
use crate::work::handler::Keep;
use crate::work::lease::is_lost;
use crate::work::worker::Worker;

/// The visibility timeout of an entry while it is requeued or discarded.
const HIDDEN: Duration = Duration::from_secs(60);
/// The number of entries per receive request; at most 32 (QUE-10).
const PORTION: usize = 32;

/// An intent or a message that was moved to the poison queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[non_exhaustive]
pub struct PoisonEntry {
    /// The message that describes the work, as received from the work queue.
    pub work: String,
    /// The error of the last attempt, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of started attempts. For an unreadable message, the number of deliveries.
    pub attempts: u32,
    /// The time when the work was moved to the poison queue, in [ticks](table_core::ticks).
    pub at: u64,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Creates the entry for work that is moved to the poison queue.
    pub(super) fn poisoned(&self, work: String, error: Option<String>, attempts: u32) -> PoisonEntry {
        PoisonEntry { work, error, attempts, at: self.outbox.runtime().now() }
    }

    /// Puts an entry into the poison queue. The caller must move the entry's row or delete its message only afterwards. Otherwise, a crash in between would
    /// lose the work.
    pub(super) async fn put_aside(&self, lease: &dyn Keep, entry: &PoisonEntry) -> Result<()> {
        let text = entry.text()?;
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
    /// Returns at most `count` (1 to 32) poison entries, without removing them. If a message is not a valid entry, the returned entry contains the text of the
    /// message as its work, and an error.
    ///
    /// # Errors
    /// Any error from the queue store.
    pub async fn poison(&self, count: usize) -> Result<Vec<PoisonEntry>> {
        let messages = self.queues().peek(&self.queue().poison()?, count).await?;
        Ok(messages.iter().map(PoisonEntry::of).collect())
    }

    /// Requeues the next poison entry, resets its attempts, and returns it. Returns `None` if the queue is empty.
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

    /// Requeues all poison entries for which `chosen` returns `true`. Returns the number of requeued entries. Entries that are added after the start of this
    /// call are ignored. Entries that are not selected become visible again after a minute.
    ///
    /// # Errors
    /// Any error from the stores. An outage ends the call. An error for a single entry is returned after all other entries have been tried. Entries that were
    /// not requeued become visible again after a minute.
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
        self.move_poison_if(chosen, Destination::WorkQueue).await
    }

    /// Deletes all poison entries for which `chosen` returns `true`, together with their rows. Returns the number of deleted entries. Entries that are added
    /// after the start of this call are ignored. Entries that are not selected become visible again after a minute.
    ///
    /// # Errors
    /// Any error from the stores. An outage ends the call. An error for a single entry is returned after all other entries have been tried. Entries that were
    /// not deleted become visible again after a minute.
    pub async fn discard_poison_if(&self, chosen: impl Fn(&PoisonEntry) -> bool + Send) -> Result<u64> {
        self.move_poison_if(chosen, Destination::Nowhere).await
    }

    /// Requeues or discards all entries for which `chosen` returns `true`. Returns their number.
    ///
    /// # Errors
    /// An outage, immediately; otherwise the first error, after all entries have been tried.
    async fn move_poison_if(
        &self,
        chosen: impl Fn(&PoisonEntry) -> bool + Send,
        to: Destination,
    ) -> Result<u64> {
        let (mut walk, mut moved, mut failed) = (Walk::default(), 0, None);
        while let Some(entries) = walk.next(self).await? {
            for (lease, entry) in entries {
                if !chosen(&entry) {
                    continue;
                }
                let outcome = match to {
                    Destination::WorkQueue => self.requeue(&lease, &entry).await,
                    Destination::Nowhere => self.discard(&lease, &entry).await,
                };
                match outcome {
                    Ok(()) => moved += 1,
                    Err(error) if is_outage(&error) => return Err(error),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        failed.map_or(Ok(moved), Err)
    }

    async fn next_poison(&self, count: usize) -> Result<Vec<Lease>> {
        self.queues().receive(&self.queue().poison()?, count, HIDDEN).await
    }

    async fn requeue(&self, lease: &Lease, entry: &PoisonEntry) -> Result<()> {
        let is_left = match Work::read(&entry.work) {
            Ok(Work::Row(place)) => self.make_pending(place, entry).await?,
            _ => true,
        };
        if is_left {
            let message = PutMessage::new(entry.work.as_str()).time_to_live(TimeToLive::Never);
            self.queues().put(self.queue(), message).await?;
        }
        self.finish_poison(lease).await
    }

    async fn discard(&self, lease: &Lease, entry: &PoisonEntry) -> Result<()> {
        if let Ok(Work::Row(place)) = Work::read(&entry.work) {
            let delete = alone(&place.poison_key()?, OperationKind::Delete(IfMatch::Any), self.limits())?;
            match self.store().submit(&place.table, delete).await {
                Err(error) if error.is_not_found() => self.discard_unmoved(place, entry).await?,
                outcome => drop(outcome?),
            }
        }
        self.finish_poison(lease).await
    }

    /// Deletes the row of an entry if the row is still pending. The worker that wrote the entry then died before it could move the row.
    async fn discard_unmoved(&self, place: Place, entry: &PoisonEntry) -> Result<()> {
        let Some(pending) = self.pending(place).await? else { return Ok(()) };
        if is_unmoved(&pending, entry) { self.change_pending(&pending, pending.done()).await } else { Ok(()) }
    }

    /// Reads a pending row. Returns `None` if it does not exist.
    async fn pending(&self, place: Place) -> Result<Option<Pending>> {
        let found = self.store().get(&place.table, &place.key(), &Select::All).await;
        none_if_deleted(found)?.map(|found| Pending::of(place, found.row.view(), found.etag)).transpose()
    }

    /// Submits a conditional write to a pending row. Writes nothing if another process has changed the row since it was read.
    async fn change_pending(&self, pending: &Pending, write: Operation) -> Result<()> {
        let write = together(&pending.place.partition_key, [write], self.limits())?;
        match self.store().submit(&pending.place.table, write).await {
            Err(error) if error.is_precondition_failed() || error.is_not_found() => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    /// Deletes a poison entry. Succeeds even if another operator has received or deleted the entry in the meantime (QUE-22).
    async fn finish_poison(&self, lease: &Lease) -> Result<()> {
        match self.queues().delete(&self.queue().poison()?, &lease.message.id, &lease.receipt).await {
            Err(error) if !is_lost(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes a poison row pending again. Returns `false` if the row no longer exists.
    async fn make_pending(&self, place: Place, entry: &PoisonEntry) -> Result<bool> {
        let found = self.store().get(&place.table, &place.poison_key()?, &Select::All).await;
        let Some(found) = none_if_deleted(found)? else {
            let Some(pending) = self.pending(place).await? else { return Ok(false) };
            if is_unmoved(&pending, entry) {
                let note = Note::Failed { error: None, failures: 0, until: 0, wait: 0 };
                self.change_pending(&pending, pending.note(note)?).await?;
            }
            return Ok(true);
        };
        let pending = Pending::of(place, found.row.view(), found.etag)?;
        let Place { table, partition_key, .. } = &pending.place;
        self.register(table, partition_key).await?;
        let back = together(partition_key, pending.back()?, self.limits())?;
        self.store().submit(table, back).await?;
        Ok(true)
    }

    fn limits(&self) -> Limits {
        self.store().capabilities().limits
    }
}

/// Returns `true` if the worker that wrote a poison entry died before it could move the row. The pending row then has at least as many attempts as the entry.
/// If the row had been requeued since, its attempts would have restarted at 0.
fn is_unmoved(pending: &Pending, entry: &PoisonEntry) -> bool {
    pending.attempts > 0 && pending.attempts >= entry.attempts
}

/// Returns `true` if the error would also occur for other entries. Contention at one row does not count.
fn is_outage(error: &Error) -> bool {
    Failure::of(error) == Failure::Outage && error.code() != ErrorCode::UpdateConditionNotSatisfied
}

/// The destination of entries that leave the poison queue.
#[derive(Clone, Copy)]
enum Destination {
    WorkQueue,
    Nowhere,
}

/// A scan of the poison queue. Entries added after the start of the scan are ignored.
#[derive(Default)]
struct Walk {
    /// The queue's time at the start of the scan, in ticks.
    start: Option<u64>,
    /// The entries that have already been returned. During a long scan, entries that stay in the queue become visible again and must be skipped.
    seen: HashSet<MessageId>,
}

impl Walk {
    /// Returns the next entries that have not been returned before, or `None` at the end of the scan.
    async fn next<S: TableStore, Q: QueueStore>(
        &mut self,
        outbox: &Outbox<S, Q>,
    ) -> Result<Option<Vec<(Lease, PoisonEntry)>>> {
        let mut entries = Vec::new();
        for lease in outbox.next_poison(PORTION).await? {
            let shown = ticks::from_datetime(lease.visible).unwrap_or(ticks::MAX);
            let start = *self.start.get_or_insert(shown.saturating_sub(ticks_of(HIDDEN)));
            let is_later = ticks::from_datetime(lease.message.inserted).is_some_and(|at| at > start);
            if !is_later && self.seen.insert(lease.message.id.clone()) {
                let entry = PoisonEntry::of(&lease.message);
                entries.push((lease, entry));
            }
        }
        Ok((!entries.is_empty()).then_some(entries))
    }
}

impl PoisonEntry {
    /// Returns the text of the entry in the poison queue. For a message of another program that is too large for an entry (QUE-6), returns the text of the
    /// message.
    fn text(&self) -> Result<String> {
        let text = serde_json::to_string(self).map_err(|error| Error::of(WorkFault::Poison(error)))?;
        let text = portable(&text);
        Ok(if text.len() <= TEXT_BYTES { text } else { self.work.clone() })
    }

    fn of(message: &Message) -> Self {
        let error = match serde_json::from_str(&message.text) {
            Ok(entry) => return entry,
            Err(error) => error,
        };
        Self {
            work: message.text.clone(),
            error: Some(format!(
                "the message is not a poison entry: another program sent it, or it is too large for an entry: {error}"
            )),
            attempts: message.dequeue_count,
            at: ticks::from_datetime(message.inserted).unwrap_or(0),
        }
    }
}
