//! State shared by the engine's handles and threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::{ArcSwap, Guard};
use std::sync::Arc;

use crate::embedded::fault::EngineFault;
use crate::embedded::state::State;
use crate::embedded::statistics::Groups;
use crate::error::{Error, Result};

/// Shared between handles, committer and snapshots.
pub(crate) struct Shared {
    state: ArcSwap<State>,
    failure: OnceLock<Error>,
    closed: AtomicBool,
    read_only: bool,
    /// Counts what the committer does.
    pub(crate) groups: Groups,
}

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        let (failure, closed) = (OnceLock::new(), AtomicBool::new(false));
        Self {
            state: ArcSwap::from_pointee(state),
            failure,
            closed,
            read_only: false,
            groups: Groups::default(),
        }
    }

    /// Of an engine that nothing is written to.
    pub(crate) fn read_only(state: State) -> Self {
        Self { read_only: true, ..Self::new(state) }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The state as of now, without waiting.
    ///
    /// # Errors
    /// `EngineClosed`.
    pub(crate) fn state(&self) -> Result<Guard<Arc<State>>> {
        self.check_open()?;
        Ok(self.state.load())
    }

    /// The state as of now, to be kept.
    pub(crate) fn state_to_keep(&self) -> Result<Arc<State>> {
        self.check_open()?;
        Ok(self.state.load_full())
    }

    /// Lets readers see a state. The committer alone calls this.
    pub(crate) fn publish(&self, state: State) {
        self.state.store(Arc::new(state));
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::of(EngineFault::Closed));
        }
        Ok(())
    }

    /// Ends reading and writing, and lets go of the base.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.state.store(Arc::new(State::default()));
    }

    /// Ends writing, for this reason. Reading goes on: what is published is durable.
    pub(crate) fn poison(&self, cause: &Error) {
        let _ = self.failure.set(Error::of(EngineFault::Poisoned(cause.clone())));
        tracing::error!(target: "table_core::engine", error = %cause, "engine poisoned");
    }

    /// Whether writes are still accepted.
    ///
    /// # Errors
    /// `EnginePoisoned`, `EngineClosed`, `ReadOnly`.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.read_only {
            self.check_open()?;
            return Err(Error::of(EngineFault::ReadOnly));
        }
        if let Some(error) = self.failure.get() {
            return Err(error.clone());
        }
        self.check_open()
    }

    /// Why a request was not answered: the committer is gone.
    pub(crate) fn gone(&self) -> Error {
        self.check_writable().err().unwrap_or_else(|| Error::of(EngineFault::WriterGone))
    }
}
