//! From row to row of a block: neighbours touch each other and mostly share their shape, so that little is read for each.

use std::ops::Range;

use super::{Layout, Place, corrupted};
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
        let (key, body) = (layout.keys + key, layout.bodies + body);
        let shape = layout.shape(block, 0).unwrap_or_default();
        Ok(Self { layout, left: entries, key_end: key, row: Place { shape, body: body..body } })
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
        self.row.body = self.row.body.end..layout.bodies + layout.row_end(block, index)?;
        let shape = layout.row_shape(block, index)?;
        if shape != self.row.shape.number {
            self.row.shape = layout.shape(block, shape)?;
        }
        Some(rest)
    }

    /// The row stood on.
    #[inline]
    pub(crate) fn row<'b>(&self, block: &'b [u8]) -> RowView<'b> {
        self.row.row(block)
    }
}
