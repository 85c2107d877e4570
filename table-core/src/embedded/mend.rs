//! Mends of faults the engine once had. With the feature `mutations` a test takes one out, to see that it finds the fault again.

/// A mend, by the fault that comes back without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mend {
    /// A request that is queued behind a close waits for ever.
    AnswerAtClose,
    /// A panic of the checkpoint thread reaches none of the callers that wait for it.
    TellEndOfCheckpoints,
    /// A caller's waker that panics ends the writing of all.
    ContainWakers,
    /// A group is seen, and acknowledged, before it is durable.
    SyncGroups,
    /// A value can look like a frame of the journal.
    SaltFrames,
    /// What is broken in a run is read as if it were whole.
    CheckParts,
    /// Recovery takes what a failed sync left for written.
    RewriteUnsynced,
    /// Folders above the engine's are not durable.
    SyncParents,
    /// The entry of a journal file is not durable when frames are written to it.
    SyncJournalEntry,
    /// The header of a journal file that is used again is not durable when the file has its new name.
    SyncReused,
    /// A run is not durable when the base names it.
    SyncRuns,
    /// The base is not durable when the journal that it covers is deleted.
    SyncBase,
    /// A journal file is deleted that the base does not cover.
    KeepUncovered,
    /// A group that finds no room ends writing.
    TakeBackGroups,
    /// A checkpoint that finds no room ends writing.
    PutOffCheckpoints,
    /// A flush that finds no room ends writing.
    RetryFlushes,
    /// Two versions of a row are the same at the end of time.
    RefuseEndOfTime,
    /// A second engine opens the folder once `LOCK` has been removed.
    LockManifest,
    /// The root of a volume is not opened for its `lost+found`.
    AllowLostAndFound,
    /// A scan goes on in another table of the same name.
    EndScans,
    /// A file of a backup is not durable when the backup names it.
    SyncCopies,
    /// Files of the earlier backup are removed before the new one is durable.
    KeepEarlierBackup,
    /// A merge takes as many layers out of a segment as it chose before the segment was cut, and proves nothing.
    NameLayers,
}

impl Mend {
    /// All of them.
    pub const ALL: [Self; 23] = [
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
    ];

    /// Whether it is in.
    #[cfg(not(feature = "mutations"))]
    pub(crate) const fn is_in(self) -> bool {
        let _ = self;
        true
    }

    /// Whether it is in, for the present thread.
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

    /// Takes a mend out for the present thread, or puts all back.
    pub fn take_out(mend: Option<Mend>) {
        OUT.set(mend);
    }
}
