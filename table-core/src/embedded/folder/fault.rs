//! The faults of folders: other content, use by another engine, or an unsupported format.

use std::path::PathBuf;

use crate::error::{ErrorCode, Fault};

/// A folder that cannot be opened or written to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderFault {
    #[error("the folder {0} contains no engine; nothing can be read")]
    NoEngine(PathBuf),
    #[error("the folder {0} contains only an incomplete backup; nothing can be read")]
    NothingToRead(PathBuf),
    #[error("the folder {0} contains no backup")]
    NoBackup(PathBuf),
    #[error("the folder {0} contains only an incomplete backup; run the backup again")]
    NothingToRestore(PathBuf),
    #[error("the folder {0} contains an engine or a backup; choose an empty folder")]
    NotEmpty(PathBuf),
    #[error("the folder {0} contains an engine; choose another folder")]
    Engine(PathBuf),
    #[error("the folder {0} contains an incomplete restore; empty it and restore again")]
    HalfRestored(PathBuf),
    #[error("the folder {0} contains other files; choose an empty folder")]
    NotOurs(PathBuf),
    #[error("the file {name} in the folder {folder} belongs to another program")]
    OthersManifest { folder: PathBuf, name: String },
    #[error("the folder {0} is a backup; restore it into another folder, or open it for reading")]
    Backup(PathBuf),
    #[error("another engine has {0} open; close it first")]
    Open(PathBuf),
    #[error("another backup is being written to {0}; wait until it ends")]
    BackupUnderWay(PathBuf),
    #[error("the file {name} of {folder} is damaged; restore it from a copy")]
    Broken { folder: PathBuf, name: String },
    #[error(
        "the folder {folder} is of format {version}; this version reads formats {first} to {last}; upgrade"
    )]
    TooNew { folder: PathBuf, version: u32, first: u32, last: u32 },
    #[error(
        "the folder {folder} is of format {version}, which no release has written; this version reads formats {first} to {last}: \
         copy the tables by a program of the version that wrote them"
    )]
    TooOld { folder: PathBuf, version: u32, first: u32, last: u32 },
}

impl Fault for FolderFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let code = match self {
            Self::NoEngine(_)
            | Self::NothingToRead(_)
            | Self::NoBackup(_)
            | Self::NothingToRestore(_)
            | Self::NotEmpty(_)
            | Self::Engine(_)
            | Self::HalfRestored(_)
            | Self::NotOurs(_)
            | Self::OthersManifest { .. } => ErrorCode::FolderNotOurs,
            Self::Backup(_) => ErrorCode::ReadOnly,
            Self::Open(_) | Self::BackupUnderWay(_) => ErrorCode::FolderLocked,
            Self::Broken { .. } => ErrorCode::Corrupted,
            Self::TooNew { .. } => ErrorCode::FormatTooNew,
            Self::TooOld { .. } => ErrorCode::FormatTooOld,
        };
        (code, None)
    }
}
