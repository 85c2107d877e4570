//! State files, which record the progress of a transfer. A killed command resumes after the last record counted in the state file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use table_core::{DynTableStore, TableName};

use crate::count::is_zero;
use crate::failure::{Failure, Result};
use crate::incomplete::{Incomplete, remove_remains};
use crate::rows::is_empty;
use crate::transfer::checksum::SequenceChecksum;
use crate::transfer::rejections::{RejectedRecords, Rejections};

/// The minimum time between two writes of a state file.
const PAUSE: Duration = Duration::from_millis(500);

/// The content of a state file. A file with unknown fields is rejected: it was written by another version, in which the known fields may have a different
/// meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// A string that identifies the transfer: the command, source, target, table, and the options affecting the written rows.
    pub transfer: String,
    /// The number of settled records, which have been written or rejected.
    pub records: u64,
    /// The checksum of the counted records if the source is a file.
    pub checksum: Option<SequenceChecksum>,
    /// The rejected records among the counted records.
    #[serde(default)]
    pub rejected: RejectedRecords,
    /// The number of rows that the source omitted from the pages of the counted records, because it cannot represent them as entities.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
    /// The continuation token after the counted records if the source is a table.
    pub continuation: Option<String>,
    /// `true` if the transfer is complete.
    pub is_done: bool,
}

/// The state file of a running transfer. If it has no path, the state is not stored.
#[derive(Debug)]
pub struct StateFile {
    path: Option<PathBuf>,
    state: State,
    written: Instant,
    pause: Duration,
}

impl StateFile {
    /// Opens the state of a transfer. Reads the state from the file, or creates a new state if the file does not exist.
    ///
    /// # Errors
    /// `Refused` if the file belongs to another transfer or is not a state file. `File` if the file cannot be read.
    pub fn open(path: Option<&Path>, transfer: &str) -> Result<Self> {
        if let Some(path) = path {
            remove_remains(path);
        }
        let new = State { transfer: transfer.to_owned(), ..State::default() };
        let state = match path.map(|path| (path, std::fs::read(path))) {
            None => new,
            Some((_, Err(error))) if error.kind() == std::io::ErrorKind::NotFound => new,
            Some((path, Err(error))) => return Err(Failure::file(path.display())(error)),
            Some((path, Ok(bytes))) => {
                let state: State = serde_json::from_slice(&bytes).map_err(|_| {
                    let help = "name another one, or delete it";
                    Failure::Refused(format!(
                        "{} is not a state file of this version; {help}",
                        path.display()
                    ))
                })?;
                if state.transfer != transfer {
                    let (path, other) = (path.display(), &state.transfer);
                    let message = format!(
                        "{path} belongs to another transfer ({other}); name another file, or delete it"
                    );
                    return Err(Failure::Refused(message));
                }
                state
            }
        };
        Ok(Self { path: path.map(Path::to_owned), state, written: Instant::now(), pause: PAUSE })
    }

    /// Sets the minimum time between two writes of the file. The default is half a second.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Returns `true` if the state is stored in a file.
    #[must_use]
    pub const fn is_stored(&self) -> bool {
        self.path.is_some()
    }

    /// Returns an error if the target is empty although the state counts written records. In this case, the table may have been deleted since.
    ///
    /// # Errors
    /// `Refused` if the state counts written records and the table is empty or does not exist. Any error from the store.
    pub async fn refuse_empty_target(&self, store: &DynTableStore, table: &TableName) -> Result<()> {
        let written = self.state.records - self.state.rejected.count.min(self.state.records);
        let Some(path) = self.path.as_ref().filter(|_| written > 0) else { return Ok(()) };
        if !is_empty(store, table).await? {
            return Ok(());
        }
        let help = "delete the state file to write them again";
        Err(Failure::Refused(format!(
            "{} counts {written} records as written, and table {table} of the target is empty; {help}",
            path.display()
        )))
    }

    /// Returns the current state.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Records the progress of a transfer from a table that has omitted `omitted` rows so far. By default, the file is written at most twice a second.
    ///
    /// # Errors
    /// `File` if the state file cannot be written.
    pub fn advance(&mut self, records: u64, omitted: u64, continuation: Option<String>) -> Result<()> {
        (self.state.records, self.state.omitted) = (records, omitted);
        self.state.continuation = continuation;
        if self.is_due() { self.save() } else { Ok(()) }
    }

    /// Records the progress of a transfer from a file, with the rejected records and the checksum of all settled (written or rejected) records. By default, the
    /// state file is written at most twice a second. Rejected records are made durable before the state, which records the length of their file.
    ///
    /// # Errors
    /// `File` if the state file cannot be written, or if the rejected records cannot be made durable.
    pub fn advance_file(
        &mut self,
        records: u64,
        checksum: SequenceChecksum,
        rejections: &mut Rejections,
    ) -> Result<()> {
        (self.state.records, self.state.checksum) = (records, Some(checksum));
        self.state.rejected.clone_from(rejections.records());
        if !self.is_due() {
            return Ok(());
        }
        rejections.sync()?;
        self.save()
    }

    fn is_due(&self) -> bool {
        self.written.elapsed() >= self.pause
    }

    /// Sets the number of rows that the source has omitted so far. The file is not written.
    pub(crate) const fn set_omitted(&mut self, omitted: u64) {
        self.state.omitted = omitted;
    }

    /// Records that the transfer is complete, and the number of its records.
    ///
    /// # Errors
    /// `File` if the state file cannot be written.
    pub fn finish(&mut self, records: u64) -> Result<()> {
        // IMPORTANT: the number of records and the completion must be recorded in one write. If only the number were recorded, without a continuation token, a
        // complete transfer would start over and process all its records again.
        self.state = State { records, continuation: None, is_done: true, ..std::mem::take(&mut self.state) };
        self.save()
    }

    /// Records that the transfer starts over with its first record.
    ///
    /// # Errors
    /// `File` if the state file cannot be written.
    pub fn restart(&mut self) -> Result<()> {
        self.state = State { transfer: std::mem::take(&mut self.state.transfer), ..State::default() };
        self.save()
    }

    /// Replaces the state file. The new content is durable before the file receives its final name.
    ///
    /// # Errors
    /// `File` if the state file cannot be written.
    pub fn save(&mut self) -> Result<()> {
        self.written = Instant::now();
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_string_pretty(&self.state)
            .map_err(|error| Failure::file(path.display())(error.into()))?;
        let part = Incomplete::create(path)?;
        part.file().write_all(text.as_bytes()).map_err(Failure::file(path.display()))?;
        part.complete(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_restored_and_one_of_another_transfer_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut file = StateFile::open(Some(&path), "copy a to b").unwrap();
        file.advance(1_000, 0, Some("token".to_owned())).unwrap();
        file.save().unwrap();
        let found = StateFile::open(Some(&path), "copy a to b").unwrap();
        assert_eq!((found.state().records, found.state().continuation.as_deref()), (1_000, Some("token")));
        let refused = StateFile::open(Some(&path), "copy a to c").unwrap_err().to_string();
        assert!(refused.contains("belongs to another transfer (copy a to b)"), "{refused}");
        std::fs::write(&path, "nonsense").unwrap();
        assert!(
            StateFile::open(Some(&path), "copy a to b")
                .unwrap_err()
                .to_string()
                .contains("is not a state file")
        );
    }
}
