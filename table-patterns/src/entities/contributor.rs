//! Contributors: patterns that add rows and steps when an entity is written.

use std::any::Any;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::key::{EntityKey, RowKey};
use table_core::limits::Limits;
use table_core::operation::{Operation, OperationKind};
use table_core::query::EntityRef;
use table_core::row::{self, Row};
use table_core::runtime::Runtime;
use table_core::table::SchemaWatch;

use crate::entities::fault::undecided;
use crate::entities::plan::{Author, DerivedRow, EntityPlan, PlannedRow, RowWrite};
use crate::entities::record::{ChangeRecord, RecordChanges};
use crate::entities::siblings::Siblings;
use crate::outbox::Step;

/// A pattern that adds rows whenever an entity `E` is written through a handle `H`.
pub(crate) trait Contributor<E, H>: Send + Sync {
    /// Returns `true` if the contribution depends on the stored version. A write then reads the stored version first.
    fn needs_old(&self) -> bool {
        true
    }

    /// Returns `true` if the contribution to this write depends on the stored version, although other contributions do not.
    fn needs_old_for(&self, _: &OperationKind) -> bool {
        self.needs_old()
    }

    /// Adds the rows and steps for a change. The function is called once per attempt, so it must be pure.
    ///
    /// # Errors
    /// Any error from the pattern. In this case, the entity is not written.
    fn contribute(&self, change: &EntityChange<'_, E>, out: &mut Contribution) -> Result<()>;

    /// Returns `true` if this contributor reads other entities. [`complete`](Self::complete) must then be called for each write.
    fn reads_others(&self) -> bool {
        false
    }

    /// Completes a write by reading the other entities on which the write depends. Returns `None` if the contributor reads no other entities. Called once per
    /// attempt.
    fn complete<'a>(&'a self, _: &'a H, _: PendingWrite) -> Option<BoxFuture<'a, Result<Completed<E>>>> {
        None
    }

    /// Returns `false` if this contributor may refuse a write. A bulk write then calls the contributor only after it has read the stored entity.
    fn is_estimated(&self) -> bool {
        true
    }

    /// Returns the rules for checking this pattern's reserved rows, or `None` if the pattern reserves no rows.
    fn reserved(&self) -> Option<ReservedRows> {
        None
    }

    /// Returns the contributor as `Any`, so the pattern that attached it can downcast it.
    fn as_any(&self) -> &dyn Any;
}

/// The rules for a pattern's reserved rows.
#[derive(Clone, Copy)]
pub(crate) struct ReservedRows {
    /// The pattern's name in the findings of a check.
    pub(crate) pattern: &'static str,
    /// The prefix of the rows' `RowKey`s.
    pub(crate) prefix: &'static str,
    /// Returns an explanation if the pattern cannot read a row and ignores it, or `None` if it can read the row.
    pub(crate) fault: fn(EntityRef<'_>) -> Option<&'static str>,
}

/// A change to one entity, from the stored version to the new version.
pub(crate) struct EntityChange<'a, E> {
    pub(crate) key: &'a EntityKey,
    pub(crate) kind: &'a OperationKind,
    /// The stored entity, or `None` if it did not exist.
    pub(crate) old: Option<&'a E>,
    /// The new entity, or `None` if it is deleted.
    pub(crate) new: Option<&'a E>,
    /// The stored properties, if they have been read. For a replace, they include at least the declared properties; for other writes, all properties.
    pub(crate) stored: Option<&'a Row>,
    pub(crate) context: &'a WriteContext,
    pub(crate) pace: &'a Runtime,
    /// The store's limits.
    pub(crate) limits: &'a Limits,
    /// The handle's view of the stored schema.
    pub(crate) watch: &'a SchemaWatch,
}

/// The context of a write: its actor and correlation identifier. Contributors may record it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteContext {
    /// The person or program that makes the write.
    pub(crate) actor: Option<Arc<str>>,
    /// The identifier of the request that caused the write.
    pub(crate) correlation_id: Option<Arc<str>>,
}

/// The rows, steps and change records that contributors add to one entity's write.
#[derive(Debug, Default)]
pub(crate) struct Contribution {
    pub(crate) rows: Vec<PlannedRow>,
    /// Steps in other partitions, added by declared patterns.
    pub(crate) derived_steps: Vec<Step>,
    /// Steps in other partitions, added by participants.
    pub(crate) steps: Vec<Step>,
    /// Changes to record when the transaction commits.
    pub(crate) records: Vec<ChangeRecord>,
    /// The pattern that records the changes, if any.
    pub(crate) recorder: Option<Arc<dyn RecordChanges>>,
}

impl Contribution {
    /// Returns the plan for a write with this contribution.
    pub(crate) fn into_plan(self, key: EntityKey, kind: OperationKind) -> EntityPlan {
        let Self { rows, derived_steps, steps, records, recorder } = self;
        EntityPlan { rows, derived_steps, steps, records, recorder, ..EntityPlan::alone(key, kind) }
    }

    /// Adds a row with a fixed operation, which does not depend on the stored row.
    pub(crate) fn write(&mut self, by: &'static str, operation: Operation) {
        let Operation { row_key, kind } = operation;
        self.rows.push(PlannedRow { by: Author::Pattern(by), row_key, write: RowWrite::Fixed(kind) });
    }

    /// Adds an index row whose operation depends on the stored row.
    pub(crate) fn derive(&mut self, index: &'static str, row_key: RowKey, row: Arc<dyn DerivedRow>) {
        self.rows.push(PlannedRow { by: Author::Index(index), row_key, write: RowWrite::Derived(row) });
    }
}

/// A write that a contributor must complete, because the contributor reads other entities.
#[derive(Clone, Debug)]
pub(crate) struct PendingWrite {
    pub(crate) key: EntityKey,
    pub(crate) kind: OperationKind,
    /// The stored properties, or `None` if the entity does not exist.
    pub(crate) stored: Option<Row>,
    /// `true` if the same transaction may also write other entities.
    pub(crate) together: bool,
    /// The entities written by the transaction.
    pub(crate) siblings: Arc<Siblings>,
    pub(crate) context: WriteContext,
}

impl PendingWrite {
    /// Returns all properties of the entity after the write, or `None` if the entity is deleted.
    ///
    /// # Errors
    /// `InternalError` for a merge if the stored properties have not been read.
    pub(crate) fn after(&self) -> Result<Option<Row>> {
        match (&self.kind, &self.stored) {
            (OperationKind::Merge(row, _) | OperationKind::InsertOrMerge(row), Some(stored)) => {
                row::merge(stored.view(), row.view()).map(Some)
            }
            (OperationKind::Merge(..) | OperationKind::InsertOrMerge(_), None) => Err(undecided()),
            (kind, _) => Ok(kind.row().cloned()),
        }
    }
}

/// A write completed by a contributor.
#[derive(Debug)]
pub(crate) struct Completed<E> {
    pub(crate) kind: OperationKind,
    pub(crate) old: Option<E>,
    /// The entity after the write, including properties copied from other entities.
    pub(crate) new: Option<E>,
    /// Additional rows and steps.
    pub(crate) more: Contribution,
    /// Writes to other entities in the same transaction.
    pub(crate) others: Vec<EntityPlan>,
}
