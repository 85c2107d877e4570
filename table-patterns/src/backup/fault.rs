//! Errors of backups to a blob store.

use table_core::Fault;

/// An error returned when a prefix cannot be used for a backup.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum BackupFault {
    #[error("the prefix of a backup must not be empty; choose one that only this backup uses")]
    #[fault(InvalidInput)]
    EmptyPrefix,
    #[error("the prefix {0} contains other blobs; choose an empty prefix")]
    #[fault(FolderNotOurs)]
    NotOurs(String),
    #[error("the prefix {0} contains no complete backup")]
    #[fault(FolderNotOurs)]
    NoBackup(String),
}
