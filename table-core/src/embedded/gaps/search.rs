//! The search of one scan for the longest gap that it passes.

use super::{FoundGap, Gaps};
use crate::embedded::key::{Span, SplitKey};

/// Deletions in a row that are worth a report.
const WORTH: usize = 64;
/// The number of deletions that take as long to pass as a gap to skip.
const SKIPPED: usize = 16;

/// The longest stretch without rows so far, and the stretch under way.
pub(in super::super) struct Search<'s> {
    span: &'s Span,
    /// `true` if no row was met since the stretch under way began.
    is_in_gap: bool,
    /// The start of the stretch under way; `None` for the start of the scan.
    start: Option<Vec<u8>>,
    /// The deletions of the stretch under way, and what stands for the gaps that it skipped.
    passed: usize,
    longest: Option<(usize, Span)>,
}

impl<'s> Search<'s> {
    pub(in super::super) const fn new(span: &'s Span) -> Self {
        Self { span, is_in_gap: true, start: None, passed: 0, longest: None }
    }

    /// Notes a row.
    #[inline]
    pub(in super::super) fn row(&mut self, key: SplitKey<'_>) {
        if self.is_in_gap {
            self.end(key);
        }
    }

    /// Notes a deletion.
    pub(in super::super) fn deletion(&mut self, key: SplitKey<'_>) {
        if !self.is_in_gap {
            self.begin(key.to_vec());
        }
        self.passed += 1;
    }

    /// Notes that the scan skips a known gap from its start on.
    pub(in super::super) fn skip(&mut self, start: &[u8]) {
        if !self.is_in_gap {
            self.begin(start.to_vec());
        }
        self.passed += SKIPPED;
    }

    fn begin(&mut self, start: Vec<u8>) {
        (self.is_in_gap, self.start, self.passed) = (true, Some(start), 0);
    }

    /// Ends the stretch under way before a key.
    pub(in super::super) fn end(&mut self, key: SplitKey<'_>) {
        let is_longest = self.longest.as_ref().is_none_or(|(passed, _)| *passed < self.passed);
        if self.is_in_gap && self.passed >= WORTH && is_longest {
            let start = self.start.take().unwrap_or_else(|| self.span.start.clone());
            self.longest = Some((self.passed, Span { start, end: key.to_vec() }));
        }
        self.is_in_gap = false;
    }

    /// Returns the longest gap, found in the state of these gaps.
    pub(in super::super) fn finish(self, gaps: &Gaps) -> Option<FoundGap> {
        self.longest.map(|(_, span)| gaps.found(span))
    }
}
