//! Iteration over the rows of a block, which mostly share their shape.

use std::ops::Range;

use super::{Layout, Place, Shape, corrupted};
use crate::error::Result;
use crate::row::RowView;

/// A place among the rows of a block: before the first, and then on a row.
#[derive(Debug)]
pub(crate) struct Walk {
    layout: Layout,
    /// The entries that come after the row stood on.
    left: Range<usize>,
    /// Where the key ends.
    key_end: usize,
    row: Place,
}

impl Walk {
    /// Before some entries of a block.
    pub(crate) fn new(layout: Layout, block: &[u8], entries: Range<usize>) -> Result<Self> {
        let ends = |before| layout.key_end(block, before).zip(layout.row_end(block, before));
        let ends = entries.start.checked_sub(1).map_or(Some((0, 0)), ends);
        let (key, body) = ends.ok_or_else(corrupted)?;
        let (key_end, body) = (layout.keys + key, layout.bodies + body);
        // No shape has this number: the first row looks its own up.
        let shape = Shape { number: usize::MAX, ..Shape::default() };
        Ok(Self { layout, left: entries, key_end, row: Place { shape, body: body..body } })
    }

    /// Goes on to the next row, unless it stood on the last. `key` begins with the prefix of the block, and becomes the row's.
    #[inline]
    pub(crate) fn advance(&mut self, block: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        let Some(index) = self.left.next() else { return Ok(false) };
        let rest = self.step(block, index).ok_or_else(corrupted)?;
        key.truncate(self.layout.prefix);
        key.extend_from_slice(rest);
        Ok(true)
    }

    /// What the next key has beyond the prefix.
    #[inline]
    fn step<'b>(&mut self, block: &'b [u8], index: usize) -> Option<&'b [u8]> {
        let layout = self.layout;
        let key_end = layout.keys + layout.key_end(block, index)?;
        let rest = block.get(std::mem::replace(&mut self.key_end, key_end)..key_end)?;
        let body_end = layout.bodies + layout.row_end(block, index)?;
        if body_end < self.row.body.end || body_end > block.len() {
            return None;
        }
        self.row.body = self.row.body.end..body_end;
        let shape = layout.row_shape(block, index)?;
        if shape != self.row.shape.number {
            self.row.shape = layout.shape(block, shape)?;
        }
        Some(rest)
    }

    /// The row stood on; `None` for a deletion.
    #[inline]
    pub(crate) fn row<'b>(&self, block: &'b [u8]) -> Option<RowView<'b>> {
        self.row.row(block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{encode, entries};
    use super::*;

    /// The key and the row at a place, looked up alone.
    fn alone(layout: Layout, block: &[u8], index: usize) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let key = [layout.prefix(block).ok()?, layout.key(block, index).ok()?].concat();
        Some((key, layout.row(block, index).ok()?.row(block).map(RowView::to_vec)))
    }

    proptest! {
        /// Whatever is broken, a walk never gives another row than a look-up of it, nor one where the look-up fails.
        #[test]
        fn a_walk_gives_what_each_look_up_gives(
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
            let Ok(mut walk) = Walk::new(layout, &block, from..layout.len()) else { return Ok(()) };
            let mut key = layout.prefix(&block).unwrap().to_vec();
            for index in from..layout.len() {
                let walked = walk.advance(&block, &mut key);
                let found = alone(layout, &block, index);
                prop_assert_eq!(walked.is_ok(), found.is_some());
                if walked.is_err() {
                    return Ok(());
                }
                prop_assert_eq!(Some((key.clone(), walk.row(&block).map(RowView::to_vec))), found);
            }
            prop_assert!(!walk.advance(&block, &mut key).unwrap());
        }
    }
}
