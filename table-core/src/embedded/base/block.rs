//! A block: neighbouring rows in one value of the base (`docs/format.md`, "Base").
//!
//! What a tree costs for each of its entries, it costs here for each block: a scan steps from row to row within one value,
//! and keys share what they have in common, as rows do their shape: the names of properties are half of a row.

use std::ops::Range;

use crate::error::{Error, ErrorCode, Result};
use crate::row::RowView;

/// Bytes of a page of the tree that one full block fills, with its key: a power of two, as the tree's pages are.
const PAGE: usize = 16 << 10;
/// What the tree itself needs in such a page.
const RESERVE: usize = 64;
/// A block below this is joined with its neighbour when it is written.
const SMALL: usize = PAGE / 4;
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
/// So many shapes back one is looked for before it is written once more: rows of one type are neighbours.
const SHAPES_BACK: usize = 8;

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

/// The shapes of a block in the making.
#[derive(Default)]
struct Shapes<'e>(Vec<&'e [u8]>);

impl<'e> Shapes<'e> {
    /// The place of a shape, and whether it is new.
    fn place(&mut self, shape: &'e [u8]) -> (usize, bool) {
        let known = self.0.iter().rev().take(SHAPES_BACK).position(|known| *known == shape);
        if let Some(back) = known {
            return (self.0.len() - 1 - back, false);
        }
        self.0.push(shape);
        (self.0.len() - 1, true)
    }
}

/// The bytes of a block in the making, at most: what keys share is not known yet.
struct Room<'e> {
    bytes: usize,
    shapes: Shapes<'e>,
}

impl<'e> Room<'e> {
    fn new() -> Self {
        Self { bytes: COUNTS + SHAPES, shapes: Shapes::default() }
    }

    fn of(entries: &'e [Entry]) -> Self {
        let mut room = Self::new();
        for entry in entries {
            room.add(entry);
        }
        room
    }

    fn add(&mut self, entry: &'e Entry) {
        let (shape, body) = RowView::new(&entry.row).parts();
        let (_, new) = self.shapes.place(shape);
        self.bytes += KEY_END + ROW + entry.key.len() + body.len();
        self.bytes += if new { SHAPE_END + shape.len() } else { 0 };
    }
}

/// Whether the block of these entries should be joined with its neighbour.
pub(crate) fn is_small(entries: &[Entry]) -> bool {
    !entries.is_empty() && Room::of(entries).bytes < SMALL
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
    shape: Range<usize>,
    body: Range<usize>,
}

impl Place {
    /// The row.
    #[inline]
    pub(crate) fn row<'b>(&self, block: &'b [u8]) -> RowView<'b> {
        let part = |range: &Range<usize>| block.get(range.clone()).unwrap_or_default();
        RowView::of(part(&self.shape), part(&self.body))
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
            let shape = number::<ROW_SHAPE>(block, self.row_ends + index * ROW + ROW_END)?;
            let before = shape.checked_sub(1).map_or(Some(0), |before| self.shape_end(block, before))?;
            let shape = self.shapes + before..self.shapes + self.shape_end(block, shape)?;
            let before = index.checked_sub(1).map_or(Some(0), |before| self.row_end(block, before))?;
            let body = self.bodies + before..self.bodies + self.row_end(block, index)?;
            let is_right = shape.start <= shape.end && shape.end <= self.bodies;
            (is_right && body.start <= body.end && body.end <= block.len()).then_some(Place { shape, body })
        };
        place().ok_or_else(corrupted)
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

/// The block of these entries, which are in key order.
pub(crate) fn encode(entries: &[Entry]) -> Vec<u8> {
    let prefix = match entries {
        [first, .., last] => first.key.iter().zip(&last.key).take_while(|(l, r)| l == r).count(),
        [only] => only.key.len(),
        [] => 0,
    };
    let shared = entries.first().and_then(|first| first.key.get(..prefix)).unwrap_or_default();
    let mut block = Vec::with_capacity(PAGE);
    for number in [entries.len(), prefix] {
        block.extend_from_slice(&u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes());
    }
    block.extend_from_slice(shared);
    // Keys of several rows fit a page together, and one key alone has no rest.
    let mut end = 0_u16;
    for entry in entries {
        end = end.saturating_add(u16::try_from(entry.key.len() - prefix).unwrap_or(u16::MAX));
        block.extend_from_slice(&end.to_le_bytes());
    }
    for entry in entries {
        block.extend_from_slice(entry.key.get(prefix..).unwrap_or_default());
    }
    let (mut end, mut shapes) = (0, Shapes::default());
    for entry in entries {
        let (shape, body) = RowView::new(&entry.row).parts();
        end += body.len();
        block.extend_from_slice(&u32::try_from(end).unwrap_or(u32::MAX).to_le_bytes());
        // There are no more shapes than rows, which a page has few of.
        let (shape, _) = shapes.place(shape);
        block.extend_from_slice(&u16::try_from(shape).unwrap_or(u16::MAX).to_le_bytes());
    }
    block.extend_from_slice(&u16::try_from(shapes.0.len()).unwrap_or(u16::MAX).to_le_bytes());
    let mut end = 0;
    for shape in &shapes.0 {
        end += shape.len();
        block.extend_from_slice(&u32::try_from(end).unwrap_or(u32::MAX).to_le_bytes());
    }
    for shape in shapes.0 {
        block.extend_from_slice(shape);
    }
    for entry in entries {
        block.extend_from_slice(RowView::new(&entry.row).parts().1);
    }
    block
}

