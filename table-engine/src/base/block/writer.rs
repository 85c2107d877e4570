//! A block writer that appends rows one at a time.

use std::ops::Range;

use table_store::row::RowView;

use crate::base::block::{COUNTS, DELETED, KEY_END, ROW, SHAPE_END, SHAPES};

/// The maximum size in bytes of a block with several rows.
///
/// Larger blocks would slow down lookups, because a lookup that misses the cache reads and checks an entire block. Smaller blocks would need more space for
/// shapes (the property names and types of rows) and for the index. Scans would also open more blocks.
const BLOCK: usize = 8 << 10;
/// The number of recent shapes with which the shape of a new row is compared. Adjacent rows usually have the same shape.
const SHAPES_BACK: usize = 8;

/// An unfinished block: rows in key order.
#[derive(Debug, Default)]
pub(crate) struct BlockWriter {
    /// The length of the common prefix of all keys.
    prefix: usize,
    /// The keys of all rows, without separators.
    keys: Vec<u8>,
    key_ends: Vec<usize>,
    /// For each entry, the end offset of its body and its shape number.
    rows: Vec<(usize, usize)>,
    shapes: Vec<u8>,
    shape_ends: Vec<usize>,
    bodies: Vec<u8>,
}

fn last(ends: &[usize]) -> usize {
    ends.last().copied().unwrap_or_default()
}

fn between(ends: &[usize], index: usize) -> Range<usize> {
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
    start..ends.get(index).copied().unwrap_or_default()
}

impl BlockWriter {
    /// Returns `true` if the block contains no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the first and the last key.
    pub(crate) fn ends(&self) -> (&[u8], &[u8]) {
        let key = |index| self.keys.get(between(&self.key_ends, index)).unwrap_or_default();
        (key(0), key(self.key_ends.len().saturating_sub(1)))
    }

    /// Returns the size of the block in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes_with(self.prefix, 0, 0)
    }

    /// Returns the size in bytes of the block after `entries` more entries, whose keys and rows total `bytes` bytes. `prefix` is the length of the prefix that
    /// all keys would then share.
    fn bytes_with(&self, prefix: usize, entries: usize, bytes: usize) -> usize {
        let entries = self.rows.len() + entries;
        COUNTS
            + (prefix + self.keys.len()).saturating_sub(entries * prefix)
            + entries * (KEY_END + ROW)
            + SHAPES
            + self.shape_ends.len() * SHAPE_END
            + self.shapes.len()
            + self.bodies.len()
            + bytes
    }

    /// Returns the length of the prefix that a new key shares with all keys in the block.
    fn prefix_with(&self, key: &[u8]) -> usize {
        if self.is_empty() {
            return key.len();
        }
        let first = self.ends().0;
        match first.get(..self.prefix) {
            // Most keys share the prefix of the earlier keys.
            Some(prefix) if key.starts_with(prefix) => self.prefix,
            _ => first.iter().zip(key).take_while(|(left, right)| left == right).count(),
        }
    }

    /// Returns `true` if adding the given row would exceed the maximum size of a block.
    pub(crate) fn is_full(&self, key: &[u8], row: Option<RowView<'_>>) -> bool {
        let row = row.map_or(0, |row| {
            let (shape, body) = row.parts();
            let new = self.shape(shape).is_none();
            body.len() + if new { SHAPE_END + shape.len() } else { 0 }
        });
        !self.is_empty() && self.bytes_with(self.prefix_with(key), 1, key.len() + row) > BLOCK
    }

    /// Appends a row or a tombstone. Its key must be greater than all earlier keys.
    pub(crate) fn push(&mut self, key: &[u8], row: Option<RowView<'_>>) {
        self.prefix = self.prefix_with(key);
        self.keys.extend_from_slice(key);
        self.key_ends.push(self.keys.len());
        let shape = row.map_or(DELETED, |row| {
            let (shape, body) = row.parts();
            self.bodies.extend_from_slice(body);
            self.shape(shape).unwrap_or_else(|| {
                self.shapes.extend_from_slice(shape);
                self.shape_ends.push(self.shapes.len());
                self.shape_ends.len() - 1
            })
        });
        self.rows.push((self.bodies.len(), shape));
    }

    /// Returns the number of the given shape if it is one of the recent shapes.
    fn shape(&self, shape: &[u8]) -> Option<usize> {
        let numbers = (0..self.shape_ends.len()).rev().take(SHAPES_BACK);
        numbers.into_iter().find(|number| self.shapes.get(between(&self.shape_ends, *number)) == Some(shape))
    }

    /// Appends the block to a buffer and starts the next block.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        let (prefix, first) = (self.prefix, self.ends().0);
        out.reserve(self.bytes());
        for number in [self.rows.len(), prefix] {
            out.extend_from_slice(&u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes());
        }
        out.extend_from_slice(first.get(..prefix).unwrap_or_default());
        // Each offset fits into 16 bits. If a block has several keys, their total size is at most the size of a block. If it has a single key, the key equals
        // the prefix, and the rest of the key is empty.
        for (index, end) in self.key_ends.iter().enumerate() {
            let end = end - (index + 1) * prefix;
            out.extend_from_slice(&u16::try_from(end).unwrap_or(u16::MAX).to_le_bytes());
        }
        for index in 0..self.key_ends.len() {
            let key = self.keys.get(between(&self.key_ends, index)).unwrap_or_default();
            out.extend_from_slice(key.get(prefix..).unwrap_or_default());
        }
        for (end, shape) in &self.rows {
            out.extend_from_slice(&u32::try_from(*end).unwrap_or(u32::MAX).to_le_bytes());
            out.extend_from_slice(&u16::try_from(*shape).unwrap_or(u16::MAX).to_le_bytes());
        }
        out.extend_from_slice(&u16::try_from(self.shape_ends.len()).unwrap_or(u16::MAX).to_le_bytes());
        for end in &self.shape_ends {
            out.extend_from_slice(&u32::try_from(*end).unwrap_or(u32::MAX).to_le_bytes());
        }
        out.extend_from_slice(&self.shapes);
        out.extend_from_slice(&self.bodies);
        debug_assert!(last(&self.shape_ends) == self.shapes.len(), "the last shape ends with the shapes");
        self.clear();
    }

    fn clear(&mut self) {
        self.prefix = 0;
        self.keys.clear();
        self.key_ends.clear();
        self.rows.clear();
        self.shapes.clear();
        self.shape_ends.clear();
        self.bodies.clear();
    }
}

