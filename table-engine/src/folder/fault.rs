//! Errors of folders: files of another program, use by another engine, or an unsupported format.

use std::path::PathBuf;

use table_store::Fault;

/// An error from opening or writing to a folder.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum FolderFault {
    #[error("the folder {0} contains no data of an engine; nothing can be read")]
    #[fault(FolderNotOurs)]
    NoEngine(PathBuf),
    #[error("the folder {0} contains only an incomplete backup; nothing can be read")]
    #[fault(FolderNotOurs)]
    NothingToRead(PathBuf),
    #[error("the folder {0} contains no backup")]
    #[fault(FolderNotOurs)]
    NoBackup(PathBuf),
    #[error("the folder {0} contains only an incomplete backup; run the backup again")]
    #[fault(FolderNotOurs)]
    NothingToRestore(PathBuf),
    #[error("the folder {0} contains an engine or a backup; choose an empty folder")]
    #[fault(FolderNotOurs)]
    NotEmpty(PathBuf),
    #[error("the folder {0} contains an engine; choose another folder")]
    #[fault(FolderNotOurs)]
    Engine(PathBuf),
    #[error("the folder {0} contains an incomplete restore; empty it and restore again")]
    #[fault(FolderNotOurs)]
    HalfRestored(PathBuf),
    #[error("the folder {0} contains other files; choose an empty folder")]
    #[fault(FolderNotOurs)]
    NotOurs(PathBuf),
    #[error("the file {name} in the folder {folder} belongs to another program")]
    #[fault(FolderNotOurs)]
    OthersManifest { folder: PathBuf, name: String },
    #[error("the folder {0} is a backup; restore it into another folder, or open it for reading")]
    #[fault(ReadOnly)]
    Backup(PathBuf),
    #[error("another engine has {0} open; close it first")]
    #[fault(FolderLocked)]
    Open(PathBuf),
    #[error("another backup is being written to {0}; wait until it ends")]
    #[fault(FolderLocked)]
    BackupUnderWay(PathBuf),
    #[error("the file {name} of {folder} is damaged; restore it from a copy")]
    #[fault(Corrupted)]
    Broken { folder: PathBuf, name: String },
    #[error(
        "the folder {folder} is of format {version}; this version reads formats {first} to {last}; upgrade"
    )]
    #[fault(FormatTooNew)]
    TooNew { folder: PathBuf, version: u32, first: u32, last: u32 },
    #[error(
        "the folder {folder} is of format {version}, which no release has written; this version reads formats {first} to {last}: \
         copy the tables by a program of the version that wrote them"
    )]
    #[fault(FormatTooOld)]
    TooOld { folder: PathBuf, version: u32, first: u32, last: u32 },
}
