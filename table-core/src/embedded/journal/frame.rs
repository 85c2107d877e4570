//! Frames: one transaction each, with its results, so that replay needs nothing but the frame (`docs/format.md`, "Journal").
//!
//! ```text
//! 0   u32  bytes of the record
//! 4   u32  CRC32C of all that follows in the frame, then of the length
//! 8   u64  sequence number
//! 16  u64  durable: every frame below this sequence number was durable when this one was written
//! 24  …    record
//! ```

use std::sync::Arc;

use crate::embedded::bytes::{Reader, Writer};
use crate::embedded::catalog::TableEntry;
use crate::embedded::key::{Key, TABLE_BYTES};
use crate::name::TableName;
use crate::row::Row;

/// Bytes of a frame before its record.
pub(crate) const HEADER: usize = 24;

const WRITE: u8 = 1;
const CREATE: u8 = 2;
const DROP: u8 = 3;

/// The result of a write on one key: its new row, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) key: Key,
    pub(crate) row: Option<Row>,
}

/// What one transaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Wrote entities of one partition.
    Write { ticks: u64, changes: Vec<Change> },
    /// Created a table.
    Create { entry: TableEntry },
    /// Dropped a table.
    Drop { ticks: u64, id: u32 },
}

impl Record {
    /// The Timestamp it was given.
    pub(crate) fn ticks(&self) -> u64 {
        match self {
            Self::Write { ticks, .. } | Self::Drop { ticks, .. } => *ticks,
            Self::Create { entry } => entry.created,
        }
    }

    fn write(&self, out: &mut Writer) {
        match self {
            Self::Write { ticks, changes } => {
                out.u8(WRITE);
                out.u64(*ticks);
                // All keys of a transaction are of one partition: that part is written once.
                let shared = changes.first().map_or(0, |change| partition_bytes(&change.key));
                out.bytes(changes.first().and_then(|change| change.key.get(..shared)).unwrap_or_default());
                for change in changes {
                    out.u8(u8::from(change.row.is_some()));
                    out.bytes(change.key.get(shared..).unwrap_or_default());
                    if let Some(row) = &change.row {
                        out.bytes(row.as_bytes());
                    }
                }
            }
            Self::Create { entry } => {
                out.u8(CREATE);
                out.u64(entry.created);
                out.u32(entry.id);
                out.bytes(entry.name.as_str().as_bytes());
            }
            Self::Drop { ticks, id } => {
                out.u8(DROP);
                out.u64(*ticks);
                out.u32(*id);
            }
        }
    }

    /// Reads a record; `None` if the bytes are none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (kind, ticks) = (reader.u8()?, reader.u64()?);
        let record = match kind {
            WRITE => {
                let mut key = reader.bytes()?.to_vec();
                let shared = key.len();
                let mut changes = Vec::new();
                while !reader.is_empty() {
                    let put = reader.u8()?;
                    key.truncate(shared);
                    key.extend_from_slice(reader.bytes()?);
                    let row = match put {
                        0 => None,
                        1 => Some(Row::from_bytes(Arc::from(reader.bytes()?))),
                        _ => return None,
                    };
                    changes.push(Change { key: Key::from(key.as_slice()), row });
                }
                Self::Write { ticks, changes }
            }
            CREATE => {
                let id = reader.u32()?;
                let name = TableName::stored(std::str::from_utf8(reader.bytes()?).ok()?).ok()?;
                Self::Create { entry: TableEntry { id, name, created: ticks } }
            }
            DROP => Self::Drop { ticks, id: reader.u32()? },
            _ => return None,
        };
        reader.is_empty().then_some(record)
    }
}

/// Bytes of a key up to and with the end of its partition.
fn partition_bytes(key: &[u8]) -> usize {
    let texts = key.get(TABLE_BYTES..).unwrap_or_default();
    texts.iter().position(|byte| *byte == 0).map_or(key.len(), |end| TABLE_BYTES + end + 1)
}

/// Appends the frame of a record.
pub(crate) fn write(record: &Record, sequence: u64, durable: u64, out: &mut Writer) {
    let start = out.as_bytes().len();
    out.u64(0);
    out.u64(sequence);
    out.u64(durable);
    record.write(out);
    let length = u32::try_from(out.as_bytes().len() - start - HEADER).unwrap_or(u32::MAX);
    let checksum = checksum(out.as_bytes().get(start + 8..).unwrap_or_default(), length);
    out.patch(start, &length.to_le_bytes());
    out.patch(start + 4, &checksum.to_le_bytes());
}

