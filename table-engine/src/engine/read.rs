//! Returns the state that reads of an engine use.

use std::sync::Arc;

use arc_swap::Guard;
use table_store::Result;

use super::Inner;
use crate::state::State;

impl Inner {
    /// Returns the current state for one read.
    ///
    /// # Errors
    /// - `EngineClosed` if the engine is closed.
    /// - `EngineClosed` if the process of an in-memory engine was forked while another thread held the committer's lock.
    /// - `EnginePoisoned` if an incomplete write left no state to read.
    pub(crate) fn state(&self) -> Result<Guard<Arc<State>>> {
        match (self.shared.published()?, &self.direct) {
            (Some(state), _) => Ok(state),
            (None, Some(direct)) => direct.state(|| self.check_process()).map(Guard::from_inner),
            // This case does not occur, because only a committer that runs on its callers' threads (`direct`) withdraws the published state.
            (None, None) => Err(self.shared.gone()),
        }
    }

    /// Returns the current state for several reads.
    ///
    /// # Errors
    /// Any error from [`state`](Self::state).
    pub(crate) fn state_to_keep(&self) -> Result<Arc<State>> {
        self.state().map(Guard::into_inner)
    }
}
