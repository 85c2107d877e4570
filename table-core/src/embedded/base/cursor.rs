//! Cursor over a span of the base: segment after segment, merging the layers of each.

mod layers;
mod run;

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::embedded::base::version::Version;
use crate::embedded::key::{Span, SplitKey};
use crate::error::Result;
use crate::row::RowView;
pub(super) use layers::Layers;

/// A place in a span of the base. It is before an entry, or behind the last one.
pub(crate) struct BaseCursor {
    version: Arc<Version>,
    /// The segment that it is in.
    index: usize,
    layers: Layers,
    end: Vec<u8>,
    /// Whether blocks are likely to be read again.
    keep: bool,
}

fn within<'k>(segment_end: Option<&'k [u8]>, end: &'k [u8]) -> &'k [u8] {
    segment_end.map_or(end, |segment_end| segment_end.min(end))
}

impl BaseCursor {
    /// Before the first entry of a span.
    pub(super) fn new(version: &Arc<Version>, span: &Span, keep: bool) -> Result<Self> {
        let index = version.find(&span.start);
        let layers = version.segments().get(index).map_or(&[][..], |segment| &segment.layers);
        let layers = Layers::new(layers, &span.start, Some(within(version.end(index), &span.end)), keep)?;
        Ok(Self { version: Arc::clone(version), index, layers, end: span.end.clone(), keep })
    }

    /// Visits the entries up to a key, without it, a deletion as `None`; and is before the next one. Or its visitor stops it, and it has no
    /// place any more.
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

    /// Passes over the entry of a key that it is before, if there is one.
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
        self.layers = Layers::new(&segment.layers, &segment.start, Some(end), self.keep)?;
        Ok(true)
    }
}
