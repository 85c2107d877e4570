//! Blocks: groups of adjacent rows of a run, encoded together (`docs/format.md`, "Runs").
//!
//! A block stores the common prefix of all keys once. Rows with the same shape (property names and types) share one copy of the shape, because property names
//! make up about half of a row. A tombstone (the entry of a deleted row) has no shape.

mod entries;
mod writer;

use std::ops::Range;

use table_store::row::{Row, RowView};
use table_store::{Error, Result};

use crate::base::fault::BaseFault;
pub(crate) use writer::BlockWriter;

const COUNTS: usize = 4;
/// The encoded size of a key's end offset, in bytes.
const KEY_END: usize = 2;
/// The encoded size of a row body's end offset, in bytes.
const ROW_END: usize = 4;
/// The encoded size of a row's shape number, in bytes.
const ROW_SHAPE: usize = 2;
const ROW: usize = ROW_END + ROW_SHAPE;
/// The encoded size of the shape count, in bytes.
const SHAPES: usize = 2;
/// The encoded size of a shape's end offset, in bytes.
const SHAPE_END: usize = 4;

/// The shape number of a tombstone.
const DELETED: usize = 0xFFFF;

/// The offsets of a block's sections. They are computed once per block, so a row lookup needs only a few additions.
///
/// All keys are stored together, so a search touches few cache lines and reads no rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    count: usize,
    prefix: usize,
    /// The offset of the keys, stored without their common prefix.
    keys: usize,
    /// The offset of the list that contains the end offset and shape number of each row.
    row_ends: usize,
    /// The offset of the list of shape end offsets.
    shape_ends: usize,
    /// The offset of the shapes.
    shapes: usize,
    /// The offset of the row bodies.
    bodies: usize,
}

/// The number of bytes in a cache line.
const LINE: usize = 64;

/// The result of looking up a key in a block or a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Deletion,
    Row(Row),
}

/// The names and types of a row's properties. They are stored once for all rows of the block that share them. A tombstone has an empty shape.
#[derive(Clone, Copy, Debug, Default)]
struct Shape<'b> {
    bytes: &'b [u8],
    /// The number of properties, or `None` if the bytes are not a valid shape.
    count: Option<u16>,
    deleted: bool,
}

impl<'b> Shape<'b> {
    /// Returns the row with this shape and the given body, or `None` for a tombstone.
    #[inline]
    fn row(self, body: &'b [u8]) -> Option<RowView<'b>> {
        (!self.deleted).then(|| RowView::counted(self.bytes, self.count, body))
    }
}

#[cold]
fn corrupted() -> Error {
    Error::of(BaseFault::Block)
}

#[inline]
fn from_le<const N: usize>(bytes: &[u8; N]) -> usize {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

#[inline]
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk::<N>().map(from_le)
}

impl Layout {
    /// Computes the layout of a block.
    pub(crate) fn read(block: &[u8]) -> Result<Self> {
        let layout = || {
            let (count, prefix) = (number::<2>(block, 0)?, number::<2>(block, 2)?);
            let keys = COUNTS + prefix + count * KEY_END;
            let mut layout =
                Self { count, prefix, keys, row_ends: keys, shape_ends: 0, shapes: 0, bodies: 0 };
            let last = count.checked_sub(1);
            layout.row_ends += last.map_or(Some(0), |last| layout.key_end(block, last))?;
            let counted = layout.row_ends + count * ROW;
            let shapes = number::<SHAPES>(block, counted)?;
            layout.shape_ends = counted + SHAPES;
            layout.shapes = layout.shape_ends + shapes * SHAPE_END;
            let shapes = shapes.checked_sub(1).map_or(Some(0), |last| layout.shape_end(block, last))?;
            layout.bodies = layout.shapes.checked_add(shapes)?;
            let end = layout.bodies + last.map_or(Some(0), |last| layout.row_end(block, last))?;
            (end == block.len()).then_some(layout)
        };
        layout().ok_or_else(corrupted)
    }

