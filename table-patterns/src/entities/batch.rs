//! The plans of one entity group transaction. Each row occurs once, within the limits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use table_core::error::{Error, Result};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::limits::{Limits, TransactionMeasure};
use table_core::operation::{Operation, OperationKind};
use table_core::row::entity_bytes;

use crate::entities::fault::EntityFault;
use crate::entities::plan::{
    Author, ChangeRecord, DerivedRow, EntityPlan, PlannedRow, RecordChanges, RowWrite, both,
    is_condition,
};
use crate::outbox::{Intent, Step};

/// Entities of one partition, each once, with the rows and steps that contributors add.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    partition_key: PartitionKey,
    entities: Vec<Operation>,
    /// The positions of the entities.
    places: HashMap<RowKey, usize>,
    rows: BTreeMap<RowKey, ContributedRow>,
    intents: Vec<PlannedIntent>,
    /// The positions of the intents of participants, by source.
    intent_places: HashMap<RowKey, usize>,
    records: Vec<ChangeRecord>,
    recorder: Option<Arc<dyn RecordChanges>>,
    identified: bool,
    bytes: usize,
    /// The sizes of entities in the body of a request, as far as they were needed.
    body_bytes: Vec<usize>,
}

/// A row that contributors add.
#[derive(Clone, Debug)]
pub(crate) struct ContributedRow {
    pub(crate) by: Author,
    pub(crate) write: ContributedWrite,
}

/// The write of a contributed row.
#[derive(Clone, Debug)]
pub(crate) enum ContributedWrite {
    Fixed(OperationKind),
    /// The changes of several entities, in order.
    Derived(Vec<Arc<dyn DerivedRow>>),
}

/// The steps of one entity in other partitions, recorded in one row.
#[derive(Clone, Debug)]
struct PlannedIntent {
    source: RowKey,
    steps: Vec<Step>,
}

/// A change of a batch, recorded to reverse it.
enum Done {
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
    /// Creates an empty batch of a partition.
    pub(crate) fn new(partition_key: PartitionKey) -> Self {
        Self {
            partition_key,
            entities: Vec::new(),
            places: HashMap::new(),
            rows: BTreeMap::new(),
            intents: Vec::new(),
            intent_places: HashMap::new(),
            records: Vec::new(),
            recorder: None,
            identified: false,
            bytes: 0,
            body_bytes: Vec::new(),
        }
    }

    /// Creates a batch of one plan.
    ///
    /// # Errors
    /// Any error of [`push`](Self::push).
    pub(crate) fn of(plan: EntityPlan) -> Result<Self> {
        let mut batch = Self::new(plan.key.partition_key.clone());
        batch.push(plan)?;
        Ok(batch)
    }

    /// Returns the partition.
    pub(crate) const fn partition_key(&self) -> &PartitionKey {
        &self.partition_key
    }

    /// Returns the operations of the entities, in the order in which they were added.
    pub(crate) fn entities(&self) -> &[Operation] {
        &self.entities
    }

    /// Returns the rows of contributors, by `RowKey`.
    pub(crate) const fn rows(&self) -> &BTreeMap<RowKey, ContributedRow> {
        &self.rows
    }

    /// Returns the changes to record and their recorder; `None` if the batch has no changes.
    pub(crate) fn records(&self) -> Option<(&[ChangeRecord], &Arc<dyn RecordChanges>)> {
        let recorder = self.recorder.as_ref().filter(|_| !self.records.is_empty())?;
        Some((&self.records, recorder))
    }

    fn record_operations(&self) -> usize {
        self.records().map_or(0, |(records, recorder)| recorder.operations(records))
    }

    /// Returns `true` if the only write must be recognisable after a lost response.
    pub(crate) const fn is_identified(&self) -> bool {
        self.identified
    }

