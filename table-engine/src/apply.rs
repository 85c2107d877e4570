//! Validation of a transaction against the latest state. It checks the existence and `ETag`s of entities, the size of merged entities, and required row states.
//!
//! This module validates a transaction without applying anything, so a failed transaction has no effect (EGT-9). Each operation is checked against the state
//! before the transaction. This is sufficient because a transaction writes each entity at most once (EGT-4).

mod fault;

use table_store::etag::{ETag, IfMatch};
use table_store::key::PartitionKey;
use table_store::limits::Limits;
use table_store::operation::{Operation, OperationKind, RowState};
use table_store::row::{self, Row, entity_bytes};
use table_store::store::Committed;
use table_store::{Error, Result};

use crate::journal::frame::{Change, MOST_BYTES};
use crate::key::Key;
use crate::state::State;

use fault::WriteFault;

/// Writes to one partition, each paired with the key of its row.
#[derive(Debug)]
pub(crate) struct Writes {
    pub(crate) partition_key: PartitionKey,
    pub(crate) operations: Vec<(Key, Operation)>,
}

/// Returns the row changes if every write can be applied. `ticks` becomes the Timestamp of the written entities.
///
/// # Errors
/// - The error of the first failing operation, with its position (EGT-33, EGT-34).
/// - `RequestBodyTooLarge` if the changes do not fit into one journal frame. The error contains the position of the first operation that does not fit. Only
///   merges, and transactions under [`TransactionMeasure::Unmeasured`], can exceed the size of a frame.
///
/// [`TransactionMeasure::Unmeasured`]: table_store::limits::TransactionMeasure::Unmeasured
pub(crate) fn changes(
    state: &State,
    limits: &Limits,
    writes: Writes,
    ticks: u64,
) -> Result<(Vec<Change>, Committed)> {
    let Writes { partition_key, operations } = writes;
    let mut changes = Vec::with_capacity(operations.len());
    let mut committed = Vec::with_capacity(operations.len());
    let mut bytes = 0;
    for (index, (key, Operation { row_key, kind })) in operations.into_iter().enumerate() {
        let merged = |current: &Row, patch: &Row| {
            let merged = row::merge(current.view(), patch.view())?;
            check_merged(limits, partition_key.as_str(), row_key.as_str(), &merged)?; // SIZE-6
            Ok(merged)
        };
        let at =
            |error: Error| error.with_operation(index).with_key(partition_key.as_str(), row_key.as_str());
        if let OperationKind::Check(required) = kind {
            check(state, &key, &required).map_err(at)?;
            committed.push(None);
            continue;
        }
        let row = result(state, &key, kind, merged).map_err(at)?;
        committed.push(row.is_some().then(|| ETag::from_ticks(ticks)));
        let change = Change { key, row };
        bytes += change.bytes();
        if bytes > MOST_BYTES {
            return Err(at(Error::of(WriteFault::TooLarge { most: MOST_BYTES })));
        }
        changes.push(change);
    }
    // Setting the Timestamp copies a shared row. The Timestamp is set after validation, so a rejected transaction copies no rows.
    for change in &mut changes {
        change.row = change.row.take().map(|row| row.with_timestamp(ticks));
    }
    Ok((changes, committed))
}

/// Checks the required state of a row that the transaction does not write (ENG-21).
fn check(state: &State, key: &[u8], required: &RowState) -> Result<()> {
    match required {
        RowState::Absent if state.get(key)?.is_some() => Err(Error::of(WriteFault::Present)),
        RowState::Absent => Ok(()),
        RowState::Present(condition) => existing(state, key, condition, "ENG-21", "ENG-21").map(drop),
    }
}

/// Returns the row produced by an operation, or `None` for a delete or a check.
fn result(
    state: &State,
    key: &[u8],
    kind: OperationKind,
    merged: impl Fn(&Row, &Row) -> Result<Row>,
) -> Result<Option<Row>> {
    match kind {
        OperationKind::Insert(row) => {
            if state.get(key)?.is_some() {
                return Err(Error::of(WriteFault::Exists));
            }
            Ok(Some(row))
        }
        OperationKind::Replace(row, condition) => {
            existing(state, key, &condition, "UPD-2", "UPD-3")?;
            Ok(Some(row))
        }
        OperationKind::Merge(patch, condition) => {
            let current = existing(state, key, &condition, "MRG-2", "MRG-2")?;
            merged(&current, &patch).map(Some)
        }
        OperationKind::InsertOrReplace(row) => Ok(Some(row)),
        OperationKind::InsertOrMerge(patch) => match state.get(key)? {
            None => Ok(Some(patch)),
            Some(current) => merged(&current, &patch).map(Some),
        },
        OperationKind::Delete(condition) => {
            existing(state, key, &condition, "DEL-2", "DEL-2")?;
            Ok(None)
        }
        OperationKind::Check(required) => check(state, key, &required).map(|()| None),
    }
}

/// Returns the entity targeted by a conditional write. Existence is checked before the version (DEL-3, IFM-1).
fn existing(
    state: &State,
    key: &[u8],
    condition: &IfMatch,
    missing_rule: &'static str,
    version_rule: &'static str,
) -> Result<Row> {
    let Some(current) = state.get(key)? else {
        return Err(Error::of(WriteFault::NotFound { rule: missing_rule }));
    };
    let now = current.view().etag();
    if !condition.accepts(&now) {
        return Err(Error::of(WriteFault::Changed { now, expected: condition.clone(), rule: version_rule }));
    }
    Ok(current)
}

fn check_merged(limits: &Limits, partition_key: &str, row_key: &str, merged: &Row) -> Result<()> {
    // Names and values were checked when the transaction arrived. They remain valid in a merge, but the merged entity can have too many properties.
    if merged.view().len() > limits.properties || merged.view().is_overflown() {
        limits.check_row(merged.view())?;
    }
    limits.check_entity_bytes(entity_bytes(partition_key, row_key, Some(merged)))
}