#[cfg(test)]
mod tests {
    use table_store::ValueRef;
    use table_store::row::RowWriter;

    use super::*;

    #[test]
    fn blocks_of_several_rows_have_at_most_their_size() {
        let row = |size: usize| {
            let mut row = RowWriter::new();
            row.property("Bytes", ValueRef::Binary(&vec![7; size]));
            row.finish()
        };
        let mut writer = BlockWriter::default();
        for n in 0..2_000_usize {
            let (key, row) = (n.to_be_bytes(), row(n * 37 % 3_000));
            let full = writer.is_full(&key, Some(row.view()));
            let bytes = writer.bytes();
            if full {
                let mut block = Vec::new();
                writer.finish(&mut block);
                assert!(block.len() <= BLOCK && block.len() > BLOCK / 2, "{}", block.len());
                assert_eq!(block.len(), bytes);
            }
            writer.push(&key, Some(row.view()));
        }
        assert!(!BlockWriter::default().is_full(b"k", Some(row(BLOCK).view())));
    }

    #[test]
    fn golden_bytes_of_a_block() {
        let row = |name, active| {
            let mut row = RowWriter::new();
            row.property(name, ValueRef::Boolean(active));
            row.finish().with_timestamp(7)
        };
        let mut writer = BlockWriter::default();
        writer.push(b"ka", Some(row("A", true).view()));
        writer.push(b"kb", Some(row("A", false).view()));
        writer.push(b"kc", None);
        writer.push(b"kd", Some(row("B", true).view()));
        let mut block = Vec::new();
        writer.finish(&mut block);
        let mut wanted = vec![4, 0, 1, 0, b'k']; // four rows; the common prefix of their keys
        wanted.extend([1, 0, 2, 0, 3, 0, 4, 0, b'a', b'b', b'c', b'd']); // end offsets of the key suffixes; the suffixes
        wanted.extend([13, 0, 0, 0, 0, 0, 26, 0, 0, 0, 0, 0]); // end offsets and shape numbers of the first two rows
        wanted.extend([26, 0, 0, 0, 255, 255, 39, 0, 0, 0, 1, 0]); // a tombstone; a row of the second shape
        wanted.extend([2, 0, 9, 0, 0, 0, 18, 0, 0, 0]); // two shapes, with their end offsets
        wanted.extend(b"\x01\0\x01\0\x05\x01\0\0A\x01\0\x01\0\x05\x01\0\0B");
        for active in [1, 0, 1] {
            wanted.extend([7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, active]); // Timestamp, end of the value, the value
        }
        assert_eq!(block, wanted);
    }
}
