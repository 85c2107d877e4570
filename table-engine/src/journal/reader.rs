//! A reader for journal files. It reads one frame at a time. It can tell an interrupted last write from corruption.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use table_store::{Error, Result};

use crate::disk::{DiskFile, fault::Task};
use crate::journal::fault::JournalFault;
use crate::journal::file::{self, Salt};
use crate::journal::frame::{HEADER, Head, Record};
use crate::journal::synced::Mark;

/// The offset and the state of a file after its last intact frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The offset after the last intact frame.
    pub(crate) offset: u64,
    /// The sequence number of the next frame.
    pub(crate) sequence: u64,
    /// `true` if only zeros follow the last intact frame. `false` if the last write was torn.
    pub(crate) clean: bool,
    /// The first offset that is not known to have been synced.
    pub(crate) unsynced: u64,
    /// `true` if the file has no frames, or its last frame is a closing frame.
    pub(crate) is_closed: bool,
    /// The checksum of all frames up to this position.
    pub(crate) frames: u32,
}

/// A sequential reader of a file, starting at an offset.
struct From<'a> {
    file: &'a dyn DiskFile,
    offset: u64,
    length: u64,
}

impl Read for From<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length - self.offset).unwrap_or(usize::MAX);
        let count = left.min(buffer.len());
        let buffer = buffer.get_mut(..count).unwrap_or_default();
        self.file.read_at(self.offset, buffer)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// Returns the sequence number of a file's first frame. Returns `None` if the file does not start with a valid frame head.
pub(crate) fn first(path: &Path, file: &dyn DiskFile, salt: Salt, length: u64) -> Result<Option<u64>> {
    let mut head = Vec::with_capacity(HEADER);
    let from = From { file, offset: file::HEADER.min(length), length };
    let read = from.take(HEADER as u64).read_to_end(&mut head);
    read.map_err(|error| Task::ReadJournal(path.into()).failed(error))?;
    Ok(Head::read(&head, salt).map(|head| head.sequence))
}

/// Passes the record of every intact frame to `apply`, in order, and finds the end of the frames. `mark` is a position in the file. All frames before it are
/// known to have been durable.
///
/// # Errors
/// - `Corrupted` if the frames before the mark differ from the frames that were durable.
/// - `Corrupted` if a durable frame is corrupted. A frame was durable if a later intact frame was written after its sync. The position of an intact frame after
///   a corrupted one proves nothing, because the frames of one unsynced write may reach the disk in any order.
pub(crate) fn read(
    path: &Path,
    file: &Arc<dyn DiskFile>,
    salt: Salt,
    sequence: u64,
    mark: Option<Mark>,
    mut apply: impl FnMut(Record) -> Result<()>,
) -> Result<End> {
    let io = |error| Task::ReadJournal(path.into()).failed(error);
    let length = file.len().map_err(io)?;
    let start = file::HEADER.min(length);
    let mut end = End { offset: start, sequence, clean: true, unsynced: 0, is_closed: true, frames: 0 };
    let is_replaced =
        |end: &End| mark.is_some_and(|mark| mark.sequence == end.sequence && mark.frames != end.frames);
    let mut apply = |record, end: &End| {
        if is_replaced(end) {
            return Err(Error::of(JournalFault::Replaced(path.into())));
        }
        apply(record)
    };
    loop {
        let before = end.sequence;
        read_frames(path, &**file, salt, length, &mut end, &mut apply)?;
        let rest = Rest::read(&**file, salt, end, length).map_err(io)?;
        end.clean = rest.clean;
        if !rest.synced_later {
            return Ok(end);
        }
        // IMPORTANT: a concurrent writer may have written this frame and later ones since the search began. If so, the frame is intact when it is read again.
        if end.sequence == before {
            return Err(corrupted(path, end.offset));
        }
    }
}

/// Passes the intact frames after `end` to `apply`, and moves `end` past them.
fn read_frames(
    path: &Path,
    file: &dyn DiskFile,
    salt: Salt,
    length: u64,
    end: &mut End,
    apply: &mut impl FnMut(Record, &End) -> Result<()>,
) -> Result<()> {
    let io = |error| Task::ReadJournal(path.into()).failed(error);
    let from = From { file, offset: end.offset, length };
    let mut source = BufReader::with_capacity(1 << 18, from);
    let mut record = Vec::new();
    while let Some(head) = next(&mut source, salt, &mut record, length - end.offset).map_err(io)? {
        if head.sequence != end.sequence || !head.accepts(&record, salt) {
            break;
        }
        // The checksum is valid, but the bytes are not a record, so another program wrote them.
        let written = Record::read(&record).ok_or_else(|| corrupted(path, end.offset))?;
        end.is_closed = written.is_empty();
        // This is the first frame after a sync, so all previous frames are durable.
        if head.durable == head.sequence {
            end.unsynced = end.offset;
        }
        end.offset += (HEADER + record.len()) as u64;
        end.sequence += 1;
        end.frames = head.chain(end.frames);
        apply(written, end)?;
    }
    Ok(())
}

/// Reads the next frame into `record` without checking it, and returns the frame's head. Returns `None` if no frame follows, or if the frame is longer than the
/// rest of the file.
fn next(source: &mut impl BufRead, salt: Salt, record: &mut Vec<u8>, left: u64) -> io::Result<Option<Head>> {
    let mut head = Vec::with_capacity(HEADER);
    source.take(HEADER as u64).read_to_end(&mut head)?;
    let Some(head) = Head::read(&head, salt) else { return Ok(None) };
    if HEADER as u64 + u64::from(head.length) > left {
        return Ok(None);
    }
    record.clear();
    source.take(u64::from(head.length)).read_to_end(record)?;
    Ok(Some(head))
}

