//! Publishes the state of an in-memory engine to readers.
//!
//! A published state shares its rows with the committer's state. The next write must then copy each map node on the path to its row, and increment the
//! reference counts of all rows in these nodes. That costs more than the write itself.
//!
//! If callers run the committer, the state is therefore published on demand. A write withdraws the published state, which means that it is replaced with a
//! placeholder. The next reader then obtains the current state from the committer.

use std::sync::Arc;

use table_store::Result;

use super::Committer;
use crate::state::State;

/// Determines when the committer's state is published to readers.
#[derive(Debug, Default)]
pub(super) struct Publication {
    /// `true` if the state is published when a reader requests it. `false` if it is published after each group.
    pub(super) on_demand: bool,
    /// `true` if the published state has been replaced with a placeholder.
    is_withdrawn: bool,
    /// `true` while a change to the state is incomplete.
    is_changing: bool,
}

impl Committer {
    /// Applies a change to the state. If the change panics, the state is never published again.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Self)) {
        self.withdraw();
        self.publication.is_changing = true;
        change(self);
        self.publication.is_changing = false;
    }

    /// Replaces the published state with a placeholder if states are published on demand. The committer's rows are then no longer shared.
    fn withdraw(&mut self) {
        if self.publication.on_demand && !self.publication.is_withdrawn {
            self.publication.is_withdrawn = true;
            self.shared.publish(State::withdrawn());
        }
    }

    /// Called after a group. Publishes the state, unless states are published on demand.
    pub(super) fn publish(&self) {
        if !self.publication.on_demand {
            self.shared.publish(self.state.clone());
        }
    }

    /// Publishes the state for a reader.
    ///
    /// # Errors
    /// `EnginePoisoned` if a change to the state is incomplete.
    pub(super) fn publish_on_demand(&mut self) -> Result<Arc<State>> {
        if self.publication.is_changing {
            return Err(self.shared.gone());
        }
        let state = Arc::new(self.state.clone());
        self.publication.is_withdrawn = false;
        self.shared.publish(Arc::clone(&state));
        Ok(state)
    }
}

#[cfg(test)]
mod tests;
