//! Combines the writes that several units of work make to one row into a single operation.

use std::sync::atomic::{AtomicU64, Ordering};

use table_core::etag::{ETag, IfMatch};
use table_core::operation::{OperationKind, RowState};
use table_core::row::{self, Row};
use table_core::store::StoredRow;

use crate::entities::plan::{both, is_condition};

/// A row that units of work in a group write.
pub(super) struct GroupRow {
    pub(super) kind: OperationKind,
    pub(super) seen: Seen,
    /// The number of the last write.
    pub(super) writer: u64,
}

/// A row's content as later units of work see it.
#[derive(Clone)]
pub(super) enum Seen {
    /// The row after the last write, or `None` if it is deleted.
    Known(Option<StoredRow>),
    /// The group only checks the row, so the stored row is current.
    Stored,
    /// The content is unknown, because properties were merged into a row that had not been read.
    Unknown,
}

/// Returns a number that is unique among all writes in this process.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns a placeholder version for an uncommitted row. No stored row ever has this version. The store therefore refuses a write outside the group that
/// requires it.
fn provisional() -> Option<ETag> {
    ETag::parse(&format!("W/\"uncommitted-{}\"", next_number())).ok()
}

/// Returns a row's content after a write at the time `now`. Returns `None` if the write cannot be part of a group. The row's provisional Timestamp is `now`, or
/// the Timestamp of the previous version if that is later. The commit sets the final Timestamp.
pub(super) fn seen_after(
    before: Option<&Seen>,
    read: Option<&Option<StoredRow>>,
    kind: &OperationKind,
    now: u64,
) -> Option<Seen> {
    let base = match before {
        Some(Seen::Known(found)) => Some(found.clone()),
        Some(Seen::Unknown) => None,
        Some(Seen::Stored) | None => read.cloned(),
    };
    let last = base.iter().flatten().map(|stored| stored.row.view().timestamp()).max();
    let written = last.map_or(now, |last| last.max(now));
    let known = |row: Row| {
        Some(Seen::Known(Some(StoredRow { row: row.with_timestamp(written), etag: provisional()? })))
    };
    match kind {
        kind if is_condition(kind) => Some(before.cloned().unwrap_or(Seen::Stored)),
        OperationKind::Insert(row) | OperationKind::Replace(row, _) | OperationKind::InsertOrReplace(row) => {
            known(row.clone())
        }
        OperationKind::Delete(_) | OperationKind::Check(_) => Some(Seen::Known(None)),
        OperationKind::Merge(row, _) | OperationKind::InsertOrMerge(row) => match base {
            Some(Some(stored)) => known(row::merge(stored.row.view(), row.view()).ok()?),
            Some(None) => known(row.clone()),
            None => Some(Seen::Unknown),
        },
    }
}

/// Combines a write with the group's earlier writes to the same row. Returns `None` if a single operation cannot express both.
pub(super) fn compose(known: &GroupRow, kind: &OperationKind) -> Option<OperationKind> {
    use OperationKind::{Check, Delete, Insert, InsertOrMerge, InsertOrReplace, Merge, Replace};
    if is_condition(&known.kind) {
        return after_condition(&known.kind, kind);
    }
    // The condition of a later unit of work applies to the row as the earlier unit left it.
    let holds = |if_match: &IfMatch| match (if_match, &known.seen) {
        (IfMatch::Any, Seen::Known(Some(_)) | Seen::Unknown) => true,
        (IfMatch::ETag(etag), Seen::Known(Some(stored))) => *etag == stored.etag,
        _ => false,
    };
    match kind {
        Replace(_, if_match) | Merge(_, if_match) | Delete(if_match) if !holds(if_match) => return None,
        Check(RowState::Present(if_match)) => return holds(if_match).then(|| known.kind.clone()),
        Check(RowState::Absent) => {
            return matches!(known.seen, Seen::Known(None)).then(|| known.kind.clone());
        }
        _ => {}
    }
    let merged = |row: &Row, more: &Row| row::merge(row.view(), more.view()).ok();
    Some(match (&known.kind, kind) {
        (Insert(_), Replace(row, _) | InsertOrReplace(row)) => Insert(row.clone()),
        (Insert(row), Merge(more, _) | InsertOrMerge(more)) => Insert(merged(row, more)?),
        (Replace(_, first) | Merge(_, first), Replace(row, _) | InsertOrReplace(row)) => {
            Replace(row.clone(), first.clone())
        }
        (Replace(row, first), Merge(more, _) | InsertOrMerge(more)) => {
            Replace(merged(row, more)?, first.clone())
        }
        (Merge(row, first), Merge(more, _) | InsertOrMerge(more)) => Merge(merged(row, more)?, first.clone()),
        (Replace(_, first) | Merge(_, first), Delete(_)) => Delete(first.clone()),
        (InsertOrReplace(_) | InsertOrMerge(_), Replace(row, _) | InsertOrReplace(row)) => {
            InsertOrReplace(row.clone())
        }
        (InsertOrReplace(row), Merge(more, _) | InsertOrMerge(more)) => InsertOrReplace(merged(row, more)?),
        (InsertOrMerge(row), Merge(more, _) | InsertOrMerge(more)) => InsertOrMerge(merged(row, more)?),
        (Delete(first), Insert(row) | InsertOrReplace(row)) => Replace(row.clone(), first.clone()),
        _ => return None,
    })
}

/// Combines a write with an earlier condition on the same row.
fn after_condition(condition: &OperationKind, kind: &OperationKind) -> Option<OperationKind> {
    use OperationKind::{Check, Delete, Insert, InsertOrMerge, InsertOrReplace, Merge, Replace};
    if is_condition(kind) {
        return both(condition, kind);
    }
    let (Check(RowState::Present(first)) | Merge(_, first)) = condition else {
        // An insert always checks that its row does not exist.
        return match kind {
            Insert(row) | InsertOrReplace(row) | InsertOrMerge(row) => Some(Insert(row.clone())),
            _ => None,
        };
    };
    let both = |then: &IfMatch| match (first, then) {
        (IfMatch::Any, then) => Some(then.clone()),
        (first, IfMatch::Any) => Some(first.clone()),
        (first, then) => (first == then).then(|| first.clone()),
    };
    Some(match kind {
        Replace(row, then) => Replace(row.clone(), both(then)?),
        Merge(row, then) => Merge(row.clone(), both(then)?),
        Delete(then) => Delete(both(then)?),
        InsertOrReplace(row) => Replace(row.clone(), first.clone()),
        InsertOrMerge(row) => Merge(row.clone(), first.clone()),
        Insert(_) | Check(_) => return None,
    })
}
