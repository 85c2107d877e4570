//! Steps of a message: finds the rows, carries out the steps, deletes the rows.

use std::time::Duration;

use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{Query, Select};
use table_core::queue::QueueStore;
use table_core::retry::Retry;
use table_core::store::TableStore;

use crate::outbox::guard::{self, Origin};
use crate::outbox::intent::{Intent, Step, TargetWrite};
use crate::outbox::rows::{self, Note, Pending, Place, alone};
use crate::work::handler::{Call, Keep};
use crate::work::lease::Held;
use crate::work::message::Work;
use crate::work::worker::Worker;

/// Where an intent comes from.
#[derive(Clone, Copy)]
struct From<'a> {
    table: &'a TableName,
    partition_key: &'a PartitionKey,
    version: Option<u64>,
}

impl<S: TableStore, Q: QueueStore> Worker<S, Q> {
    /// Does what a message names.
    pub(super) async fn work(&self, held: &Held<'_, Q>, message: &str) -> Result<()> {
        match Work::read(message)? {
            Work::Inline { table, partition_key, intent } => {
                let from = From { table: &table, partition_key: &partition_key, version: None };
                self.take(held, from, &intent).await?;
                self.count(|metrics| metrics.finish(None));
                Ok(())
            }
            work => {
                let mut outcome = Ok(());
                for pending in self.pending(held, &work).await? {
                    // One that fails does not keep the others waiting.
                    outcome = outcome.and(self.row(held, &pending).await);
                }
                outcome
            }
        }
    }

    /// The rows that a message names and that are to be done, oldest change first.
    pub(super) async fn pending(&self, held: &Held<'_, Q>, work: &Work) -> Result<Vec<Pending>> {
        let (table, partition_key) = work.place();
        let store = self.outbox.store();
        let mut pending = Vec::new();
        if let Work::Row { row_key, .. } = work {
            let row_key = RowKey::new(row_key.as_str())?;
            let key = EntityKey { partition_key: partition_key.clone(), row_key };
            let found = self.retry(held, || store.get(table, &key, &Select::All)).await;
            if let Some(found) = gone_is_none(found)? {
                let place = Place { table: table.clone(), key };
                pending.push(Pending::of(place, found.row.view(), found.etag)?);
            }
        } else {
            let query = Query::new(rows::range(partition_key));
            let mut from = None;
            loop {
                let page = self.retry(held, || store.query(table, &query, from.as_ref())).await;
                let Some(page) = gone_is_none(page.map(Some))? else { break };
                for entity in page.rows.iter() {
                    pending.push(Pending::read(table, entity)?);
                }
                from = page.continuation;
                if from.is_none() {
                    break;
                }
            }
        }
        pending.retain(|pending| !pending.poisoned);
        pending.sort_by_key(|pending| pending.version);
        Ok(pending)
    }

    /// Does one row: its steps, then its end.
    async fn row(&self, held: &Held<'_, Q>, pending: &Pending) -> Result<()> {
        let Place { table, key } = &pending.place;
        let from = From { table, partition_key: &key.partition_key, version: Some(pending.version) };
        let taken = match pending.intent() {
            Ok(intent) => self.take(held, from, &intent).await,
            Err(error) => Err(error),
        };
        if let Err(error) = taken {
            // For people who look at what became poison; without it the row is worked on all the same.
            let text: String = error.to_string().chars().take(1_000).collect();
            let _ = self.note(pending, Note::Failed(&text)).await;
            // What no delivery can read is found by its poison too, but its message names more than this row.
            let code = match error.code() {
                ErrorCode::Corrupted => ErrorCode::EntityMismatch,
                code => code,
            };
            return Err(Error::new(code, text).with_table(table.as_str()).with_source(error));
        }
        // IMPORTANT: the row goes after the last step, and the message after the row: whatever is left is done again.
        held.keep().await?;
        let store = self.outbox.store();
        let delete = alone(key, OperationKind::Delete(IfMatch::Any), store.capabilities().limits)?;
        match self.retry(held, || store.submit(table, delete.clone())).await {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
        let lag = self.outbox.pace().now().saturating_sub(pending.version);
        let lag = Duration::from_micros(lag / 10);
        self.count(|metrics| metrics.finish(Some(lag)));
        Ok(())
    }

    /// Notes something beside a row, unless it has changed meanwhile.
    pub(super) async fn note(&self, pending: &Pending, note: Note<'_>) -> Result<()> {
        let store = self.outbox.store();
        let Place { table, key } = &pending.place;
        store.submit(table, alone(key, pending.note(note), store.capabilities().limits)?).await?;
        Ok(())
    }

    /// Takes all steps of an intent.
    async fn take(&self, held: &Held<'_, Q>, from: From<'_>, intent: &Intent) -> Result<()> {
        let from = From { version: intent.given_version().or(from.version), ..from };
        for step in intent.steps() {
            held.keep().await?;
            match step {
                Step::Write { table, key, write, guarded } => {
                    let origin = match (guarded, from.version) {
                        (true, Some(version)) => {
                            Some(Origin::new(from.table, from.partition_key, intent.source(), version))
                        }
                        _ => None,
                    };
                    self.write(held, (table, key), write, origin.as_ref()).await?;
                }
                Step::Call { name, payload } => {
                    let Some(handler) = self.handlers.get(name) else {
                        let message =
                            format!("the step calls `{name}`, and no handler of that name is registered");
                        return Err(Error::new(ErrorCode::Unsupported, message).with_rule("PAT-EC-2"));
                    };
                    let From { table, partition_key, version } = from;
                    let source = intent.source();
                    let call = Call { payload, table, partition_key, source, version, lease: held };
                    self.retry(held, || handler.call(call)).await?;
                }
            }
            self.count(|metrics| metrics.steps += 1);
        }
        Ok(())
    }

    async fn write(
        &self,
        held: &Held<'_, Q>,
        (table, key): (&TableName, &EntityKey),
        write: &TargetWrite,
        origin: Option<&Origin>,
    ) -> Result<()> {
        let store = self.outbox.store();
        if let Some(origin) = origin {
            let race = Retry::default().with_pace(self.outbox.pace().clone());
            let taken = self.retry(held, || guard::apply((store, &race), table, key, write, origin)).await?;
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
        match self.retry(held, || store.submit(table, transaction.clone())).await {
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

/// A table that was deleted has no rows to work on.
fn gone_is_none<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_table_not_found() => Ok(None),
        found => found,
    }
}
