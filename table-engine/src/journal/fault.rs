//! Errors found when a journal is read.

use std::path::PathBuf;

use table_store::Fault;

/// Corruption of the journal.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(Corrupted)]
pub(crate) enum JournalFault {
    #[error(
        "journal file {file} is damaged at byte {offset} and not at its end; no file was changed, so restore the folder from a copy"
    )]
    Broken { file: PathBuf, offset: u64 },
    #[error(
        "journal file {file} ends before frame {found}, but the frames before {synced} were durable; restore the folder from a copy, or remove the file `SYNCED` from it to open it without these frames"
    )]
    Cut { file: PathBuf, found: u64, synced: u64 },
    #[error("journal file {0} has other frames than those that were synced; restore the folder from a copy")]
    Replaced(PathBuf),
    #[error("journal file {0} is missing; restore the folder from a copy")]
    Missing(PathBuf),
}
