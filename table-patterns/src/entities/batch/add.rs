//! Adds entities, contributed rows and steps to a batch.

use std::sync::Arc;

use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::operation::{Operation, OperationKind};
use table_core::row::entity_bytes;
use table_core::{Error, Result};

use crate::entities::batch::undo::Done;
use crate::entities::batch::{Batch, ContributedRow, ContributedWrite, PlannedIntent};
use crate::entities::fault::EntityFault;
use crate::entities::plan::{
    Author, DerivedRow, EntityPlan, PlannedRow, RowWrite, both, is_condition, required_version,
};
use crate::outbox::Step;

impl Batch {
    pub(super) fn add_entity(&mut self, plan: EntityPlan, done: &mut Vec<Done>) -> Result<()> {
        let EntityPlan { key, kind, rows, derived_steps, steps, records, recorder, identified, is_whole } =
            plan;
        if self.places.contains_key(&key.row_key) {
            return Err(here(Error::of(EntityFault::DuplicateOperation), &self.partition_key, &key.row_key));
        }
        self.identified |= identified;
        self.whole |= is_whole;
        self.count_bytes(&key.row_key, kind.row());
        let kind = self.take_condition(&key.row_key, kind, done)?;
        if self.rows.contains_key(&key.row_key) {
            return Err(here(Error::of(EntityFault::DuplicateOperation), &self.partition_key, &key.row_key));
        }
        self.places.insert(key.row_key.clone(), self.entities.len());
        self.entities.push(Operation { row_key: key.row_key.clone(), kind });
        done.push(Done::Entity);
        let of = Some(self.entities.len() - 1);
        rows.into_iter().try_for_each(|row| self.add_row(row, of, done))?;
        if !derived_steps.is_empty() {
            self.intents.push(PlannedIntent { source: key.row_key.clone(), steps: derived_steps });
            done.push(Done::Intent);
        }
        self.add_steps(&key.row_key, steps, done);
        if !records.is_empty() {
            done.push(Done::Records(self.records.len()));
            self.records.extend(records);
        }
        self.recorder = self.recorder.take().or(recorder);
        Ok(())
    }

    /// Merges a contributor's condition on an entity's row into the operation that writes the entity.
    fn take_condition(
        &mut self,
        row_key: &RowKey,
        kind: OperationKind,
        done: &mut Vec<Done>,
    ) -> Result<OperationKind> {
        let Some(ContributedRow { write: ContributedWrite::Fixed(known), .. }) = self.rows.get(row_key)
        else {
            return Ok(kind);
        };
        if !is_condition(known) {
            return Ok(kind);
        }
        let both = both(&kind, known).ok_or_else(|| self.contradiction(row_key, &kind, known))?;
        if let Some(row) = self.rows.remove(row_key) {
            done.push(Done::RemovedRow(row_key.clone(), row));
        }
        Ok(both)
    }

    /// Returns the error for a condition that contradicts an operation on the same row. For example, the two may require different versions, or only one of
    /// them may require that the row exists.
    fn contradiction(&self, row_key: &RowKey, kind: &OperationKind, condition: &OperationKind) -> Error {
        let of_both = [kind, condition];
        let fault = if matches!(kind, OperationKind::Insert(_)) {
            EntityFault::DuplicateOperation
        } else if of_both.into_iter().all(|kind| required_version(kind).is_none()) {
            EntityFault::NotFound
        } else {
            EntityFault::Changed
        };
        here(Error::of(fault), &self.partition_key, row_key)
    }

    /// Adds a row. `of` is the position of the entity that needs the row, or `None` if the row belongs to no entity.
    pub(super) fn add_row(&mut self, row: PlannedRow, of: Option<usize>, done: &mut Vec<Done>) -> Result<()> {
        if let RowWrite::Derived(_) = row.write {
            self.count_bytes(&row.row_key, row.row());
        }
        let PlannedRow { by, row_key, write } = row;
        match write {
            RowWrite::Fixed(kind) => self.add_fixed((by, of), row_key, kind, done),
            RowWrite::Derived(part) => self.add_derived((by, of), row_key, part, done),
        }
    }

