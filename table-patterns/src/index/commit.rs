//! One attempt to write a batch: what it finds where copies and lists are, and the transaction that follows from it.

use std::collections::HashMap;

use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, RowKey};
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::schema::IndexSchema;
use table_core::store::{StoredRow, TableStore};
use table_core::transaction::Transaction;

use crate::feed::Feed;
use crate::index::batch::{Batch, CopyChange, ListChange, violation};
use crate::index::list::{ListWrite, Lists, Upload};
use crate::requests::{self, CONCURRENCY};

/// What an attempt came to, if it did not fail for good.
pub(crate) enum Attempt {
    /// Written; the versions of the entities, in order.
    Done(Vec<Option<ETag>>),
    /// An entity was not as its condition has it. Nothing was written.
    Entity(Error),
    /// A copy or a list was not as it was thought to be. Nothing was written: look and try again.
    Index(Error),
}

/// How an attempt is made.
pub(crate) struct Mode {
    /// Whether copies are looked at first. Else they are taken for what the entities say they are, which saves the requests.
    pub(crate) look: bool,
    /// What the outbox writes in the same transaction.
    pub(crate) intents: Vec<Operation>,
}

/// Writes a batch in one transaction, if nothing gets between.
pub(crate) async fn attempt<S: TableStore>(
    (store, feed): (&S, &Feed<S>),
    lists: &Lists<'_>,
    batch: &Batch,
    mode: Mode,
) -> Result<Attempt> {
    let mut uploads = Vec::new();
    let (done, is_sent) = match prepare(store, lists, batch, mode, &mut uploads).await {
        Ok(transaction) => (submit(feed, lists.table, batch, transaction).await, true),
        Err(error) => (Err(error.with_table(lists.table.as_str())), false),
    };
    if !is_sent || matches!(done, Ok(Attempt::Entity(_) | Attempt::Index(_))) {
        // No entity names them. What failed in another way may have been done: there only the collector can find out.
        for upload in &uploads {
            lists.discard(upload).await;
        }
    }
    done
}

/// The transaction that follows from what is there. Blobs that its lists name are there already.
async fn prepare<S: TableStore>(
    store: &S,
    lists: &Lists<'_>,
    batch: &Batch,
    mode: Mode,
    uploads: &mut Vec<Upload>,
) -> Result<Transaction> {
    let found = look::<S>(store, lists.table, batch, mode.look).await?;
    let mut transaction = transaction(batch, &found, lists.limits)?;
    for (row_key, change) in &batch.lists {
        let key = EntityKey { partition_key: batch.partition_key.clone(), row_key: row_key.clone() };
        let found = found.get(row_key).and_then(Option::as_ref);
        let place = |error: Error| error.with_key(key.partition_key.as_str(), key.row_key.as_str());
        if let Some(ListWrite { kind, upload }) = list(lists, &key, change, found).await.map_err(place)? {
            uploads.extend(upload);
            transaction.push(Operation { row_key: key.row_key, kind })?;
        }
    }
    for beside in &batch.beside {
        transaction.push(beside.operation.clone())?;
    }
    for intent in mode.intents {
        transaction.push(intent)?;
    }
    uploads.iter().try_for_each(|upload| lists.check_age(upload))?;
    let is_alone = transaction.operations().len() == 1 && batch.records.is_empty();
    Ok(if batch.identified && is_alone { transaction.identified() } else { transaction })
}

async fn submit<S: TableStore>(
    feed: &Feed<S>,
    table: &TableName,
    batch: &Batch,
    transaction: Transaction,
) -> Result<Attempt> {
    let keys: Vec<RowKey> =
        transaction.operations().iter().map(|operation| operation.row_key.clone()).collect();
    match feed.commit(table, transaction, &batch.records).await {
        Ok(etags) => Ok(Attempt::Done(etags.into_iter().take(batch.entities.len()).collect())),
        Err(error) => {
            let at = error.operation().or((keys.len() == 1).then_some(0));
            let is_conflict = error.is_conflict();
            let row_key = at.filter(|at| *at >= batch.entities.len()).and_then(|at| keys.get(at));
            let author = row_key.and_then(|row_key| batch.author(row_key));
            let is_beside = row_key.is_some_and(|row_key| batch.is_beside(row_key));
            let error = match at.and_then(|at| keys.get(at)) {
                Some(row_key) => error.with_key(batch.partition_key.as_str(), row_key.as_str()),
                None => error,
            };
            let error = author.map_or(error.clone(), |author| error.with_context(&author));
            match at {
                // The answer of a participant would be the same once more.
                _ if !is_conflict || is_beside => Err(error),
                Some(at) if at < batch.entities.len() => Ok(Attempt::Entity(error)),
                _ => Ok(Attempt::Index(error)),
            }
        }
    }
}

