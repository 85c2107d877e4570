//! Disk errors: the task that failed, and the cause reported by the system.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use table_store::{Error, ErrorCode, Fault};

/// A task that uses the disk, as described in error messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Task {
    #[error("the folder {0} cannot be opened")]
    OpenFolder(PathBuf),
    #[error("the folder {0} cannot be read")]
    ReadFolder(PathBuf),
    #[error("the folder {0} cannot be created")]
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
    #[error("the reserved disk space cannot be maintained")]
    KeepReserve,
    #[error("the end of the journal cannot be truncated")]
    CutJournal,
    #[error("the end of the journal cannot be repaired")]
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
    /// Returns the `Io` error for a task that may have been partly completed.
    pub(crate) fn failed(self, source: io::Error) -> Error {
        Error::of(DiskFault::Failed { task: self, source })
    }

    /// Returns the error for a task that had no effect. The code is `DiskFull` if the disk is full, `ServerBusy` if file descriptors or memory ran out, and
    /// `Io` for any other cause.
    ///
    /// Do not use this function for a sync. A sync that fails on a full disk may have had an effect.
    pub(crate) fn refused(self, source: io::Error) -> Error {
        if is_full(&source) {
            Error::of(DiskFault::Full { task: self, source })
        } else if is_exhausted(&source) {
            Error::of(DiskFault::Exhausted { task: self, source })
        } else {
            self.failed(source)
        }
    }
}

/// Returns `true` if the disk or a quota was full, or if the file reached the maximum size allowed by the system or by the process's limit.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// Returns `true` if the process or the system had no file descriptor or memory left, which is a temporary condition.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    // `io::ErrorKind` has no stable kinds for these errors.
    #[cfg(unix)]
    let descriptors = {
        use rustix::io::Errno;
        matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM))
    };
    #[cfg(not(unix))]
    let descriptors = error.raw_os_error() == Some(TOO_MANY_OPEN_FILES);
    descriptors || error.kind() == ErrorKind::OutOfMemory
}

/// The Windows error code `ERROR_TOO_MANY_OPEN_FILES`.
#[cfg(not(unix))]
const TOO_MANY_OPEN_FILES: i32 = 4;

/// Returns `true` if an error from [`Task::refused`] reports a lack of disk space, file descriptors or memory. The task had no effect. It may succeed later.
pub(crate) fn is_shortage(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::DiskFull | ErrorCode::ServerBusy)
}

/// An error from a disk task.
#[derive(Debug, thiserror::Error, Fault)]
enum DiskFault {
    #[error("{task}")]
    #[fault(Io)]
    Failed { task: Task, source: io::Error },
    #[error(
        "{task}: the disk is full and nothing was written; make room, for example by deleting a table, and retry"
    )]
    #[fault(DiskFull)]
    Full { task: Task, source: io::Error },
    #[error(
        "{task}: the process has no free file descriptor or memory; nothing was written; retry later or raise the limit"
    )]
    #[fault(ServerBusy)]
    Exhausted { task: Task, source: io::Error },
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

    #[cfg(unix)]
    #[test]
    fn running_out_of_descriptors_is_a_shortage() {
        for errno in [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE] {
            let error = Task::CreateRun.refused(errno.into());
            assert!(is_shortage(&error) && error.is_throttled(), "{error}");
        }
        assert!(!is_shortage(&Task::CreateRun.refused(rustix::io::Errno::IO.into())));
    }
}
