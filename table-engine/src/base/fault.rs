//! Errors of the base: corrupted files, and files that belong to an unrelated backup.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use table_store::{Error, Fault};

/// An error while the base is read, merged or copied.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum BaseFault {
    #[error("the file {0} is missing; restore the folder from a copy")]
    #[fault(Corrupted)]
    Missing(PathBuf),
    #[error("{file} is damaged at byte {offset}; restore the folder from a copy")]
    #[fault(Corrupted)]
    Broken { file: PathBuf, offset: u64 },
    #[error("one copy in {file} is damaged at byte {offset}; the next checkpoint writes both copies again")]
    #[fault(Corrupted)]
    BrokenCopy { file: PathBuf, offset: u64 },
    #[error(
        "{run} of {folder} is damaged at byte {offset} ({damage}); back up the rows that can be read, or restore the folder from a backup"
    )]
    #[fault(Corrupted)]
    BrokenRun { run: String, folder: PathBuf, offset: u64, damage: Damage },
    #[error(
        "{run} of {folder} cannot be read at byte {offset}, so the disk may be failing; back up the rows that can be read to another disk, or restore the folder from a backup"
    )]
    #[fault(Corrupted)]
    Unreadable { run: String, folder: PathBuf, offset: u64, source: io::Error },
    #[error(
        "{run} of {folder} is damaged at byte {offset}; back up the rows that can be read, or restore the folder from a backup"
    )]
    #[fault(Corrupted)]
    BrokenRows { run: String, folder: PathBuf, offset: u64, source: Error },
    #[error("a block of the base has inconsistent parts")]
    #[fault(Corrupted)]
    Block,
    #[error("a run has too many blocks")]
    #[fault(InternalError)]
    TooManyBlocks,
    #[error(
        "a merge of {folder} was refused: {read} entries were read and {accounted} accounted for; no data was lost, please report this bug"
    )]
    #[fault(InternalError)]
    UnprovenMerge { folder: PathBuf, read: u64, accounted: u64 },
    #[error("a merge was refused because it would lose a layer; no data was lost, please report this bug")]
    #[fault(InternalError)]
    UnsafeMerge,
    #[error("{0} was replaced while its files were opened; open it again")]
    #[fault(Io)]
    Replaced(PathBuf),
    #[error("{0} belongs to another backup")]
    #[fault(InvalidInput)]
    OtherBackup(String),
    #[error("{place} contains {earlier}; choose an empty folder")]
    #[fault(FolderNotOurs)]
    Occupied { place: PathBuf, earlier: Unrelated },
}

/// Returns `true` if the disk returned an error when a run was read. A later read may succeed.
pub(crate) fn is_disk_error(error: &Error) -> bool {
    error.source().is_some_and(<dyn StdError>::is::<io::Error>)
}

/// The kind of corruption at an offset in a run.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Damage {
    #[error("the file is missing")]
    Missing,
    #[error("the file is too short")]
    Short,
    #[error("its checksum is wrong")]
    Checksum,
    #[error("its header does not match")]
    Header,
    #[error("its parts are inconsistent")]
    Parts,
    #[error("its index cannot be read")]
    Index,
    #[error("its keys differ from those of the base")]
    KeysOfBase,
    #[error("its keys differ from those of the index")]
    KeysOfIndex,
    #[error("its keys are out of order")]
    Order,
    #[error("its entries differ from those that were written")]
    Tally,
}

/// An error that describes why a backup cannot replace an earlier one in the same folder.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Unrelated {
    #[error("a backup of another engine, such as the one that this folder was restored from")]
    Engine,
    #[error("a backup of a state that this engine no longer has")]
    History,
}
