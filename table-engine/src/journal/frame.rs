//! Journal frames. A frame contains one transaction and its results, so it can be replayed without any other data (`docs/format.md`, "Journal").
//!
//! ```text
//! 0   u32  bytes of the record
//! 4   u32  CRC32C of the record
//! 8   u64  sequence number
//! 16  u64  durable: every frame below this sequence number was durable when this one was written
//! 24  u32  CRC32C of bytes 0 to 23
//! 28  …    record
//! ```

use std::sync::Arc;

use table_store::name::TableName;
use table_store::row::Row;

use crate::bytes::{Reader, Writer};
use crate::catalog::TableEntry;
use crate::journal::file::Salt;
use crate::key::{Key, TABLE_BYTES};

/// The size in bytes of a frame's head, which precedes the record.
pub(crate) const HEADER: usize = 28;
/// The offset of the head's checksum within a frame.
const HEAD: usize = 24;

/// The maximum total size of a transaction's changes in [bytes](Change::bytes). The length of a record is a `u32`, which sets this limit.
pub(crate) const MOST_BYTES: u64 = u32::MAX as u64;

const WRITE: u8 = 1;
const CREATE: u8 = 2;
const DROP: u8 = 3;

/// The result of a write to one key: the new row, or `None` for a delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) key: Key,
    pub(crate) row: Option<Row>,
}

impl Change {
    /// Returns an upper bound on the number of bytes that the change adds to a record. It includes a share of the fields before the changes.
    pub(crate) fn bytes(&self) -> u64 {
        const FIELDS: usize = 32;
        (FIELDS + self.key.len() + self.row.as_ref().map_or(0, |row| row.as_bytes().len())) as u64
    }
}

/// The changes of one transaction, as recorded in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A transaction that wrote entities in one partition.
    Write { ticks: u64, changes: Vec<Change> },
    /// A transaction that created a table.
    Create { entry: TableEntry },
    /// A transaction that dropped a table.
    Drop { ticks: u64, id: u32 },
}

impl Record {
    /// Returns the Timestamp of the transaction.
    pub(crate) fn ticks(&self) -> u64 {
        match self {
            Self::Write { ticks, .. } | Self::Drop { ticks, .. } => *ticks,
            Self::Create { entry } => entry.created,
        }
    }

    /// Returns `true` if the record has no changes, as in a closing frame.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Write { changes, .. } if changes.is_empty())
    }

    fn write(&self, out: &mut Writer) {
        match self {
            Self::Write { ticks, changes } => {
                out.u8(WRITE);
                out.u64(*ticks);
                // All keys of a transaction are in the same partition, so the bytes of the partition are written only once.
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

    /// Reads a record. Returns `None` if the bytes are not a record.
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

/// Returns the length of a key's prefix, up to and including the partition's end marker.
pub(crate) fn partition_bytes(key: &[u8]) -> usize {
    let texts = key.get(TABLE_BYTES..).unwrap_or_default();
    texts.iter().position(|byte| *byte == 0).map_or(key.len(), |end| TABLE_BYTES + end + 1)
}

/// Appends the frame of a record, and returns the frame's head.
pub(crate) fn write(record: &Record, salt: Salt, sequence: u64, durable: u64, out: &mut Writer) -> Head {
    let start = out.as_bytes().len();
    out.raw(&[0; HEADER]);
    record.write(out);
    let record = out.as_bytes().get(start + HEADER..).unwrap_or_default();
    let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
    let checksum = crc32c::crc32c_append(salt.record, record);
    let head = Head { length, checksum, sequence, durable };
    out.patch(start, &head.write(salt));
    head
}

/// The fixed-size head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The number of bytes in the record.
    pub(crate) length: u32,
    /// The checksum of the record.
    checksum: u32,
    pub(crate) sequence: u64,
    pub(crate) durable: u64,
}

impl Head {
    fn write(self, salt: Salt) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(self.length);
        out.u32(self.checksum);
        out.u64(self.sequence);
        out.u64(self.durable);
        out.u32(crc32c::crc32c_append(salt.head, out.as_bytes()));
        out.into_bytes()
    }

    /// Returns the sequence number of a frame without checking its head, or `None` if `bytes` is too short.
    pub(crate) fn peek(bytes: &[u8]) -> Option<u64> {
        Some(u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?))
    }

    /// Reads the head of a frame. Returns `None` if the head was written with a different salt, or if the bytes are not a head.
    pub(crate) fn read(bytes: &[u8], salt: Salt) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let (length, checksum) = (reader.u32()?, reader.u32()?);
        let head = Self { length, checksum, sequence: reader.u64()?, durable: reader.u64()? };
        let checksum = u32::from_le_bytes(bytes.get(HEAD..HEADER)?.try_into().ok()?);
        let holds = head.length > 0
            && head.durable <= head.sequence
            && crc32c::crc32c_append(salt.head, bytes.get(..HEAD)?) == checksum;
        holds.then_some(head)
    }

    /// Returns the checksum over a file's frames up to and including this one. `before` is the checksum over the earlier frames, or 0 for the first frame.
    pub(crate) fn chain(&self, before: u32) -> u32 {
        crc32c::crc32c_append(before, &self.checksum.to_le_bytes())
    }

    /// Returns `true` if a record matches the head's length and checksum.
    pub(crate) fn accepts(&self, record: &[u8], salt: Salt) -> bool {
        u32::try_from(record.len()) == Ok(self.length)
            && crc32c::crc32c_append(salt.record, record) == self.checksum
    }
}