    fn add_fixed(
        &mut self,
        (by, of): (Author, Option<usize>),
        row_key: RowKey,
        kind: OperationKind,
        done: &mut Vec<Done>,
    ) -> Result<()> {
        let at = self.places.get(&row_key).copied();
        let own = at.and_then(|at| Some((at, self.entities.get_mut(at)?)));
        if let Some((at, own)) = own.filter(|_| is_condition(&kind)) {
            let Some(both) = both(&own.kind, &kind) else {
                let own = own.kind.clone();
                return Err(self.contradiction(&row_key, &own, &kind));
            };
            done.push(Done::Condition(at, std::mem::replace(&mut own.kind, both)));
            return Ok(());
        }
        if at.is_some() {
            return Err(here(Error::of(EntityFault::DuplicateOperation), &self.partition_key, &row_key));
        }
        if let Some(known) = self.rows.get(&row_key) {
            let row = match &known.write {
                // Two holders of copies may each require the same copied entity, or the unit of work may have read a row that a pattern writes.
                ContributedWrite::Fixed(other) if is_condition(&kind) => {
                    let contradiction = || self.contradiction(&row_key, other, &kind);
                    let write = ContributedWrite::Fixed(both(other, &kind).ok_or_else(contradiction)?);
                    ContributedRow { by: known.by, write, of: known.of.clone() }
                }
                // A participant replaces the same row for two entities. The later write wins, as it would in two separate transactions.
                ContributedWrite::Fixed(OperationKind::InsertOrReplace(other))
                    if known.by == by
                        && !known.of.contains(&of)
                        && matches!(kind, OperationKind::InsertOrReplace(_)) =>
                {
                    self.bytes -= entity_bytes(self.partition_key.as_str(), row_key.as_str(), Some(other));
                    self.count_bytes(&row_key, kind.row());
                    ContributedRow { by, write: ContributedWrite::Fixed(kind), of: vec![of] }
                }
                _ => {
                    let (first, second) = (known.by.name().to_owned(), by.name().to_owned());
                    let fault = EntityFault::SameRow { first, second };
                    return Err(here(Error::of(fault), &self.partition_key, &row_key));
                }
            };
            done.extend(self.rows.insert(row_key.clone(), row).map(|row| Done::RemovedRow(row_key, row)));
            return Ok(());
        }
        self.count_bytes(&row_key, kind.row());
        done.push(Done::Row(row_key.clone()));
        let (write, of) = (ContributedWrite::Fixed(kind), vec![of]);
        self.rows.insert(row_key, ContributedRow { by, write, of });
        Ok(())
    }

    fn add_derived(
        &mut self,
        (by, of): (Author, Option<usize>),
        row_key: RowKey,
        part: Arc<dyn DerivedRow>,
        done: &mut Vec<Done>,
    ) -> Result<()> {
        if let Some(known) = self.rows.get_mut(&row_key) {
            let key = EntityKey { partition_key: self.partition_key.clone(), row_key };
            let ContributedWrite::Derived(parts) = &mut known.write else {
                let (first, second) = (known.by.name().to_owned(), by.name().to_owned());
                let fault = EntityFault::SameRow { first, second };
                return Err(here(Error::of(fault), &key.partition_key, &key.row_key));
            };
            parts.iter().try_for_each(|earlier| part.follows(&key, earlier.as_ref()))?;
            parts.push(part);
            known.of.push(of);
            done.push(Done::Part(key.row_key));
            return Ok(());
        }
        done.push(Done::Row(row_key.clone()));
        let (write, of) = (ContributedWrite::Derived(vec![part]), vec![of]);
        self.rows.insert(row_key, ContributedRow { by, write, of });
        Ok(())
    }

    pub(super) fn add_steps(&mut self, source: &RowKey, steps: Vec<Step>, done: &mut Vec<Done>) {
        if steps.is_empty() {
            return;
        }
        let known = self.intent_places.get(source).and_then(|at| Some((*at, self.intents.get_mut(*at)?)));
        if let Some((at, known)) = known {
            done.push(Done::Steps(at, known.steps.len()));
            known.steps.extend(steps);
            return;
        }
        self.intent_places.insert(source.clone(), self.intents.len());
        self.intents.push(PlannedIntent { source: source.clone(), steps });
        done.push(Done::Intent);
    }

    fn count_bytes(&mut self, row_key: &RowKey, row: Option<&table_core::row::Row>) {
        self.bytes += entity_bytes(self.partition_key.as_str(), row_key.as_str(), row);
    }
}

fn here(error: Error, partition_key: &PartitionKey, row_key: &RowKey) -> Error {
    error.with_key(partition_key.as_str(), row_key.as_str())
}
