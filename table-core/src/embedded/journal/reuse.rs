//! Reuse of a journal file that the base covers as the next journal file. Frames written over old bytes need neither new blocks nor
//! a new length: their sync does not wait for other metadata of the file system, such as that of runs being written.

use std::path::Path;

use crate::embedded::disk::{Disk, fault::Task};
use crate::embedded::journal::Tail;
use crate::embedded::journal::file::{self, FileHeader, Salt};
use crate::embedded::mend::Mend;
use crate::error::Result;

/// Gives the file `old` the number `new`, durably, and cuts it to `room` bytes. Its frames have sequence numbers from `sequence` on.
pub(crate) fn reuse(
    disk: &dyn Disk,
    folder: &Path,
    (old, new): (u64, u64),
    sequence: u64,
    room: u64,
) -> Result<Tail> {
    let salt = Salt::random();
    let reuse = || {
        let (old, path) = (file::path(folder, old), file::path(folder, new));
        let file = disk.open(&old, false)?;
        file.write_at(0, &FileHeader { number: new, sequence, salt }.write())?;
        if file.len()? > room {
            file.set_len(room)?;
        }
        // IMPORTANT: durable before the file has its new name: under that one, a header is never missing or another's.
        if Mend::SyncReused.is_in() {
            file.sync_data()?;
        }
        drop(file);
        disk.rename(&old, &path)?;
        // IMPORTANT: the entry is durable before a frame is written: a journal file is never missing between others.
        if Mend::SyncJournalEntry.is_in() {
            disk.sync_dir(folder)?;
        }
        let file = disk.open(&path, false)?;
        let filled = file.len()?;
        Ok(Tail { number: new, file, salt, end: file::HEADER, filled, sequence, is_closed: true })
    };
    reuse().map_err(|error| Task::CreateJournal.refused(error))
}
