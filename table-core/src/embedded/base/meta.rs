//! What every commit of the base records beside the rows (`docs/format.md`, "Base").

use crate::embedded::bytes::{Reader, Writer};
use crate::embedded::catalog::{Catalog, TableEntry};
use crate::error::{Error, ErrorCode, Result};
use crate::name::TableName;

const JOURNAL: &str = "journal";
const TIMESTAMP: &str = "timestamp";
const CATALOG: &str = "catalog";
const DROPPED: &str = "dropped";

/// What every commit of the base records.
#[derive(Clone, Debug)]
pub(crate) struct Meta {
    /// The first journal file that the base does not cover.
    pub(crate) journal: u64,
    /// The sequence number of the first frame in it.
    pub(crate) sequence: u64,
    /// The largest Timestamp given out before (ENG-8).
    pub(crate) timestamp: u64,
    /// The tables.
    pub(crate) catalog: Catalog,
    /// Tables that are dropped and may still have rows.
    pub(crate) dropped: Vec<u32>,
}

impl Meta {
    pub(crate) fn write(&self) -> [(&'static str, Vec<u8>); 4] {
        let mut journal = Writer::default();
        journal.u64(self.journal);
        journal.u64(self.sequence);
        let mut timestamp = Writer::default();
        timestamp.u64(self.timestamp);
        let mut catalog = Writer::default();
        catalog.u32(self.catalog.next_id());
        for entry in self.catalog.iter() {
            catalog.u32(entry.id);
            catalog.u64(entry.created);
            catalog.bytes(entry.name.as_str().as_bytes());
        }
        let mut dropped = Writer::default();
        for id in &self.dropped {
            dropped.u32(*id);
        }
        [
            (JOURNAL, journal.into_bytes()),
            (TIMESTAMP, timestamp.into_bytes()),
            (CATALOG, catalog.into_bytes()),
            (DROPPED, dropped.into_bytes()),
        ]
    }

    pub(crate) fn read(value: impl Fn(&str) -> Result<Option<Vec<u8>>>) -> Result<Self> {
        let corrupted =
            |name: &str| Error::new(ErrorCode::Corrupted, format!("base: broken record `{name}`"));
        let value = |name: &str| value(name)?.ok_or_else(|| corrupted(name));
        let bytes = value(JOURNAL)?;
        let mut reader = Reader::new(&bytes);
        let (journal, sequence) =
            (|| Some((reader.u64()?, reader.u64()?)))().ok_or_else(|| corrupted(JOURNAL))?;
        let timestamp = Reader::new(&value(TIMESTAMP)?).u64().ok_or_else(|| corrupted(TIMESTAMP))?;
        let bytes = value(CATALOG)?;
        let mut reader = Reader::new(&bytes);
        let mut catalog = Catalog::default();
        catalog.reserve_ids(reader.u32().ok_or_else(|| corrupted(CATALOG))?);
        while !reader.is_empty() {
            catalog.add(read_entry(&mut reader).ok_or_else(|| corrupted(CATALOG))?);
        }
        let bytes = value(DROPPED)?;
        let mut reader = Reader::new(&bytes);
        let mut dropped = Vec::new();
        while !reader.is_empty() {
            dropped.push(reader.u32().ok_or_else(|| corrupted(DROPPED))?);
        }
        Ok(Self { journal, sequence, timestamp, catalog, dropped })
    }
}

fn read_entry(reader: &mut Reader<'_>) -> Option<TableEntry> {
    let (id, created) = (reader.u32()?, reader.u64()?);
    let name = TableName::stored(std::str::from_utf8(reader.bytes()?).ok()?).ok()?;
    Some(TableEntry { id, name, created })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn golden_bytes_of_the_records() {
        let mut catalog = Catalog::default();
        catalog.add(TableEntry { id: 2, name: TableName::new("Orders").unwrap(), created: 5 });
        let meta = Meta { journal: 3, sequence: 99, timestamp: 7, catalog, dropped: vec![1] };
        let wanted: [(&str, &[u8]); 4] = [
            ("journal", b"\x03\0\0\0\0\0\0\0\x63\0\0\0\0\0\0\0"),
            ("timestamp", b"\x07\0\0\0\0\0\0\0"),
            ("catalog", b"\x03\0\0\0\x02\0\0\0\x05\0\0\0\0\0\0\0\x06\0\0\0Orders"),
            ("dropped", b"\x01\0\0\0"),
        ];
        assert!(meta.write().iter().map(|(name, value)| (*name, value.as_slice())).eq(wanted));
    }

    #[test]
    fn meta_reads_back_and_a_short_record_is_corrupted() {
        let mut catalog = Catalog::default();
        for name in ["Employee", "Orders"] {
            catalog.add(catalog.prepare_create(&TableName::new(name).unwrap(), 5, 5).unwrap());
        }
        catalog.remove(1, None);
        let meta = Meta { journal: 3, sequence: 99, timestamp: 7, catalog, dropped: vec![1] };
        let records: HashMap<_, _> = meta.write().into_iter().collect();
        let back = Meta::read(|name| Ok(records.get(name).cloned())).unwrap();
        assert_eq!((back.journal, back.sequence, back.timestamp), (3, 99, 7));
        assert_eq!((back.catalog.next_id(), back.dropped), (3, vec![1]));
        assert!(back.catalog.iter().eq(meta.catalog.iter()));
        for name in [JOURNAL, TIMESTAMP, CATALOG, DROPPED] {
            let short = |wanted: &str| {
                let mut record = records[wanted].clone();
                if wanted == name {
                    record.pop();
                }
                Ok(Some(record))
            };
            assert_eq!(Meta::read(short).unwrap_err().code(), ErrorCode::Corrupted, "{name}");
        }
    }
}
