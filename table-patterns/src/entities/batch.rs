//! The planned writes of one entity group transaction. Each row occurs at most once.

mod add;
mod measure;
mod undo;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use table_core::Result;
use table_core::etag::ETag;
use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::operation::{Operation, OperationKind, RowState};
use table_core::row::{Row, entity_bytes};

use crate::entities::plan::{
    Author, DerivedRow, EntityPlan, PlannedRow, is_condition, properties_mut, required_version,
};
use crate::entities::record::{ChangeRecord, RecordChanges};
use crate::outbox::{Intent, Step};

/// The writes of one transaction: entities in one partition, and the rows and steps that contributors add. No entity occurs twice.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    partition_key: PartitionKey,
    entities: Vec<Operation>,
    /// The position of each entity in the batch.
    places: HashMap<RowKey, usize>,
    rows: BTreeMap<RowKey, ContributedRow>,
    intents: Vec<PlannedIntent>,
    /// The positions of intents, by the entity's `RowKey`. An intent is a row that records an entity's steps. Only steps added by participants are listed here.
    intent_places: HashMap<RowKey, usize>,
    records: Vec<ChangeRecord>,
    recorder: Option<Arc<dyn RecordChanges>>,
    identified: bool,
    whole: bool,
    bytes: usize,
    /// The request-body size of each entity, computed on demand.
    body_bytes: Vec<usize>,
}

/// A row that contributors add to the batch, with its author.
#[derive(Clone, Debug)]
pub(crate) struct ContributedRow {
    pub(crate) by: Author,
    pub(crate) write: ContributedWrite,
    /// The position of each entity that adds the row, or `None` if the row belongs to no entity. A derived row has one item per change.
    of: Vec<Option<usize>>,
}

/// The write of a contributed row. It combines the planned writes of all entities that change the row.
#[derive(Clone, Debug)]
pub(crate) enum ContributedWrite {
    /// An operation that does not depend on the stored row.
    Fixed(OperationKind),
    /// The entities' changes to the row, in order.
    Derived(Vec<Arc<dyn DerivedRow>>),
}

/// An entity's steps in other partitions, recorded in one row.
#[derive(Clone, Debug)]
struct PlannedIntent {
    source: RowKey,
    steps: Vec<Step>,
}

