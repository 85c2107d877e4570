//! Changes to a batch that are rolled back if they fail.

use table_core::Result;
use table_core::key::RowKey;
use table_core::limits::Limits;
use table_core::operation::OperationKind;

use crate::entities::batch::{Batch, ContributedRow, ContributedWrite, PlannedIntent};

/// A change to a batch, with the information needed to roll it back.
pub(super) enum Done {
    Row(RowKey),
    Part(RowKey),
    RemovedRow(RowKey, ContributedRow),
    Condition(usize, OperationKind),
    Entity,
    Intent,
    Steps(usize, usize),
    Records(usize),
}

impl Batch {
    /// Applies a change. If the change fails or exceeds the limits, rolls it back.
    pub(super) fn change(
        &mut self,
        limits: Option<&Limits>,
        change: impl FnOnce(&mut Self, &mut Vec<Done>) -> Result<()>,
    ) -> Result<()> {
        let (mut done, bytes, flags) = (Vec::new(), self.bytes, (self.identified, self.whole));
        let changed =
            change(self, &mut done).and_then(|()| limits.map_or(Ok(()), |limits| self.check(limits)));
        if changed.is_err() {
            done.into_iter().rev().for_each(|done| self.reverse(done));
            self.bytes = bytes;
            (self.identified, self.whole) = flags;
            // The cached sizes may include refused operations.
            self.body_bytes.clear();
        }
        changed
    }

    fn reverse(&mut self, done: Done) {
        match done {
            Done::Row(row_key) => drop(self.rows.remove(&row_key)),
            Done::Part(row_key) => {
                if let Some(ContributedRow { write: ContributedWrite::Derived(parts), of, .. }) =
                    self.rows.get_mut(&row_key)
                {
                    parts.pop();
                    of.pop();
                }
            }
            Done::RemovedRow(row_key, row) => drop(self.rows.insert(row_key, row)),
            Done::Condition(at, kind) => {
                if let Some(own) = self.entities.get_mut(at) {
                    own.kind = kind;
                }
            }
            Done::Entity => {
                if let Some(operation) = self.entities.pop() {
                    self.places.remove(&operation.row_key);
                }
            }
            Done::Intent => {
                let at = self.intents.len().saturating_sub(1);
                if let Some(PlannedIntent { source, .. }) = self.intents.pop()
                    && self.intent_places.get(&source) == Some(&at)
                {
                    self.intent_places.remove(&source);
                }
            }
            Done::Steps(at, length) => {
                if let Some(known) = self.intents.get_mut(at) {
                    known.steps.truncate(length);
                }
            }
            Done::Records(length) => self.records.truncate(length),
        }
    }
}