/// Cuts entries into the blocks to write: each with its key fits a page, but for a row that is larger by itself.
///
/// `dense` fills each block but the last, for rows that come in key order, up to some room for rows that grow: a block cut in
/// two takes two pages. Else the blocks are of about one size, so that each has room for rows that come at random.
pub(crate) fn cut(entries: &[Entry], dense: bool) -> Vec<&[Entry]> {
    let total = Room::of(entries).bytes;
    // The largest key stands in the tree beside its block.
    let most = PAGE - RESERVE - entries.iter().map(|entry| entry.key.len()).max().unwrap_or_default();
    let aim = if dense { most / 8 * 7 } else { total.div_ceil(total.div_ceil(most).max(1)) };
    if total <= most {
        return if entries.is_empty() { Vec::new() } else { vec![entries] };
    }
    let (mut blocks, mut rest) = (Vec::new(), entries);
    while !rest.is_empty() {
        let (mut room, mut count) = (Room::new(), 0);
        for entry in rest {
            room.add(entry);
            if count > 0 && room.bytes > most {
                break;
            }
            count += 1;
            if room.bytes >= aim {
                break;
            }
        }
        let (block, left) = rest.split_at(count);
        blocks.push(block);
        rest = left;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowWriter;
    use crate::value::ValueRef;
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

        #[test]
        fn cuts_keep_every_entry_and_fit_a_page(
            sizes in prop::collection::vec((0..20_000_usize, prop::option::of(0..12_usize)), 0..60),
            dense: bool,
        ) {
            let row = |(size, name): (usize, Option<usize>)| match name {
                None => vec![7; size],
                Some(name) => {
                    let mut row = RowWriter::new();
                    row.property(&"n".repeat(name * 90), ValueRef::Binary(&vec![7; size]));
                    row.finish().as_bytes().to_vec()
                }
            };
            let entries: Vec<Entry> = (0_u32..).zip(sizes)
                .map(|(n, size)| Entry { key: n.to_be_bytes().to_vec(), row: row(size) })
                .collect();
            let blocks = cut(&entries, dense);
            prop_assert_eq!(blocks.concat(), entries.clone());
            for block in blocks {
                let key = block.last().map_or(0, |entry| entry.key.len());
                prop_assert!(block.len() == 1 || encode(block).len() + key + RESERVE <= PAGE);
            }
        }
    }

    #[test]
    fn two_keys_that_share_little_leave_room_for_the_counts() {
        for size in PAGE / 2 - 200..PAGE / 2 {
            let entries: Vec<Entry> =
                [[0; 4], [1; 4]].map(|key| Entry { key: key.to_vec(), row: vec![7; size] }).to_vec();
            for block in cut(&entries, true) {
                assert!(encode(block).len() + 4 + RESERVE <= PAGE, "two rows of {size} bytes");
            }
        }
    }

    #[test]
    fn golden_bytes_of_a_block() {
        let entry = |key: &[u8], row: &[u8]| Entry { key: key.to_vec(), row: row.to_vec() };
        let row = |name, active| {
            let mut row = RowWriter::new();
            row.property(name, ValueRef::Boolean(active));
            row.finish().with_timestamp(7).as_bytes().to_vec()
        };
        let block = encode(&[
            entry(b"ka", &row("A", true)),
            entry(b"kb", &row("A", false)),
            entry(b"kc", &row("B", true)),
        ]);
        let mut wanted = vec![3, 0, 1, 0, b'k']; // three rows; what all keys begin with
        wanted.extend([1, 0, 2, 0, 3, 0, b'a', b'b', b'c']); // ends of the rests of the keys; the rests
        wanted.extend([13, 0, 0, 0, 0, 0, 26, 0, 0, 0, 0, 0, 39, 0, 0, 0, 1, 0]); // ends of the bodies, their shapes
        wanted.extend([2, 0, 9, 0, 0, 0, 18, 0, 0, 0]); // two shapes, their ends
        wanted.extend(b"\x01\0\x01\0\x05\x01\0\0A\x01\0\x01\0\x05\x01\0\0B");
        for active in [1, 0, 1] {
            wanted.extend([7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, active]); // Timestamp, end of the value, the value
        }
        assert_eq!(block, wanted);
    }
}
