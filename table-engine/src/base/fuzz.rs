//! Fuzz targets for the parsers of the base's file formats.

use std::path::PathBuf;
use std::sync::Arc;

use table_store::row::{Row, RowView};

use crate::base::block::{BlockWriter, Found, Layout};
use crate::base::pool::Pool;
use crate::base::run::{Directory, Form};
use crate::base::version::stored::Stored;
use crate::disk::RealDisk;
use crate::key::SplitKey;

/// Reads a block as if its checksum were valid. Lookups by index and iteration must return the same rows. Afterwards, each key is looked up.
///
/// # Panics
/// Panics if the results differ.
#[must_use]
pub fn block(bytes: &[u8]) -> bool {
    let Ok(layout) = Layout::read(bytes) else { return false };
    let Ok(prefix) = layout.prefix(bytes) else { return false };
    let Ok(entries) = layout.entries(bytes, 0..layout.len()) else { return false };
    for (index, entry) in entries.enumerate() {
        let alone = layout.key(bytes, index).and_then(|rest| Ok((rest, layout.row(bytes, index)?)));
        let (Ok((key, read)), Ok((rest, row))) = (&entry, &alone) else {
            assert!(
                entry.is_err() && alone.is_err(),
                "row {index} is broken for one reader and not for the other"
            );
            return false;
        };
        assert_eq!(key.to_vec(), SplitKey::new(prefix, rest).to_vec(), "the key of row {index}");
        let to_row = |row: &Option<RowView<'_>>| row.map(|row| row.to_row());
        assert_eq!(to_row(read), to_row(row), "row {index}");
        // Keys may be out of order, so a lookup may find nothing. If it finds a row, reading the row must not panic.
        if let Ok(Found::Row(row)) = layout.find(bytes, &key.to_vec()) {
            let _ = row.view().properties().count();
        }
    }
    true
}

/// Parses the index of a run and writes it again.
///
/// # Panics
/// Panics if the written index differs from the parsed one.
#[must_use]
pub fn index(bytes: &[u8]) -> bool {
    let read = |form| Some((form, Directory::read(bytes, form, 24, Vec::new(), 0)?));
    let Some((form, directory)) = read(Form::Plain).or_else(|| read(Form::Tallied)) else { return false };
    assert_eq!(directory.write(form), bytes, "an index that was written again");
    for block in 0..directory.len() {
        let (offset, _) = directory.place(block);
        assert!(offset >= 24 && directory.first(block) <= directory.last(block), "block {block}");
    }
    let within = directory.within(&directory.first(0), None);
    assert_eq!(within, 0..directory.len(), "all blocks lie from the first key on");
    true
}

/// Parses the content of `BASE` and writes it again.
///
/// # Panics
/// Panics if the written content differs from the parsed one.
#[must_use]
pub fn version(bytes: &[u8]) -> bool {
    let pool = Arc::new(Pool::new(Arc::new(RealDisk), PathBuf::new(), 0));
    let Some(stored) = Stored::of_content(bytes, &pool) else { return false };
    let content = stored.content();
    let again = Stored::of_content(&content, &pool).map(|stored| stored.content());
    assert_eq!(again, Some(content), "a version that was written again");
    let version = &stored.version;
    for (index, segment) in version.segments().iter().enumerate() {
        assert_eq!(version.find(&segment.start), index, "the place of a segment");
    }
    true
}

/// Encodes rows as a block. The rows must be in key order. A tombstone is added after every third row.
#[must_use]
pub fn block_of(rows: &[(Vec<u8>, Row)]) -> Vec<u8> {
    let (mut writer, mut block) = (BlockWriter::default(), Vec::new());
    for (number, (key, row)) in rows.iter().enumerate() {
        writer.push(key, Some(RowView::new(row.as_bytes())));
        if number % 3 == 0 {
            writer.push(&[key.as_slice(), &[0]].concat(), None);
        }
    }
    writer.finish(&mut block);
    block
}
