//! State shared by the handles, snapshots and threads of an engine.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::{ArcSwap, Guard};
use table_store::{Error, Result};

use crate::fault::EngineFault;
use crate::gaps::FoundGap;
use crate::state::State;
use crate::statistics::Groups;

/// The published state of an engine, and the reason why writing has stopped.
pub(crate) struct Shared {
    /// IMPORTANT: the end of an engine is published as a state, not as a flag. One load returns both the state and whether the engine is open, so no
    /// reader mistakes the empty state of a closed engine for its content.
    state: ArcSwap<State>,
    failure: OnceLock<Error>,
    read_only: bool,
    /// The last gap that a scan found and the committer has not taken yet.
    gap: Mutex<Option<FoundGap>>,
    /// Counters of the commit groups.
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

    /// Creates the state of an engine that refuses writes.
    pub(crate) fn read_only(state: State) -> Self {
        Self { read_only: true, ..Self::new(state) }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns the published state, or `None` if it is withdrawn.
    ///
    /// # Errors
    /// `EngineClosed` if the engine was closed.
    pub(crate) fn published(&self) -> Result<Option<Guard<Arc<State>>>> {
        let state = self.state.load();
        if state.is_closed { Err(closed()) } else { Ok(Some(state).filter(|state| !state.is_withdrawn)) }
    }

    /// Publishes a state to readers. Called only by the committer.
    pub(crate) fn publish(&self, state: impl Into<Arc<State>>) {
        self.state.store(state.into());
    }

    /// Stores a gap for the committer. Returns `true` if it replaced an earlier gap that the committer had not taken.
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

    /// Returns the outcome of a read that started while the engine was open. If the read failed and the engine was closed meanwhile, the error is
    /// `EngineClosed`, because the next engine on the folder may have removed the files.
    pub(crate) fn after_read<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.or_else(|error| self.check_open().and(Err(error)))
    }

    /// Ends reads and writes, and releases the base.
    pub(crate) fn close(&self) {
        self.publish(State::closed());
    }

    /// Ends writes with `cause`, and logs it. Reads continue, because all published writes are durable.
    pub(crate) fn poison(&self, cause: &Error) {
        self.end_writes(cause);
        log_poison(cause);
    }

    /// Ends writes with `cause`, without running code of the application.
    pub(crate) fn end_writes(&self, cause: &Error) {
        let _ = self.failure.set(Error::of(EngineFault::Poisoned(cause.clone())));
    }

    /// Returns an error if writes are no longer accepted.
    ///
    /// # Errors
    /// `EnginePoisoned` if a write failed, `EngineClosed` if the engine was closed, `ReadOnly` if it was opened for reading only.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.read_only {
            self.check_open()?;
            return Err(Error::of(EngineFault::ReadOnly));
        }
        self.check_open()?;
        self.failure.get().cloned().map_or(Ok(()), Err)
    }

    /// Returns the error for a request that the committer did not answer.
    pub(crate) fn gone(&self) -> Error {
        self.check_writable().err().unwrap_or_else(|| Error::of(EngineFault::WriterGone))
    }
}

/// Logs the error that ended the writes of an engine. A subscriber is code of the application, so no lock may be held.
pub(crate) fn log_poison(cause: &Error) {
    tracing::error!(target: "table_core::engine", error = %cause, "engine poisoned");
}

/// Returns the error of a closed engine.
pub(crate) fn closed() -> Error {
    Error::of(EngineFault::Closed)
}
