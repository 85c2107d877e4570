//! The wide entities and sequences affected by a group of changes. They are reread if a program writes to them before the group is written.

use std::collections::HashMap;

use table_core::{DynTableStore, Error, Operation, PartitionKey, TableEntity, TableName, TableStore};

use crate::failure::{Failure, Result};
use crate::transfer::change::{Mode, Numbered};
use crate::transfer::guarded::Guarded;
use table_inspect::record::Rejected;

/// The maximum number of times a write is retried because a program has changed the row since it was read.
const ATTEMPTS: usize = 10;
/// The placeholder for the RowKey of a row that the group does not write.
const OTHER: &str = "";

/// The state of the wide entities and sequences affected by a group.
pub(super) struct Guard<'a> {
    store: &'a DynTableStore,
    table: &'a TableName,
    mode: Mode,
    /// The state that was read, or `None` if the group is written unconditionally.
    guarded: Option<Guarded>,
    /// The number of failed conditions, keyed by RowKey.
    attempts: HashMap<String, usize>,
}

impl<'a> Guard<'a> {
    /// Creates an empty guard. The group is written unconditionally until [`read`](Self::read) is called.
    pub(super) fn new(store: &'a DynTableStore, table: &'a TableName, mode: Mode) -> Self {
        Self { store, table, mode, guarded: None, attempts: HashMap::new() }
    }

    /// Reads the stored wide entities and sequences affected by `rows`.
    pub(super) async fn read(&mut self, partition_key: &PartitionKey, rows: Vec<&TableEntity>) -> Result<()> {
        let single = self.attempts.keys().filter(|row_key| *row_key != OTHER).cloned().collect();
        self.guarded = Some(Guarded::read((self.store, self.table), partition_key, rows, single).await?);
        Ok(())
    }

    /// Removes the changes that would mix parts of different writes or rewind a sequence. Returns the numbers of their records, with the reasons.
    pub(super) fn reject(&self, changes: &mut Vec<Numbered>) -> Result<Vec<(u64, Option<Rejected>)>> {
        let Some(guarded) = &self.guarded else { return Ok(Vec::new()) };
        let (mut kept, mut rejected) = (Vec::new(), Vec::new());
        for numbered in std::mem::take(changes) {
            match numbered.change.row().map_or(Ok(()), |row| guarded.admit(row, self.mode)) {
                Ok(()) => kept.push(numbered),
                Err(Failure::Refused(reason)) => {
                    let reason = Rejected { line: numbered.line, column: 0, reason };
                    rejected.push((numbered.number, Some(reason)));
                }
                Err(error) => return Err(error),
            }
        }
        *changes = kept;
        Ok(rejected)
    }

    /// Returns `true` if a change is conditional on the state that was read.
    pub(super) fn applies(&self, numbered: &Numbered) -> bool {
        let guarded = self.guarded.as_ref().zip(numbered.change.row());
        guarded.is_some_and(|(guarded, row)| guarded.is_guarded(row))
    }

    /// Returns the operations for these changes.
    pub(super) fn operations(&self, changes: &[Numbered]) -> table_core::Result<Vec<Operation>> {
        let has_checks = self.store.capabilities().checks;
        let changes = changes.iter().map(|numbered| &numbered.change);
        match &self.guarded {
            Some(guarded) => guarded.operations(changes, self.mode, has_checks),
            None => changes.map(|change| change.operation(self.mode)).collect(),
        }
    }

    /// Returns `true` if the operation at index `at` failed because a program has changed a row since it was read, and the write may be retried.
    pub(super) fn is_changed(&mut self, changes: &[Numbered], at: usize, error: &Error) -> bool {
        let numbered = changes.get(at);
        let is_own = numbered.is_none_or(|numbered| self.applies(numbered) && self.mode != Mode::Insert);
        if self.guarded.is_none() || !is_own || !(error.is_conflict() || error.is_not_found()) {
            return false;
        }
        let row_key = numbered.map_or(OTHER, |numbered| numbered.change.key().row_key.as_str());
        let attempts = self.attempts.entry(row_key.to_owned()).or_default();
        *attempts += 1;
        *attempts <= ATTEMPTS
    }
}

/// Returns the rows written by these changes.
pub(super) fn rows_of(changes: &[Numbered]) -> Vec<&TableEntity> {
    changes.iter().filter_map(|numbered| numbered.change.row()).collect()
}
