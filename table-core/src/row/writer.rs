//! Writes an encoded row, property by property, into one buffer.

#[cfg(doc)]
use crate::row::RowView;
use crate::row::{ENTRY, HEADER, NAME_TOO_LONG, Row, TOO_LARGE, TOO_MANY, VERSION};
use crate::value::ValueRef;

/// Builds a [`Row`]. The structure is always sound; limits and names are checked by the store ([`crate::limits`]).
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
    bytes: Vec<u8>,
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
    /// A writer that expects a handful of properties.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(8)
    }

    /// A writer with room in its directory for `properties`; more may be written.
    #[must_use]
    pub fn with_capacity(properties: usize) -> Self {
        let bytes = Vec::with_capacity(HEADER + properties.min(usize::from(u16::MAX)) * (ENTRY + 24));
        let mut writer = Self { bytes, reserved: 0, count: 0, version: VERSION };
        writer.begin(properties);
        writer
    }

    /// Begins another row in the same buffer, in place of what was written.
    pub(crate) fn begin(&mut self, properties: usize) {
        self.reserved = properties.min(usize::from(u16::MAX));
        (self.count, self.version) = (0, VERSION);
        self.bytes.clear();
        self.bytes.resize(HEADER + self.reserved * ENTRY, 0);
    }

    /// Appends one property. Names are not compared: the caller writes each once.
    ///
    /// What a directory cannot say (a name over 65,535 bytes, a row over 4 GiB, over 65,535 properties) is not written and
    /// makes the row [`overflown`](RowView::is_overflown), which every store refuses; the service's limits are far below.
    pub fn property(&mut self, name: &str, value: ValueRef<'_>) {
        if let Err(overflow) = self.append(name, value) {
            self.version = overflow;
        }
    }

    fn append(&mut self, name: &str, value: ValueRef<'_>) -> Result<(), u8> {
        let name_length = u16::try_from(name.len()).map_err(|_| NAME_TOO_LONG)?;
        if self.count == usize::from(u16::MAX) {
            return Err(TOO_MANY);
        }
        if self.count == self.reserved {
            self.grow();
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name.as_bytes());
        match value {
            ValueRef::String(text) => self.bytes.extend_from_slice(text.as_bytes()),
            ValueRef::Int32(number) => self.bytes.extend_from_slice(&number.to_le_bytes()),
            ValueRef::Int64(number) => self.bytes.extend_from_slice(&number.to_le_bytes()),
            ValueRef::Double(number) => self.bytes.extend_from_slice(&number.to_bits().to_le_bytes()),
            ValueRef::Boolean(flag) => self.bytes.push(u8::from(flag)),
            ValueRef::DateTime(ticks) => self.bytes.extend_from_slice(&ticks.to_le_bytes()),
            ValueRef::Guid(guid) => self.bytes.extend_from_slice(guid.as_bytes()),
            ValueRef::Binary(bytes) => self.bytes.extend_from_slice(bytes),
        }
        let body = HEADER + self.reserved * ENTRY;
        let Ok(end) = u32::try_from(self.bytes.len() - body) else {
            self.bytes.truncate(start);
            return Err(TOO_LARGE);
        };
        let [n0, n1] = name_length.to_le_bytes();
        let [e0, e1, e2, e3] = end.to_le_bytes();
        let entry = [value.edm_type() as u8, 0, n0, n1, e0, e1, e2, e3];
        let at = HEADER + self.count * ENTRY;
        if let Some(place) = self.bytes.get_mut(at..at + ENTRY) {
            place.copy_from_slice(&entry);
        }
        self.count += 1;
        Ok(())
    }

    fn grow(&mut self) {
        let more = self.reserved.max(8);
        let at = HEADER + self.reserved * ENTRY;
        self.bytes.splice(at..at, std::iter::repeat_n(0, more * ENTRY));
        self.reserved += more;
    }

    /// The row, without a Timestamp: the store that accepts it assigns one.
    #[must_use]
    pub fn finish(mut self) -> Row {
        Row::from_bytes(self.close(0).into())
    }

    /// The bytes of the row with a Timestamp, in [ticks](crate::ticks). Nothing is lost by asking twice.
    pub(crate) fn close(&mut self, timestamp: u64) -> &[u8] {
        let used = HEADER + self.count * ENTRY;
        self.bytes.drain(used..HEADER + self.reserved * ENTRY);
        self.reserved = self.count;
        let count = u16::try_from(self.count).unwrap_or(u16::MAX).to_le_bytes();
        let header = std::iter::once(self.version).chain(timestamp.to_le_bytes()).chain(count);
        for (place, byte) in self.bytes.iter_mut().zip(header) {
            *place = byte;
        }
        &self.bytes
    }
}
