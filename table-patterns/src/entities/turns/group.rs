//! The operations of several units of a partition, committed as one transaction (group commit).

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use table_core::error::Result;
use table_core::etag::{ETag, IfMatch};
use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::operation::{Operation, OperationKind, RowState};
use table_core::row::{self, Row};
use table_core::store::{Committed, StoredRow};

use crate::entities::plan::{ChangeRecord, RecordChanges, both, is_condition};
use crate::entities::turns::Turn;

/// Commits the operations of a group with its records.
pub(crate) type CommitGroup = Box<
    dyn FnOnce(Vec<Operation>, Vec<ChangeRecord>, Recorder) -> BoxFuture<'static, Result<Committed>> + Send,
>;

/// The recorder of changes, if any.
pub(crate) type Recorder = Option<Arc<dyn RecordChanges>>;

/// The outcome of a group: the version of each row, with the number of its last writer.
pub(crate) type GroupOutcome = Result<Arc<HashMap<RowKey, (u64, Option<ETag>)>>>;

/// Units whose operations are committed together. Each unit sees the rows of the units before it.
pub(crate) struct Group(Mutex<State>);

struct State {
    partition_key: PartitionKey,
    limits: Limits,
    rows: HashMap<RowKey, GroupRow>,
    /// The rows in the order of their first operation.
    order: Vec<RowKey>,
    /// Stored rows that units have read and not written.
    read: HashMap<RowKey, Option<StoredRow>>,
    records: Vec<ChangeRecord>,
    recorder: Recorder,
    bytes: usize,
    commit: Option<CommitGroup>,
    sealed: Option<Shared<BoxFuture<'static, GroupOutcome>>>,
    wakers: Vec<Waker>,
}

/// A row that units of the group write.
struct GroupRow {
    kind: OperationKind,
    seen: Seen,
    /// The number of the last write.
    writer: u64,
}

/// The content of a row for the units that follow.
#[derive(Clone)]
enum Seen {
    /// The row after the last write; `None` if it is deleted.
    Known(Option<StoredRow>),
    /// The stored row, on which only conditions were put.
    Stored,
    /// Unknown, because properties were merged into a row that was not read.
    Unknown,
}

/// The answer of a group to a read.
pub(crate) enum GroupRead {
    /// The row as left by the previous units.
    Found(Option<StoredRow>),
    /// The group has no information about the row, so it must be read from the store.
    Stored,
    /// The row can only be read once the group is committed.
    Unknown,
}

/// The operations that a unit has added, with the number of each write.
pub(crate) type Joined = Vec<(RowKey, u64)>;

impl Group {
    /// Opens a group.
    pub(crate) fn new(partition_key: PartitionKey, limits: Limits, commit: CommitGroup) -> Self {
        Self(Mutex::new(State {
            partition_key,
            limits,
            rows: HashMap::new(),
            order: Vec::new(),
            read: HashMap::new(),
            records: Vec::new(),
            recorder: None,
            bytes: 0,
            commit: Some(commit),
            sealed: None,
            wakers: Vec::new(),
        }))
    }

    /// Reads a row as the previous units have left it.
    pub(crate) fn read(&self, row_key: &RowKey) -> GroupRead {
        let state = self.lock();
        match state.rows.get(row_key).map(|row| &row.seen) {
            Some(Seen::Known(found)) => GroupRead::Found(found.clone()),
            Some(Seen::Unknown) => GroupRead::Unknown,
            Some(Seen::Stored) | None => {
                state.read.get(row_key).map_or(GroupRead::Stored, |found| GroupRead::Found(found.clone()))
            }
        }
    }

    /// Keeps a stored row for the units that follow.
    pub(crate) fn remember(&self, row_key: &RowKey, found: Option<&StoredRow>) {
        self.lock().read.insert(row_key.clone(), found.cloned());
    }

