//! Reuse of journal files. If all rows of a journal file are in the base, the file becomes the next journal file.
//!
//! Overwriting old bytes requires neither new disk blocks nor a new file length. A sync therefore does not wait for other file system metadata, such as that of
//! runs being written.

use std::path::Path;

use table_store::Result;

use crate::disk::{Disk, fault::Task};
use crate::journal::Tail;
use crate::journal::file::{self, FileHeader, Salt};

/// Durably renames the journal file with number `old` to number `new`, and truncates it to at most `room` bytes. The sequence numbers in the renamed file start
/// at `sequence`.
///
/// Returns `None` if the file has other hard links, because another folder may still need its frames.
pub(crate) fn reuse(
    disk: &dyn Disk,
    folder: &Path,
    (old, new): (u64, u64),
    sequence: u64,
    room: u64,
) -> Result<Option<Tail>> {
    let salt = Salt::random();
    let reuse = || {
        let (old, path) = (file::path(folder, old), file::path(folder, new));
        let file = disk.open(&old, false)?;
        if file.has_other_names()? {
            return Ok(None);
        }
        file.write_at(0, &FileHeader { number: new, sequence, salt }.write())?;
        if file.len()? > room {
            file.set_len(room)?;
        }
        // IMPORTANT: the new header is made durable before the file is renamed, so a file with the new name always has a complete header with its new number.
        file.sync_data()?;
        drop(file);
        disk.rename(&old, &path)?;
        // IMPORTANT: the directory entry is durable before a frame is written, so no file in the sequence of journal files is ever missing.
        disk.sync_dir(folder)?;
        let file = disk.open(&path, false)?;
        let filled = file.len()?;
        let end = file::HEADER;
        Ok(Some(Tail { number: new, file, salt, end, filled, sequence, is_closed: true, frames: 0 }))
    };
    reuse().map_err(|error| Task::CreateJournal.refused(error))
}