    /// Returns the number of entries.
    pub(crate) const fn len(self) -> usize {
        self.count
    }

    #[inline]
    fn key_end(self, block: &[u8], index: usize) -> Option<usize> {
        number::<KEY_END>(block, COUNTS + self.prefix + index * KEY_END)
    }

    #[inline]
    fn row_end(self, block: &[u8], index: usize) -> Option<usize> {
        number::<ROW_END>(block, self.row_ends + index * ROW)
    }

    #[inline]
    fn row_shape(self, block: &[u8], index: usize) -> Option<usize> {
        number::<ROW_SHAPE>(block, self.row_ends + index * ROW + ROW_END)
    }

    #[inline]
    fn shape_end(self, block: &[u8], shape: usize) -> Option<usize> {
        number::<SHAPE_END>(block, self.shape_ends + shape * SHAPE_END)
    }

    /// Returns the key of an entry, without the common prefix of the block's keys.
    #[inline]
    pub(crate) fn key(self, block: &[u8], index: usize) -> Result<&[u8]> {
        let start = index.checked_sub(1).map_or(Some(0), |before| self.key_end(block, before));
        let range =
            start.zip(self.key_end(block, index)).map(|(start, end)| self.keys + start..self.keys + end);
        range.and_then(|range| block.get(range)).ok_or_else(corrupted)
    }

    /// Returns the row of an entry, or `None` for a tombstone.
    #[inline]
    pub(crate) fn row(self, block: &[u8], index: usize) -> Result<Option<RowView<'_>>> {
        let row = || {
            let start = index.checked_sub(1).map_or(Some(0), |before| self.row_end(block, before))?;
            let body = block.get(self.bodies + start..self.bodies + self.row_end(block, index)?)?;
            Some(self.shape(block, self.row_shape(block, index)?)?.row(body))
        };
        row().ok_or_else(corrupted)
    }

