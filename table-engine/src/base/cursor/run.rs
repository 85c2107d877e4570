//! A cursor over the entries of a run. It reads one block at a time.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use table_store::Result;
use table_store::row::RowView;

use super::skipped::Reading;
use crate::base::cache::Block;
use crate::base::run::Run;
use crate::key::SplitKey;

/// A cursor over a key range of a run, positioned at an entry or after the last one.
pub(super) struct RunCursor {
    run: Arc<Run>,
    next: usize,
    end: Option<Vec<u8>>,
    reading: Reading,
    block: Option<Open>,
    key: Vec<u8>,
}

struct Open {
    block: Arc<Block>,
    /// The indexes of the entries within the bounds, starting with the current entry.
    entries: Range<usize>,
    /// `true` if the bounds end in the current block.
    last: bool,
}

impl RunCursor {
    /// Creates a cursor at the first entry between `start` (inclusive) and `end` (exclusive).
    pub(super) fn new(run: &Arc<Run>, start: &[u8], end: Option<&[u8]>, reading: &Reading) -> Result<Self> {
        let (reading, end) = (reading.clone(), end.map(<[u8]>::to_vec));
        let mut cursor = Self { run: Arc::clone(run), next: 0, end, reading, block: None, key: Vec::new() };
        match run.directory() {
            Ok(directory) => cursor.next = directory.search(start),
            Err(error) => {
                cursor.reading.skip(run, run.first.to_vec(), run.last.to_vec(), error)?;
                return Ok(cursor);
            }
        }
        if cursor.next_block(Some(start))? {
            cursor.settle()?;
        }
        Ok(cursor)
    }

    /// Returns `true` if the cursor is past the last entry.
    pub(super) fn is_done(&self) -> bool {
        self.block.is_none()
    }

    /// Returns the key of the current entry.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Returns the row of the current entry, or `None` for a tombstone.
    pub(super) fn row(&self) -> Result<Option<RowView<'_>>> {
        let Some(Open { block, entries, .. }) = &self.block else { return Ok(None) };
        block.layout.row(&block.bytes, entries.start)
    }

    /// Moves to the next entry.
    pub(super) fn advance(&mut self) -> Result<()> {
        if let Some(open) = &mut self.block {
            open.entries.start += 1;
        }
        self.settle()
    }

    /// Visits the entries from the current one up to a key (exclusive). The cursor then moves after these entries, unless the visitor stopped early.
    pub(super) fn visit(
        &mut self,
        end: Option<&[u8]>,
        visit: &mut impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        if end.is_some_and(|end| *self.key >= *end) {
            return Ok(ControlFlow::Continue(()));
        }
        while let Some(Open { block, entries, .. }) = &mut self.block {
            let (layout, bytes) = (block.layout, &*block.bytes);
            let all = entries.end;
            let to = end.map_or(Ok(all), |end| layout.search_from(bytes, end, entries.start))?.min(all);
            for entry in layout.entries(bytes, entries.start..to)? {
                let (key, row) = entry?;
                if visit(key, row)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            entries.start = to;
            self.settle()?;
            if to < all {
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Opens the next block if the current block has no entries left, and loads the key of the current entry.
    fn settle(&mut self) -> Result<()> {
        while let Some(Open { block, entries, last }) = &self.block {
            if !entries.is_empty() {
                let (layout, bytes) = (block.layout, &*block.bytes);
                SplitKey::new(layout.prefix(bytes)?, layout.key(bytes, entries.start)?).join(&mut self.key);
                break;
            }
            let last = *last;
            self.block = None;
            if last || !self.next_block(None)? {
                break;
            }
        }
        Ok(())
    }

    /// Opens the next readable block. Returns `false` if no further block is within the bounds.
    fn next_block(&mut self, start: Option<&[u8]>) -> Result<bool> {
        let directory = self.run.directory()?;
        loop {
            let (index, end) = (self.next, self.end.as_deref());
            if index >= directory.len() || end.is_some_and(|end| !directory.begins_below(index, end)) {
                return Ok(false);
            }
            self.next += 1;
            let last = end.is_some_and(|end| !directory.ends_below(index, end));
            match self.open(index, start, end.filter(|_| last)) {
                Ok(open) => {
                    self.block = Some(open);
                    return Ok(true);
                }
                Err(error) => {
                    let (first, last) = (directory.first(index), directory.last(index));
                    self.reading.skip(&self.run, first, last, error)?;
                }
            }
        }
    }

    /// Reads a block and selects its entries from `start` (inclusive) to `end` (exclusive). `end` is `None` unless the cursor's bounds end in this block.
    fn open(&self, index: usize, start: Option<&[u8]>, end: Option<&[u8]>) -> Result<Open> {
        let block = self.run.block(index, self.reading.keep)?;
        let (layout, bytes) = (block.layout, &*block.bytes);
        let to = end.map_or(Ok(layout.len()), |end| layout.search(bytes, end).map(|at| at.0))?;
        let from = start.map_or(Ok(0), |start| layout.search(bytes, start).map(|at| at.0))?;
        Ok(Open { block, entries: from..to.max(from), last: end.is_some() })
    }
}
