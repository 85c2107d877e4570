//! Fixes of past faults of the engine. With the feature `mutations` a test disables one to check that it finds the fault again.

/// A fix, described by the fault that returns without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mend {
    /// A request that is queued behind a close waits forever.
    AnswerAtClose,
    /// A panic of the checkpoint thread is not reported to the callers that wait for it.
    TellEndOfCheckpoints,
    /// A panic of a caller's waker ends all writing.
    ContainWakers,
    /// A group is visible and acknowledged before it is durable.
    SyncGroups,
    /// A value can look like a frame of the journal.
    SaltFrames,
    /// Damaged parts of a run are read as if they were intact.
    CheckParts,
    /// Recovery treats the frames of a failed sync as durable.
    RewriteUnsynced,
    /// Folders above the engine's are not durable.
    SyncParents,
    /// The entry of a journal file is not durable when frames are written to it.
    SyncJournalEntry,
    /// The header of a reused journal file is not durable when the file has its new name.
    SyncReused,
    /// A run is not durable when the base names it.
    SyncRuns,
    /// The base is not durable when the journal that it covers is deleted.
    SyncBase,
    /// A journal file is deleted that the base does not cover.
    KeepUncovered,
    /// A group on a full disk ends all writing.
    TakeBackGroups,
    /// A checkpoint on a full disk ends all writing.
    PutOffCheckpoints,
    /// A flush on a full disk ends all writing.
    RetryFlushes,
    /// Two versions of a row have the same Timestamp at the end of time.
    RefuseEndOfTime,
    /// A second engine opens the folder after `LOCK` has been removed.
    LockManifest,
    /// The root of a volume cannot be opened because of its `lost+found`.
    AllowLostAndFound,
    /// A scan continues in another table with the same name.
    EndScans,
    /// A file of a backup is not durable when the backup names it.
    SyncCopies,
    /// Files of the earlier backup are removed before the new one is durable.
    KeepEarlierBackup,
    /// A merge removes as many layers from a segment as it chose before the segment was cut, and verifies nothing.
    NameLayers,
    /// A row that is written between deleted ones is not found by scans.
    CutGaps,
    /// A scan reports a range as empty, and a row that was written there since is not found.
    CheckGaps,
}

impl Mend {
    /// All fixes.
    pub const ALL: [Self; 25] = [
        Self::AnswerAtClose,
        Self::TellEndOfCheckpoints,
        Self::ContainWakers,
        Self::SyncGroups,
        Self::SaltFrames,
        Self::CheckParts,
        Self::RewriteUnsynced,
        Self::SyncParents,
        Self::SyncJournalEntry,
        Self::SyncReused,
        Self::SyncRuns,
        Self::SyncBase,
        Self::KeepUncovered,
        Self::TakeBackGroups,
        Self::PutOffCheckpoints,
        Self::RetryFlushes,
        Self::RefuseEndOfTime,
        Self::LockManifest,
        Self::AllowLostAndFound,
        Self::EndScans,
        Self::SyncCopies,
        Self::KeepEarlierBackup,
        Self::NameLayers,
        Self::CutGaps,
        Self::CheckGaps,
    ];

    /// Returns `true`: every fix is enabled.
    #[cfg(not(feature = "mutations"))]
    pub(crate) const fn is_in(self) -> bool {
        let _ = self;
        true
    }

    /// Returns `true` if the fix is enabled for the current thread.
    #[cfg(feature = "mutations")]
    pub(crate) fn is_in(self) -> bool {
        switch::OUT.get() != Some(self)
    }
}

#[cfg(feature = "mutations")]
pub use switch::take_out;

#[cfg(feature = "mutations")]
mod switch {
    use std::cell::Cell;

    use super::Mend;

    thread_local! {
        pub(super) static OUT: Cell<Option<Mend>> = const { Cell::new(None) };
    }

    /// Disables a fix for the current thread, or enables all.
    pub fn take_out(mend: Option<Mend>) {
        OUT.set(mend);
    }
}