    fn shape(self, block: &[u8], number: usize) -> Option<Shape<'_>> {
        if number == DELETED {
            return Some(Shape { deleted: true, ..Shape::default() });
        }
        let before = number.checked_sub(1).map_or(Some(0), |before| self.shape_end(block, before))?;
        let range = self.shapes + before..self.shapes + self.shape_end(block, number)?;
        let bytes = block.get(range.clone()).filter(|_| range.end <= self.bodies)?;
        Some(Shape { bytes, count: RowView::count_of(bytes), deleted: false })
    }

    /// Returns the common prefix of all keys.
    pub(crate) fn prefix(self, block: &[u8]) -> Result<&[u8]> {
        block.get(COUNTS..COUNTS + self.prefix).ok_or_else(corrupted)
    }

    /// Returns the index of the first entry whose key is not less than the given key. The second value is `true` if the keys are equal.
    pub(crate) fn search(self, block: &[u8], key: &[u8]) -> Result<(usize, bool)> {
        let prefix = self.prefix(block)?;
        match key.strip_prefix(prefix) {
            Some(rest) => self.search_within(block, rest, 0..self.count),
            None => Ok((if key < prefix { 0 } else { self.count }, false)),
        }
    }

    /// Returns the index of the first entry at or after `from` whose key is not less than the given key. This is a galloping search: it finds a nearby entry in
    /// a few steps.
    pub(crate) fn search_from(self, block: &[u8], key: &[u8], from: usize) -> Result<usize> {
        let prefix = self.prefix(block)?;
        let Some(rest) = key.strip_prefix(prefix) else {
            return Ok(if key < prefix { from } else { self.count });
        };
        let (mut from, mut step) = (from, 1);
        while from + step <= self.count && self.key(block, from + step - 1)? < rest {
            from += step;
            step *= 2;
        }
        Ok(self.search_within(block, rest, from..self.count.min(from + step - 1))?.0)
    }

    /// Prefetches everything before the row bodies by reading one byte of each cache line. The next search then waits for memory only once, instead of once per
    /// line.
    #[inline]
    fn touch(self, block: &[u8]) {
        let lines = block.get(..self.bodies).unwrap_or_default().iter().step_by(LINE);
        std::hint::black_box(lines.fold(0, |all, byte| all ^ byte));
    }

    fn search_within(self, block: &[u8], rest: &[u8], within: Range<usize>) -> Result<(usize, bool)> {
        let Range { start: mut low, end: mut high } = within;
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.key(block, middle)?.cmp(rest) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok((middle, true)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }

    /// Searches a block for a key.
    pub(crate) fn find(self, block: &[u8], key: &[u8]) -> Result<Found> {
        self.touch(block);
        let (index, here) = self.search(block, key)?;
        if !here {
            return Ok(Found::Nothing);
        }
        let row = self.row(block, index)?;
        Ok(row.map_or(Found::Deletion, |row| Found::Row(row.to_row())))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use table_store::ValueRef;
    use table_store::row::RowWriter;

    use super::*;

    /// A key, and the bytes of its row, or `None` for a tombstone.
    pub(crate) type Entry = (Vec<u8>, Option<Vec<u8>>);

    pub(crate) fn encode(entries: &[Entry]) -> Vec<u8> {
        let mut writer = BlockWriter::default();
        for (key, row) in entries {
            writer.push(key, row.as_deref().map(RowView::new));
        }
        let mut block = Vec::new();
        writer.finish(&mut block);
        block
    }

    /// Returns the bytes of a row: its shape, then its body.
    pub(crate) fn bytes(row: RowView<'_>) -> Vec<u8> {
        row.to_row().as_bytes().to_vec()
    }

    pub(crate) fn decode(block: &[u8]) -> Result<Vec<Entry>> {
        let layout = Layout::read(block)?;
        let prefix = layout.prefix(block)?;
        (0..layout.len())
            .map(|index| {
                let row = layout.row(block, index)?.map(bytes);
                Ok(([prefix, layout.key(block, index)?].concat(), row))
            })
            .collect()
    }

    /// Generates rows from only a few property names, so many rows have the same shape.
    fn row() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::btree_map("[A-C_é]{1,2}", "\\PC{0,12}", 0..8).prop_map(|properties| {
            let mut writer = RowWriter::new();
            for (name, text) in &properties {
                writer.property(name, ValueRef::String(text));
            }
            writer.finish().as_bytes().to_vec()
        })
    }

    pub(crate) fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let key = prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 0..5);
        prop::collection::btree_map(key, prop::option::weighted(0.9, row()), 0..30)
            .prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn encoded_rows_are_found(entries in entries(), probe in prop::collection::vec(any::<u8>(), 0..5)) {
            let block = encode(&entries);
            let layout = Layout::read(&block).unwrap();
            prop_assert_eq!(decode(&block).unwrap(), entries.clone());
            for key in entries.iter().map(|(key, _)| key).chain([&probe]) {
                let expected = entries.binary_search_by(|(other, _)| other.cmp(key));
                let found = layout.search(&block, key).unwrap();
                prop_assert_eq!(found, match expected { Ok(at) => (at, true), Err(at) => (at, false) });
                for from in 0..=entries.len() {
                    prop_assert_eq!(layout.search_from(&block, key, from).unwrap(), found.0.max(from));
                }
                let row = |row: &Vec<u8>| Found::Row(Row::from_bytes(row.as_slice().into()));
                let wanted = expected.map_or(Found::Nothing, |at| entries[at].1.as_ref().map_or(Found::Deletion, row));
                prop_assert_eq!(layout.find(&block, key).unwrap(), wanted);
            }
        }

        #[test]
        fn reading_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), key in prop::collection::vec(any::<u8>(), 0..5)) {
            let _ = decode(&bytes);
            if let Ok(layout) = Layout::read(&bytes) {
                let _ = layout.find(&bytes, &key);
            }
        }
    }
}
