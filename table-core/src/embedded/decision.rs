//! Decisions: transactions computed from the latest state by the committer.
//!
//! A conditional transaction rests on what its caller read before, and fails where that has changed since. Many callers that
//! want the same row, as receivers of a queue do, would all but one fail. A decision is taken by the committer itself: it
//! always rests on the latest state, and what it writes is one ordinary frame of the journal.

use std::fmt;

use futures_channel::oneshot::Sender;

use crate::embedded::front::Front;
use crate::embedded::journal::frame::Change;
use crate::embedded::key::Key;
use crate::embedded::state::State;
use crate::error::{Error, Result};
use crate::row::Row;

/// What a decision rests on, and what it has decided so far.
pub(crate) struct Ground<'a> {
    pub(crate) state: &'a State,
    /// The id of the table.
    pub(crate) table: u32,
    /// The present instant by the engine's steady clock; never before that of an earlier decision.
    pub(crate) now: u64,
    /// The Timestamp of what is written: no other transaction has it. Never before `now`, so that the steady clock of the next
    /// engine on this folder goes on from there.
    pub(crate) ticks: u64,
    /// The place before which no row is left to be found.
    pub(crate) front: Front,
    changes: Vec<Change>,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(state: &'a State, table: u32, (now, ticks): (u64, u64)) -> Self {
        let front = state.front(table);
        Self { state, table, now, ticks, front, changes: Vec::new() }
    }

    /// Moves the front to a later place, which a reader found on a state before this one.
    pub(crate) fn pass(&mut self, front: Front) {
        self.front = self.front.max(front);
    }

    /// Puts a row. All keys of a decision are of one partition.
    pub(crate) fn put(&mut self, key: Key, row: Row) {
        self.changes.push(Change { key, row: Some(row.with_timestamp(self.ticks)) });
    }

    /// Deletes a row.
    pub(crate) fn delete(&mut self, key: Key) {
        self.changes.push(Change { key, row: None });
    }

    pub(crate) fn into_decided(self) -> Decided {
        Decided { ticks: self.ticks, changes: self.changes, front: self.front }
    }
}

/// The outcome of a decision.
pub(crate) struct Decided {
    pub(crate) ticks: u64,
    pub(crate) changes: Vec<Change>,
    pub(crate) front: Front,
}

/// The effect of a decision on the room of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It may add data.
    Grows,
    /// It deletes, or replaces by no more.
    Frees,
}

/// A decision with a caller who waits for it.
pub(crate) trait Decision: Send {
    /// Takes it. An error writes nothing.
    fn decide(&mut self, ground: &mut Ground<'_>) -> Result<()>;

    /// Returns `true` if the decision frees room.
    fn frees(&self) -> bool;

    /// Keeps an error for the caller.
    fn refuse(&mut self, error: Error);

    /// Tells the caller the outcome, or the failure of the whole group instead.
    fn answer(self: Box<Self>, failure: Option<&Error>);
}

impl fmt::Debug for dyn Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decision")
    }
}

/// The decision that a closure takes.
pub(crate) struct Decide<F, T> {
    effect: Effect,
    take: Option<F>,
    outcome: Option<Result<T>>,
    to: Sender<Result<T>>,
}

impl<F, T> Decide<F, T> {
    pub(crate) const fn new(effect: Effect, take: F, to: Sender<Result<T>>) -> Self {
        Self { effect, take: Some(take), outcome: None, to }
    }
}

impl<T: Send, F: FnOnce(&mut Ground<'_>) -> Result<T> + Send> Decision for Decide<F, T> {
    fn decide(&mut self, ground: &mut Ground<'_>) -> Result<()> {
        if let Some(take) = self.take.take() {
            self.outcome = Some(Ok(take(ground)?));
        }
        Ok(())
    }

    fn frees(&self) -> bool {
        self.effect == Effect::Frees
    }

    fn refuse(&mut self, error: Error) {
        self.outcome = Some(Err(error));
    }

    fn answer(self: Box<Self>, failure: Option<&Error>) {
        let outcome = failure.map(|error| Err(error.clone())).or(self.outcome);
        // A caller that has gone away is not an error; one without an answer sees the channel closed.
        if let Some(outcome) = outcome {
            let _ = self.to.send(outcome);
        }
    }
}
