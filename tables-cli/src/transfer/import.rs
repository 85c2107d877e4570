//! Writing the records of a file to a table, and setting aside those that are rejected.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use table_core::{DynTableStore, TableName, TableStoreExt};

use crate::failure::{Failure, Result};
use crate::transfer::progress;
use crate::transfer::state::{State, StateFile};
use crate::transfer::writer::{Change, Mode, Writer};
use table_inspect::record::{Record, Rejected};

/// The table that receives the records.
#[derive(Clone, Copy, Debug)]
pub struct Importing<'a> {
    /// The store.
    pub store: &'a DynTableStore,
    /// The table.
    pub name: &'a TableName,
    /// The operation by which entities are written.
    pub mode: Mode,
    /// `true` to reject rows that would replace a part of a wide entity by a row of another write.
    pub guards_parts: bool,
    /// The maximum number of rows written per second.
    pub rate: Option<u32>,
}

impl Importing<'_> {
    /// Writes the records, each with its line, after those of the state, and completes the state. Returns the number of written records, including those of earlier calls.
    ///
    /// # Errors
    /// `Refused` for a rejected record if none are set aside, after all records before it are written; any error from the store or the file. Another
    /// call with the state continues the import.
    pub async fn run(
        &self,
        records: impl Iterator<Item = Result<(u64, Record)>>,
        state: &mut StateFile,
        rejections: &mut Rejections,
    ) -> Result<u64> {
        self.store.create_table_if_missing(self.name).await?;
        let mut writer = Writer::new(self.store.clone(), self.name.clone(), self.mode, self.rate);
        if self.guards_parts {
            writer = writer.guarding_parts();
        }
        if rejections.are_set_aside() {
            writer = writer.tolerant();
        }
        let done = state.state().records;
        let outcome = push_all(records, &mut writer, state, rejections).await;
        // The state counts all settled records, even if the import ended with an error.
        let settled = done + writer.settled();
        match outcome {
            Ok(()) => {
                state.finish(settled)?;
                Ok(settled - rejections.count)
            }
            Err(failure) => {
                state.save()?;
                Err(failure)
            }
        }
    }
}

async fn push_all(
    records: impl Iterator<Item = Result<(u64, Record)>>,
    writer: &mut Writer,
    state: &mut StateFile,
    rejections: &mut Rejections,
) -> Result<()> {
    let (done, mut last, bar) = (state.state().records, 0, progress::rows("imported"));
    let mut settle = |writer: &mut Writer, rejections: &mut Rejections| {
        // IMPORTANT: the file of rejections is written before the state, which records its length. When the import continues, the bytes after this length are
        // removed.
        let outcome = rejections.push(writer.take_rejected());
        let settled = done + writer.settled();
        bar.set_position(settled);
        state.advance_file(settled, rejections.count, rejections.bytes)?;
        outcome
    };
    for (record, number) in records.zip(1..) {
        let (line, record) = record?;
        last = number;
        if number <= done {
            continue;
        }
        match record {
            Ok(entity) => writer.push(line, Change::Write(entity)).await?,
            Err(rejected) => writer.skip(rejected).await?,
        }
        settle(writer, rejections)?;
    }
    if last < done {
        let help = "it is not the file that was interrupted; name another state file, or delete it";
        return Err(Failure::Refused(format!(
            "the state file has {done} records, and the file {last}; {help}"
        )));
    }
    writer.flush().await?;
    settle(writer, rejections)?;
    bar.finish_and_clear();
    Ok(())
}

/// The rejected records. They are written to a file if one is given; otherwise, the first rejected record ends the import.
#[derive(Debug, Default)]
pub struct Rejections {
    file: Option<(String, File)>,
    /// The number of rejected records, including those of earlier calls.
    pub count: u64,
    /// The length of the file.
    bytes: u64,
}

impl Rejections {
    /// Opens the file of rejected records, and removes the records that the state does not count.
    ///
    /// # Errors
    /// `File` if it cannot be written.
    pub fn open(path: Option<&Path>, state: &State) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { count: state.rejected, ..Self::default() }) };
        let open = || {
            let mut file = File::options().create(true).write(true).truncate(false).open(path)?;
            let bytes = state.errors.min(file.metadata()?.len());
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok((file, bytes))
        };
        let (file, bytes) = open().map_err(Failure::file(path.display()))?;
        Ok(Self { file: Some((path.display().to_string(), file)), count: state.rejected, bytes })
    }

    /// Returns `true` if rejected records are written to a file.
    #[must_use]
    pub const fn are_set_aside(&self) -> bool {
        self.file.is_some()
    }

    /// Returns the file, if at least one record was rejected.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_ref().filter(|_| self.count > 0).map(|(path, _)| path.as_str())
    }

    /// Adds rejected records.
    ///
    /// # Errors
    /// `Refused` with the first rejected record if no file was given; `File` if the file cannot be written.
    pub fn push(&mut self, rejected: Vec<Rejected>) -> Result<()> {
        for rejected in rejected {
            let Some((path, file)) = &mut self.file else {
                let help =
                    "earlier rows are written. Give `--errors FILE` to set such rows aside and continue";
                return Err(Failure::Refused(format!("{rejected}; {help}")));
            };
            let line = format!("{rejected}\n");
            file.write_all(line.as_bytes()).map_err(Failure::file(&*path))?;
            self.count += 1;
            self.bytes += line.len() as u64;
        }
        Ok(())
    }
}