/// The state of the bytes after the last intact frame.
struct Rest {
    /// `true` if the bytes are all zeros.
    clean: bool,
    /// `true` if a later intact frame proves that the frame at this position had been synced.
    synced_later: bool,
}

impl Rest {
    /// Examines each position after `end` at most once. A record is read only if the salted checksum of its head is valid.
    fn read(file: &dyn DiskFile, salt: Salt, end: End, length: u64) -> io::Result<Self> {
        const BLOCK: usize = 4096;
        const ZEROS: [u8; BLOCK + HEADER - 1] = [0; BLOCK + HEADER - 1];
        let mut rest = Self { clean: true, synced_later: false };
        let mut block = Vec::with_capacity(ZEROS.len());
        // Each block is read together with some bytes that follow it, so it includes all heads that start in it.
        for start in (end.offset..length).step_by(BLOCK) {
            let count = usize::try_from(length - start).unwrap_or(usize::MAX).min(ZEROS.len());
            block.resize(count, 0);
            file.read_at(start, &mut block)?;
            if ZEROS.get(..count) == Some(&block) {
                continue;
            }
            rest.clean = false;
            for (place, bytes) in (start..).zip(block.windows(HEADER)) {
                // The file can contain only a limited number of frames. A sequence number that is too far ahead or belongs to the file's old content is
                // therefore rejected without computing a checksum.
                let is_near = |sequence: u64| sequence.wrapping_sub(end.sequence) < length;
                if Head::peek(bytes).is_some_and(is_near)
                    && let Some(head) = Head::read(bytes, salt).filter(|head| head.durable > end.sequence)
                    && let record = (From { file, offset: place + HEADER as u64, length })
                    && is_whole(record, &head, salt)?
                {
                    rest.synced_later = true;
                    return Ok(rest);
                }
            }
        }
        Ok(rest)
    }
}

fn is_whole(from: From<'_>, head: &Head, salt: Salt) -> io::Result<bool> {
    let mut record = Vec::new();
    from.take(u64::from(head.length)).read_to_end(&mut record)?;
    Ok(head.accepts(&record, salt))
}

pub(crate) fn corrupted(path: &Path, offset: u64) -> Error {
    Error::of(JournalFault::Broken { file: path.into(), offset })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use table_store::ErrorCode;

    use super::*;

    /// An in-memory file that counts the bytes read from it.
    #[derive(Debug)]
    struct Counted(Vec<u8>, AtomicU64);

    impl DiskFile for Counted {
        fn len(&self) -> io::Result<u64> {
            Ok(self.0.len() as u64)
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.1.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            let start = usize::try_from(offset).unwrap();
            buffer.copy_from_slice(&self.0[start..start + buffer.len()]);
            Ok(())
        }

        fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn set_len(&self, _: u64) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn sync_data(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_search_after_a_torn_frame_reads_each_byte_once_for_any_values() {
        // At each offset, the value looks like a plausible length, sequence number and durable number.
        let value = 200_000_u64.to_le_bytes().into_iter().cycle().take(400_000);
        let bytes: Vec<u8> =
            std::iter::repeat_n(0, usize::try_from(file::HEADER).unwrap()).chain(value).collect();
        let length = bytes.len() as u64;
        let file = Counted(bytes, AtomicU64::new(0));
        let end =
            End { offset: file::HEADER, sequence: 1, clean: true, unsynced: 0, is_closed: true, frames: 0 };
        let rest = Rest::read(&file, Salt { head: 1, record: 2 }, end, length).unwrap();
        assert!(!rest.clean && !rest.synced_later);
        let read = file.1.into_inner();
        assert!(read < 2 * length, "{read} bytes of {length} were read");
    }

    /// A file to which another process appends frames immediately after the first read.
    #[derive(Debug)]
    struct Growing {
        bytes: Vec<u8>,
        first: usize,
        reads: AtomicU64,
        broken: Option<usize>,
    }

    impl DiskFile for Growing {
        fn len(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            let start = usize::try_from(offset).unwrap();
            let mut seen = self.bytes.clone();
            if self.reads.fetch_add(1, Ordering::Relaxed) == 0 {
                seen[self.first..].fill(0);
            }
            if let Some(at) = self.broken {
                seen[at] ^= 1;
            }
            buffer.copy_from_slice(&seen[start..start + buffer.len()]);
            Ok(())
        }

        fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn set_len(&self, _: u64) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn sync_data(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn concurrently_written_frames_are_not_corruption_unless_one_is_broken() {
        let salt = Salt { head: 1, record: 2 };
        let mut out = crate::bytes::Writer::default();
        out.raw(&[0; 40]);
        let mut ends = Vec::new();
        for sequence in 1..=3 {
            // Each frame is written after a sync of the frames before it.
            let record = Record::Drop { ticks: sequence, id: 7 };
            crate::journal::frame::write(&record, salt, sequence, sequence, &mut out);
            ends.push(out.as_bytes().len());
        }
        let outcome = |broken| {
            let (bytes, first) = ([out.as_bytes(), &[0; 100]].concat(), ends[0]);
            let file: Arc<dyn DiskFile> =
                Arc::new(Growing { bytes, first, reads: AtomicU64::new(0), broken });
            let mut seen = Vec::new();
            let end = read(Path::new("journal"), &file, salt, 1, None, |record: Record| {
                seen.push(record.ticks());
                Ok(())
            });
            (end.map(|end| (end.sequence, end.clean)).map_err(|error| error.code()), seen)
        };
        assert_eq!(outcome(None), (Ok((4, true)), vec![1, 2, 3]));
        assert_eq!(outcome(Some(ends[1] - 1)), (Err(ErrorCode::Corrupted), vec![1]));
    }
}
