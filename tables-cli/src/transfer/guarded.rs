//! Protects wide entities and sequences while rows are written. Rejects rows that would mix parts of different writes, and rows that would rewind a sequence.
//! Accepted parts and sequences are written only if the stored rows have not changed since they were read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use table_core::operation::RowState;
use table_core::row::RowWriter;
use table_core::{
    DynTableStore, ETag, EntityKey, IfMatch, Operation, OperationKind, PartitionKey, TableEntity, TableName,
    Value,
};
use table_inspect::derived::{part_of, refuse_torn_part, require_state, stored_parts};
use table_inspect::keys;
use table_patterns::wide::WRITE_ID;

use crate::failure::Result;
use crate::transfer::change::{Change, Mode};
use crate::transfer::sequences::{is_sequence, refuse_lowered};

/// The stored rows that could become inconsistent when one partition is changed: sequences, and the parts of the wide entities to which the changed rows may
/// belong.
#[derive(Clone, Debug, Default)]
pub(super) struct Guarded {
    /// The parts, keyed by `RowKey`.
    parts: HashMap<String, TableEntity>,
    /// Sequences and individually read rows, keyed by `RowKey`.
    rows: HashMap<String, TableEntity>,
}

impl Guarded {
    /// Reads the stored parts and sequences. No request is sent if none of the rows can be a part or a sequence. Rows with the `RowKey`s in `single` are always
    /// read, one by one.
    pub(super) async fn read(
        (store, table): (&DynTableStore, &TableName),
        partition: &PartitionKey,
        rows: Vec<&TableEntity>,
        single: Vec<String>,
    ) -> Result<Self> {
        let mut guarded = Self::default();
        let row_keys: Vec<_> = rows.into_iter().map(|row| row.key().row_key.as_str()).collect();
        let parts = stored_parts(store, table, partition, &row_keys).await?;
        guarded.parts.extend(parts.into_iter().map(|row| (row.key().row_key.as_str().to_owned(), row)));
        let sequences = row_keys.into_iter().filter(|row_key| is_sequence(row_key)).map(str::to_owned);
        for row_key in sequences.chain(single).collect::<Vec<_>>() {
            let key = EntityKey::new(partition.as_str(), row_key.as_str())?;
            if let Some(found) = keys::read(store, table, &key).await? {
                guarded.rows.insert(row_key, found);
            }
        }
        Ok(guarded)
    }

    /// Returns an error if a row comes from a different write than the stored parts of its entity, or if the row would rewind a sequence.
    pub(super) fn admit(&self, row: &TableEntity, mode: Mode) -> Result<()> {
        let row_key = row.key().row_key.as_str();
        if is_sequence(row_key)
            && let Some(stored) = self.rows.get(row_key)
        {
            refuse_lowered(stored, row, mode)?;
        }
        let Some((base, _)) = part_of(row_key).filter(|_| !self.parts.is_empty()) else { return Ok(()) };
        let own = self.parts.get(row_key);
        let has_write = has_write(row);
        if !has_write && (own.is_none() || mode == Mode::Merge) {
            return Ok(());
        }
        for stored in own.into_iter().chain(self.siblings(base).filter(|_| has_write)) {
            refuse_torn_part(stored, row, false)?;
        }
        Ok(())
    }

    /// Returns the stored parts of a wide entity. An entity has at most 99 parts.
    fn siblings(&self, base: &str) -> impl Iterator<Item = &TableEntity> {
        (1..=99).filter_map(move |number| self.parts.get(&format!("{base}_{number:02}")))
    }

    /// Returns `true` if a row sets a sequence or writes a part. Such a row is written only if the stored rows have not changed since they were read.
    pub(super) fn is_guarded(&self, row: &TableEntity) -> bool {
        let row_key = row.key().row_key.as_str();
        let is_part = || has_write(row) || self.parts.contains_key(row_key);
        is_sequence(row_key) || part_of(row_key).is_some() && is_part()
    }

    /// Returns the operations that apply the changes if the guarded rows have not changed since they were read: one operation for each change, followed by
    /// conditions on other rows.
    ///
    /// A program that writes all parts of a wide entity changes the version of each part, so a condition on one stored part is sufficient. If all written parts
    /// are new, the condition applies to a stored part that is not written.
    pub(super) fn operations<'a>(
        &self,
        changes: impl Iterator<Item = &'a Change>,
        mode: Mode,
        has_checks: bool,
    ) -> table_core::Result<Vec<Operation>> {
        let (mut operations, mut bases) = (Vec::new(), BTreeMap::<&str, bool>::new());
        for change in changes {
            let mut operation = change.operation(mode)?;
            if let Some(row) = change.row().filter(|row| self.is_guarded(row)) {
                let row_key = row.key().row_key.as_str();
                let stored = self.parts.get(row_key).or_else(|| self.rows.get(row_key));
                require_state(&mut operation.kind, stored.and_then(|stored| stored.etag().cloned()));
                if let Some((base, _)) = part_of(row_key).filter(|_| !is_sequence(row_key)) {
                    let has_condition = self.parts.contains_key(row_key) && mode != Mode::Insert;
                    *bases.entry(base).or_default() |= has_condition;
                }
            }
            operations.push(operation);
        }
        let written: BTreeSet<_> = operations.iter().map(|operation| operation.row_key.clone()).collect();
        for (base, _) in bases.into_iter().filter(|(_, has_condition)| !has_condition) {
            let other = self.siblings(base).find(|part| !written.contains(&part.key().row_key));
            let Some((part, etag)) = other.and_then(|part| Some((part, part.etag()?.clone()))) else {
                continue;
            };
            let kind = unchanged(etag, has_checks);
            operations.push(Operation { row_key: part.key().row_key.clone(), kind });
        }
        Ok(operations)
    }
}

/// Returns an operation that requires a row to have a given version. For a store without check operations, this is a merge without properties.
fn unchanged(etag: ETag, has_checks: bool) -> OperationKind {
    let version = IfMatch::ETag(etag);
    if has_checks {
        return OperationKind::Check(RowState::Present(version));
    }
    OperationKind::Merge(RowWriter::new().finish(), version)
}

fn has_write(row: &TableEntity) -> bool {
    matches!(row.get(WRITE_ID), Some(Value::Guid(_)))
}

#[cfg(test)]
mod tests;
