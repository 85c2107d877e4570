//! An iterator over the entries of a block. It is optimised for consecutive rows with the same shape (property names and types).

use std::iter::Zip;
use std::ops::Range;
use std::slice::Iter;

use table_store::Result;
use table_store::row::RowView;

use super::{COUNTS, KEY_END, Layout, ROW, Shape, corrupted, from_le};
use crate::key::SplitKey;

/// A key and its row. The row is `None` for a tombstone.
pub(crate) type Entry<'b> = (SplitKey<'b>, Option<RowView<'b>>);

/// An iterator over a range of entries in a block.
pub(crate) struct Entries<'b> {
    layout: Layout,
    block: &'b [u8],
    prefix: &'b [u8],
    keys: &'b [u8],
    bodies: &'b [u8],
    ends: Zip<Iter<'b, [u8; KEY_END]>, Iter<'b, [u8; ROW]>>,
    /// The end offset of the previous entry's key.
    key_end: usize,
    /// The end offset of the previous entry's body.
    body_end: usize,
    shape: Shape<'b>,
    /// The shape number of the previous entry.
    number: usize,
}

impl Layout {
    /// Returns an iterator over a range of entries, given by their indexes.
    pub(crate) fn entries(self, block: &[u8], places: Range<usize>) -> Result<Entries<'_>> {
        let entries = || {
            let ends = |before| self.key_end(block, before).zip(self.row_end(block, before));
            let (key_end, body_end) = places.start.checked_sub(1).map_or(Some((0, 0)), ends)?;
            let (start, key_ends) = (self.row_ends, COUNTS + self.prefix);
            let key_ends = block.get(key_ends + places.start * KEY_END..key_ends + places.end * KEY_END)?;
            let row_ends = block.get(start + places.start * ROW..start + places.end * ROW)?;
            Some(Entries {
                layout: self,
                block,
                prefix: block.get(COUNTS..COUNTS + self.prefix)?,
                keys: block.get(self.keys..)?,
                bodies: block.get(self.bodies..)?,
                ends: key_ends.as_chunks().0.iter().zip(row_ends.as_chunks().0),
                key_end,
                body_end,
                shape: Shape::default(),
                // No shape has this number, so the shape of the first row is always looked up.
                number: usize::MAX,
            })
        };
        entries().ok_or_else(corrupted)
    }
}

impl<'b> Entries<'b> {
    #[expect(clippy::inline_always, reason = "as of `next`")]
    #[inline(always)]
    fn entry(&mut self, key_end: [u8; KEY_END], row: [u8; ROW]) -> Option<Entry<'b>> {
        let ([e0, e1, e2, e3, shape @ ..], key_end) = (row, from_le(&key_end));
        let (body_end, number) = (from_le(&[e0, e1, e2, e3]), from_le(&shape));
        let key = self.keys.get(std::mem::replace(&mut self.key_end, key_end)..key_end)?;
        let body = self.bodies.get(std::mem::replace(&mut self.body_end, body_end)..body_end)?;
        // The first entry never shares its shape with a previous entry.
        let is_alike = number == self.number;
        if !is_alike {
            self.turn_to(number)?;
        }
        Some((SplitKey::new(self.prefix, key).alike_if(is_alike), self.shape.row(body)))
    }
}

impl Entries<'_> {
    #[cold]
    fn turn_to(&mut self, number: usize) -> Option<()> {
        self.shape = self.layout.shape(self.block, number)?;
        self.number = number;
        Some(())
    }
}

impl<'b> Iterator for Entries<'b> {
    type Item = Result<Entry<'b>>;

    #[expect(
        clippy::inline_always,
        reason = "a call per row with a result in memory takes a sixth of a filter's time"
    )]
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (key_end, row) = self.ends.next()?;
        Some(self.entry(*key_end, *row).ok_or_else(corrupted))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{bytes, encode, entries};
    use super::*;

    /// Looks up the key and the row at an index without using the iterator.
    fn alone(layout: Layout, block: &[u8], index: usize) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let key = [layout.prefix(block).ok()?, layout.key(block, index).ok()?].concat();
        Some((key, layout.row(block, index).ok()?.map(bytes)))
    }

    proptest! {
        /// Tests that iteration over a corrupted block returns only rows that a lookup also returns. It must not return a different row, or a row whose lookup
        /// fails.
        #[test]
        fn iteration_and_lookups_return_the_same_rows(
            entries in entries(),
            from in any::<prop::sample::Index>(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            let mut block = encode(&entries);
            for (at, flip) in flips {
                let at = at.index(block.len());
                block[at] ^= flip;
            }
            let Ok(layout) = Layout::read(&block) else { return Ok(()) };
            let from = from.index(layout.len().max(1));
            let Ok(mut entries) = layout.entries(&block, from..layout.len()) else { return Ok(()) };
            let mut before = None;
            for index in from..layout.len() {
                let (found, entry) = (alone(layout, &block, index), entries.next().unwrap());
                prop_assert_eq!(entry.is_ok(), found.is_some());
                let Ok((key, row)) = entry else { return Ok(()) };
                // Pages rely on `is_alike` to reuse the partition and the shape of the previous entry.
                let parts = (key.front(), row.map(|row| row.parts().0.to_vec()));
                prop_assert!(!key.is_alike || before.as_ref() == Some(&parts));
                before = Some(parts);
                prop_assert_eq!(Some((key.to_vec(), row.map(bytes))), found);
            }
            prop_assert!(entries.next().is_none());
        }
    }
}
