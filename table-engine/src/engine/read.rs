//! The state that reads of an engine see.

use std::sync::Arc;

use arc_swap::Guard;
use table_store::Result;

use super::Inner;
use crate::state::State;

impl Inner {
    /// Returns the current state for one read.
    ///
    /// # Errors
    /// `EngineClosed` if the engine was closed; `EnginePoisoned` if an incomplete write left no state to read. In memory, a process that was
    /// forked from the engine's process also gets `EngineClosed`.
    pub(crate) fn state(&self) -> Result<Guard<Arc<State>>> {
        match (self.shared.published()?, &self.direct) {
            (Some(state), _) => Ok(state),
            (None, Some(direct)) => {
                // The process may have been forked while a thread, which only the parent runs, held the committer.
                self.check_process()?;
                direct.state().map(Guard::from_inner)
            }
            // Only a committer that its callers run withdraws the state.
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
