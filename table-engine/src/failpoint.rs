//! Failpoints: steps at which tests can make the engine fail or panic.

use std::fmt;
use std::sync::Arc;

use table_store::{Error, Fault, Result};

/// A step that the engine is about to perform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Step {
    /// Write a group's frames to the journal.
    JournalWrite,
    /// Sync the journal file.
    JournalSync,
    /// Publish a group to readers.
    Publish,
    /// Respond to the writers of a group.
    Acknowledge,
    /// Create the next journal file.
    JournalCreate,
    /// Start a checkpoint. The memtable is frozen, and the journal is rotated.
    Freeze,
    /// Write frozen rows as new runs of the base.
    CheckpointWrite,
    /// Record the version of the base with the new runs.
    CheckpointCommit,
    /// Publish the base that contains the checkpoint.
    CheckpointPublish,
    /// Delete a journal file whose rows are all in the base.
    JournalDelete,
    /// Write the result of a merge step.
    MergeWrite,
    /// Record the version of the base with the merged runs.
    MergeCommit,
    /// Delete a run that is no longer needed, because it was merged or because its tables were dropped.
    RunDelete,
}

impl Step {
    /// All steps, in declaration order.
    #[cfg(any(test, feature = "testing"))]
    pub const ALL: [Self; 13] = [
        Self::JournalWrite,
        Self::JournalSync,
        Self::Publish,
        Self::Acknowledge,
        Self::JournalCreate,
        Self::Freeze,
        Self::CheckpointWrite,
        Self::CheckpointCommit,
        Self::CheckpointPublish,
        Self::JournalDelete,
        Self::MergeWrite,
        Self::MergeCommit,
        Self::RunDelete,
    ];
}

/// The action that a hook chooses for a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Perform the step as usual.
    #[default]
    Continue,
    /// Fail as if the disk had failed, which poisons the engine.
    Fail,
}

/// A hook called before every step.
#[derive(Clone)]
pub struct Hook(Arc<dyn Fn(Step) -> Action + Send + Sync>);

impl Hook {
    /// Creates a hook from a closure. The closure runs on the engine's threads and must not wait for the engine.
    #[cfg(any(test, feature = "testing"))]
    pub fn new(ask: impl Fn(Step) -> Action + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// The error returned when a hook makes a step fail.
#[derive(Debug, thiserror::Error, Fault)]
#[error("failpoint at {0:?}")]
#[fault(Io)]
struct Stopped(Step);

/// Calls the hook for a step, if a hook is set.
pub(crate) fn reach(hook: Option<&Hook>, step: Step) -> Result<()> {
    match hook {
        Some(hook) if (hook.0)(step) == Action::Fail => Err(Error::of(Stopped(step))),
        _ => Ok(()),
    }
}
