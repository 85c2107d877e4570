//! A cursor over a span of keys in the base. It visits the segments one after another, and merges the layers of each segment.

mod layers;
mod run;
mod skipped;

use std::ops::ControlFlow;
use std::sync::Arc;

use table_store::Result;
use table_store::row::RowView;

use crate::base::version::Version;
use crate::key::{Span, SplitKey};
pub(super) use layers::Layers;
pub(super) use skipped::Reading;
pub(crate) use skipped::Skipped;

/// A cursor over a span of keys, positioned before an entry or after the last one.
pub(crate) struct BaseCursor {
    version: Arc<Version>,
    /// The index of the current segment in the version's list of segments.
    index: usize,
    layers: Layers,
    end: Vec<u8>,
    reading: Reading,
}

fn within<'k>(segment_end: Option<&'k [u8]>, end: &'k [u8]) -> &'k [u8] {
    segment_end.map_or(end, |segment_end| segment_end.min(end))
}

impl BaseCursor {
    /// Creates a cursor positioned before the first entry in a span.
    pub(super) fn new(version: &Arc<Version>, span: &Span, reading: Reading) -> Result<Self> {
        let index = version.find(&span.start);
        let layers = version.segments().get(index).map_or(&[][..], |segment| &segment.layers);
        let layers = Layers::new(layers, &span.start, Some(within(version.end(index), &span.end)), &reading)?;
        Ok(Self { version: Arc::clone(version), index, layers, end: span.end.clone(), reading })
    }

    /// Visits the entries before a key and moves the cursor to that key. For a tombstone, the visitor receives `None`. If the visitor stops early, the cursor
    /// cannot be used again.
    pub(crate) fn visit(
        &mut self,
        end: Option<&[u8]>,
        mut visit: impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        loop {
            if self.layers.visit(end, &mut visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if !self.layers.is_done() || !self.next_segment()? {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// Skips the next entry if its key equals the given key.
    pub(crate) fn pass(&mut self, key: &[u8]) -> Result<()> {
        self.layers.pass(key)
    }

    fn next_segment(&mut self) -> Result<bool> {
        self.index += 1;
        let Some(segment) = self.version.segments().get(self.index) else { return Ok(false) };
        if *segment.start >= *self.end {
            return Ok(false);
        }
        let end = within(self.version.end(self.index), &self.end);
        self.layers = Layers::new(&segment.layers, &segment.start, Some(end), &self.reading)?;
        Ok(true)
    }
}
