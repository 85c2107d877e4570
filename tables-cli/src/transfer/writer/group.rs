//! Groups of changes in one partition. A group is written as a transaction.

use table_core::limits::Limits;
use table_core::{
    DynTableStore, EntityKey, Error, ErrorCode, PartitionKey, TableName, TableStore, Transaction,
};

use crate::failure::{Failure, Result};
use crate::transfer::change::{Change, Mode, Numbered};
use crate::transfer::parts::StoredParts;
use table_inspect::record::Rejected;

/// The changes that are written together, and their transaction.
pub(super) struct Group {
    changes: Vec<Numbered>,
    transaction: Transaction,
}

/// The result of writing one group.
pub(super) struct Written {
    /// The number of each record, and the reason for its rejection if it was rejected.
    pub(super) outcomes: Vec<(u64, Option<Rejected>)>,
    /// The keys of the changes in the group.
    pub(super) keys: Vec<EntityKey>,
    /// The size of the group in bytes.
    pub(super) bytes: usize,
}

impl Group {
    /// Creates an empty group for a partition.
    pub(super) fn new(partition_key: PartitionKey, limits: Limits) -> table_core::Result<Self> {
        Ok(Self { changes: Vec::new(), transaction: Transaction::new(partition_key, limits)? })
    }

    /// Adds the changes of a unit. If this fails, the group is unchanged, and the changes are returned with the error.
    pub(super) fn push(
        &mut self,
        unit: Vec<Numbered>,
        mode: Mode,
    ) -> Result<(), Box<(Vec<Numbered>, Error)>> {
        let pushed = match unit.as_slice() {
            [one] => one.change.operation(mode).and_then(|operation| self.transaction.push(operation)),
            unit => {
                with_changes(self.transaction.clone(), unit, mode).map(|longer| self.transaction = longer)
            }
        };
        match pushed {
            Ok(()) => {
                self.changes.extend(unit);
                Ok(())
            }
            Err(error) => Err(Box::new((unit, error))),
        }
    }

    /// Returns the number of changes in the group.
    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns the size of the transaction in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.transaction.bytes()
    }

    /// Writes the group. If the store rejects a change, the other units are written without its unit. If the store rejects the transaction as too large, it is
    /// split into halves, each of which contains whole units.
    pub(super) async fn write(
        mut self,
        store: &DynTableStore,
        table: &TableName,
        mode: Mode,
        guards_parts: bool,
    ) -> Result<Written> {
        let (bytes, limits) = (self.bytes(), *self.transaction.limits());
        let keys = self.changes.iter().map(|numbered| numbered.change.key().clone()).collect();
        let mut outcomes = Vec::new();
        if guards_parts {
            outcomes = self.reject_torn(store, table, mode).await?;
            if self.changes.is_empty() {
                return Ok(Written { outcomes, keys, bytes });
            }
        }
        // The last transaction in the list is written first.
        let mut waiting = vec![(self.changes, self.transaction)];
        while let Some((mut changes, transaction)) = waiting.pop() {
            let Err(error) = store.submit(table, transaction).await else {
                outcomes.extend(changes.iter().map(|numbered| (numbered.number, None)));
                continue;
            };
            // A store may send a write in a larger form. For example, it may send a merge as the whole entity (EGT-3).
            let is_too_large = error.code() == ErrorCode::RequestBodyTooLarge && !error.is_ambiguous();
            if let Some(middle) = middle(&changes).filter(|_| is_too_large) {
                for half in [changes.split_off(middle), changes] {
                    waiting
                        .extend(transaction_of(&half, mode, limits)?.map(|transaction| (half, transaction)));
                }
                continue;
            }
            let named = error.operation().or((changes.len() == 1).then_some(0));
            let Some(at) = named.filter(|at| *at < changes.len() && is_of_row(&error)) else {
                return Err(error.into());
            };
            let wrong = changes.remove(at);
            if matches!(wrong.change, Change::Delete(..)) && error.is_not_found() {
                outcomes.push((wrong.number, None));
            } else {
                let unit = changes.extract_if(.., |numbered| numbered.unit == wrong.unit);
                let rejected = |line| Rejected { line, column: 0, reason: error.to_string() };
                outcomes.extend(unit.map(|numbered| (numbered.number, Some(rejected(numbered.line)))));
                outcomes.push((wrong.number, Some(rejected(wrong.line))));
            }
            waiting.extend(transaction_of(&changes, mode, limits)?.map(|rest| (changes, rest)));
        }
        Ok(Written { outcomes, keys, bytes })
    }
}

impl Group {
    /// Removes rows that would mix parts of different writes in a wide entity. Returns the numbers of their records, with the reasons.
    async fn reject_torn(
        &mut self,
        store: &DynTableStore,
        table: &TableName,
        mode: Mode,
    ) -> Result<Vec<(u64, Option<Rejected>)>> {
        let rows = self.changes.iter().filter_map(|numbered| numbered.change.row());
        let stored = StoredParts::read(store, table, rows).await?;
        let (mut kept, mut torn) = (Vec::new(), Vec::new());
        for numbered in std::mem::take(&mut self.changes) {
            match numbered.change.row().map_or(Ok(()), |row| stored.admit(row, mode)) {
                Ok(()) => kept.push(numbered),
                Err(Failure::Refused(reason)) => {
                    let rejected = Rejected { line: numbered.line, column: 0, reason };
                    torn.push((numbered.number, Some(rejected)));
                }
                Err(error) => return Err(error),
            }
        }
        if !torn.is_empty()
            && let Some(rest) = transaction_of(&kept, mode, *self.transaction.limits())?
        {
            self.transaction = rest;
        }
        self.changes = kept;
        Ok(torn)
    }
}

/// Returns a transaction with the given changes, which must be in one partition, or `None` if the list is empty.
fn transaction_of(changes: &[Numbered], mode: Mode, limits: Limits) -> Result<Option<Transaction>> {
    let Some(first) = changes.first() else { return Ok(None) };
    let transaction = Transaction::new(first.change.key().partition_key.clone(), limits)?;
    Ok(Some(with_changes(transaction, changes, mode)?))
}

/// Adds changes to a transaction.
fn with_changes(
    mut transaction: Transaction,
    changes: &[Numbered],
    mode: Mode,
) -> table_core::Result<Transaction> {
    for numbered in changes {
        transaction.push(numbered.change.operation(mode)?)?;
    }
    Ok(transaction)
}

/// Returns the index nearest to the middle at which a unit begins, without the index 0, or `None` if all changes are of one unit.
fn middle(changes: &[Numbered]) -> Option<usize> {
    let units: Vec<_> = changes.iter().map(|numbered| numbered.unit).collect();
    let begins = units.windows(2).zip(1..).filter(|(pair, _)| pair.first() != pair.last());
    begins.map(|(_, at)| at).min_by_key(|at: &usize| at.abs_diff(changes.len() / 2))
}

/// Returns `true` if an error concerns a single entity, not the table or the store.
fn is_of_row(error: &Error) -> bool {
    let is_of_store = error.is_table_not_found() || error.is_ambiguous() || error.is_throttled();
    !is_of_store
        && (error.is_conflict()
            || error.is_not_found()
            || error.is_already_exists()
            || error.is_invalid_input()
            || error.code() == ErrorCode::EntityTooLarge)
}
