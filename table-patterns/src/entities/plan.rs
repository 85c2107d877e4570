//! One entity's planned write: its operation, and the rows and steps added by contributors.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, RowKey};
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::{OperationKind, RowState};
use table_core::row::{Row, RowWriter};
use table_core::store::{Capabilities, StoredRow};

use crate::entities::record::{ChangeRecord, RecordChanges};
use crate::outbox::Step;

/// One entity's write, and everything that contributors add to its transaction.
#[derive(Clone, Debug)]
pub(crate) struct EntityPlan {
    pub(crate) key: EntityKey,
    pub(crate) kind: OperationKind,
    pub(crate) rows: Vec<PlannedRow>,
    /// Steps in other partitions, added by the declared patterns.
    pub(crate) derived_steps: Vec<Step>,
    /// Steps in other partitions, added by participants.
    pub(crate) steps: Vec<Step>,
    /// Changes to record when the transaction commits.
    pub(crate) records: Vec<ChangeRecord>,
    /// The pattern that records the changes, if any.
    pub(crate) recorder: Option<Arc<dyn RecordChanges>>,
    /// `true` if the store must distinguish a retry after a lost response from another writer's write (CON-11).
    pub(crate) identified: bool,
    /// `true` if the write removes properties unknown to this program.
    pub(crate) is_whole: bool,
}

impl EntityPlan {
    /// Creates a plan for a write without additions.
    pub(crate) const fn alone(key: EntityKey, kind: OperationKind) -> Self {
        Self {
            key,
            kind,
            rows: Vec::new(),
            derived_steps: Vec::new(),
            steps: Vec::new(),
            records: Vec::new(),
            recorder: None,
            identified: false,
            is_whole: false,
        }
    }

    /// Returns the maximum number of operations that this plan adds to a transaction.
    pub(crate) fn operations(&self) -> usize {
        let intents = usize::from(!self.steps.is_empty()) + usize::from(!self.derived_steps.is_empty());
        1 + self.rows.len() + intents
    }
}

/// The contributor of a row, as reported in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Author {
    /// The name of an index.
    Index(&'static str),
    /// The name of any other pattern.
    Pattern(&'static str),
}

/// The name of the pattern that adds rows for copies: references, and conditions on the copied entities.
pub(crate) const REFERENCES: &str = "references";

impl Author {
    /// Returns the name of the index or pattern.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Index(name) | Self::Pattern(name) => name,
        }
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(name) => write!(f, "the entry in the index `{name}`"),
            Self::Pattern(name) => write!(f, "the row of `{name}`"),
        }
    }
}

/// A row that a contributor adds to one entity's write.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRow {
    pub(crate) by: Author,
    pub(crate) row_key: RowKey,
    pub(crate) write: RowWrite,
}

impl PlannedRow {
    /// Returns the row's properties. They are used to compute its size.
    pub(crate) fn row(&self) -> Option<&Row> {
        match &self.write {
            RowWrite::Fixed(kind) => kind.row(),
            RowWrite::Derived(row) => row.row(),
        }
    }
}

/// One entity's write to a contributed row.
#[derive(Clone, Debug)]
pub(crate) enum RowWrite {
    /// An operation that does not depend on the stored row.
    Fixed(OperationKind),
    /// An operation that depends on the stored row.
    Derived(Arc<dyn DerivedRow>),
}

/// A row whose operation depends on the stored row, such as an index entry.
///
/// Several entities in one transaction may change the same row. The methods of the first change then compute the operation for all of them. They receive all
/// changes to the row, in order, as `parts`.
pub(crate) trait DerivedRow: fmt::Debug + Send + Sync {
    /// Returns the row's new properties. They are used to compute its size.
    fn row(&self) -> Option<&Row>;

    /// Checks that this entity may change a row that an earlier entity in the same transaction also changes.
    ///
    /// # Errors
    /// `UniqueViolation` if both entities set a row that may belong to only one of them; `InvalidDuplicateRow` if different patterns change the row.
    fn follows(&self, key: &EntityKey, earlier: &dyn DerivedRow) -> Result<()>;

    /// Returns `true` if the entity has an entry in the row after the change.
    fn is_addition(&self) -> bool;

    /// Returns the operation, assuming that the stored row matches the entities. Returns `None` if the row must be read.
    fn assumed(&self, parts: &[Arc<dyn DerivedRow>]) -> Option<OperationKind>;

    /// Returns the operation for the given stored row, or `None` if no write is needed.
    fn prepare<'a>(
        &'a self,
        place: RowPlace<'a>,
        parts: &'a [Arc<dyn DerivedRow>],
        found: Option<&'a StoredRow>,
    ) -> BoxFuture<'a, Result<Option<PreparedRow>>>;

    /// Returns the row as `Any`, so the pattern that created it can downcast it.
    fn as_any(&self) -> &dyn Any;
}

/// The location of a derived row.
#[derive(Clone, Copy)]
pub(crate) struct RowPlace<'a> {
    pub(crate) table: &'a TableName,
    pub(crate) key: &'a EntityKey,
    pub(crate) limits: Limits,
    pub(crate) rows: &'a dyn ReadRow,
}

/// Reads other rows in the same table, for derived rows that depend on them.
pub(crate) trait ReadRow: Send + Sync {
    /// Returns the stored row with the given key.
    ///
    /// # Errors
    /// Any error from the store.
    fn read<'a>(&'a self, key: &'a EntityKey) -> BoxFuture<'a, Result<Option<StoredRow>>>;
}