#[cfg(test)]
mod tests {
    use table_store::ValueRef;
    use table_store::row::RowWriter;

    use super::*;
    use crate::key;
    use proptest::prelude::*;

    fn write_record() -> Record {
        let mut writer = RowWriter::new();
        writer.property("Age", ValueRef::Int32(34));
        let row = writer.finish().with_timestamp(0x0102_0304_0506_0708);
        let mut keys: Vec<Key> = ["1", "22"].map(key::of_rows("Sales")).into();
        for key in &mut keys {
            key::set_table(key, 7);
        }
        let [first, second] = keys.try_into().unwrap();
        Record::Write {
            ticks: 0x0102_0304_0506_0708,
            changes: vec![Change { key: first, row: Some(row) }, Change { key: second, row: None }],
        }
    }

    const SALT: Salt = Salt { head: 0x0102_0304, record: 0x0506_0708 };

    fn records() -> [Record; 3] {
        let entry = TableEntry { id: 3, name: TableName::new("Employee").unwrap(), created: 9 };
        [write_record(), Record::Create { entry }, Record::Drop { ticks: 10, id: 3 }]
    }

    #[test]
    fn golden_bytes_of_a_frame() {
        let mut out = Writer::default();
        write(&write_record(), SALT, 5, 4, &mut out);
        let mut wanted = vec![];
        wanted.extend([67, 0, 0, 0]); // bytes of the record
        wanted.extend([24, 96, 81, 147]); // CRC32C of the record
        wanted.extend([5, 0, 0, 0, 0, 0, 0, 0]); // sequence number
        wanted.extend([4, 0, 0, 0, 0, 0, 0, 0]); // durable
        wanted.extend([204, 144, 38, 179]); // CRC32C of the head
        wanted.push(1); // a write
        wanted.extend([8, 7, 6, 5, 4, 3, 2, 1]); // Timestamp
        wanted.extend([10, 0, 0, 0]);
        wanted.extend(b"\0\0\0\x07Sales\0"); // table 7, the partition and its end marker
        wanted.extend([1, 1, 0, 0, 0, b'1']); // a put of row `1`
        wanted.extend([27, 0, 0, 0]); // bytes of the row
        wanted.extend([1, 0, 1, 0]); // row: version, reserved, one property
        wanted.extend([2, 3, 0, 0]); // Int32, whose name ends at 3
        wanted.extend(b"Age");
        wanted.extend([8, 7, 6, 5, 4, 3, 2, 1]); // Timestamp
        wanted.extend([4, 0, 0, 0]); // the value ends at 4
        wanted.extend([34, 0, 0, 0]);
        wanted.extend([0, 2, 0, 0, 0, b'2', b'2']); // a delete of row `22`
        assert_eq!(out.as_bytes(), wanted);
    }

    #[test]
    fn frames_read_back() {
        for record in records() {
            let mut out = Writer::default();
            write(&record, SALT, 5, 4, &mut out);
            let head = Head::read(out.as_bytes(), SALT).unwrap();
            assert!(head.accepts(&out.as_bytes()[HEADER..], SALT));
            assert_eq!((head.sequence, head.durable), (5, 4));
            assert_eq!(Record::read(&out.as_bytes()[HEADER..]), Some(record));
        }
    }

    #[test]
    fn any_flipped_bit_is_detected() {
        let mut out = Writer::default();
        write(&write_record(), SALT, 5, 4, &mut out);
        let good = out.into_bytes();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let head = Head::read(&bad, SALT);
            assert!(!head.is_some_and(|head| head.accepts(&bad[HEADER..], SALT)), "bit {bit}");
        }
    }

    #[test]
    fn a_frame_of_another_file_is_not_read() {
        let mut out = Writer::default();
        write(&write_record(), SALT, 5, 4, &mut out);
        let (head, record) = (out.as_bytes(), &out.as_bytes()[HEADER..]);
        assert_eq!(Head::read(head, Salt { head: 1, ..SALT }), None);
        assert!(!Head::read(head, SALT).unwrap().accepts(record, Salt { record: 1, ..SALT }));
    }

    proptest! {
        #[test]
        fn reading_any_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80), kind in 0..4_u8) {
            let _ = Head::peek(&bytes);
            let _ = Head::read(&bytes, SALT).map(|head| head.accepts(&bytes, SALT));
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            let _ = Record::read(&bytes);
        }
    }
}