    /// Adds the operations of a unit, all or none; `None` if the group refuses them.
    pub(crate) fn join(
        &self,
        operations: &[Operation],
        records: Option<(&[ChangeRecord], &Arc<dyn RecordChanges>)>,
    ) -> Option<Joined> {
        let mut state = self.lock();
        let (mut rows, mut bytes, mut fresh) = (Vec::with_capacity(operations.len()), state.bytes, 0);
        for Operation { row_key, kind } in operations {
            let known = state.rows.get(row_key);
            let composed = match known {
                None => kind.clone(),
                Some(known) => compose(known, kind)?,
            };
            fresh += usize::from(known.is_none());
            bytes += state.limits.operation_bytes(state.partition_key.as_str(), row_key.as_str(), kind);
            let seen = seen_after(known.map(|known| &known.seen), state.read.get(row_key), kind)?;
            // A condition keeps the version of an earlier write.
            let writer = known.filter(|_| is_condition(kind)).map_or_else(next_number, |known| known.writer);
            rows.push((row_key.clone(), GroupRow { kind: composed, seen, writer }));
        }
        let before = state.records.len();
        if let Some((records, recorder)) = records {
            state.records.extend_from_slice(records);
            state.recorder.get_or_insert_with(|| Arc::clone(recorder));
        }
        let recorded = state.recorder.as_ref().map_or(0, |recorder| recorder.operations(&state.records));
        let count = state.order.len() + fresh + recorded;
        if count > state.limits.operations || bytes > state.limits.transaction_bytes {
            state.records.truncate(before);
            return None;
        }
        state.bytes = bytes;
        let mut joined = Vec::with_capacity(rows.len());
        for (row_key, row) in rows {
            joined.push((row_key.clone(), row.writer));
            if state.rows.insert(row_key.clone(), row).is_none() {
                state.order.push(row_key);
            }
        }
        Some(joined)
    }

    /// Closes the group. Its members then drive the commit. The turn is passed on at its end.
    pub(crate) fn seal(&self, turn: Option<Turn>) {
        let mut state = self.lock();
        let Some(commit) = state.commit.take() else { return };
        let keys = std::mem::take(&mut state.order);
        let mut rows = std::mem::take(&mut state.rows);
        let written: Vec<(RowKey, u64, OperationKind)> = keys
            .into_iter()
            .filter_map(|key| rows.remove(&key).map(|row| (key, row.writer, row.kind)))
            .collect();
        let numbers: Vec<(RowKey, u64)> =
            written.iter().map(|(key, number, _)| (key.clone(), *number)).collect();
        let operations = written.into_iter().map(|(row_key, _, kind)| Operation { row_key, kind }).collect();
        let (records, recorder) = (std::mem::take(&mut state.records), state.recorder.take());
        let committing = async move {
            let committed = commit(operations, records, recorder).await;
            drop(turn);
            let etags = committed?;
            let versions = numbers.into_iter().zip(etags).map(|((key, number), etag)| (key, (number, etag)));
            Ok(Arc::new(versions.collect()))
        };
        state.sealed = Some(committing.boxed().shared());
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits until the group has been committed.
    pub(crate) async fn outcome(&self) -> GroupOutcome {
        let sealed = poll_fn(|context| {
            let mut state = self.lock();
            if let Some(sealed) = state.sealed.clone() {
                return Poll::Ready(sealed);
            }
            state.wakers.push(context.waker().clone());
            Poll::Pending
        });
        sealed.await.await
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a number that is unique among the writes of the process.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns the version of a row that is not committed yet. No stored row has this version, so a write outside the group that is conditional on it is
/// refused.
fn provisional() -> Option<ETag> {
    ETag::parse(&format!("W/\"uncommitted-{}\"", next_number())).ok()
}

/// Returns the content of a row after a write; `None` if the write cannot be part of a group.
fn seen_after(before: Option<&Seen>, read: Option<&Option<StoredRow>>, kind: &OperationKind) -> Option<Seen> {
    let base = match before {
        Some(Seen::Known(found)) => Some(found.clone()),
        Some(Seen::Unknown) => None,
        Some(Seen::Stored) | None => read.cloned(),
    };
    let known = |row: Row| Some(Seen::Known(Some(StoredRow { row, etag: provisional()? })));
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

/// Combines the write of a row with the earlier writes of the group; `None` if one operation cannot express both.
fn compose(known: &GroupRow, kind: &OperationKind) -> Option<OperationKind> {
    use OperationKind::{Check, Delete, Insert, InsertOrMerge, InsertOrReplace, Merge, Replace};
    if is_condition(&known.kind) {
        return after_condition(&known.kind, kind);
    }
    // The condition of a later unit applies to the row that the earlier one left.
    let holds = |if_match: &IfMatch| match (if_match, &known.seen) {
        (IfMatch::Any, Seen::Known(Some(_)) | Seen::Unknown) => true,
        (IfMatch::ETag(etag), Seen::Known(Some(stored))) => *etag == stored.etag,
        _ => false,
    };
    match kind {
        Replace(_, if_match) | Merge(_, if_match) | Delete(if_match) if !holds(if_match) => return None,
        Check(RowState::Present(if_match)) => return holds(if_match).then(|| known.kind.clone()),
        Check(RowState::Absent) => return matches!(known.seen, Seen::Known(None)).then(|| known.kind.clone()),
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
    let first = match condition {
        Check(RowState::Present(first)) | Merge(_, first) => first,
        // An insert checks the absence of its row itself.
        _ => match kind {
            Insert(row) | InsertOrReplace(row) | InsertOrMerge(row) => return Some(Insert(row.clone())),
            _ => return None,
        },
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
