//! Group commit: the operations of several units in a partition are committed as one transaction.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::etag::ETag;
use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::operation::{Operation, OperationKind};
use table_core::store::{Committed, StoredRow};
use table_core::{Error, Result};

use crate::entities::fault::EntityFault;
use crate::entities::plan::{ChangeRecord, RecordChanges, is_condition};
use crate::entities::turns::Turn;
use crate::entities::turns::compose::{GroupRow, Seen, compose, next_number, seen_after};

/// A function that commits the operations of a group together with their records.
pub(crate) type CommitGroup = Box<
    dyn FnOnce(Vec<Operation>, Vec<ChangeRecord>, Recorder) -> BoxFuture<'static, Result<Committed>> + Send,
>;

/// The recorder of changes, if any.
pub(crate) type Recorder = Option<Arc<dyn RecordChanges>>;

/// The outcome of a group: the version of each row, with the number of its last writer.
pub(crate) type GroupOutcome = Result<Arc<HashMap<RowKey, (u64, Option<ETag>)>>>;

/// Units whose operations are committed together. Each unit sees the writes of the previous units.
pub(crate) struct Group(Mutex<State>);

struct State {
    partition_key: PartitionKey,
    limits: Limits,
    rows: HashMap<RowKey, GroupRow>,
    /// The rows in the order of their first operation.
    order: Vec<RowKey>,
    /// Stored rows that units have read but not written.
    read: HashMap<RowKey, Option<StoredRow>>,
    records: Vec<ChangeRecord>,
    recorder: Recorder,
    bytes: usize,
    commit: Option<CommitGroup>,
    /// The running commit, which any member drives.
    sealed: Option<BoxFuture<'static, GroupOutcome>>,
    outcome: Option<GroupOutcome>,
    wakers: Vec<Waker>,
}

/// The result of reading a row through a group of units.
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
    /// Creates an open group without operations.
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
            outcome: None,
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

    /// Keeps a stored row for the following units.
    pub(crate) fn remember(&self, row_key: &RowKey, found: Option<&StoredRow>) {
        self.lock().read.insert(row_key.clone(), found.cloned());
    }

    /// Adds all operations of a unit. Returns `None` and adds nothing if the group refuses them.
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

    /// Closes the group. Its members then drive the commit. The turn is passed on when the commit ends.
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
        state.sealed = Some(committing.boxed());
        // One member drives the commit. The other members are woken when the commit ends.
        let driver = state.wakers.pop();
        drop(state);
        driver.into_iter().for_each(Waker::wake);
    }

    /// Waits until the group has been committed.
    pub(crate) async fn outcome(&self) -> GroupOutcome {
        let mut member = Member { group: self, is_polling: false, is_done: false };
        poll_fn(|context| member.poll(context)).await
    }

    fn wake_all(&self) {
        let wakers = std::mem::take(&mut self.lock().wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A member that waits for the commit of its group.
struct Member<'a> {
    group: &'a Group,
    is_polling: bool,
    is_done: bool,
}

impl Member<'_> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<GroupOutcome> {
        let mut state = self.group.lock();
        if let Some(outcome) = state.outcome.clone() {
            self.is_done = true;
            return Poll::Ready(outcome);
        }
        if !state.wakers.iter().any(|known| known.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        let Some(mut commit) = state.sealed.take() else { return Poll::Pending };
        drop(state);
        self.is_polling = true;
        let polled = commit.poll_unpin(context);
        self.is_polling = false;
        let mut state = self.group.lock();
        match polled {
            Poll::Pending => state.sealed = Some(commit),
            Poll::Ready(outcome) => {
                state.outcome = Some(outcome.clone());
                drop(state);
                self.is_done = true;
                self.group.wake_all();
                return Poll::Ready(outcome);
            }
        }
        Poll::Pending
    }
}

impl Drop for Member<'_> {
    /// Lets another member drive the commit. After a panic in the store, the outcome of the commit is unknown.
    fn drop(&mut self) {
        if self.is_polling {
            let error = Error::of(EntityFault::CommitPanicked).into_ambiguous();
            self.group.lock().outcome = Some(Err(error));
        }
        if !self.is_done {
            self.group.wake_all();
        }
    }
}
