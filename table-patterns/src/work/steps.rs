//! Performs the steps of the intents that a message refers to.

use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::queue::{Message, QueueStore};
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use crate::failure::Failure;
use crate::outbox::guard::{self, Origin};
use crate::outbox::intent::{Intent, Step, TargetWrite};
use crate::outbox::message::is_unreadable;
use crate::outbox::place::Place;
use crate::outbox::rows::{self, Pending, alone};
use crate::outbox::seal;
use crate::outbox::work::Work;
use crate::panicked::caught_in;
use crate::timestamp_order;
use crate::work::circuit::{self, StepError, Target};
use crate::work::fault::WorkFault;
use crate::work::handler::{Delivery, Keep};
use crate::work::lease::{Held, is_lost};
use crate::work::worker::{Outcome, Worker};

/// The origin of an intent: the partition and version of the change. It also tells whether the intent has a valid seal.
#[derive(Clone, Copy)]
struct StepOrigin<'a> {
    table: &'a TableName,
    partition_key: &'a PartitionKey,
    version: Option<u64>,
    /// `true` if the intent has a valid seal. The seal proves that a program with the outbox's key recorded the intent.
    is_genuine: bool,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Performs the work described by a message.
    pub(super) async fn work(&self, held: &Held<'_, Q>, message: &Message) -> Result<Outcome> {
        let work = Work::read(&message.text)?;
        self.rows(held, &work, work.deliveries(message.dequeue_count) > 1).await
    }

    /// Performs the steps of the intent in an outbox row.
    pub(super) async fn take_row(&self, lease: &dyn Keep, pending: &Pending) -> Result<(), StepError> {
        let Place { table, partition_key, row_key } = &pending.place;
        let place = seal::Place { table, partition_key, row_key: row_key.as_str() };
        let text = (pending.text(), pending.seal.as_deref());
        let is_genuine = self.outbox.seals().is_genuine(self.outbox.store(), place, text);
        let is_genuine = self.keeping(lease, is_genuine).await?;
        let version = timestamp_order::is_known(self.outbox.store()).then_some(pending.version);
        let intent = known(pending.intent(), is_genuine)?;
        self.take(lease, StepOrigin { table, partition_key, version, is_genuine }, &intent).await
    }

    /// Performs all steps of an intent in order. A failed step does not stop the later steps of patterns, which need no earlier step: while a unique value is
    /// contested, the entity's other index entries are still updated. Returns the first error.
    async fn take(&self, lease: &dyn Keep, origin: StepOrigin<'_>, intent: &Intent) -> Result<(), StepError> {
        let origin = StepOrigin { version: intent.given_version().or(origin.version), ..origin };
        let mut taken = Ok(());
        for step in intent.steps() {
            if taken.is_err() && !step.is_of_pattern() {
                continue;
            }
            lease.keep().await?;
            match self.try_step(lease, origin, (intent.source(), step)).await {
                Ok(()) => self.count(|metrics| metrics.steps += 1),
                Err(lost) if is_lost(&lost.error) => return Err(lost),
                Err(error) => taken = taken.and(Err(error)),
            }
        }
        taken
    }

    /// Performs a step, unless its target is down.
    async fn try_step(
        &self,
        lease: &dyn Keep,
        origin: StepOrigin<'_>,
        (source, step): (&RowKey, &Step),
    ) -> Result<(), StepError> {
        let target = match step {
            Step::Write { table, .. } => Target::Table(table.folded().to_owned()),
            Step::Call { name, .. } => Target::Handler(name.clone()),
        };
        let circuit_source = circuit::source(origin.table, origin.partition_key, source);
        let pass = self.circuits.check(&target, circuit_source, self.times(lease.now()))?;
        let taken = self.take_step(lease, origin, (source, step));
        match self.keeping(lease, taken).await {
            Ok(()) => self.circuits.answered(&target),
            Err(error) if is_down(&error) => {
                let random = self.outbox.runtime().random();
                let delay = |failures| self.options.redelivery.delay(failures, random);
                let times = self.times(lease.now());
                let delay = self.circuits.failed(&target, (pass, times), (&error, delay));
                return Err(StepError { error, delay: Some(delay), is_refused: false });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn take_step(
        &self,
        lease: &dyn Keep,
        StepOrigin { table, partition_key, version, is_genuine }: StepOrigin<'_>,
        (source, step): (&RowKey, &Step),
    ) -> Result<()> {
        match step {
            // IMPORTANT: a program that may write rows in this partition must not be able to cause writes in other partitions.
            Step::Write { .. } if !is_genuine => Err(Error::of(WorkFault::NotGenuine)),
            Step::Write { table: target, key, write, guarded } => {
                let origin = match (guarded, version) {
                    (true, Some(version)) => Some(Origin::new(table, partition_key, source, version)),
                    // A guarded step has no version if it was copied from a store with more precise Timestamps.
                    (true, None) => {
                        timestamp_order::require(self.outbox.store())?;
                        None
                    }
                    (false, _) => None,
                };
                self.write(lease, (target, key), write, origin.as_ref()).await
            }
            Step::Call { name, version: written_as, payload } => {
                let handler = self.handlers.get(name).ok_or_else(|| self.unknown(name))?;
                let written_as = *written_as;
                let call = Delivery {
                    table,
                    partition_key,
                    source,
                    version,
                    payload,
                    written_as,
                    is_genuine,
                    lease,
                };
                let code = format!("the handler of `{name}`");
                self.retry(lease, || caught_in(&code, handler.take(call))).await
            }
        }
    }

    /// Counts a failed attempt in the metrics. Returns the delay until the next attempt, or `None` if the work is unreadable and can never succeed. `failures` is
    /// the number of failures, including this one if it counts.
    pub(super) fn failed(&self, error: &Error, failures: u32, delay: Option<u64>) -> Option<u64> {
        match Failure::of(error) {
            Failure::Newer => self.count(|metrics| metrics.left += 1),
            Failure::Outage => self.count(|metrics| metrics.outages += 1),
            Failure::Lasting => self.count(|metrics| metrics.failures += 1),
        }
        let is_final = is_unreadable(error);
        (!is_final).then(|| delay.unwrap_or_else(|| self.delay_after(failures.max(1))))
    }

    /// Returns the error for a message for which this worker has no handler.
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
            // If the target is missing, it has already been deleted (QUE-22). If its table is missing, this is an error.
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

/// Returns the result of reading an intent. An intent in a later format is left for a newer program only if it has a valid seal. Otherwise, anyone who may
/// write to the partition could record an intent that no program will ever be able to read, and workers would retry it forever.
fn known(intent: Result<Intent>, is_genuine: bool) -> Result<Intent> {
    intent.map_err(|error| match Failure::of(&error) {
        Failure::Newer if !is_genuine => Error::of(WorkFault::UnsealedFormat(error)),
        _ => error,
    })
}

/// Returns `true` if an error means that a step's target is down. Other steps for this target would then fail too. A lost lease and contention at one row do
/// not count.
fn is_down(error: &Error) -> bool {
    Failure::of(error) == Failure::Outage
        && !is_lost(error)
        && error.code() != ErrorCode::UpdateConditionNotSatisfied
}
