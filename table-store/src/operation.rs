//! Operations: the six kinds of entity writes (EGT-6, IFM-1), and checks, which write nothing (ENG-21).

use crate::error::{Error, Fault};
use crate::etag::IfMatch;
use crate::key::RowKey;
use crate::row::Row;

/// One operation in a transaction: a write to an entity, or a check of its state.
///
/// ```
/// use table_core::{IfMatch, Operation, OperationKind, RowKey};
///
/// let delete = Operation { row_key: RowKey::new("000223")?, kind: OperationKind::Delete(IfMatch::Any) };
/// assert_eq!(delete.row_key.as_str(), "000223");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The `RowKey` of the entity.
    pub row_key: RowKey,
    /// The kind of write, or the check.
    pub kind: OperationKind,
}

/// A required state of an entity that the transaction does not write.
///
/// ```
/// use table_core::operation::RowState;
/// use table_core::{IfMatch, OperationKind};
///
/// assert_eq!(OperationKind::Check(RowState::Absent).name(), "check");
/// assert!(OperationKind::Check(RowState::Present(IfMatch::Any)).row().is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowState {
    /// The entity does not exist.
    Absent,
    /// The entity exists in a version that satisfies this condition.
    Present(IfMatch),
}

impl RowState {
    /// Returns the `Unsupported` error for a store that does not support checks (ENG-21).
    #[must_use]
    pub fn unsupported(&self) -> Error {
        let state = match self {
            Self::Absent => "absent",
            Self::Present(IfMatch::Any) => "present",
            Self::Present(IfMatch::ETag(_)) => "unchanged",
        };
        Error::of(CheckFault(state))
    }
}

/// The fault for a check on a store that does not support checks.
#[derive(Debug, thiserror::Error, Fault)]
#[error(
    "the store cannot check that an entity is {0} unless the transaction writes it; write it, or use a store with `Capabilities::checks`"
)]
#[fault(Unsupported, "ENG-21")]
struct CheckFault(&'static str);

/// A kind of write, or a check. In an HTTP request, a replace differs from an insert-or-replace only by its `If-Match` header (UPS-1).
///
/// ```
/// use table_core::row::RowWriter;
/// use table_core::{IfMatch, OperationKind};
///
/// let row = RowWriter::new().finish();
/// assert_eq!(OperationKind::Insert(row.clone()).name(), "insert");
/// assert!(OperationKind::Replace(row, IfMatch::Any) != OperationKind::Delete(IfMatch::Any));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Inserts the entity, which must not exist (INS-1).
    Insert(Row),
    /// Replaces an existing entity. Stored properties that are absent from the row are removed (UPD-1).
    Replace(Row, IfMatch),
    /// Merges the row into an existing entity. Stored properties that are absent from the row are kept (MRG-1).
    Merge(Row, IfMatch),
    /// Inserts the entity, or replaces it if it already exists (UPS-2).
    InsertOrReplace(Row),
    /// Inserts the entity, or merges the row into it if it already exists (UPS-2).
    InsertOrMerge(Row),
    /// Deletes an existing entity (DEL-2).
    Delete(IfMatch),
    /// Requires the entity to be in this state at commit time. The entity is not written and keeps its version. Only stores with
    /// [`Capabilities::checks`](crate::store::Capabilities::checks) accept checks (ENG-21).
    Check(RowState),
}

impl OperationKind {
    /// Returns the operation's name, as used in messages, spans and plans.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Insert(_) => "insert",
            Self::Replace(..) => "replace",
            Self::Merge(..) => "merge",
            Self::InsertOrReplace(_) => "insert-or-replace",
            Self::InsertOrMerge(_) => "insert-or-merge",
            Self::Delete(_) => "delete",
            Self::Check(_) => "check",
        }
    }

    /// Returns `true` if the operation can create an entity.
    pub(crate) const fn may_create(&self) -> bool {
        matches!(self, Self::Insert(_) | Self::InsertOrReplace(_) | Self::InsertOrMerge(_))
    }

    /// Returns `true` if the operation replaces an entity whatever its version is. Such a replace also removes properties that another program has just
    /// written.
    ///
    /// ```
    /// use table_core::row::RowWriter;
    /// use table_core::{ETag, IfMatch, OperationKind};
    ///
    /// let row = || RowWriter::new().finish();
    /// assert!(OperationKind::InsertOrReplace(row()).replaces_unconditionally());
    /// assert!(!OperationKind::Replace(row(), IfMatch::ETag(ETag::from_ticks(7))).replaces_unconditionally());
    /// ```
    #[must_use]
    pub const fn replaces_unconditionally(&self) -> bool {
        matches!(self, Self::InsertOrReplace(_) | Self::Replace(_, IfMatch::Any))
    }

    /// Returns the row to write, or `None` for a delete or a check.
    #[must_use]
    pub const fn row(&self) -> Option<&Row> {
        match self {
            Self::Insert(row)
            | Self::Replace(row, _)
            | Self::Merge(row, _)
            | Self::InsertOrReplace(row)
            | Self::InsertOrMerge(row) => Some(row),
            Self::Delete(_) | Self::Check(_) => None,
        }
    }
}
