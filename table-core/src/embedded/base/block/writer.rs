//! Makes blocks: cuts rows into them, each to fit a page of the tree, and writes their bytes.

use crate::embedded::base::block::{COUNTS, Entry, KEY_END, ROW, SHAPE_END, SHAPES};
use crate::row::RowView;

/// Bytes of a page of the tree that one full block fills, with its key: a power of two, as the tree's pages are.
const PAGE: usize = 16 << 10;
/// What the tree itself needs in such a page.
const RESERVE: usize = 64;
/// A block below this is joined with its neighbour when it is written.
const SMALL: usize = PAGE / 4;
/// So many shapes back one is looked for before it is written once more: rows of one type are neighbours.
const SHAPES_BACK: usize = 8;

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

    proptest! {
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
