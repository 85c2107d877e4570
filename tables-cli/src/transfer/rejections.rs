//! The rejected records of an import, written to a file with the reasons for their rejection.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use table_inspect::record::Rejected;

use crate::failure::{Failure, Result};

/// A summary of rejected records, as stored in a state file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectedRecords {
    /// The number of rejected records.
    pub count: u64,
    /// The absolute path of the file that contains the rejected records with the reasons for their rejection.
    pub file: Option<String>,
    /// The length of the file in bytes.
    pub bytes: u64,
}

/// The rejected records of an import. If a file is given, they are written to it. Otherwise, the first rejected record ends the import.
#[derive(Debug, Default)]
pub struct Rejections {
    file: Option<(String, File)>,
    records: RejectedRecords,
    /// The durable length of the file in bytes.
    durable: u64,
}

impl Rejections {
    /// Opens the file for rejected records, and truncates it to the length in `recorded`, the summary from the state file.
    ///
    /// # Errors
    /// `Refused` if the state counts records in a different file, or if the file is shorter than the recorded length. `File` if the file cannot be written.
    pub fn open(path: Option<&Path>, recorded: &RejectedRecords) -> Result<Self> {
        let full = path.map(std::path::absolute).transpose().map_err(Failure::file("--errors"))?;
        let full = full.map(|path| path.display().to_string());
        if recorded.count > 0 && full != recorded.file {
            let file = recorded.file.as_deref().unwrap_or_default();
            return Err(Failure::Refused(format!(
                "the state file counts rejected rows, whose reasons are in {file}; pass `--errors {file}`"
            )));
        }
        let Some(path) = path else { return Ok(Self::default()) };
        let failed = || Failure::file(path.display());
        let mut file =
            File::options().create(true).write(true).truncate(false).open(path).map_err(failed())?;
        if file.metadata().map_err(failed())?.len() < recorded.bytes {
            let help = "delete the state file to import the whole file";
            return Err(Failure::Refused(format!(
                "{} is shorter than the state file records; {help}",
                path.display()
            )));
        }
        file.set_len(recorded.bytes).map_err(failed())?;
        file.seek(SeekFrom::Start(recorded.bytes)).map_err(failed())?;
        let records = RejectedRecords { file: full, ..recorded.clone() };
        let durable = records.bytes;
        Ok(Self { file: Some((path.display().to_string(), file)), records, durable })
    }

    /// Returns `true` if rejected records are written to a file.
    #[must_use]
    pub const fn are_set_aside(&self) -> bool {
        self.file.is_some()
    }

    /// Returns the path of the file if at least one record was rejected.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_ref().filter(|_| self.count() > 0).map(|(path, _)| path.as_str())
    }

    /// Returns the number of rejected records, including those rejected by earlier calls.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.records.count
    }

    /// Returns the summary of rejected records for a state file.
    #[must_use]
    pub const fn records(&self) -> &RejectedRecords {
        &self.records
    }

    /// Adds rejected records.
    ///
    /// # Errors
    /// `Refused`, with the first rejected record, if no file was given. `File` if the file cannot be written.
    pub fn push(&mut self, rejected: Vec<Rejected>) -> Result<()> {
        for rejected in rejected {
            let Some((path, file)) = &mut self.file else {
                let help =
                    "earlier rows are written. Give `--errors FILE` to set such rows aside and continue";
                return Err(Failure::Refused(format!("{rejected}; {help}")));
            };
            let line = format!("{rejected}\n");
            file.write_all(line.as_bytes()).map_err(Failure::file(&*path))?;
            self.records.count += 1;
            self.records.bytes += line.len() as u64;
        }
        Ok(())
    }
    /// Makes the added records durable.
    ///
    /// # Errors
    /// `File` if the file cannot be made durable.
    pub fn sync(&mut self) -> Result<()> {
        if let Some((path, file)) = self.file.as_ref().filter(|_| self.durable < self.records.bytes) {
            file.sync_data().map_err(Failure::file(path))?;
            self.durable = self.records.bytes;
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use super::*;
    use crate::transfer::checksum::SequenceChecksum;
    use crate::transfer::state::StateFile;

    #[test]
    fn a_state_is_stored_only_after_the_rejected_records_are_durable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut state = StateFile::open(Some(&path), "import").unwrap().with_pause(Duration::ZERO);
        // The content of a pipe cannot be made durable.
        let (_reader, writer) = std::io::pipe().unwrap();
        let file = Some(("a pipe".to_owned(), File::from(OwnedFd::from(writer))));
        let mut rejections = Rejections { file, ..Rejections::default() };
        state.advance_file(1, SequenceChecksum::default(), &mut rejections).unwrap();
        let rejected = Rejected { line: 2, column: 0, reason: "no key".to_owned() };
        rejections.push(vec![rejected]).unwrap();
        assert!(state.advance_file(2, SequenceChecksum::default(), &mut rejections).is_err());
        assert_eq!(StateFile::open(Some(&path), "import").unwrap().state().records, 1);
    }
}
