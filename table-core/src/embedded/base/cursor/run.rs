//! Cursor over the entries of a run, block after block.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::embedded::base::block::Walk;
use crate::embedded::base::cache::Block;
use crate::embedded::base::run::Run;
use crate::error::Result;
use crate::row::RowView;

/// A place among the entries of a run within bounds: on one, or behind the last.
pub(super) struct RunCursor {
    run: Arc<Run>,
    next: usize,
    end: Option<Vec<u8>>,
    /// Whether blocks are likely to be read again.
    keep: bool,
    block: Option<Open>,
    key: Vec<u8>,
}

struct Open {
    block: Arc<Block>,
    walk: Walk,
    /// Whether the bounds end in this block.
    last: bool,
}

impl RunCursor {
    /// On the first entry from `start` on, up to but without `end`.
    pub(super) fn new(run: &Arc<Run>, start: &[u8], end: Option<&[u8]>, keep: bool) -> Result<Self> {
        let next = run.directory()?.search(start);
        let (run, end) = (Arc::clone(run), end.map(<[u8]>::to_vec));
        let mut cursor = Self { run, next, end, keep, block: None, key: Vec::new() };
        if cursor.next_block(Some(start))? {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    /// Whether it is behind the last entry.
    pub(super) fn is_done(&self) -> bool {
        self.block.is_none()
    }

    /// The key of the entry that it is on.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The row of this entry; `None` for a deletion.
    pub(super) fn row(&self) -> Option<RowView<'_>> {
        let open = self.block.as_ref()?;
        open.walk.row(&open.block.bytes)
    }

    /// Goes on to the next entry.
    pub(super) fn advance(&mut self) -> Result<()> {
        while let Some(open) = &mut self.block {
            if open.walk.advance(&open.block.bytes, &mut self.key)? {
                break;
            }
            let last = open.last;
            self.block = None;
            if last || !self.next_block(None)? {
                break;
            }
        }
        Ok(())
    }

    /// Visits the entries from the one that it is on up to a key, without it, and is on the next one; or is told to stop, and is on the
    /// one visited last.
    pub(super) fn visit(
        &mut self,
        end: Option<&[u8]>,
        visit: &mut impl FnMut(&[u8], Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        while let Some(Open { block, walk, .. }) = &mut self.block {
            loop {
                if end.is_some_and(|end| self.key.as_slice() >= end) {
                    return Ok(ControlFlow::Continue(()));
                }
                if visit(&self.key, walk.row(&block.bytes))?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if !walk.advance(&block.bytes, &mut self.key)? {
                    break;
                }
            }
            self.advance()?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Before the first entry of the next block; `false` if there is none within the bounds.
    fn next_block(&mut self, start: Option<&[u8]>) -> Result<bool> {
        let directory = self.run.directory()?;
        let end = self.end.as_deref();
        if self.next >= directory.len() || end.is_some_and(|end| directory.first(self.next) >= end) {
            return Ok(false);
        }
        let last = end.is_some_and(|end| directory.last(self.next) >= end);
        let block = self.run.block(self.next, self.keep)?;
        self.next += 1;
        let (layout, bytes) = (block.layout, &*block.bytes);
        let to =
            end.filter(|_| last).map_or(Ok(layout.len()), |end| layout.search(bytes, end).map(|at| at.0))?;
        let from = start.map_or(Ok(0), |start| layout.search(bytes, start).map(|at| at.0))?;
        self.key.clear();
        self.key.extend_from_slice(layout.prefix(bytes)?);
        let walk = Walk::new(layout, bytes, from..to.max(from))?;
        self.block = Some(Open { block, walk, last });
        Ok(true)
    }
}
