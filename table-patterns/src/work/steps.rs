//! Steps of an intent, and what becomes of the message that names it.

use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::queue::{Message, QueueStore};
use table_core::retry::Retry;
use table_core::store::TableStore;

use crate::order;
use crate::outbox::guard::{self, Origin};
use crate::outbox::intent::{Intent, Step, TargetWrite};
use crate::outbox::message::is_unreadable;
use crate::outbox::rows::{self, Pending, Place, alone};
use crate::outbox::work::{Tried, Work};
use crate::work::fault::WorkFault;
use crate::work::handler::{Call, Keep};
use crate::work::lease::Held;
use crate::work::worker::{Outcome, Worker};

/// Where an intent comes from.
#[derive(Clone, Copy)]
struct From<'a> {
    table: &'a TableName,
    partition_key: &'a PartitionKey,
    version: Option<u64>,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Does what a message names.
    pub(super) async fn work(&self, held: &Held<'_, Q>, message: &Message) -> Result<Outcome> {
        match Work::read(&message.text)? {
            Work::Inline { table, partition_key, intent, tried } => {
                self.inline(held, (table, partition_key), intent, tried).await
            }
            work => self.rows(held, &work, message.dequeue_count > 1).await,
        }
    }

    /// Does an intent that has no row. Its attempts are noted in the message.
    async fn inline(
        &self,
        held: &Held<'_, Q>,
        (table, partition_key): (TableName, PartitionKey),
        intent: Intent,
        tried: Tried,
    ) -> Result<Outcome> {
        let text = |tried| {
            let (table, partition_key, intent) = (table.clone(), partition_key.clone(), intent.clone());
            Work::Inline { table, partition_key, intent, tried }.write()
        };
        let attempts = tried.attempts.saturating_add(1);
        if tried.attempts >= self.options.poison_after {
            let entry = self.poisoned(text(Tried::default())?, tried.error, tried.attempts);
            self.put_aside(held, &entry).await?;
            return Ok(Outcome::Done);
        }
        // IMPORTANT: counted before it begins, so that what kills its worker is poison in the end, and what was never tried is not.
        held.hide(held.hidden, Some(text(Tried { attempts, ..tried })?)).await?;
        let from = From { table: &table, partition_key: &partition_key, version: None };
        match self.take(held, from, &intent).await {
            Ok(()) => {
                self.count(|metrics| metrics.finish(None));
                Ok(Outcome::Done)
            }
            Err(error) if is_unreadable(&error) => {
                self.count(|metrics| metrics.failures += 1);
                let entry = self.poisoned(text(Tried::default())?, Some(kept(&error)), attempts);
                self.put_aside(held, &entry).await?;
                Ok(Outcome::Done)
            }
            Err(error) if error.code() == ErrorCode::LayoutMismatch => {
                self.count(|metrics| metrics.left += 1);
                let text = text(Tried { attempts: attempts - 1, error: Some(kept(&error)) })?;
                Ok(Outcome::Again { at: self.next_attempt(1), text: Some(text) })
            }
            Err(error) => {
                self.count(|metrics| metrics.failures += 1);
                let text = text(Tried { attempts, error: Some(kept(&error)) })?;
                Ok(Outcome::Again { at: self.next_attempt(attempts), text: Some(text) })
            }
        }
    }

    /// Takes the steps of a row.
    pub(super) async fn take_row(&self, lease: &dyn Keep, pending: &Pending, intent: &Intent) -> Result<()> {
        let Place { table, key } = &pending.place;
        let version = order::is_known(self.outbox.store()).then_some(pending.version);
        let from = From { table, partition_key: &key.partition_key, version };
        self.take(lease, from, intent).await
    }

    /// Takes all steps of an intent.
    async fn take(&self, lease: &dyn Keep, from: From<'_>, intent: &Intent) -> Result<()> {
        let from = From { version: intent.given_version().or(from.version), ..from };
        for step in intent.steps() {
            lease.keep().await?;
            match step {
                Step::Write { table, key, write, guarded } => {
                    let origin = match (guarded, from.version) {
                        (true, Some(version)) => {
                            Some(Origin::new(from.table, from.partition_key, intent.source(), version))
                        }
                        // Recorded by an earlier release, or copied from a store of finer Timestamps.
                        (true, None) => {
                            order::require(self.outbox.store())?;
                            None
                        }
                        (false, _) => None,
                    };
                    self.write(lease, (table, key), write, origin.as_ref()).await?;
                }
                Step::Call { name, version: written_as, payload } => {
                    let handler = self.handlers.get(name).ok_or_else(|| self.unknown(name))?;
                    let From { table, partition_key, version } = from;
                    let (source, written_as) = (intent.source(), *written_as);
                    let call = Call { table, partition_key, source, version, payload, written_as, lease };
                    self.retry(lease, || handler.take(call)).await?;
                }
            }
            self.count(|metrics| metrics.steps += 1);
        }
        Ok(())
    }

    /// The error of a message that this worker has no handler for.
    fn unknown(&self, name: &str) -> Error {
        let mut known: Vec<_> = self.handlers.keys().map(|known| format!("`{known}`")).collect();
        known.sort_unstable();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Error::of(WorkFault::NoHandler { name: name.to_owned(), known })
    }

    async fn write(
        &self,
        lease: &dyn Keep,
        (table, key): (&TableName, &EntityKey),
        write: &TargetWrite,
        origin: Option<&Origin>,
    ) -> Result<()> {
        let store = self.outbox.store();
        if let Some(origin) = origin {
            let race = Retry::default().with_runtime(self.outbox.runtime().clone());
            let taken = self.retry(lease, || guard::apply((store, &race), table, key, write, origin)).await?;
            if !taken {
                self.count(|metrics| metrics.stale += 1);
            }
            return Ok(());
        }
        let kind = match write {
            TargetWrite::InsertOrReplace(row) => OperationKind::InsertOrReplace(rows::fresh(row)),
            TargetWrite::InsertOrMerge(row) => OperationKind::InsertOrMerge(rows::fresh(row)),
            TargetWrite::DeleteIfExists => OperationKind::Delete(IfMatch::Any),
        };
        let transaction = alone(key, kind, store.capabilities().limits)?;
        match self.retry(lease, || store.submit(table, transaction.clone())).await {
            // What is to be deleted is gone (QUE-22); a missing table is a mistake.
            Err(error)
                if error.code() == ErrorCode::ResourceNotFound
                    && matches!(write, TargetWrite::DeleteIfExists) =>
            {
                Ok(())
            }
            outcome => outcome.map(|_| ()),
        }
    }
}

/// An error with its causes as it is kept, for readers of the poison.
pub(super) fn kept(error: &Error) -> String {
    format!("{error:?}").chars().take(1_000).collect()
}
