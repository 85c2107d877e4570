//! Lists the intents in outboxes. An intent is work recorded together with an entity. It becomes poison if it fails repeatedly.

use table_core::query::{KeyRange, TextRange};
use table_core::{
    DynTableStore, Engine, FromEntity, IfMatch, Operation, OperationKind, Query, QueueName, RowKey,
    TableEntity, TableName, TableStore, Transaction, Value, ticks,
};
use table_patterns::outbox::{OUTBOX_PREFIX, Outbox, POISON_PREFIX};

use crate::failure::Result;
use crate::rows::Pages;

/// A pending or poison intent.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// The row that stores the intent.
    pub row: TableEntity,
    /// `true` if the intent is poison.
    pub is_poison: bool,
}

impl Intent {
    /// Returns the number of attempts started so far.
    #[must_use]
    pub fn attempts(&self) -> i64 {
        match self.row.get("Attempts") {
            Some(Value::Int64(attempts)) => *attempts,
            _ => 0,
        }
    }

    /// Returns the error of the last failed attempt, or an empty string.
    #[must_use]
    pub fn error(&self) -> &str {
        match self.row.get("Error") {
            Some(Value::String(error)) => error,
            _ => "",
        }
    }
}

/// The number of intents in a table, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// The number of intents waiting for a worker.
    pub waiting: u64,
    /// The number of waiting intents with a failed attempt.
    pub failed: u64,
    /// The number of poison intents.
    pub poison: u64,
    /// The number of rows in the outbox that the store omitted, because it cannot represent them as entities.
    pub omitted: u64,
}

/// Counts the intents in a range of a table's partitions, and calls `found` for each of them.
///
/// # Errors
/// Any error from the store or from `found`.
pub async fn intents(
    store: &DynTableStore,
    table: &TableName,
    partitions: &TextRange,
    mut found: impl AsyncFnMut(Intent) -> Result<()>,
) -> Result<Backlog> {
    let mut backlog = Backlog::default();
    for (prefix, is_poison) in [(OUTBOX_PREFIX, false), (POISON_PREFIX, true)] {
        let range = KeyRange { partition_key: partitions.clone(), row_key: TextRange::prefix(prefix) };
        let mut pages = Pages::new(store, table, Query::new(range));
        while let Some(page) = pages.next().await? {
            for row in page.rows.iter() {
                let intent = Intent { row: TableEntity::from_entity(row)?, is_poison };
                if is_poison {
                    backlog.poison += 1;
                } else {
                    backlog.waiting += 1;
                    backlog.failed += u64::from(!intent.error().is_empty());
                }
                found(intent).await?;
            }
        }
        backlog.omitted += pages.omitted();
    }
    Ok(backlog)
}

/// Requeues a poison intent and resets its attempt count. The next sweep finds it.
///
/// # Errors
/// `UpdateConditionNotSatisfied` if the row has changed in the meantime. Any error from the store.
pub async fn requeue(store: &DynTableStore, table: &TableName, intent: &Intent) -> Result<()> {
    let key = intent.row.key();
    // The partition must be registered, because sweeps read only registered partitions. The queue is never used.
    let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("unused")?);
    outbox.register(table, &key.partition_key).await?;
    let name = key.row_key.as_str().strip_prefix(POISON_PREFIX).unwrap_or_default();
    let row_key = RowKey::new(format!("{OUTBOX_PREFIX}{name}"))?;
    let mut back =
        TableEntity::from(table_core::EntityKey::new(key.partition_key.as_str(), row_key.as_str())?);
    for (name, value) in intent.row.iter() {
        if !["Attempts", "NotBefore", "Claim", "Prompted", "Poisoned"].contains(&name) {
            back.insert(name, value.clone());
        }
    }
    // IMPORTANT: the new row gets a new Timestamp. If the intent did not record a version, that Timestamp would be mistaken for the version of the change.
    if let (None, Some(at)) =
        (intent.row.get("Version"), intent.row.timestamp().and_then(ticks::from_datetime))
    {
        back.insert("Version", i64::try_from(at).unwrap_or(i64::MAX));
    }
    let mut transaction = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
    transaction.push(Operation { row_key: key.row_key.clone(), kind: delete(intent) })?;
    transaction.push(Operation { row_key, kind: OperationKind::InsertOrReplace(back.to_row()?) })?;
    store.submit(table, transaction).await?;
    Ok(())
}

/// Deletes a poison intent. Its work is never performed.
///
/// # Errors
/// `UpdateConditionNotSatisfied` if the row has changed in the meantime. Any error from the store.
pub async fn discard(store: &DynTableStore, table: &TableName, intent: &Intent) -> Result<()> {
    let key = intent.row.key();
    let mut transaction = Transaction::new(key.partition_key.clone(), store.capabilities().limits)?;
    transaction.push(Operation { row_key: key.row_key.clone(), kind: delete(intent) })?;
    store.submit(table, transaction).await?;
    Ok(())
}

fn delete(intent: &Intent) -> OperationKind {
    OperationKind::Delete(intent.row.etag().cloned().map_or(IfMatch::Any, IfMatch::ETag))
}
