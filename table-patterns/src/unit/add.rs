//! Adds writes, conditions and steps to a unit. If an addition is refused, the unit stays unchanged.

use std::sync::Arc;

use table_core::entity::Entity;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::{Operation, OperationKind, RowState};
use table_core::row::Row;
use table_core::store::TableStore;
use table_core::{Error, Result, Table};

use crate::entities::{
    Author, Completes, Entities, EntityPlan, EntityWrite, NoOutbox, PlannedRow, RowWrite, StepRecorder, touch,
};
use crate::outbox::Step;
use crate::periods::Period;
use crate::unit::UnitOfWork;
use crate::unit::act::Act;
use crate::unit::fault::UnitFault;

impl<S: TableStore + Clone + 'static, O: StepRecorder> UnitOfWork<S, O> {
    /// Adds the rows of a pattern. If one row is refused, adds none of them.
    pub(crate) fn add_rows(
        &mut self,
        by: &'static str,
        operations: impl IntoIterator<Item = Operation>,
    ) -> Result<&mut Self> {
        let row = |Operation { row_key, kind }: Operation| PlannedRow {
            by: Author::Pattern(by),
            row_key,
            write: RowWrite::Fixed(kind),
        };
        let rows: Vec<_> = operations.into_iter().map(row).collect();
        let Some(last) = rows.last() else { return Ok(self) };
        let (partition_key, row_key) = (self.draft.planned().partition_key().clone(), last.row_key.clone());
        let key = EntityKey { partition_key, row_key };
        let limits = self.store.capabilities().limits;
        let added = self.draft.add_rows(rows, Some(&limits));
        added.map_err(|error| self.here(error, &key))?;
        Ok(self)
    }

    /// Makes the commit check that entities of type `E` may be written. This is needed for entities written without a handle.
    pub(crate) fn admit_rows_of<E: Entity>(&mut self, is_whole: bool) -> &mut Self {
        let (store, watch, retry) = (&self.store, &self.watch, &self.retry);
        self.admissions.add::<E>(is_whole, || {
            let table = Table::<E, S>::of(store.clone()).watched(watch);
            Arc::new(Entities::new(table, NoOutbox).with_retry(retry.clone()))
        });
        self
    }

    /// Adds a write of an entity. If all stored properties have been read, `old` includes them.
    pub(crate) fn write<E: Entity + Send + Sync>(
        &mut self,
        verb: &'static str,
        key: EntityKey,
        kind: OperationKind,
        old: Option<(&E, Option<&Row>)>,
        new: Option<&E>,
    ) -> Result<&mut Self> {
        self.check_place::<E>(&key)?;
        let act = Act { entity: E::SCHEMA.entity, verb: Some(verb) };
        let handle = self.handle::<E>();
        let by = || -> Arc<dyn Completes> { Arc::<Entities<E, S, O>>::clone(&handle) };
        let plan = handle.plan_by(by, &self.context, (key, kind), old, new);
        let plan = plan.map_err(|error| error.with_table(self.table.as_str()))?;
        self.push(plan, act)?;
        // The write keeps properties that a newer schema has added, so `is_whole` is `false`.
        self.admissions.add::<E>(false, || handle);
        Ok(self)
    }

    /// Adds a condition on an entity's state.
    pub(super) fn condition<E: Entity>(&mut self, key: EntityKey, state: RowState) -> Result<&mut Self> {
        self.push_condition::<E>(key, OperationKind::Check(state))
    }

    /// Adds the condition that an entity exists. The condition is an empty merge, which also changes the entity's version.
    pub(crate) fn touch<E: Entity>(&mut self, key: EntityKey) -> Result<&mut Self> {
        self.push_condition::<E>(key, touch(IfMatch::Any))
    }

    fn push_condition<E: Entity>(&mut self, key: EntityKey, kind: OperationKind) -> Result<&mut Self> {
        self.check_place::<E>(&key)?;
        let act = Act { entity: E::SCHEMA.entity, verb: None };
        self.push(EntityWrite::without_contributors(EntityPlan::alone(key, kind)), act)
    }

    /// Adds a step, which a worker performs in another partition.
    pub(super) fn push_step(&mut self, key: &EntityKey, step: Step) -> Result<&mut Self> {
        let limits = self.store.capabilities().limits;
        let added = self.draft.add_step(&key.row_key, step, Some(&limits));
        added.map_err(|error| self.here(error, key))?;
        self.warn_if_dropped();
        Ok(self)
    }

    fn push(&mut self, write: EntityWrite<'static>, act: Act) -> Result<&mut Self> {
        let (key, limits) = (write.key().clone(), self.store.capabilities().limits);
        let added = self.draft.push(write, Some(&limits));
        added.map_err(|error| self.here(error.with_context(&act.to_string()), &key))?;
        self.acts.push(act);
        self.warn_if_dropped();
        Ok(self)
    }

    /// Counts one more write or step. Does nothing in a transaction, which commits its unit itself.
    pub(crate) fn warn_if_dropped(&self) {
        if self.rivals.is_none() {
            self.uncommitted.add();
        }
    }

    /// Checks that an entity is in the unit's table and partition.
    ///
    /// # Errors
    /// `CommandsInBatchActOnDifferentPartitions` if it is in another partition (EGT-5); `InvalidInput` if it is in another table (EGT-1).
    pub(crate) fn check_place<E: Entity>(&self, key: &EntityKey) -> Result<()> {
        let partition_key = self.draft.planned().partition_key();
        if key.partition_key != *partition_key {
            let (entity, unit) = (key.partition_key.clone(), partition_key.clone());
            return Err(self.here(Error::of(UnitFault::Partition { entity, unit }), key));
        }
        self.check_table::<E>(self.table_of::<E>()).map_err(|error| self.here(error, key))
    }

    /// Checks that `table`, the table of entities of type `E`, is the unit's table.
    ///
    /// # Errors
    /// `InvalidInput` (EGT-1) if it is another table.
    pub(crate) fn check_table<E: Entity>(&self, table: &str) -> Result<()> {
        if table.eq_ignore_ascii_case(self.table.as_str()) {
            return Ok(());
        }
        let is_period = [table, self.table.as_str()].iter().any(|table| is_of_period(table, E::SCHEMA.table));
        let (entity, unit) = (table.to_owned(), self.table.clone());
        let fault =
            if is_period { UnitFault::Period { entity, unit } } else { UnitFault::Table { entity, unit } };
        Err(Error::of(fault))
    }

    /// Adds the table name to an error, and the key if the error contains none.
    pub(crate) fn here(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_table(self.table.as_str());
        match error.key() {
            Some(_) => error,
            None => error.with_key(key.partition_key.as_str(), key.row_key.as_str()),
        }
    }
}

/// Returns `true` if `table` is a period table of the declared table `declared`.
fn is_of_period(table: &str, declared: &str) -> bool {
    let is_declared = table.get(..declared.len()).is_some_and(|start| start.eq_ignore_ascii_case(declared));
    let suffix = table.get(declared.len()..).filter(|_| is_declared);
    suffix.is_some_and(|suffix| Period::ALL.iter().any(|period| period.parse(suffix).is_some()))
}