impl Batch {
    /// Creates an empty batch for a partition.
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
            whole: false,
            bytes: 0,
            body_bytes: Vec::new(),
        }
    }

    /// Creates a batch that contains one plan.
    ///
    /// # Errors
    /// Any error from [`push`](Self::push).
    pub(crate) fn of(plan: EntityPlan) -> Result<Self> {
        let mut batch = Self::new(plan.key.partition_key.clone());
        batch.push(plan)?;
        Ok(batch)
    }

    /// Returns the partition of all rows in the batch.
    pub(crate) const fn partition_key(&self) -> &PartitionKey {
        &self.partition_key
    }

    /// Returns the entities' operations in insertion order.
    pub(crate) fn entities(&self) -> &[Operation] {
        &self.entities
    }

    /// Returns the contributed rows, by `RowKey`.
    pub(crate) const fn rows(&self) -> &BTreeMap<RowKey, ContributedRow> {
        &self.rows
    }

    /// Returns the position of the entity that needs a row. If several entities change the row, returns the last one that adds an entry to it. Returns `None`
    /// for a row that belongs to no entity in the batch.
    pub(crate) fn entity_of(&self, row_key: &RowKey) -> Option<usize> {
        let ContributedRow { write, of, .. } = self.rows.get(row_key)?;
        match write {
            ContributedWrite::Fixed(_) => of.first().copied().flatten(),
            ContributedWrite::Derived(parts) => {
                let adds = parts.iter().zip(of).filter(|(part, _)| part.is_addition());
                adds.filter_map(|(_, at)| *at).next_back()
            }
        }
    }

    /// Returns the changes to record and the pattern that records them. Returns `None` if no changes need to be recorded.
    pub(crate) fn records(&self) -> Option<(&[ChangeRecord], &Arc<dyn RecordChanges>)> {
        let recorder = self.recorder.as_ref().filter(|_| !self.records.is_empty())?;
        Some((&self.records, recorder))
    }

    fn record_operations(&self) -> usize {
        self.records().map_or(0, |(records, recorder)| recorder.operations(records))
    }

    /// Returns `true` if the store must be able to recognise a retry of a write in the batch after a lost response.
    pub(crate) const fn is_identified(&self) -> bool {
        self.identified
    }

    /// Returns `true` if a write removes properties unknown to this program.
    pub(crate) const fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns `true` if the batch is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.rows.is_empty()
    }

    /// Returns the largest number of operations that the batch's transaction can have.
    pub(crate) fn operations(&self) -> usize {
        self.entities.len() + self.rows.len() + self.intents.len() + self.record_operations()
    }

    /// Returns the total size of the rows in bytes, by the service's published formula.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the intents to write in the transaction. Each intent records an entity's steps.
    pub(crate) fn intents(&self) -> Vec<Intent> {
        let intent = |PlannedIntent { source, steps }: &PlannedIntent| {
            steps.iter().cloned().fold(Intent::of(source.clone()), Intent::step)
        };
        self.intents.iter().map(intent).collect()
    }

    /// Returns the number of operations from each contributor.
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

    /// Returns the row versions required by the operations.
    pub(crate) fn required_versions(&self) -> Vec<(RowKey, ETag)> {
        let of_rows = self.rows.iter().filter_map(|(row_key, row)| match &row.write {
            ContributedWrite::Fixed(kind) => Some((row_key, kind)),
            ContributedWrite::Derived(_) => None,
        });
        let all = self.entities.iter().map(|own| (&own.row_key, &own.kind)).chain(of_rows);
        all.filter_map(|(row_key, kind)| Some((row_key.clone(), required_version(kind)?.clone()))).collect()
    }

    /// Returns `true` if the batch requires that a row has a certain version, or that it does not exist.
    pub(crate) fn requires(&self, row_key: &RowKey) -> bool {
        let is_required = |kind: &OperationKind| {
            let is_absent = matches!(kind, OperationKind::Insert(_) | OperationKind::Check(RowState::Absent));
            is_absent || required_version(kind).is_some()
        };
        self.kind_of(row_key).is_some_and(is_required)
    }

    /// Returns `true` if the batch writes a row. A condition does not count as a write.
    pub(crate) fn writes(&self, row_key: &RowKey) -> bool {
        self.derives(row_key) || self.kind_of(row_key).is_some_and(|kind| !is_condition(kind))
    }

    /// Returns `true` if a row's operation depends on the stored row.
    pub(crate) fn derives(&self, row_key: &RowKey) -> bool {
        self.rows.get(row_key).is_some_and(|row| matches!(row.write, ContributedWrite::Derived(_)))
    }

    /// Returns the operation on a row. Returns `None` if the operation depends on the stored row.
    pub(crate) fn kind_of(&self, row_key: &RowKey) -> Option<&OperationKind> {
        let own = self.places.get(row_key).and_then(|at| self.entities.get(*at));
        let contributed = || match &self.rows.get(row_key)?.write {
            ContributedWrite::Fixed(kind) => Some(kind),
            ContributedWrite::Derived(_) => None,
        };
        own.map(|own| &own.kind).or_else(contributed)
    }

    /// Applies `change` to the properties written by an entity's operation.
    ///
    /// # Errors
    /// Any error from `change`.
    pub(crate) fn change_row(
        &mut self,
        row_key: &RowKey,
        change: &dyn Fn(&Row) -> Result<Row>,
    ) -> Result<()> {
        let at = self.places.get(row_key).copied();
        let own = at.and_then(|at| self.entities.get_mut(at));
        let Some(row) = own.and_then(|own| properties_mut(&mut own.kind)) else { return Ok(()) };
        let size = |row: &Row| entity_bytes(self.partition_key.as_str(), row_key.as_str(), Some(row));
        let before = size(row);
        *row = change(row)?;
        self.bytes = self.bytes + size(row) - before;
        self.body_bytes.clear();
        Ok(())
    }

    /// Adds a plan. If the plan is refused, the batch stays unchanged.
    ///
    /// # Errors
    /// `InvalidDuplicateRow` if a row of the plan is already in the batch (EGT-4); `UniqueViolation` if two entities have the same unique value.
    pub(crate) fn push(&mut self, plan: EntityPlan) -> Result<()> {
        self.push_within(plan, None)
    }

    /// Adds a plan if the batch then stays within the operation and byte limits. If the plan is refused, the batch stays unchanged.
    ///
    /// # Errors
    /// `InvalidInput` if the batch would have too many operations (EGT-2); `RequestBodyTooLarge` if it would have too many bytes (EGT-3); any error from
    /// [`push`](Self::push).
    pub(crate) fn push_within(&mut self, plan: EntityPlan, limits: Option<&Limits>) -> Result<()> {
        self.change(limits, |batch, done| batch.add_entity(plan, done))
    }

    /// Adds rows of a pattern that belong to no entity in the batch. If one row is refused, none is added.
    ///
    /// # Errors
    /// Any error from [`push_within`](Self::push_within).
    pub(crate) fn add_rows(&mut self, rows: Vec<PlannedRow>, limits: Option<&Limits>) -> Result<()> {
        self.change(limits, |batch, done| rows.into_iter().try_for_each(|row| batch.add_row(row, None, done)))
    }

    /// Adds an outbox step for the entity `source`. A worker performs the step in another partition.
    ///
    /// # Errors
    /// Any error from [`push_within`](Self::push_within).
    pub(crate) fn add_step(&mut self, source: &RowKey, step: Step, limits: Option<&Limits>) -> Result<()> {
        self.change(limits, |batch, done| {
            batch.add_steps(source, vec![step], done);
            Ok(())
        })
    }
}
