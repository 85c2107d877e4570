//! Group commit: the operations of several units of work in one partition are committed as a single transaction.

use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, select};
use table_core::etag::ETag;
use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::operation::{Operation, OperationKind};
use table_core::runtime::Runtime;
use table_core::store::{Committed, StoredRow};
use table_core::{Error, Result};

use crate::bounded_wait::Alarm;
use crate::entities::admission::AdmitWrites;
use crate::entities::fault::EntityFault;
use crate::entities::plan::is_condition;
use crate::entities::record::{ChangeRecord, RecordChanges};
use crate::entities::turns::compose::{GroupRow, Seen, compose, next_number, seen_after};
use crate::entities::turns::{TIMEOUT, Turn};
use crate::outbox::place::recorded_source;

/// A function that commits a group's operations and their change records together.
pub(crate) type CommitGroup = Box<
    dyn FnOnce(Vec<Operation>, Vec<ChangeRecord>, Recorder) -> BoxFuture<'static, Result<Committed>> + Send,
>;

/// The pattern that records changes, if any.
pub(crate) type Recorder = Option<Arc<dyn RecordChanges>>;

/// A unit of work's admission check. The flag is `true` if the unit removes properties unknown to this program.
pub(crate) type Admission = (Arc<dyn AdmitWrites>, bool);

/// The outcome of a group commit: for each row, the number of its last write and its new version.
pub(crate) type GroupOutcome = Result<Arc<HashMap<RowKey, (u64, Option<ETag>)>>>;

/// Units of work whose operations are committed together. Each unit sees the writes of the units before it.
///
/// A group is open until it is sealed, and remains sealed until its commit ends. The writer with the turn seals it, or the last writer in the queue, or a
/// member that has waited too long. Members do not wait indefinitely: the writer with the turn may be slow, may wait for one of them, or may never be polled
/// again. A sealed group accepts no operations, and its rows can be read only after the commit.
pub(crate) struct Group {
    state: Mutex<State>,
    timer: GroupTimer,
}

/// The timeout alarm shared by the waiting writers in all partitions, and the runtime that sets it.
pub(crate) type GroupTimer = (Arc<Alarm>, Runtime);

struct State {
    partition_key: PartitionKey,
    limits: Limits,
    rows: HashMap<RowKey, GroupRow>,
    /// The rows, in first-write order.
    order: Vec<RowKey>,
    /// Stored rows that units of work read but do not write.
    read: HashMap<RowKey, Option<StoredRow>>,
    /// The `RowKey`s of the entities for which members record steps, in the encoding used in the keys of outbox rows.
    sources: HashSet<String>,
    records: Vec<ChangeRecord>,
    recorder: Recorder,
    /// The members' admission checks. They are repeated when the group is committed, possibly long after a member has joined.
    admissions: Vec<Admission>,
    bytes: usize,
    /// The number of operations in the group's transaction.
    count: usize,
    /// The smallest number of operations that a member added to the transaction.
    smallest: Option<usize>,
    /// The function that commits the group; `None` once the group is sealed.
    commit: Option<CommitGroup>,
    /// The running commit. Any member can drive it.
    sealed: Option<BoxFuture<'static, GroupOutcome>>,
    outcome: Option<GroupOutcome>,
    wakers: Vec<Waker>,
    /// `true` once a member has waited too long. From then on, each wake-up of the commit wakes all members, because the member that drives the commit may
    /// never be polled again.
    is_late: bool,
    /// `true` if the commit woke all members while one of them was polling it. The others could not poll the commit then, so they must be woken again.
    is_woken: bool,
}

/// The result of reading a row through a group.
pub(crate) enum GroupRead {
    /// The row as the previous units of work left it.
    Found(Option<StoredRow>),
    /// The group has no information about the row, so it must be read from the store.
    Stored,
    /// The row cannot be read until the group has been committed.
    Unknown,
}

/// The operations that a unit of work has added. Contains the row key and the write number of each operation.
pub(crate) type Joined = Vec<(RowKey, u64)>;

impl Group {
    /// Creates an open group without operations.
    pub(crate) fn new(
        partition_key: PartitionKey,
        limits: Limits,
        timer: GroupTimer,
        commit: CommitGroup,
    ) -> Self {
        let state = State {
            partition_key,
            limits,
            rows: HashMap::new(),
            order: Vec::new(),
            read: HashMap::new(),
            sources: HashSet::new(),
            records: Vec::new(),
            recorder: None,
            admissions: Vec::new(),
            bytes: 0,
            count: 0,
            smallest: None,
            commit: Some(commit),
            sealed: None,
            outcome: None,
            wakers: Vec::new(),
            is_late: false,
            is_woken: false,
        };
        Self { state: Mutex::new(state), timer }
    }

    /// Reads a row as the previous units of work left it.
    pub(crate) fn read(&self, row_key: &RowKey) -> GroupRead {
        let state = self.lock();
        if state.commit.is_none() {
            return GroupRead::Unknown;
        }
        match state.rows.get(row_key).map(|row| &row.seen) {
            Some(Seen::Known(found)) => GroupRead::Found(found.clone()),
            Some(Seen::Unknown) => GroupRead::Unknown,
            Some(Seen::Stored) | None => {
                state.read.get(row_key).map_or(GroupRead::Stored, |found| GroupRead::Found(found.clone()))
            }
        }
    }

