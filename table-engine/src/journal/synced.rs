//! The record of synced frames. This file stores how far the journal is known to be durable (`docs/format.md`, "Synced frames").
//!
//! The record reveals that a journal was truncated after a close, or replaced by an older copy. Without it, such a journal would look as if a crash had
//! interrupted its last write.
//!
//! The record may be older than the journal, but it is never newer, because it is written after the frames have been synced.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use table_store::Result;
use uuid::Uuid;

use crate::bytes::{Reader, Writer};
use crate::disk::Disk;
use crate::disk::fault::{Task, is_exhausted};
use crate::event::event;

/// The name of the file that contains the record of synced frames.
pub(crate) const SYNCED: &str = "SYNCED";

const MAGIC: &[u8; 8] = b"TBLSYNC\0";
const VERSION: u32 = 1;
/// The number of bytes in a record.
const RECORD: usize = 52;
/// The distance in bytes between the two records. It is so large that a write to one record never touches a sector of the other.
const DISTANCE: u64 = 4096;

/// A position in the journal before which all frames are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of the journal file.
    pub(crate) journal: u64,
    /// The sequence number of the next frame.
    pub(crate) sequence: u64,
    /// The checksum of the file's frames before the position (see [`Head::chain`](super::frame::Head::chain)).
    pub(crate) frames: u32,
}

/// The two records in the file. Each contains the identity of the engine that wrote it. A missing or corrupted record is `None`.
#[derive(Debug, Default)]
pub(crate) struct Records([Option<(Uuid, Mark)>; 2]);

/// The writer of a folder's record of synced frames.
#[derive(Debug)]
pub(crate) struct Synced {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    engine: Uuid,
    /// The current record, and its index in the file.
    last: Option<(usize, Mark)>,
}

impl Mark {
    fn write(self, engine: Uuid) -> Vec<u8> {
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.u32(VERSION);
        out.raw(engine.as_bytes());
        out.u64(self.journal);
        out.u64(self.sequence);
        out.u32(self.frames);
        out.u32(crc32c::crc32c(out.as_bytes()));
        out.into_bytes()
    }

    fn read(bytes: &[u8]) -> Option<(Uuid, Self)> {
        let mut reader = Reader::new(bytes);
        let known = reader.u64()? == u64::from_le_bytes(*MAGIC) && reader.u32()? == VERSION;
        let engine = Uuid::from_bytes(reader.take(16)?.try_into().ok()?);
        let mark = Self { journal: reader.u64()?, sequence: reader.u64()?, frames: reader.u32()? };
        let checksum = reader.u32()?;
        (known && checksum == crc32c::crc32c(bytes.get(..RECORD - 4)?)).then_some((engine, mark))
    }
}

impl Records {
    /// Reads a folder's record of synced frames. A missing file and corrupted records are ignored.
    ///
    /// # Errors
    /// - `ServerBusy` if file descriptors or memory ran out.
    /// - Any other disk error when the file is opened.
    pub(crate) fn read(disk: &dyn Disk, folder: &Path) -> Result<Self> {
        let path = folder.join(SYNCED);
        let file = match disk.open_to_read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            file => file.map_err(|error| Task::ReadFile(path).refused(error))?,
        };
        let record = |offset| {
            let mut bytes = [0; RECORD];
            match file.read_at(offset, &mut bytes) {
                // The record may be readable later, when file descriptors or memory are available again.
                Err(error) if is_exhausted(&error) => Err(Task::ReadFile(folder.join(SYNCED)).refused(error)),
                Err(_) => Ok(None),
                Ok(()) => Ok(Mark::read(&bytes)),
            }
        };
        Ok(Self([record(0)?, record(DISTANCE)?]))
    }

    /// Returns an engine's latest mark, and the index of its record. Marks of other engines are ignored. They remain if the folder's files were replaced.
    fn latest(&self, engine: Uuid) -> Option<(usize, Mark)> {
        let own = self.0.iter().enumerate().filter_map(|(place, record)| {
            record.filter(|(of, _)| *of == engine).map(|(_, mark)| (place, mark))
        });
        own.max_by_key(|(_, mark)| mark.sequence)
    }

    /// Returns an engine's latest mark.
    pub(crate) fn mark(&self, engine: Uuid) -> Option<Mark> {
        self.latest(engine).map(|(_, mark)| mark)
    }
}

