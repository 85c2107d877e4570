//! A block: neighbouring rows in one value of the base (`docs/format.md`, "Base").
//!
//! What a tree costs for each of its entries, it costs here for each block: a scan steps from row to row within one value,
//! and keys share what they have in common, as rows do their shape: the names of properties are half of a row.

mod walk;
mod writer;

use std::ops::Range;

use crate::error::{Error, ErrorCode, Result};
use crate::row::RowView;
pub(crate) use walk::Walk;
pub(crate) use writer::{cut, encode, is_small};

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

/// A row with its key, on its way into a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) row: Vec<u8>,
}

impl Entry {
    /// Bytes in a block of its own, about.
    pub(crate) fn bytes(&self) -> usize {
        KEY_END + ROW + self.key.len() + self.row.len()
    }
}

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

/// Where a row lies in its block.
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
    /// The row.
    #[inline]
    pub(crate) fn row<'b>(&self, block: &'b [u8]) -> RowView<'b> {
        let part = |range: &Range<usize>| block.get(range.clone()).unwrap_or_default();
        RowView::counted(part(&self.shape.bytes), self.shape.count, part(&self.body))
    }
}

fn corrupted() -> Error {
    Error::new(ErrorCode::Corrupted, "a block of the base is broken: restore the folder from a copy")
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
        self.search_after(self.prefix(block)?, block, key)
    }

    /// The same for who has a key of the block at hand, which begins as all do: the block's own prefix is a line of memory more.
    pub(crate) fn search_beside(self, neighbour: &[u8], block: &[u8], key: &[u8]) -> Result<(usize, bool)> {
        self.search_after(neighbour.get(..self.prefix).ok_or_else(corrupted)?, block, key)
    }

    fn search_after(self, prefix: &[u8], block: &[u8], key: &[u8]) -> Result<(usize, bool)> {
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

    /// Every entry, with its whole key.
    pub(crate) fn entries(self, block: &[u8]) -> Result<Vec<Entry>> {
        let prefix = self.prefix(block)?;
        (0..self.count)
            .map(|index| {
                let (shape, body) = self.row(block, index)?.row(block).parts();
                Ok(Entry { key: [prefix, self.key(block, index)?].concat(), row: [shape, body].concat() })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let key = prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 0..5);
        let row = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            crate::row::tests::model().prop_map(|model| crate::row::tests::row(&model).as_bytes().to_vec()),
        ];
        prop::collection::btree_map(key, row, 0..30)
            .prop_map(|map| map.into_iter().map(|(key, row)| Entry { key, row }).collect())
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_found(entries in entries(), probe in prop::collection::vec(any::<u8>(), 0..5)) {
            let block = encode(&entries);
            let layout = Layout::read(&block).unwrap();
            prop_assert_eq!(layout.entries(&block).unwrap(), entries.clone());
            for key in entries.iter().map(|entry| &entry.key).chain([&probe]) {
                let expected = entries.binary_search_by(|entry| entry.key.cmp(key));
                let found = layout.search(&block, key).unwrap();
                prop_assert_eq!(found, match expected { Ok(at) => (at, true), Err(at) => (at, false) });
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), key in prop::collection::vec(any::<u8>(), 0..5)) {
            if let Ok(layout) = Layout::read(&bytes) {
                let _ = layout.entries(&bytes);
                let _ = layout.search(&bytes, &key);
            }
        }
    }
}
