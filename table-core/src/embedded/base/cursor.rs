//! Steps through the rows of a span of the base: from row to row within a block, then on to the next block.

use std::ops::ControlFlow;

use redb::AccessGuard;

use crate::embedded::base::block::{Layout, Walk};
use crate::embedded::base::failed;
use crate::error::Result;
use crate::row::RowView;

type Blocks = redb::Range<'static, &'static [u8], &'static [u8]>;

/// A place in a span of the base. It stands on a row, or behind the last one.
pub(crate) struct BaseCursor {
    blocks: Blocks,
    end: Vec<u8>,
    block: Option<Block>,
    key: Vec<u8>,
}

struct Block {
    bytes: AccessGuard<'static, &'static [u8]>,
    walk: Walk,
    /// Whether the span ends in this block.
    last: bool,
}

impl BaseCursor {
    /// On the first row of a span. `blocks` begin with the one that may hold `start`.
    pub(super) fn new(blocks: Blocks, start: &[u8], end: Vec<u8>) -> Result<Self> {
        let mut cursor = Self { blocks, end, block: None, key: Vec::new() };
        if cursor.next_block(Some(start))? {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    /// The key and the row stood on; `None` behind the last.
    pub(crate) fn current(&self) -> Option<(&[u8], RowView<'_>)> {
        let block = self.block.as_ref()?;
        Some((&self.key, block.walk.row(block.bytes.value())))
    }

    /// Goes on to the next row.
    pub(crate) fn advance(&mut self) -> Result<()> {
        while let Some(block) = &mut self.block {
            if block.walk.advance(block.bytes.value(), &mut self.key)? {
                break;
            }
            let last = block.last;
            self.block = None;
            if last || !self.next_block(None)? {
                break;
            }
        }
        Ok(())
    }

    /// Visits the rows from the one stood on up to a key, without it, and stands on the next one; or is told to stop, and stands on
    /// the row visited last.
    pub(crate) fn visit(
        &mut self,
        end: Option<&[u8]>,
        mut visit: impl FnMut(&[u8], RowView<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        while let Some(Block { bytes, walk, .. }) = &mut self.block {
            let bytes = bytes.value();
            loop {
                if end.is_some_and(|end| self.key.as_slice() >= end) {
                    return Ok(ControlFlow::Continue(()));
                }
                if visit(&self.key, walk.row(bytes))?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if !walk.advance(bytes, &mut self.key)? {
                    break;
                }
            }
            self.advance()?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Before the first row of the next block; `false` if there is none.
    fn next_block(&mut self, start: Option<&[u8]>) -> Result<bool> {
        let Some(found) = self.blocks.next() else { return Ok(false) };
        let (largest, bytes) = found.map_err(failed)?;
        let layout = Layout::read(bytes.value())?;
        let last = largest.value() >= self.end.as_slice();
        let to = if last { layout.search(bytes.value(), &self.end)?.0 } else { layout.len() };
        let from = start.map_or(Ok(0), |start| layout.search(bytes.value(), start).map(|found| found.0))?;
        self.key.clear();
        self.key.extend_from_slice(layout.prefix(bytes.value())?);
        let walk = Walk::new(layout, bytes.value(), from..to.max(from))?;
        self.block = Some(Block { bytes, walk, last });
        Ok(true)
    }
}