fn checksum(rest: &[u8], length: u32) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(rest), &length.to_le_bytes())
}

/// The fixed part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) length: usize,
    checksum: u32,
    pub(crate) sequence: u64,
    pub(crate) durable: u64,
}

impl Head {
    /// Reads it; nothing is checked yet. `None` if there are too few bytes.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (length, checksum) = (reader.u32()?, reader.u32()?);
        let (sequence, durable) = (reader.u64()?, reader.u64()?);
        Some(Self { length: usize::try_from(length).ok()?, checksum, sequence, durable })
    }

    /// Whether `frame`, the header included, is what was written.
    pub(crate) fn accepts(&self, frame: &[u8]) -> bool {
        let length = u32::try_from(self.length).unwrap_or(u32::MAX);
        frame.len() == HEADER + self.length
            && self.durable <= self.sequence
            && frame.get(8..).is_some_and(|rest| checksum(rest, length) == self.checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::key;
    use crate::row::RowWriter;
    use crate::value::ValueRef;
    use proptest::prelude::*;

    fn write_record() -> Record {
        let mut writer = RowWriter::new();
        writer.property("Age", ValueRef::Int32(34));
        let row = writer.finish().with_timestamp(0x0102_0304_0506_0708);
        let mut keys: Vec<Key> = key::encode_all("Sales", ["1", "22"].into_iter()).collect();
        for key in &mut keys {
            key::set_table(key, 7);
        }
        let [first, second] = keys.try_into().unwrap();
        Record::Write {
            ticks: 0x0102_0304_0506_0708,
            changes: vec![Change { key: first, row: Some(row) }, Change { key: second, row: None }],
        }
    }

    fn records() -> [Record; 3] {
        let entry = TableEntry { id: 3, name: TableName::new("Employee").unwrap(), created: 9 };
        [write_record(), Record::Create { entry }, Record::Drop { ticks: 10, id: 3 }]
    }

    #[test]
    fn golden_bytes_of_a_frame() {
        let mut out = Writer::default();
        write(&write_record(), 5, 4, &mut out);
        let mut wanted = vec![];
        wanted.extend([67, 0, 0, 0]); // bytes of the record
        wanted.extend([158, 126, 195, 43]); // CRC32C
        wanted.extend([5, 0, 0, 0, 0, 0, 0, 0]); // sequence number
        wanted.extend([4, 0, 0, 0, 0, 0, 0, 0]); // durable
        wanted.push(1); // a write
        wanted.extend([8, 7, 6, 5, 4, 3, 2, 1]); // Timestamp
        wanted.extend([10, 0, 0, 0]);
        wanted.extend(b"\0\0\0\x07Sales\0"); // table 7, partition, its end
        wanted.extend([1, 1, 0, 0, 0, b'1']); // put of row `1`
        wanted.extend([27, 0, 0, 0]); // bytes of its row
        wanted.extend([1, 0, 1, 0]); // row: version, reserved, one property
        wanted.extend([2, 3, 0, 0]); // Int32, its name ends at 3
        wanted.extend(b"Age");
        wanted.extend([8, 7, 6, 5, 4, 3, 2, 1]); // Timestamp
        wanted.extend([4, 0, 0, 0]); // the value ends at 4
        wanted.extend([34, 0, 0, 0]);
        wanted.extend([0, 2, 0, 0, 0, b'2', b'2']); // delete of row `22`
        assert_eq!(out.as_bytes(), wanted);
    }

    #[test]
    fn frames_read_back() {
        for record in records() {
            let mut out = Writer::default();
            write(&record, 5, 4, &mut out);
            let head = Head::read(out.as_bytes()).unwrap();
            assert!(head.accepts(out.as_bytes()));
            assert_eq!((head.sequence, head.durable), (5, 4));
            assert_eq!(Record::read(&out.as_bytes()[HEADER..]), Some(record));
        }
    }

    #[test]
    fn any_flipped_bit_is_seen() {
        let mut out = Writer::default();
        write(&write_record(), 5, 4, &mut out);
        let good = out.into_bytes();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!Head::read(&bad).unwrap().accepts(&bad), "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80), kind in 0..4_u8) {
            let _ = Head::read(&bytes).map(|head| head.accepts(&bytes));
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            let _ = Record::read(&bytes);
        }
    }
}