/// The operation on a derived row.
pub(crate) struct PreparedRow {
    pub(crate) kind: OperationKind,
    /// Work done outside the table, which is undone if the transaction is refused.
    pub(crate) undo: Option<Arc<dyn UndoWrite>>,
}

/// Work that a transaction does outside the table, such as a blob upload. It can be undone if the transaction is refused.
pub(crate) trait UndoWrite: Send + Sync {
    /// Checks that the work is still valid. Called immediately before the transaction is submitted.
    ///
    /// # Errors
    /// Any error from the pattern.
    fn check(&self) -> Result<()>;

    /// Tries to undo the work. If something cannot be undone, the collector removes it later.
    fn undo(&self) -> BoxFuture<'_, ()>;
}

/// Creates an empty merge, which changes nothing but an entity's version. Concurrent writers that have already read the entity then get a conflict.
pub(crate) fn touch(if_match: IfMatch) -> OperationKind {
    OperationKind::Merge(RowWriter::with_capacity(0).finish(), if_match)
}

/// Returns the properties written by an operation.
pub(crate) const fn properties_mut(kind: &mut OperationKind) -> Option<&mut Row> {
    match kind {
        OperationKind::Insert(row)
        | OperationKind::Replace(row, _)
        | OperationKind::Merge(row, _)
        | OperationKind::InsertOrReplace(row)
        | OperationKind::InsertOrMerge(row) => Some(row),
        OperationKind::Delete(_) | OperationKind::Check(_) => None,
    }
}

/// Returns the row state that a pure condition, such as a check or an empty merge, requires. Returns `None` for an operation that writes properties or deletes
/// the row.
fn required(kind: &OperationKind) -> Option<RowState> {
    match kind {
        OperationKind::Check(state) => Some(state.clone()),
        OperationKind::Merge(row, if_match) if row.view().properties().next().is_none() => {
            Some(RowState::Present(if_match.clone()))
        }
        _ => None,
    }
}

/// Returns the row version required by an operation, if any.
pub(crate) const fn required_version(kind: &OperationKind) -> Option<&ETag> {
    match kind {
        OperationKind::Replace(_, IfMatch::ETag(etag))
        | OperationKind::Merge(_, IfMatch::ETag(etag))
        | OperationKind::Delete(IfMatch::ETag(etag))
        | OperationKind::Check(RowState::Present(IfMatch::ETag(etag))) => Some(etag),
        _ => None,
    }
}

/// Returns `true` if an operation only checks or touches a row.
pub(crate) fn is_condition(kind: &OperationKind) -> bool {
    required(kind).is_some()
}

/// Combines two operations on one row, of which at least one is a condition. Returns `None` if no single operation can express both.
pub(crate) fn both(one: &OperationKind, other: &OperationKind) -> Option<OperationKind> {
    match (required(one), required(other)) {
        (None, Some(RowState::Present(if_match))) => guarded(one, if_match),
        (Some(RowState::Present(if_match)), None) => guarded(other, if_match),
        (None, Some(RowState::Absent)) => inserted(one),
        (Some(RowState::Absent), None) => inserted(other),
        (Some(_), Some(_)) => both_conditions(one, other),
        _ => None,
    }
}

/// Makes a write require a version of the row. Returns `None` if the write already requires a different version, or requires that the row does not exist.
fn guarded(write: &OperationKind, required: IfMatch) -> Option<OperationKind> {
    let merged = |own: &IfMatch| match (own, required.clone()) {
        (own, IfMatch::Any) => Some(own.clone()),
        (IfMatch::Any, required) => Some(required),
        (own, required) => (*own == required).then_some(required),
    };
    Some(match write {
        OperationKind::Merge(row, own) => OperationKind::Merge(row.clone(), merged(own)?),
        OperationKind::Replace(row, own) => OperationKind::Replace(row.clone(), merged(own)?),
        OperationKind::Delete(own) => OperationKind::Delete(merged(own)?),
        OperationKind::InsertOrMerge(row) => OperationKind::Merge(row.clone(), required),
        OperationKind::InsertOrReplace(row) => OperationKind::Replace(row.clone(), required),
        _ => return None,
    })
}

/// Makes a write require that the row does not exist. Returns `None` if the write requires an existing row.
fn inserted(write: &OperationKind) -> Option<OperationKind> {
    match write {
        OperationKind::Insert(row)
        | OperationKind::InsertOrReplace(row)
        | OperationKind::InsertOrMerge(row) => Some(OperationKind::Insert(row.clone())),
        _ => None,
    }
}

fn both_conditions(one: &OperationKind, other: &OperationKind) -> Option<OperationKind> {
    let any = RowState::Present(IfMatch::Any);
    let state = match (required(one)?, required(other)?) {
        (one, other) if one == other || other == any && one != RowState::Absent => one,
        (one, other) if one == any && other != RowState::Absent => other,
        _ => return None,
    };
    let is_check = |kind: &OperationKind| matches!(kind, OperationKind::Check(_));
    Some(match state {
        RowState::Present(if_match) if !is_check(one) || !is_check(other) => touch(if_match),
        state => OperationKind::Check(state),
    })
}

/// Converts a planned operation to the operation that is sent to the store. If the store does not support checks, a check becomes an empty merge.
///
/// # Errors
/// `Unsupported` if the operation only checks that a row does not exist and the store does not support checks (ENG-21).
pub(crate) fn sent(kind: OperationKind, store: &Capabilities) -> Result<OperationKind> {
    match kind {
        OperationKind::Check(state) if !store.checks => match state {
            RowState::Present(if_match) => Ok(touch(if_match)),
            RowState::Absent => Err(state.unsupported()),
        },
        kind => Ok(kind),
    }
}
