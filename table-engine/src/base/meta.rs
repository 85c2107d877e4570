//! Metadata of a version of the base. Each version records it in addition to its runs (`docs/format.md`, "Base").

use table_store::name::TableName;

use crate::bytes::{Reader, Writer};
use crate::catalog::{Catalog, TableEntry};

/// The metadata of a version of the base.
#[derive(Clone, Debug)]
pub(crate) struct Meta {
    /// The number of the journal file at which the replay starts.
    pub(crate) journal: u64,
    /// The sequence number of the first frame in that journal file.
    pub(crate) sequence: u64,
    /// The largest Timestamp assigned to any row (ENG-8).
    pub(crate) timestamp: u64,
    /// The existing tables.
    pub(crate) catalog: Catalog,
    /// The ids of dropped tables that may still have rows in the base.
    pub(crate) dropped: Vec<u32>,
}

impl Meta {
    pub(super) fn write(&self, out: &mut Writer) {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        out.u64(self.journal);
        out.u64(self.sequence);
        out.u64(self.timestamp);
        out.u32(self.catalog.next_id());
        out.u32(count(self.catalog.iter().count()));
        for entry in self.catalog.iter() {
            out.u32(entry.id);
            out.u64(entry.created);
            out.bytes(entry.name.as_str().as_bytes());
        }
        out.u32(count(self.dropped.len()));
        for id in &self.dropped {
            out.u32(*id);
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (journal, sequence, timestamp) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let mut catalog = Catalog::default();
        catalog.reserve_ids(reader.u32()?);
        for _ in 0..reader.u32()? {
            catalog.add(read_entry(reader)?);
        }
        let mut dropped = Vec::new();
        for _ in 0..reader.u32()? {
            dropped.push(reader.u32()?);
        }
        Some(Self { journal, sequence, timestamp, catalog, dropped })
    }
}

fn read_entry(reader: &mut Reader<'_>) -> Option<TableEntry> {
    let (id, created) = (reader.u32()?, reader.u64()?);
    let name = TableName::stored(std::str::from_utf8(reader.bytes()?).ok()?).ok()?;
    Some(TableEntry { id, name, created })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_of_the_record_and_it_reads_back() {
        let mut catalog = Catalog::default();
        catalog.add(TableEntry { id: 2, name: TableName::new("Orders").unwrap(), created: 5 });
        let meta = Meta { journal: 3, sequence: 99, timestamp: 7, catalog, dropped: vec![1] };
        let mut out = Writer::default();
        meta.write(&mut out);
        let bytes = out.into_bytes();
        let mut wanted = b"\x03\0\0\0\0\0\0\0\x63\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0".to_vec();
        wanted.extend(b"\x03\0\0\0\x01\0\0\0\x02\0\0\0\x05\0\0\0\0\0\0\0\x06\0\0\0Orders");
        wanted.extend(b"\x01\0\0\0\x01\0\0\0");
        assert_eq!(bytes, wanted);
        let back = Meta::read(&mut Reader::new(&bytes)).unwrap();
        assert_eq!((back.journal, back.sequence, back.timestamp), (3, 99, 7));
        assert_eq!((back.catalog.next_id(), back.dropped), (3, vec![1]));
        assert!(back.catalog.iter().eq(meta.catalog.iter()));
        for length in 0..bytes.len() {
            assert!(Meta::read(&mut Reader::new(&bytes[..length])).is_none(), "{length}");
        }
    }
}
