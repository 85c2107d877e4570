//! Functions for fuzzing the engine's formats. Each function accepts any bytes, and returns `true` if they are valid. It panics if a guarantee is broken.
//!
//! This module is not part of the public API.

use std::path::Path;
use std::sync::Arc;

use table_store::row::Row;

use crate::base;
use crate::bytes::Writer;
use crate::disk::DiskFile;
use crate::journal::file::{FileHeader, Salt};
use crate::journal::frame::{self, Record};
use crate::journal::reader;

pub use base::fuzz::{block, block_of, index, version};

const SALT: Salt = Salt { head: 1, record: 2 };

/// A read-only in-memory file.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl DiskFile for Bytes {
    fn len(&self) -> std::io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.checked_add(buffer.len());
        let bytes = end.and_then(|end| self.0.get(start..end)).ok_or(std::io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    fn set_len(&self, _: u64) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    fn sync_data(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads a journal file, truncates it at the end of its frames, and reads it again.
///
/// # Panics
/// Panics if the two reads differ.
#[must_use]
pub fn journal(bytes: &[u8]) -> bool {
    let (salt, sequence) = FileHeader::read(bytes).map_or((SALT, 1), |header| (header.salt, header.sequence));
    let read = |bytes: &[u8]| {
        let (file, mut records): (Arc<dyn DiskFile>, _) = (Arc::new(Bytes(bytes.to_vec())), Vec::new());
        let end = reader::read(Path::new("fuzz"), &file, salt, sequence, None, |record| {
            records.push(record);
            Ok(())
        });
        end.ok().map(|end| (end, records))
    };
    let Some((end, records)) = read(bytes) else { return false };
    let cut = usize::try_from(end.offset).ok().and_then(|end| bytes.get(..end));
    let again = cut.and_then(read).map(|(again, records)| (again.offset, again.clean, records));
    assert_eq!(again.as_ref(), Some(&(end.offset, true, records)), "a journal cut off behind its end");
    again.is_some_and(|(_, _, records)| !records.is_empty())
}

/// Reads a record, writes it as a frame, and reads it again.
///
/// # Panics
/// Panics if the two records differ.
#[must_use]
pub fn record(bytes: &[u8]) -> bool {
    let Some(record) = Record::read(bytes) else { return false };
    if let Record::Write { changes, .. } = &record {
        // All rows of a transaction are in one partition, so the engine never writes a record with several partitions.
        let first: &[u8] = changes.first().map_or(&[], |change| &change.key);
        let partition = first.get(..frame::partition_bytes(first)).unwrap_or_default();
        if !changes.iter().all(|change| change.key.starts_with(partition)) {
            return true;
        }
    }
    let mut out = Writer::default();
    frame::write(&record, SALT, 1, 1, &mut out);
    let back = out.as_bytes().get(frame::HEADER..).and_then(Record::read);
    assert_eq!(back, Some(record), "a record that was written again");
    true
}

/// Returns the bytes of a journal file with one frame for each given row.
#[must_use]
pub fn journal_of(rows: &[(Vec<u8>, Row)]) -> Vec<u8> {
    let mut out = Writer::default();
    out.raw(&FileHeader { number: 1, sequence: 1, salt: SALT }.write());
    for (sequence, (key, row)) in (1..).zip(rows) {
        let changes = vec![frame::Change { key: key.as_slice().into(), row: Some(row.clone()) }];
        frame::write(&Record::Write { ticks: sequence, changes }, SALT, sequence, sequence, &mut out);
    }
    out.into_bytes()
}

/// Returns the bytes of a record that writes the given rows, which must be in one partition.
#[must_use]
pub fn record_of(rows: &[(Vec<u8>, Row)]) -> Vec<u8> {
    let change =
        |(key, row): &(Vec<u8>, Row)| frame::Change { key: key.as_slice().into(), row: Some(row.clone()) };
    let mut out = Writer::default();
    let record = Record::Write { ticks: 7, changes: rows.iter().map(change).collect() };
    frame::write(&record, SALT, 1, 1, &mut out);
    out.as_bytes().get(frame::HEADER..).unwrap_or_default().to_vec()
}
