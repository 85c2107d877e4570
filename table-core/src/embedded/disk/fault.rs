//! The faults of the disk: the task that failed, and the cause that the system gives.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use crate::error::{Error, ErrorCode, Fault};

/// A task that takes calls of the disk, as it reads in an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Task {
    #[error("the folder {0} cannot be opened")]
    OpenFolder(PathBuf),
    #[error("the folder {0} cannot be read")]
    ReadFolder(PathBuf),
    #[error("the folder {0} cannot be made")]
    MakeFolder(PathBuf),
    #[error("the folder {0} cannot be written")]
    WriteFolder(PathBuf),
    #[error("files that are no longer needed cannot be deleted")]
    DeleteFiles,
    #[error("{0} cannot be read")]
    ReadFile(PathBuf),
    #[error("{0} cannot be written")]
    WriteFile(PathBuf),
    #[error("journal file {0} cannot be read")]
    ReadJournal(PathBuf),
    #[error("the journal file cannot be created")]
    CreateJournal,
    #[error("the journal cannot be written")]
    WriteJournal,
    #[error("the journal cannot be synced")]
    SyncJournal,
    #[error("the end of the journal cannot be cut")]
    CutJournal,
    #[error("the end of the journal cannot be mended")]
    MendJournal,
    #[error("the base cannot be recorded")]
    RecordBase,
    #[error("the file of a run cannot be created")]
    CreateRun,
    #[error("a run cannot be written")]
    WriteRun,
    #[error("a run cannot be copied")]
    CopyRun,
    #[error("a run cannot be synced")]
    SyncRun,
    #[error("a run cannot be removed")]
    RemoveRun,
}

impl Task {
    /// The error of a task that failed for this cause.
    pub(crate) fn failed(self, source: io::Error) -> Error {
        Error::of(DiskFault::Failed { task: self, source })
    }

    /// As [`failed`](Self::failed), and `DiskFull` if there was no room, so that nothing was written. Not for a sync: one that found
    /// no room is a sync that failed.
    pub(crate) fn refused(self, source: io::Error) -> Error {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Error::of(DiskFault::Full { task: self, source })
            }
            _ => self.failed(source),
        }
    }
}

/// A task that was not done.
#[derive(Debug, thiserror::Error)]
enum DiskFault {
    #[error("{task}")]
    Failed { task: Task, source: io::Error },
    #[error("{task}; nothing was written: make room, and write again")]
    Full { task: Task, source: io::Error },
}

impl Fault for DiskFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        match self {
            Self::Failed { .. } => (ErrorCode::Io, None),
            Self::Full { .. } => (ErrorCode::DiskFull, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_printed_once_and_a_full_disk_has_its_own_code() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let error = Task::WriteJournal.refused(full());
        assert_eq!(error.code(), ErrorCode::DiskFull);
        assert_eq!(format!("{error:?}").matches(&full().to_string()).count(), 1);
        assert_eq!(Task::SyncJournal.failed(full()).code(), ErrorCode::Io);
    }
}
