//! Fixes of past faults of the engine. With the feature `mutations` a test disables one to check that it finds the fault again.

/// A fix. Each variant describes the fault that returns if the fix is disabled.
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
    /// Parent folders of the engine's folder are not durable.
    SyncParents,
    /// The directory entry of a journal file is not durable when frames are written to it.
    SyncJournalEntry,
    /// The header of a reused journal file is not durable when the file has its new name.
    SyncReused,
    /// A run is not durable when the base refers to it.
    SyncRuns,
    /// The base is not durable when the journal that it covers is deleted.
    SyncBase,
    /// A journal file that the base does not cover is deleted.
    KeepUncovered,
    /// A group that does not fit on a full disk ends all writing.
    TakeBackGroups,
    /// A checkpoint on a full disk ends all writing.
    PutOffCheckpoints,
    /// A flush on a full disk ends all writing.
    RetryFlushes,
    /// Two versions of a row have the same Timestamp at the end of time.
    RefuseEndOfTime,
    /// A second engine can open the folder after `LOCK` has been removed.
    LockManifest,
    /// The root of a volume cannot be opened because of its `lost+found`.
    AllowLostAndFound,
    /// A scan continues in another table that has the same name.
    EndScans,
    /// A file of a backup is not durable when the backup refers to it.
    SyncCopies,
    /// Files of the earlier backup are removed before the new one is durable.
    KeepEarlierBackup,
    /// A merge removes the number of layers that it chose before the segment was cut, without verifying which layers these are.
    NameLayers,
    /// Scans do not find a row that is written between deleted ones.
    CutGaps,
    /// A scan reports a range as empty, and later scans do not find a row that was written there in the meantime.
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

    /// Returns `true` unless the fix is disabled for the current thread.
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

    /// Disables a fix for the current thread, or enables all fixes.
    pub fn take_out(mend: Option<Mend>) {
        OUT.set(mend);
    }
}