    /// Returns `true` if the batch is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.rows.is_empty()
    }

    /// Returns the largest number of operations of its transaction.
    pub(crate) fn operations(&self) -> usize {
        self.entities.len() + self.rows.len() + self.intents.len() + self.record_operations()
    }

    /// Returns the size of the rows in bytes, by the published formula.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the intents to record in the transaction.
    pub(crate) fn intents(&self) -> Vec<Intent> {
        let intent = |PlannedIntent { source, steps }: &PlannedIntent| {
            steps.iter().cloned().fold(Intent::of(source.clone()), Intent::step)
        };
        self.intents.iter().map(intent).collect()
    }

    /// Returns the number of operations of each contributor.
    pub(crate) fn contributions(&self) -> Vec<(&'static str, usize)> {
        let mut by: BTreeMap<Author, usize> = BTreeMap::new();
        self.rows.values().for_each(|row| *by.entry(row.by).or_default() += 1);
        let own = [
            ("entities", self.entities.len()),
            ("intents", self.intents.len()),
            ("the feed", self.record_operations()),
        ];
        let rows = by.into_iter().map(|(author, count)| (author.name(), count));
        own.into_iter().filter(|(_, count)| *count > 0).chain(rows).collect()
    }

    /// Returns `true` if the batch writes a row. A condition is not a write.
    pub(crate) fn writes(&self, row_key: &RowKey) -> bool {
        let at = self.places.get(row_key).copied();
        let own = at.and_then(|at| self.entities.get(at)).is_some_and(|own| !is_condition(&own.kind));
        let is_fixed_write = |row: &ContributedRow| match &row.write {
            ContributedWrite::Fixed(kind) => !is_condition(kind),
            ContributedWrite::Derived(_) => true,
        };
        own || self.rows.get(row_key).is_some_and(is_fixed_write)
    }

    /// Merges properties into the operation of an entity.
    ///
    /// # Errors
    /// Any error of encoding a row.
    pub(crate) fn merge_row(&mut self, row_key: &RowKey, more: &table_core::row::Row) -> Result<()> {
        let at = self.places.get(row_key).copied();
        let Some(own) = at.and_then(|at| self.entities.get_mut(at)) else { return Ok(()) };
        if let OperationKind::Insert(row) | OperationKind::Merge(row, _) | OperationKind::Replace(row, _) =
            &mut own.kind
        {
            let before = entity_bytes(self.partition_key.as_str(), row_key.as_str(), Some(row));
            *row = table_core::row::merge(row.view(), more.view())?;
            self.bytes +=
                entity_bytes(self.partition_key.as_str(), row_key.as_str(), Some(row)).saturating_sub(before);
            self.body_bytes.clear();
        }
        Ok(())
    }

    /// Replaces the properties of an entity whose operation is a replace.
    pub(crate) fn set_row(&mut self, row_key: &RowKey, row: table_core::row::Row) {
        let at = self.places.get(row_key).copied();
        if let Some(operation) = at.and_then(|at| self.entities.get_mut(at))
            && let OperationKind::Replace(known, _) = &mut operation.kind
        {
            *known = row;
            self.body_bytes.clear();
        }
    }

    /// Adds a plan. A refused plan leaves the batch unchanged.
    ///
    /// # Errors
    /// `InvalidDuplicateRow` for a row that is already in the batch (EGT-4); `UniqueViolation` for two entities with the same unique value.
    pub(crate) fn push(&mut self, plan: EntityPlan) -> Result<()> {
        self.push_within(plan, None)
    }

    /// Adds a plan if the batch then fits the operations and bytes of a transaction. A refused plan leaves the batch unchanged.
    ///
    /// # Errors
    /// `InvalidInput` for too many operations (EGT-2); `RequestBodyTooLarge` for too many bytes (EGT-3); any error of [`push`](Self::push).
    pub(crate) fn push_within(&mut self, plan: EntityPlan, limits: Option<&Limits>) -> Result<()> {
        self.change(limits, |batch, done| batch.add_entity(plan, done))
    }

    /// Adds rows of a pattern that belong to no entity of the batch, all or none.
    ///
    /// # Errors
    /// Any error of [`push_within`](Self::push_within).
    pub(crate) fn add_rows(&mut self, rows: Vec<PlannedRow>, limits: Option<&Limits>) -> Result<()> {
        self.change(limits, |batch, done| rows.into_iter().try_for_each(|row| batch.add_row(row, done)))
    }

    /// Adds a step of an entity in another partition.
    ///
    /// # Errors
    /// Any error of [`push_within`](Self::push_within).
    pub(crate) fn add_step(&mut self, source: &RowKey, step: Step, limits: Option<&Limits>) -> Result<()> {
        self.change(limits, |batch, done| {
            batch.add_steps(source, vec![step], done);
            Ok(())
        })
    }

    /// Applies a change, and reverses it if it fails or exceeds the limits.
    fn change(
        &mut self,
        limits: Option<&Limits>,
        change: impl FnOnce(&mut Self, &mut Vec<Done>) -> Result<()>,
    ) -> Result<()> {
        let (mut done, bytes, identified) = (Vec::new(), self.bytes, self.identified);
        let changed =
            change(self, &mut done).and_then(|()| limits.map_or(Ok(()), |limits| self.check(limits)));
        if changed.is_err() {
            done.into_iter().rev().for_each(|done| self.reverse(done));
            (self.bytes, self.identified) = (bytes, identified);
        }
        changed
    }

    fn check(&mut self, limits: &Limits) -> Result<()> {
        let (operations, bytes) = (self.operations(), self.measured_bytes(limits));
        let fault = if operations > limits.operations {
            EntityFault::Operations { operations, parts: self.parts(), most: limits.operations }
        } else if bytes > limits.transaction_bytes {
            EntityFault::Bytes { bytes, parts: self.parts(), most: limits.transaction_bytes }
        } else {
            return Ok(());
        };
        Err(Error::of(fault))
    }

    /// Returns the size of the rows in bytes, by the measure of the limits.
    fn measured_bytes(&mut self, limits: &Limits) -> usize {
        if limits.measure == TransactionMeasure::Entities {
            return self.bytes;
        }
        let partition_key = self.partition_key.as_str();
        self.body_bytes.truncate(self.entities.len());
        for Operation { row_key, kind } in self.entities.iter().skip(self.body_bytes.len()) {
            self.body_bytes.push(limits.operation_bytes(partition_key, row_key.as_str(), kind));
        }
        let rows = self.rows.iter().map(|(row_key, row)| match &row.write {
            ContributedWrite::Fixed(kind) => limits.operation_bytes(partition_key, row_key.as_str(), kind),
            ContributedWrite::Derived(_) => 0,
        });
        self.body_bytes.iter().sum::<usize>() + rows.sum::<usize>()
    }

    /// Returns a description of the contributions.
    fn parts(&self) -> String {
        let part = |(name, count): (&str, usize)| match name {
            "entities" | "intents" | "the feed" => format!("{count} of {name}"),
            name => format!("{count} of `{name}`"),
        };
        self.contributions().into_iter().map(part).collect::<Vec<_>>().join(", ")
    }

    fn add_entity(&mut self, plan: EntityPlan, done: &mut Vec<Done>) -> Result<()> {
        let EntityPlan { key, kind, rows, derived_steps, steps, records, recorder, identified } = plan;
        if self.places.contains_key(&key.row_key) {
            return Err(here(Error::of(EntityFault::DuplicateOperation), &self.partition_key, &key.row_key));
        }
        self.identified |= identified;
        self.count_bytes(&key.row_key, kind.row());
        let kind = self.take_condition(&key.row_key, kind, done);
        if self.rows.contains_key(&key.row_key) {
            return Err(here(Error::of(EntityFault::DuplicateOperation), &self.partition_key, &key.row_key));
        }
        self.places.insert(key.row_key.clone(), self.entities.len());
        self.entities.push(Operation { row_key: key.row_key.clone(), kind });
        done.push(Done::Entity);
        rows.into_iter().try_for_each(|row| self.add_row(row, done))?;
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

    /// Merges the condition that a contributor has added for an entity into the operation of the entity.
    fn take_condition(
        &mut self,
        row_key: &RowKey,
        kind: OperationKind,
        done: &mut Vec<Done>,
    ) -> OperationKind {
        let Some(ContributedRow { write: ContributedWrite::Fixed(known), .. }) = self.rows.get(row_key)
        else {
            return kind;
        };
        let Some(both) = both(&kind, known) else { return kind };
        if let Some(row) = self.rows.remove(row_key) {
            done.push(Done::RemovedRow(row_key.clone(), row));
        }
        both
    }

    fn add_row(&mut self, row: PlannedRow, done: &mut Vec<Done>) -> Result<()> {
        self.count_bytes(&row.row_key, row.row());
        let PlannedRow { by, row_key, write } = row;
        match write {
            RowWrite::Fixed(kind) => self.add_fixed(by, row_key, kind, done),
            RowWrite::Derived(part) => self.add_derived(by, row_key, part, done),
        }
    }

    fn add_fixed(
        &mut self,
        by: Author,
        row_key: RowKey,
        kind: OperationKind,
        done: &mut Vec<Done>,
    ) -> Result<()> {
        let at = self.places.get(&row_key).copied();
        let own = at.and_then(|at| Some((at, self.entities.get_mut(at)?)));
        if let Some((at, own)) = own.filter(|(_, own)| is_condition(&own.kind) && is_condition(&kind)) {
            let Some(both) = both(&own.kind, &kind) else {
                return Err(here(Error::of(EntityFault::Changed), &self.partition_key, &row_key));
            };
            done.push(Done::Condition(at, std::mem::replace(&mut own.kind, both)));
            return Ok(());
        }
        if at.is_some() {
            return Err(here(Error::of(EntityFault::DuplicateOperation), &self.partition_key, &row_key));
        }
        if let Some(known) = self.rows.get(&row_key) {
            return match &known.write {
                // Two holders of the same source add conditions on it.
                ContributedWrite::Fixed(other) if is_condition(other) && is_condition(&kind) => {
                    let moved = || here(Error::of(EntityFault::Changed), &self.partition_key, &row_key);
                    let write = ContributedWrite::Fixed(both(other, &kind).ok_or_else(moved)?);
                    let row = ContributedRow { by: known.by, write };
                    done.extend(self.rows.insert(row_key.clone(), row).map(|row| Done::RemovedRow(row_key, row)));
                    Ok(())
                }
                _ => {
                    let (first, second) = (known.by.name().to_owned(), by.name().to_owned());
                    let fault = EntityFault::SameRow { first, second };
                    Err(here(Error::of(fault), &self.partition_key, &row_key))
                }
            };
        }
        done.push(Done::Row(row_key.clone()));
        self.rows.insert(row_key, ContributedRow { by, write: ContributedWrite::Fixed(kind) });
        Ok(())
    }

    fn add_derived(
        &mut self,
        by: Author,
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
            done.push(Done::Part(key.row_key));
            return Ok(());
        }
        done.push(Done::Row(row_key.clone()));
        self.rows.insert(row_key, ContributedRow { by, write: ContributedWrite::Derived(vec![part]) });
        Ok(())
    }

    fn add_steps(&mut self, source: &RowKey, steps: Vec<Step>, done: &mut Vec<Done>) {
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

    fn reverse(&mut self, done: Done) {
        match done {
            Done::Row(row_key) => drop(self.rows.remove(&row_key)),
            Done::Part(row_key) => {
                if let Some(ContributedRow { write: ContributedWrite::Derived(parts), .. }) =
                    self.rows.get_mut(&row_key)
                {
                    parts.pop();
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

fn here(error: Error, partition_key: &PartitionKey, row_key: &RowKey) -> Error {
    error.with_key(partition_key.as_str(), row_key.as_str())
}
