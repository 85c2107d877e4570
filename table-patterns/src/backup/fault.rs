//! The faults of backups in a store of blobs: prefixes that are empty, or hold something else.

use table_core::error::{ErrorCode, Fault};

/// A prefix that a backup cannot be written to or read from.
#[derive(Debug, thiserror::Error)]
pub(super) enum BackupFault {
    #[error("the prefix of a backup is empty: name one, so that other blobs are left alone")]
    EmptyPrefix,
    #[error("the prefix {0} holds something else: choose an empty one")]
    NotOurs(String),
    #[error("the prefix {0} holds no whole backup")]
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
