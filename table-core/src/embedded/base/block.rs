//! A block: neighbouring rows of a run in one piece of bytes (`docs/format.md`, "Runs").
//!
//! A scan steps from row to row within one block. Keys share their common beginning, and rows their shape: the names of
//! properties are half of a row. A deletion is an entry without a shape.

mod walk;
mod writer;

use std::ops::Range;

use crate::error::{Error, ErrorCode, Result};
use crate::row::{Row, RowView};
pub(crate) use walk::Walk;
pub(crate) use writer::BlockWriter;

const COUNTS: usize = 4;
/// Bytes that say where a key ends.
const KEY_END: usize = 2;
/// Bytes that say where a row's body ends, and which shape it has.
const ROW_END: usize = 4;
const ROW_SHAPE: usize = 2;
const ROW: usize = ROW_END + ROW_SHAPE;
/// Bytes that say how many shapes there are.
const SHAPES: usize = 2;
/// Bytes that say where a shape ends.
const SHAPE_END: usize = 4;

/// The shape number of an entry that records a deletion.
const DELETED: usize = 0xFFFF;

/// Where the parts of a block lie. Made once for each block, so that its rows are found by a few additions.
///
/// All keys lie together: a search looks at few lines of memory, and at no row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    count: usize,
    prefix: usize,
    /// Where the rests of the keys begin.
    keys: usize,
    /// Where the ends of the rows are told.
    row_ends: usize,
    /// Where the ends of the shapes are told.
    shape_ends: usize,
    /// Where the shapes begin.
    shapes: usize,
    /// Where the bodies of the rows begin.
    bodies: usize,
}

/// What a block or a run says of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Deletion,
    Row(Row),
}

/// Where a row lies in its block; or that the entry records a deletion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    shape: Shape,
    body: Range<usize>,
}

/// Where a shape lies in its block, which one it is, and how many properties it has.
#[derive(Clone, Debug, Default)]
struct Shape {
    number: usize,
    bytes: Range<usize>,
    count: Option<u16>,
}

impl Place {
    /// The row; `None` for a deletion.
    #[inline]
    pub(crate) fn row<'b>(&self, block: &'b [u8]) -> Option<RowView<'b>> {
        if self.shape.number == DELETED {
            return None;
        }
        let part = |range: &Range<usize>| block.get(range.clone()).unwrap_or_default();
        Some(RowView::counted(part(&self.shape.bytes), self.shape.count, part(&self.body)))
    }
}

fn corrupted() -> Error {
    Error::new(ErrorCode::Corrupted, "a block of the base has parts that do not fit together")
}

#[inline]
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<N>()?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

impl Layout {
    /// Reads the front of a block.
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

    /// How many rows.
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

    /// What an entry's key has beyond the prefix.
    #[inline]
    pub(crate) fn key(self, block: &[u8], index: usize) -> Result<&[u8]> {
        let start = index.checked_sub(1).map_or(Some(0), |before| self.key_end(block, before));
        let range =
            start.zip(self.key_end(block, index)).map(|(start, end)| self.keys + start..self.keys + end);
        range.and_then(|range| block.get(range)).ok_or_else(corrupted)
    }

    /// Where an entry's row lies.
    #[inline]
    pub(crate) fn row(self, block: &[u8], index: usize) -> Result<Place> {
        let place = || {
            let before = index.checked_sub(1).map_or(Some(0), |before| self.row_end(block, before))?;
            let body = self.bodies + before..self.bodies + self.row_end(block, index)?;
            let shape = self.shape(block, self.row_shape(block, index)?)?;
            (body.start <= body.end && body.end <= block.len()).then_some(Place { shape, body })
        };
        place().ok_or_else(corrupted)
    }

    fn shape(self, block: &[u8], number: usize) -> Option<Shape> {
        if number == DELETED {
            return Some(Shape { number, ..Shape::default() });
        }
        let before = number.checked_sub(1).map_or(Some(0), |before| self.shape_end(block, before))?;
        let range = self.shapes + before..self.shapes + self.shape_end(block, number)?;
        let bytes = block.get(range.clone()).filter(|_| range.end <= self.bodies)?;
        Some(Shape { number, count: RowView::count_of(bytes), bytes: range })
    }

    /// What all keys of the block begin with.
    pub(crate) fn prefix(self, block: &[u8]) -> Result<&[u8]> {
        block.get(COUNTS..COUNTS + self.prefix).ok_or_else(corrupted)
    }

    /// The place of the first row whose key is not below this one, and whether it has this key.
    pub(crate) fn search(self, block: &[u8], key: &[u8]) -> Result<(usize, bool)> {
        let prefix = self.prefix(block)?;
        let Some(rest) = key.strip_prefix(prefix) else {
            return Ok((if key < prefix { 0 } else { self.count }, false));
        };
        let (mut low, mut high) = (0, self.count);
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

    /// What the block says of a key.
    pub(crate) fn find(self, block: &[u8], key: &[u8]) -> Result<Found> {
        let (index, here) = self.search(block, key)?;
        if !here {
            return Ok(Found::Nothing);
        }
        let row = self.row(block, index)?.row(block);
        Ok(row.map_or(Found::Deletion, |row| Found::Row(row.to_row())))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A key with the bytes of its row, or with `None` for a deletion.
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

    pub(crate) fn decode(block: &[u8]) -> Result<Vec<Entry>> {
        let layout = Layout::read(block)?;
        let prefix = layout.prefix(block)?;
        (0..layout.len())
            .map(|index| {
                let row = layout.row(block, index)?.row(block).map(RowView::to_vec);
                Ok(([prefix, layout.key(block, index)?].concat(), row))
            })
            .collect()
    }

    pub(crate) fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let key = prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 0..5);
        let row =
            crate::row::tests::model().prop_map(|model| crate::row::tests::row(&model).as_bytes().to_vec());
        prop::collection::btree_map(key, prop::option::weighted(0.9, row), 0..30)
            .prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_found(entries in entries(), probe in prop::collection::vec(any::<u8>(), 0..5)) {
            let block = encode(&entries);
            let layout = Layout::read(&block).unwrap();
            prop_assert_eq!(decode(&block).unwrap(), entries.clone());
            for key in entries.iter().map(|(key, _)| key).chain([&probe]) {
                let expected = entries.binary_search_by(|(other, _)| other.cmp(key));
                let found = layout.search(&block, key).unwrap();
                prop_assert_eq!(found, match expected { Ok(at) => (at, true), Err(at) => (at, false) });
                let row = |row: &Vec<u8>| Found::Row(Row::from_bytes(row.as_slice().into()));
                let wanted = expected.map_or(Found::Nothing, |at| entries[at].1.as_ref().map_or(Found::Deletion, row));
                prop_assert_eq!(layout.find(&block, key).unwrap(), wanted);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), key in prop::collection::vec(any::<u8>(), 0..5)) {
            let _ = decode(&bytes);
            if let Ok(layout) = Layout::read(&bytes) {
                let _ = layout.find(&bytes, &key);
            }
        }
    }
}