    /// Remembers a stored row. Subsequent units of work can then read it without a request.
    pub(crate) fn remember(&self, row_key: &RowKey, found: Option<&StoredRow>) {
        self.lock().read.insert(row_key.clone(), found.cloned());
    }

    /// Returns `true` if the transaction has no room even for a unit of work as small as the smallest member. Running another unit now would be useless,
    /// because it would have to run again after the commit.
    pub(crate) fn is_nearly_full(&self) -> bool {
        let state = self.lock();
        state.smallest.is_some_and(|smallest| state.count + smallest > state.limits.operations)
    }

    /// Adds all operations of a unit of work. If the group is sealed or refuses an operation, adds nothing and returns `None`.
    ///
    /// IMPORTANT: a group refuses steps for an entity if an earlier member already records steps for it. The version of a step is the Timestamp of its row, and
    /// all rows in one transaction have the same Timestamp. Workers could not tell the entity's later change from its earlier one.
    pub(crate) fn join(
        &self,
        operations: &[Operation],
        records: Option<(&[ChangeRecord], &Arc<dyn RecordChanges>)>,
        admission: Admission,
    ) -> Option<Joined> {
        let mut state = self.lock();
        state.commit.as_ref()?;
        let sources = operations.iter().filter_map(|operation| recorded_source(&operation.row_key));
        let sources: HashSet<_> = sources.map(str::to_owned).collect();
        if !sources.is_disjoint(&state.sources) {
            return None;
        }
        let now = self.timer.1.now();
        let (mut rows, mut bytes, mut fresh) = (Vec::with_capacity(operations.len()), state.bytes, 0);
        for Operation { row_key, kind } in operations {
            let known = state.rows.get(row_key);
            let composed = match known {
                None => kind.clone(),
                Some(known) => compose(known, kind)?,
            };
            fresh += usize::from(known.is_none());
            bytes += state.limits.operation_bytes(state.partition_key.as_str(), row_key.as_str(), kind);
            let before = known.map(|known| &known.seen);
            let seen = seen_after(before, state.read.get(row_key), kind, now)?;
            // A condition changes no properties, so the row keeps the number of the earlier write.
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
        let added = count.saturating_sub(state.count);
        state.smallest = Some(state.smallest.map_or(added, |smallest| smallest.min(added)));
        (state.bytes, state.count) = (bytes, count);
        state.sources.extend(sources);
        state.admissions.push(admission);
        let mut joined = Vec::with_capacity(rows.len());
        for (row_key, row) in rows {
            joined.push((row_key.clone(), row.writer));
            if state.rows.insert(row_key.clone(), row).is_none() {
                state.order.push(row_key);
            }
        }
        Some(joined)
    }

    /// Seals the group. Its members then drive the commit, and `turn` passes to the next writer when the commit ends.
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
        let admissions = std::mem::take(&mut state.admissions);
        let committing = async move {
            let committed = async {
                for (admission, is_whole) in admissions {
                    admission.admit_writes(is_whole).await?;
                }
                commit(operations, records, recorder).await
            };
            let committed = committed.await;
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

    /// Waits until the group has been committed. Seals the group if it is still open after the timeout.
    pub(crate) async fn outcome(self: &Arc<Self>) -> GroupOutcome {
        let mut member = Member { group: self, is_polling: false, is_done: false };
        let mut committed = poll_fn(|context| member.poll(context));
        let (alarm, runtime) = &self.timer;
        // The first alarm may have been set long before this wait began. The wait therefore ends only at the second alarm.
        for _ in 0..2 {
            if let Either::Left((outcome, _)) = select(&mut committed, alarm.next(runtime, TIMEOUT)).await {
                return outcome;
            }
        }
        self.lock().is_late = true;
        self.seal(None);
        committed.await
    }

    fn wake_all(&self) {
        let wakers = std::mem::take(&mut self.lock().wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes all members of a group. The commit future may own this waker, so the waker holds only a weak reference to the group.
struct WakeMembers(Weak<Group>);

impl Wake for WakeMembers {
    fn wake(self: Arc<Self>) {
        if let Some(group) = self.0.upgrade() {
            group.lock().is_woken = true;
            group.wake_all();
        }
    }
}

/// A member waiting for its group's commit.
struct Member<'a> {
    group: &'a Arc<Group>,
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
        let is_late = state.is_late;
        state.is_woken = false;
        drop(state);
        self.is_polling = true;
        let polled = if is_late {
            let all = Waker::from(Arc::new(WakeMembers(Arc::downgrade(self.group))));
            commit.poll_unpin(&mut Context::from_waker(&all))
        } else {
            commit.poll_unpin(context)
        };
        self.is_polling = false;
        let mut state = self.group.lock();
        match polled {
            Poll::Pending => {
                state.sealed = Some(commit);
                // While this member polled the commit, another member may have been woken or may have timed out.
                let is_missed = state.is_woken || state.is_late && !is_late;
                drop(state);
                if is_missed {
                    self.group.wake_all();
                }
            }
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
    /// Lets another member drive the commit. If this member was dropped while polling, the store has panicked and the outcome of the commit is unknown.
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
