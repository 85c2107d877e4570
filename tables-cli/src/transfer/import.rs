//! Writes the records of a file to a table, and the rejected records to another file.

use table_core::{DynTableStore, TableName, TableStoreExt};

use crate::failure::{Failure, Result};
use crate::progress;
use crate::transfer::rejections::Rejections;
use crate::transfer::settled::SettledChecksum;
use crate::transfer::state::StateFile;
use crate::transfer::writer::{Change, Mode, Writer};
use table_inspect::record::Record;

/// The target table and the options of an import.
#[derive(Clone, Copy, Debug)]
pub struct Importing<'a> {
    /// The store that contains the target table.
    pub store: &'a DynTableStore,
    /// The name of the target table.
    pub name: &'a TableName,
    /// The operation used to write entities.
    pub mode: Mode,
    /// `true` to reject a row that would replace a part of a wide entity with a part from a different write, or rewind a sequence.
    pub guards_parts: bool,
    /// The maximum number of rows written per second.
    pub rate: Option<u32>,
}

impl Importing<'_> {
    /// Writes the records after the position in `state` and marks the state as complete. Each record is paired with its line number. Returns the number of
    /// written records, including those written by earlier calls.
    ///
    /// # Errors
    /// - `Refused` if a record is rejected and no file for rejected records was given. In that case, all earlier records have been written.
    /// - `Refused` if the file does not begin with the records that `state` counts as written or rejected, or if `state` has no checksum of them.
    /// - `Refused` if the table is empty although `state` counts written records.
    /// - Any error from the store or the file.
    ///
    /// Another call with the same state continues the import.
    pub async fn run(
        &self,
        records: impl Iterator<Item = Result<(u64, Record)>>,
        state: &mut StateFile,
        rejections: &mut Rejections,
    ) -> Result<u64> {
        if state.state().records > 0 && state.state().checksum.is_none() {
            let help = "delete it to import the whole file";
            return Err(Failure::Refused(format!(
                "the state file has no checksum of the settled records; {help}"
            )));
        }
        state.refuse_empty_target(self.store, self.name).await?;
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
        // The state must count all settled (written or rejected) records, even if the import ends with an error.
        let settled = done + writer.settled();
        rejections.sync()?;
        match outcome {
            Ok(()) => {
                state.finish(settled)?;
                Ok(settled - rejections.count())
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
    let mut checksum = SettledChecksum::new(state.is_stored());
    let settle = |writer: &mut Writer,
                  rejections: &mut Rejections,
                  checksum: &mut SettledChecksum,
                  state: &mut StateFile| {
        // IMPORTANT: the rejections file must be written before the state, which records the length of the file. If the import is continued, all bytes after
        // this length are removed from the file. A shorter file is refused.
        let outcome = rejections.push(writer.take_rejected());
        let settled = done + writer.settled();
        bar.set_position(settled);
        state.advance_file(settled, checksum.settle(settled), rejections)?;
        outcome
    };
    for (record, number) in records.zip(1..) {
        let (line, record) = record?;
        last = number;
        checksum.read(&record);
        if number <= done {
            let settled = checksum.settle(number);
            if number == done && state.state().checksum.is_some_and(|found| found != settled) {
                let help = "name another state file, or delete it to import the whole file";
                return Err(Failure::Refused(format!(
                    "lines 1 to {line} of the file, which are settled, have changed; {help}"
                )));
            }
            continue;
        }
        match record {
            Ok(entity) => writer.push(line, Change::Write(entity)).await?,
            Err(rejected) => writer.skip(rejected).await?,
        }
        settle(writer, rejections, &mut checksum, state)?;
    }
    if last < done {
        let help = "it is not the file that was interrupted; name another state file, or delete it";
        return Err(Failure::Refused(format!(
            "the state file has {done} records, and the file {last}; {help}"
        )));
    }
    writer.flush().await?;
    settle(writer, rejections, &mut checksum, state)?;
    bar.finish_and_clear();
    Ok(())
}
