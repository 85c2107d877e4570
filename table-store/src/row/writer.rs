//! A writer for encoded rows. It has separate buffers for the shape (names and types) and the body (Timestamp and values).

use std::cell::Cell;

use crate::row::{
    BODY_HEADER, ENTRY, NAME_TOO_LONG, NAMES, Row, RowView, SHAPE_HEADER, TOO_LARGE, TOO_MANY, VERSION,
};
use crate::value::ValueRef;

/// The maximum capacity of a buffer that is kept for reuse, in bytes.
const KEPT: usize = 64 * 1024;

thread_local! {
    /// The buffers of this thread's last finished writer, kept for reuse.
    static BUFFERS: Cell<Option<(Vec<u8>, Vec<u8>)>> = const { Cell::new(None) };
}

/// A builder for a [`Row`]. The encoding is always well-formed. The store checks limits and names ([`crate::limits`]).
///
/// ```
/// use table_core::{ValueRef, row::RowWriter};
///
/// let mut writer = RowWriter::with_capacity(1);
/// writer.property("Age", ValueRef::Int32(34));
/// assert_eq!(writer.finish().view().len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct RowWriter {
    shape: Vec<u8>,
    body: Vec<u8>,
    /// The capacity of each of the two directories, in entries.
    reserved: usize,
    count: usize,
    version: u8,
}

impl Default for RowWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl RowWriter {
    /// Creates a writer with capacity for a few properties.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(8)
    }

    /// Creates a writer with initial capacity for `properties` properties.
    #[must_use]
    pub fn with_capacity(properties: usize) -> Self {
        let room = properties.min(usize::from(u16::MAX)) * (ENTRY + 12);
        let (mut shape, mut body) = BUFFERS.try_with(Cell::take).ok().flatten().unwrap_or_default();
        shape.clear();
        body.clear();
        shape.reserve(SHAPE_HEADER + room);
        body.reserve(BODY_HEADER + room);
        let mut writer = Self { shape, body, reserved: 0, count: 0, version: VERSION };
        writer.begin(properties);
        writer
    }

    /// Discards the current row and starts a new one in the same buffers.
    pub(crate) fn begin(&mut self, properties: usize) {
        self.reserved = properties.min(usize::from(u16::MAX));
        (self.count, self.version) = (0, VERSION);
        for (part, header) in [(&mut self.shape, SHAPE_HEADER), (&mut self.body, BODY_HEADER)] {
            part.clear();
            part.resize(header + self.reserved * ENTRY, 0);
        }
    }

    /// Appends a property. Duplicate names are not detected.
    ///
    /// The format is limited to 16 MiB of names, 4 GiB of values and 65,535 properties. Content that exceeds these limits is not written, and the row becomes
    /// invalid, so every store rejects it. The service's limits are far lower.
    pub fn property(&mut self, name: &str, value: ValueRef<'_>) {
        if let Err(overflow) = self.append(name, value) {
            self.version = overflow;
        }
    }

    fn append(&mut self, name: &str, value: ValueRef<'_>) -> Result<(), u8> {
        if self.count == usize::from(u16::MAX) {
            return Err(TOO_MANY);
        }
        if self.count == self.reserved {
            self.grow();
        }
        let directory = self.reserved * ENTRY;
        let names = self.shape.len() - (SHAPE_HEADER + directory) + name.len();
        let names = u32::try_from(names).ok().filter(|end| *end <= NAMES).ok_or(NAME_TOO_LONG)?;
        let start = self.body.len();
        match value {
            ValueRef::String(text) => self.body.extend_from_slice(text.as_bytes()),
            ValueRef::Int32(number) => self.body.extend_from_slice(&number.to_le_bytes()),
            ValueRef::Int64(number) => self.body.extend_from_slice(&number.to_le_bytes()),
            ValueRef::Double(number) => self.body.extend_from_slice(&number.to_bits().to_le_bytes()),
            ValueRef::Boolean(flag) => self.body.push(u8::from(flag)),
            ValueRef::DateTime(ticks) => self.body.extend_from_slice(&ticks.to_le_bytes()),
            ValueRef::Guid(guid) => self.body.extend_from_slice(guid.as_bytes()),
            ValueRef::Binary(bytes) => self.body.extend_from_slice(bytes),
        }
        let Ok(values) = u32::try_from(self.body.len() - (BODY_HEADER + directory)) else {
            self.body.truncate(start);
            return Err(TOO_LARGE);
        };
        self.shape.extend_from_slice(name.as_bytes());
        set(&mut self.shape, SHAPE_HEADER + self.count * ENTRY, names << 8 | value.edm_type() as u32);
        set(&mut self.body, BODY_HEADER + self.count * ENTRY, values);
        self.count += 1;
        Ok(())
    }

    fn grow(&mut self) {
        let more = self.reserved.max(8);
        for (part, header) in [(&mut self.shape, SHAPE_HEADER), (&mut self.body, BODY_HEADER)] {
            let at = header + self.reserved * ENTRY;
            part.splice(at..at, std::iter::repeat_n(0, more * ENTRY));
        }
        self.reserved += more;
    }

    /// Returns the finished row. Its Timestamp is 0 until a store assigns one.
    #[must_use]
    pub fn finish(mut self) -> Row {
        let row = self.close(0).to_row();
        let Self { shape, body, .. } = self;
        if shape.capacity().max(body.capacity()) <= KEPT {
            // If the thread is exiting, the buffers are dropped.
            let _ = BUFFERS.try_with(|kept| kept.set(Some((shape, body))));
        }
        row
    }

    /// Finishes the row, sets its Timestamp in [ticks](crate::ticks), and returns a view of it. This function may be called repeatedly.
    pub(crate) fn close(&mut self, timestamp: u64) -> RowView<'_> {
        for (part, header) in [(&mut self.shape, SHAPE_HEADER), (&mut self.body, BODY_HEADER)] {
            part.drain(header + self.count * ENTRY..header + self.reserved * ENTRY);
        }
        self.reserved = self.count;
        let [low, high] = u16::try_from(self.count).unwrap_or(u16::MAX).to_le_bytes();
        set(&mut self.shape, 0, u32::from_le_bytes([self.version, 0, low, high]));
        if let Some(place) = self.body.first_chunk_mut() {
            *place = timestamp.to_le_bytes();
        }
        RowView::of(&self.shape, &self.body)
    }
}

fn set(bytes: &mut [u8], at: usize, number: u32) {
    if let Some(place) = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = number.to_le_bytes();
    }
}
