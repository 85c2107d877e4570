//! Decisions: transactions that the committer computes from the latest state.
//!
//! A conditional transaction is based on data that its caller has read, and fails if the data has changed. If many callers compete for one row, all but one of
//! them fail. An example is the receivers of a queue.
//!
//! A decision avoids this, because the committer runs it, always on the latest state. It is recorded as an ordinary journal frame.

use std::fmt;

use futures_channel::oneshot::Sender;
use table_store::row::Row;
use table_store::{Error, Result};

use crate::front::{Front, Positions};
use crate::gaps::FoundGap;
use crate::journal::frame::Change;
use crate::key::Key;
use crate::state::State;

/// The input of a decision, and the changes it has made.
pub(crate) struct Ground<'a> {
    pub(crate) state: &'a State,
    /// The id of the table that the decision reads and writes.
    pub(crate) table: u32,
    /// The current time on the engine's steady clock. It is never earlier than the time of a previous decision.
    pub(crate) now: u64,
    /// The Timestamp of the written rows, which is unique to this transaction. It is never earlier than `now`.
    ///
    /// The steady clock of the next engine in this folder starts from the last Timestamp, so the decisions of that engine are never earlier than this one.
    pub(crate) ticks: u64,
    /// The positions in the queue's table where decisions start reading.
    pub(crate) positions: Positions,
    changes: Vec<Change>,
    /// The gap (a key range without rows) that the decision's last scan found, if any.
    gap: Option<FoundGap>,
    /// The error to return for decisions that add data, or `None` if they are accepted.
    refusal: Option<&'a Error>,
    /// `true` if the decision adds data.
    grows: bool,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(
        state: &'a State,
        table: u32,
        (now, ticks): (u64, u64),
        refusal: Option<&'a Error>,
    ) -> Self {
        let positions = state.positions(table);
        Self { state, table, now, ticks, positions, changes: Vec::new(), gap: None, refusal, grows: false }
    }

    /// Declares that the decision adds data. This is not required if the decision only deletes rows or replaces rows with rows that are not larger.
    ///
    /// # Errors
    /// `DiskFull` if such decisions are refused.
    pub(crate) fn grow(&mut self) -> Result<()> {
        self.grows = true;
        self.refusal.cloned().map_or(Ok(()), Err)
    }

    /// Advances the queue's head to `to`. The caller guarantees that no message remains between `from` and `to`. The head does not move if messages may remain
    /// before `from`.
    pub(crate) fn pass(&mut self, from: Front, to: Front) {
        if self.positions.front >= from {
            self.positions.front = self.positions.front.max(to);
        }
    }

    /// Reports a gap (a key range without rows) that a scan of the state has found. Later scans skip it.
    pub(crate) fn remember(&mut self, found: Option<FoundGap>) {
        self.gap = found.or_else(|| self.gap.take());
    }

    /// Inserts or replaces a row. All keys that a decision writes must be in one partition.
    pub(crate) fn put(&mut self, key: Key, row: Row) {
        self.changes.push(Change { key, row: Some(row.with_timestamp(self.ticks)) });
    }

    /// Deletes the row with the given key.
    pub(crate) fn delete(&mut self, key: Key) {
        self.changes.push(Change { key, row: None });
    }

    pub(crate) fn into_decided(self) -> Decided {
        Decided { ticks: self.ticks, changes: self.changes, positions: self.positions, gap: self.gap }
    }
}

/// The outcome of a decision.
pub(crate) struct Decided {
    pub(crate) ticks: u64,
    pub(crate) changes: Vec<Change>,
    pub(crate) positions: Positions,
    /// A gap found in the state before the changes.
    pub(crate) gap: Option<FoundGap>,
}

/// A write that depends on stored rows, and that the committer computes instead of the caller. The caller waits for the outcome.
pub(crate) trait Decision: Send {
    /// Computes the writes and records them in `ground`. If the function returns an error, nothing is written.
    fn decide(&mut self, ground: &mut Ground<'_>) -> Result<()>;

    /// Returns `true` if the decision has added data.
    fn grows(&self) -> bool;

    /// Stores the error to send to the caller.
    fn refuse(&mut self, error: Error);

    /// Sends the outcome to the caller. If the decision's group failed, `failure` is sent instead.
    fn answer(self: Box<Self>, failure: Option<&Error>);
}

impl fmt::Debug for dyn Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decision")
    }
}

/// A decision computed by a closure.
pub(crate) struct Decide<F, T> {
    take: Option<F>,
    grows: bool,
    outcome: Option<Result<T>>,
    to: Sender<Result<T>>,
}

impl<F, T> Decide<F, T> {
    pub(crate) const fn new(take: F, to: Sender<Result<T>>) -> Self {
        Self { take: Some(take), grows: false, outcome: None, to }
    }
}

impl<T: Send, F: FnOnce(&mut Ground<'_>) -> Result<T> + Send> Decision for Decide<F, T> {
    fn decide(&mut self, ground: &mut Ground<'_>) -> Result<()> {
        if let Some(take) = self.take.take() {
            let outcome = take(ground);
            self.grows = ground.grows;
            self.outcome = Some(Ok(outcome?));
        }
        Ok(())
    }

    fn grows(&self) -> bool {
        self.grows
    }

    fn refuse(&mut self, error: Error) {
        self.outcome = Some(Err(error));
    }

    fn answer(self: Box<Self>, failure: Option<&Error>) {
        let outcome = failure.map(|error| Err(error.clone())).or(self.outcome);
        // If the caller is no longer waiting, the outcome is discarded. Without an outcome, the caller finds the channel closed.
        if let Some(outcome) = outcome {
            let _ = self.to.send(outcome);
        }
    }
}
