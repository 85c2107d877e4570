//! Errors of backups in a blob store.

use table_core::error::{ErrorCode, Fault};

/// A prefix that cannot be used for a backup.
#[derive(Debug, thiserror::Error)]
pub(super) enum BackupFault {
    #[error("the prefix of a backup must not be empty; choose one that only this backup uses")]
    EmptyPrefix,
    #[error("the prefix {0} contains other blobs; choose an empty prefix")]
    NotOurs(String),
    #[error("the prefix {0} contains no complete backup")]
    NoBackup(String),
}

impl Fault for BackupFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let code = if matches!(self, Self::EmptyPrefix) {
            ErrorCode::InvalidInput
        } else {
            ErrorCode::FolderNotOurs
        };
        (code, None)
    }
}
