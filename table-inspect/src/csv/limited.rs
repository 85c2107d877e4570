//! An input wrapper that counts lines and rejects records that are too long. It also detects an unclosed quote at the end of the input.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum size of one record, in bytes, larger than any entity.
pub(super) const RECORD: usize = 4 << 20;

/// Lines appended to the input to detect an unclosed quote.
///
/// If the last cell has an unclosed quote, the lines become part of that cell. Otherwise, they become separate records.
const AFTER: &[u8] = b"\n\0\n";

/// The state shared between a reader and its [`Limited`] input.
#[derive(Clone, Debug)]
pub(super) struct Watch(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The number of bytes that may still be read for the current record.
    left: usize,
    /// The number of input bytes read so far.
    offset: u64,
    /// The number of bytes from [`AFTER`] that have been read.
    after: usize,
    is_behind_return: bool,
    /// The line breaks that have been read but not counted. Each has the offset of its last byte, and `true` for CR LF.
    ends: VecDeque<(u64, bool)>,
    /// The number of the line that ends at the first uncounted line break, counted from 1.
    line: u64,
}

impl Default for Watch {
    fn default() -> Self {
        let (offset, ends) = (0, VecDeque::new());
        Self(Arc::new(Mutex::new(State {
            left: RECORD,
            offset,
            after: 0,
            is_behind_return: false,
            ends,
            line: 1,
        })))
    }
}

impl Watch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if a reader at `position` has read past the original input. The first appended line break still counts as input.
    pub(super) fn is_beyond(&self, position: u64) -> bool {
        let state = self.state();
        state.after > 0 && position > state.offset + 1
    }

    /// Returns `true` if the cells come from the appended lines.
    pub(super) fn is_after(&self, position: u64, cells: &csv::ByteRecord) -> bool {
        self.is_beyond(position) && cells.len() == 1 && cells.get(0) == Some(b"\0")
    }

    /// Resets the size limit for the next record.
    pub(super) fn renew(&self) {
        self.state().left = RECORD;
    }

    /// Returns `true` if the current record has exceeded the size limit.
    pub(super) fn is_spent(&self) -> bool {
        self.state().left == 0
    }

    /// Returns the line number of the record that starts at the given offset. Line breaks at this offset are skipped first. The offsets of successive calls
    /// must be ascending.
    pub(super) fn line_at(&self, start: u64) -> u64 {
        let (mut state, mut at) = (self.state(), start);
        // The CSV reader ends a record at CR. After CR LF, the next record therefore appears to start with LF.
        while let Some((end, is_pair)) = state.ends.front().copied() {
            if end < at {
                state.line += 1;
            } else if end == at || (is_pair && end == at + 1) {
                state.line += 1;
                at = end + 1;
            } else {
                break;
            }
            state.ends.pop_front();
        }
        state.line
    }
}

impl State {
    /// Records the line breaks in these bytes.
    fn scan(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                self.ends.push_back((self.offset, self.is_behind_return));
            } else if self.is_behind_return {
                self.ends.push_back((self.offset - 1, false));
            }
            self.is_behind_return = *byte == b'\r';
            self.offset += 1;
        }
    }
}

/// An input wrapper that counts lines and limits the size of each record.
#[derive(Debug)]
pub(super) struct Limited<R> {
    input: R,
    watch: Watch,
}

impl<R> Limited<R> {
    pub(super) fn new(input: R, watch: &Watch) -> Self {
        Self { input, watch: watch.clone() }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.watch.state().left);
        let Some(buffer) = buffer.get_mut(..most).filter(|buffer| !buffer.is_empty()) else {
            return Err(io::Error::other("the record is too long"));
        };
        let read = self.input.read(buffer)?;
        let mut state = self.watch.state();
        if read == 0 {
            let rest = AFTER.get(state.after..).unwrap_or_default();
            let length = rest.len().min(buffer.len());
            buffer.iter_mut().zip(rest).for_each(|(byte, after)| *byte = *after);
            state.after += length;
            return Ok(length);
        }
        state.left -= read;
        state.scan(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
