//! Groups of changes in one partition. A group is written as a transaction.

use table_core::limits::Limits;
use table_core::{
    DynTableStore, EntityKey, Error, ErrorCode, PartitionKey, TableName, TableStore, Transaction,
};

use crate::failure::Result;
use crate::transfer::change::{Change, Mode, Numbered};
use crate::transfer::writer::guard::{Guard, rows_of};
use table_inspect::record::Rejected;

/// Changes that are written together, and their transaction.
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

    /// Writes the group. If the store rejects a change, the remaining units are written without the change's unit. If the store rejects the transaction as too
    /// large, it is split into halves, each of which contains whole units.
    pub(super) async fn write(
        self,
        store: &DynTableStore,
        table: &TableName,
        mode: Mode,
        guards_parts: bool,
    ) -> Result<Written> {
        let (bytes, limits) = (self.bytes(), *self.transaction.limits());
        let keys = self.changes.iter().map(|numbered| numbered.change.key().clone()).collect();
        let mut guard = Guard::new(store, table, mode);
        if guards_parts {
            guard.read(self.transaction.partition_key(), rows_of(&self.changes)).await?;
        }
        let mut outcomes = Vec::new();
        // The lists of changes still to be written; the last list is written first. A list without a transaction gets one when it is written.
        let mut waiting = vec![(self.changes, Some(self.transaction))];
        while let Some((mut changes, transaction)) = waiting.pop() {
            let count = changes.len();
            outcomes.extend(guard.reject(&mut changes)?);
            let Some(first) = changes.first() else { continue };
            let is_current =
                changes.len() == count && !changes.iter().any(|numbered| guard.applies(numbered));
            let transaction = if let Some(transaction) = transaction.filter(|_| is_current) {
                Ok(transaction)
            } else {
                let empty = Transaction::new(first.change.key().partition_key.clone(), limits)?;
                guard.operations(&changes).and_then(|operations| empty.with_operations(operations))
            };
            // Conditions can make a transaction too large.
            let outcome = match transaction {
                Err(error) => Err(error),
                Ok(transaction) => store.submit(table, transaction).await.map(drop),
            };
            let Err(error) = outcome else {
                outcomes.extend(changes.iter().map(|numbered| (numbered.number, None)));
                continue;
            };
            // A store may send a write in a larger form. For example, it may send a merge as the whole entity (EGT-3).
            let is_too_large =
                error.code() == ErrorCode::RequestBodyTooLarge || error.rule() == Some("EGT-2");
            if let Some(middle) = middle(&changes).filter(|_| is_too_large && !error.is_ambiguous()) {
                for half in [changes.split_off(middle), changes] {
                    waiting.push((half, None));
                }
                continue;
            }
            let named = error.operation().or((changes.len() == 1).then_some(0));
            let Some(at) = named.filter(|_| is_of_row(&error)) else { return Err(error.into()) };
            if guard.is_changed(&changes, at, &error) {
                let partition_key = first.change.key().partition_key.clone();
                let mut rows = rows_of(&changes);
                for (changes, _) in &waiting {
                    rows.extend(rows_of(changes));
                }
                guard.read(&partition_key, rows).await?;
                waiting.push((changes, None));
                continue;
            }
            let wrong = changes.get(at).map(|wrong| (wrong.unit, wrong.number));
            let is_gone = |numbered: &Numbered| {
                let is_deletion = matches!(numbered.change, Change::Delete(..));
                is_deletion && error.is_not_found() && wrong == Some((numbered.unit, numbered.number))
            };
            if let Some(gone) = changes.extract_if(.., |numbered| is_gone(numbered)).next() {
                outcomes.push((gone.number, None));
            } else {
                // If a condition on a row that the group does not write fails, all guarded changes are rejected.
                let is_wrong = |numbered: &Numbered| match wrong {
                    Some((unit, _)) => numbered.unit == unit,
                    None => guard.applies(numbered),
                };
                let rejected = |line| Rejected { line, column: 0, reason: error.to_string() };
                let unit: Vec<_> = changes.extract_if(.., |numbered| is_wrong(numbered)).collect();
                if unit.is_empty() {
                    return Err(error.into());
                }
                let rejected = |numbered: Numbered| (numbered.number, Some(rejected(numbered.line)));
                outcomes.extend(unit.into_iter().map(rejected));
            }
            waiting.push((changes, None));
        }
        Ok(Written { outcomes, keys, bytes })
    }
}

/// Returns the index nearest to the middle at which a unit begins, excluding 0, or `None` if all changes belong to one unit.
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