impl Synced {
    /// Creates the writer of a folder's record of synced frames. It continues after the given records.
    pub(crate) fn new(disk: &Arc<dyn Disk>, folder: &Path, records: &Records, engine: Uuid) -> Self {
        Self { disk: Arc::clone(disk), folder: folder.into(), engine, last: records.latest(engine) }
    }

    /// Records a later mark. The frames before it must be durable. An error is harmless, because the previous record remains.
    pub(crate) fn raise(&mut self, mark: Mark) {
        if mark.sequence <= self.last.map_or(1, |(_, last)| last.sequence) {
            return;
        }
        let place = self.last.map_or(0, |(place, _)| 1 - place);
        match self.write(place, mark) {
            Ok(()) => self.last = Some((place, mark)),
            Err(error) => {
                event!(debug, %error, "the synced frames were not recorded");
            }
        }
    }

    /// Overwrites the record with index `place`. The caller passes the index of the older record, so a torn write leaves the newer record intact.
    fn write(&self, place: usize, mark: Mark) -> io::Result<()> {
        let path = self.folder.join(SYNCED);
        let (file, is_new) = match self.disk.open(&path, false) {
            Err(error) if error.kind() == ErrorKind::NotFound => (self.disk.open(&path, true)?, true),
            file => (file?, false),
        };
        file.write_at(place as u64 * DISTANCE, &mark.write(self.engine))?;
        file.sync_data()?;
        if is_new { self.disk.sync_dir(&self.folder) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    const ENGINE: Uuid = Uuid::from_bytes([0xE1; 16]);

    fn mark(sequence: u64) -> Mark {
        Mark { journal: 3, sequence, frames: 0x0102_0304 }
    }

    #[test]
    fn golden_bytes_of_the_record_and_any_flipped_bit_is_detected() {
        let bytes = mark(99).write(ENGINE);
        let wanted = [
            &b"TBLSYNC\0\x01\0\0\0"[..],
            &[0xE1; 16],
            b"\x03\0\0\0\0\0\0\0\x63\0\0\0\0\0\0\0\x04\x03\x02\x01",
        ];
        assert_eq!(bytes[..RECORD - 4], wanted.concat());
        assert_eq!(bytes.len(), RECORD);
        assert_eq!(Mark::read(&bytes), Some((ENGINE, mark(99))));
        for bit in 0..RECORD * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Mark::read(&bad), None, "bit {bit}");
        }
        assert_eq!(Mark::read(&bytes[..RECORD - 1]), None);
    }

    #[test]
    fn a_mark_only_rises_and_a_torn_one_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let records = || Records::read(&RealDisk, folder.path()).unwrap();
        assert_eq!(records().mark(ENGINE), None);
        let mut synced = Synced::new(&disk, folder.path(), &records(), ENGINE);
        synced.raise(mark(1));
        assert!(!folder.path().join(SYNCED).exists(), "nothing was written yet");
        for sequence in 5..9 {
            synced.raise(mark(sequence));
            synced.raise(mark(sequence - 1));
            assert_eq!(records().mark(ENGINE), Some(mark(sequence)));
            synced = Synced::new(&disk, folder.path(), &records(), ENGINE);
        }
        assert_eq!(records().mark(Uuid::from_bytes([7; 16])), None, "of another engine");
        let path = folder.path().join(SYNCED);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[usize::try_from(DISTANCE).unwrap() + 30] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(records().mark(ENGINE), Some(mark(7)));
    }
}
