//! Reads a journal file frame by frame, and tells a torn tail from corruption.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use crate::embedded::disk::DiskFile;
use crate::embedded::journal::failed;
use crate::embedded::journal::file;
use crate::embedded::journal::frame::{HEADER, Head, Record};
use crate::error::{Error, ErrorCode, Result};

/// Where the frames of a file end, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The offset behind the last good frame.
    pub(crate) offset: u64,
    /// The sequence number of the next frame.
    pub(crate) sequence: u64,
    /// Whether only zeros follow. Otherwise a write was torn there.
    pub(crate) clean: bool,
    /// The offset from which on no sync is known to have succeeded.
    pub(crate) unsynced: u64,
}

/// A file read from an offset on.
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

/// Gives every good frame's record to `apply`, in order, and finds the end.
///
/// # Errors
/// `Corrupted` if a frame is broken that had been durable: one is found behind it that was written later than its sync. Frames
/// of one unsynced write may reach the disk in any order, so a good frame behind a broken one alone proves nothing.
pub(crate) fn read(
    path: &Path,
    file: &Arc<dyn DiskFile>,
    sequence: u64,
    mut apply: impl FnMut(Record) -> Result<()>,
) -> Result<End> {
    let io = |error| failed(&format!("journal file {} cannot be read", path.display()), error);
    let length = file.len().map_err(io)?;
    let start = file::HEADER.min(length);
    let mut end = End { offset: start, sequence, clean: true, unsynced: start };
    let from = From { file: &**file, offset: end.offset, length };
    let mut source = BufReader::with_capacity(1 << 18, from);
    let mut frame = Vec::new();
    while let Some(head) = next(&mut source, &mut frame, length - end.offset).map_err(io)? {
        if head.sequence != end.sequence || !head.accepts(&frame) {
            break;
        }
        // A checksum that holds over bytes that are no record: written by something else.
        let record = frame.get(HEADER..).and_then(Record::read).ok_or_else(|| corrupted(path, end.offset))?;
        apply(record)?;
        // The first frame after a sync says that all before it is durable.
        if head.durable == head.sequence {
            end.unsynced = end.offset;
        }
        end.offset += frame.len() as u64;
        end.sequence += 1;
    }
    let rest = rest(&**file, end.offset, length).map_err(io)?;
    end.clean = used(&rest) == 0;
    if synced_later(&rest, end.sequence) {
        return Err(corrupted(path, end.offset));
    }
    Ok(end)
}

/// The next frame, unchecked; `None` if it would reach beyond the file.
fn next(source: &mut impl BufRead, frame: &mut Vec<u8>, left: u64) -> io::Result<Option<Head>> {
    frame.clear();
    source.take(HEADER as u64).read_to_end(frame)?;
    let Some(head) = Head::read(frame) else { return Ok(None) };
    if head.length == 0 || (HEADER + head.length) as u64 > left {
        return Ok(None);
    }
    source.take(head.length as u64).read_to_end(frame)?;
    Ok(Some(head))
}

/// The bytes behind the last good frame.
fn rest(file: &dyn DiskFile, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    From { file, offset, length }.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// How many bytes there are before nothing but zeros, rounded up.
fn used(bytes: &[u8]) -> usize {
    const ZEROS: [u8; 4096] = [0; 4096];
    let block = bytes.chunks(ZEROS.len()).rposition(|block| Some(block) != ZEROS.get(..block.len()));
    block.map_or(0, |last| (last + 1) * ZEROS.len())
}

/// Whether these bytes hold a good frame that was written when the one of this sequence number was durable already.
fn synced_later(bytes: &[u8], sequence: u64) -> bool {
    frames(bytes, sequence).any(|head| head.durable > sequence)
}

/// Whether these bytes hold any good frame from this sequence number on.
pub(crate) fn holds_frames(bytes: &[u8], sequence: u64) -> bool {
    frames(bytes, sequence).next().is_some()
}

/// The good frames from a sequence number on, wherever they begin.
fn frames(bytes: &[u8], sequence: u64) -> impl Iterator<Item = Head> {
    let (mut at, used) = (0, used(bytes));
    std::iter::from_fn(move || {
        while at < used {
            let head = bytes.get(at..).and_then(Head::read)?;
            let size = HEADER.saturating_add(head.length);
            // Each frame takes bytes: a sequence number far ahead is not worth a checksum.
            let near = head.sequence >= sequence && head.sequence - sequence < bytes.len() as u64;
            let frame = bytes.get(at..).and_then(|rest| rest.get(..size)).filter(|_| near && head.length > 0);
            if frame.is_some_and(|frame| head.accepts(frame)) {
                at += size;
                return Some(head);
            }
            at += 1;
        }
        None
    })
}

pub(crate) fn corrupted(path: &Path, offset: u64) -> Error {
    let message = format!(
        "journal file {} is broken at byte {offset} and not at its end: restore the folder from a copy; no file was changed",
        path.display()
    );
    Error::new(ErrorCode::Corrupted, message)
}