type Found = HashMap<RowKey, Option<StoredRow>>;

async fn look<S: TableStore>(store: &S, table: &TableName, batch: &Batch, copies: bool) -> Result<Found> {
    let copies = batch.copies.keys().filter(|_| copies);
    let keys: Vec<_> = batch.lists.keys().chain(copies).cloned().collect();
    let reads = keys.into_iter().map(|row_key| async {
        let key = EntityKey { partition_key: batch.partition_key.clone(), row_key };
        let found = store.get(table, &key, &Select::All).await?;
        Ok::<_, Error>((key.row_key, found))
    });
    requests::in_order(reads, CONCURRENCY).await.map(Found::from_iter)
}

/// The entities of a batch and their copies.
fn transaction(batch: &Batch, found: &Found, limits: Limits) -> Result<Transaction> {
    let mut transaction = Transaction::new(batch.partition_key.clone(), limits)?;
    for operation in &batch.entities {
        transaction.push(operation.clone())?;
    }
    for (row_key, change) in &batch.copies {
        let key = EntityKey { partition_key: batch.partition_key.clone(), row_key: row_key.clone() };
        let kind = match found.get(row_key) {
            Some(found) => looked_at(&key, change, found.as_ref())?,
            None => Some(as_thought(change)),
        };
        if let Some(kind) = kind {
            transaction.push(Operation { row_key: key.row_key, kind })?;
        }
    }
    Ok(transaction)
}

/// The write of a copy that is taken to be as the entities say. A condition on the entity's version holds for it too.
fn as_thought(change: &CopyChange) -> OperationKind {
    match &change.after {
        // The only one that can be another entity's.
        Some((_, row)) if change.index.unique && change.before.is_none() => {
            OperationKind::Insert(row.clone())
        }
        Some((_, row)) => OperationKind::InsertOrReplace(row.clone()),
        None => OperationKind::Delete(IfMatch::Any),
    }
}

/// The write of a copy that was looked at; `None` if there is none to be made.
fn looked_at(
    key: &EntityKey,
    change: &CopyChange,
    found: Option<&StoredRow>,
) -> Result<Option<OperationKind>> {
    let Some(StoredRow { row: stored, etag }) = found else {
        return Ok(change.after.as_ref().map(|(_, row)| OperationKind::Insert(row.clone())));
    };
    let if_match = IfMatch::ETag(etag.clone());
    let owner = (change.owner_of)(change.index, key, stored);
    let after = change.after.as_ref().map(|(owner, _)| owner);
    let is_ours = owner.is_some() && (owner == change.before || owner.as_ref() == after);
    // What is not a copy at all has no owner: only where one value makes one copy could it hide another entity's.
    let is_free = owner.is_none() && !change.index.unique;
    Ok(match &change.after {
        Some((_, row)) if is_ours || is_free => Some(OperationKind::Replace(row.clone(), if_match)),
        None if is_ours => Some(OperationKind::Delete(if_match)),
        // A second of the value from before the index was unique: it never had the copy, and gets none.
        Some((after, _)) if change.before.as_ref() == Some(after) => None,
        Some(_) => return Err(violation(change.index, key, owner.as_ref().unwrap_or(key))),
        None => None,
    })
}

/// The write of a list; `None` if it is as it should be.
async fn list(
    lists: &Lists<'_>,
    key: &EntityKey,
    change: &ListChange,
    found: Option<&StoredRow>,
) -> Result<Option<ListWrite>> {
    let before = lists.read_by(change.owner_of, &change.form, key, found.map(|found| &found.row)).await?;
    let mut after = before.clone();
    for owner in &change.leave {
        after.leave(owner);
    }
    for (owner, member) in &change.join {
        after.join(owner.clone(), member.clone());
    }
    // IMPORTANT: a member that joins writes the list even if it is in it. A removal of members that have no owner then fails, and looks again.
    if after == before && change.join.is_empty() {
        return Ok(None);
    }
    lists.write(&change.form, key, found, &before, &after).await
}

/// Whether the batch would change or remove what one of these indexes holds already.
pub(crate) fn touches(batch: &Batch, is_it: impl Fn(&IndexSchema) -> bool) -> bool {
    batch.copies.values().any(|copy| copy.before.is_some() && is_it(copy.index))
}
