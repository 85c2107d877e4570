//! State shared by the handles, snapshots and threads of an engine.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::{ArcSwap, Guard};
use table_store::{Error, Result};

use crate::event::event;
use crate::fault::EngineFault;
use crate::gaps::FoundGap;
use crate::state::State;
use crate::statistics::Groups;

/// The published state of an engine. If writes are no longer possible, it also contains the reason.
pub(crate) struct Shared {
    /// IMPORTANT: the flag that marks a closed engine is part of the published state. A single load then returns both the state and the flag, so no reader
    /// mistakes the empty state of a closed engine for the engine's content.
    state: ArcSwap<State>,
    failure: OnceLock<Error>,
    read_only: bool,
    /// The last gap (a key range without rows) that a scan has found. It is `None` if the committer has taken the gap.
    gap: Mutex<Option<FoundGap>>,
    /// Counters of committed groups of writes.
    pub(crate) groups: Groups,
}

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: ArcSwap::from_pointee(state),
            failure: OnceLock::new(),
            read_only: false,
            gap: Mutex::new(None),
            groups: Groups::default(),
        }
    }

    /// Creates the shared state of a read-only engine.
    pub(crate) fn read_only(state: State) -> Self {
        Self { read_only: true, ..Self::new(state) }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns the published state, or `None` if it is withdrawn.
    ///
    /// # Errors
    /// `EngineClosed` if the engine is closed.
    pub(crate) fn published(&self) -> Result<Option<Guard<Arc<State>>>> {
        let state = self.state.load();
        if state.is_closed { Err(closed()) } else { Ok(Some(state).filter(|state| !state.is_withdrawn)) }
    }

    /// Publishes a state to readers. Only the committer calls this function.
    pub(crate) fn publish(&self, state: impl Into<Arc<State>>) {
        self.state.store(state.into());
    }

    /// Stores a gap for the committer. Returns `true` if it replaced an earlier gap that the committer had not taken yet.
    pub(crate) fn leave_gap(&self, found: FoundGap) -> bool {
        self.gap.lock().unwrap_or_else(PoisonError::into_inner).replace(found).is_some()
    }

    /// Takes the gap that a reader has left for the committer, if any.
    pub(crate) fn take_gap(&self) -> Option<FoundGap> {
        self.gap.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns an error if the engine is closed.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.published().map(drop)
    }

    /// Returns the outcome of a read that started while the engine was open. If the read failed and the engine has been closed since, the error is
    /// `EngineClosed`. In that case, the read may have failed only because the next engine on the folder has removed the files.
    pub(crate) fn after_read<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.or_else(|error| self.check_open().and(Err(error)))
    }

    /// Makes all later reads and writes fail, and releases the base.
    pub(crate) fn close(&self) {
        self.publish(State::closed());
    }

    /// Makes all later writes fail with an `EnginePoisoned` error that contains `cause`, and logs `cause`. Reads can continue, because every published write is
    /// durable.
    pub(crate) fn poison(&self, cause: &Error) {
        self.end_writes(cause);
        log_poison(cause);
    }

    /// Makes all later writes fail with `EnginePoisoned`. This function runs no application code.
    pub(crate) fn end_writes(&self, cause: &Error) {
        let _ = self.failure.set(Error::of(EngineFault::Poisoned(cause.clone())));
    }

    /// Returns an error if writes are no longer accepted.
    ///
    /// # Errors
    /// - `EnginePoisoned` if an earlier failure stopped all writes.
    /// - `EngineClosed` if the engine is closed.
    /// - `ReadOnly` if it was opened for reading only.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.read_only {
            self.check_open()?;
            return Err(Error::of(EngineFault::ReadOnly));
        }
        self.check_open()?;
        self.failure.get().cloned().map_or(Ok(()), Err)
    }

    /// Returns the error for a request that the committer did not answer. After a failure, this is `EnginePoisoned`, even if the engine has been closed since.
    /// The request may have been applied before the failure.
    pub(crate) fn gone(&self) -> Error {
        let failure = self.failure.get().cloned().map_or(Ok(()), Err);
        failure.and_then(|()| self.check_open()).err().unwrap_or_else(|| Error::of(EngineFault::WriterGone))
    }
}

/// Logs the error that stopped an engine's writes. The caller must hold no lock, because a log subscriber is application code.
pub(crate) fn log_poison(cause: &Error) {
    event!(error, error = %cause, "engine poisoned");
}

/// Returns the error for a call to a closed engine.
pub(crate) fn closed() -> Error {
    Error::of(EngineFault::Closed)
}
