//! A search for the longest gap (a key range without rows) during a scan.

use super::{FoundGap, Gaps};
use crate::key::{Span, SplitKey};

/// The minimum number of consecutive tombstones in a reported gap.
const WORTH: usize = 64;
/// The cost of skipping a gap. A scan skips a gap in about the time in which it visits this many tombstones.
const SKIPPED: usize = 16;

/// The gaps seen by a scan: the longest gap so far, and the current gap.
pub(in super::super) struct Search<'s> {
    span: &'s Span,
    /// `true` if the scan has not found a row since the current gap began.
    is_in_gap: bool,
    /// The start of the current gap, or `None` if the gap starts where the scan starts.
    start: Option<Vec<u8>>,
    /// The number of tombstones in the current gap. If the scan skips a known gap within it, that gap counts as [`SKIPPED`] tombstones.
    passed: usize,
    longest: Option<(usize, Span)>,
}

impl<'s> Search<'s> {
    pub(in super::super) const fn new(span: &'s Span) -> Self {
        Self { span, is_in_gap: true, start: None, passed: 0, longest: None }
    }

    /// Records that the scan has found a row, which ends the current gap.
    #[inline]
    pub(in super::super) fn row(&mut self, key: SplitKey<'_>) {
        if self.is_in_gap {
            self.end(key);
        }
    }

    /// Records that the scan has found a tombstone, which extends the current gap or begins a new one.
    pub(in super::super) fn deletion(&mut self, key: SplitKey<'_>) {
        if !self.is_in_gap {
            self.begin(key.to_vec());
        }
        self.passed += 1;
    }

    /// Records that the scan skips a known gap that begins at the given key.
    pub(in super::super) fn skip(&mut self, start: &[u8]) {
        if !self.is_in_gap {
            self.begin(start.to_vec());
        }
        self.passed += SKIPPED;
    }

    fn begin(&mut self, start: Vec<u8>) {
        (self.is_in_gap, self.start, self.passed) = (true, Some(start), 0);
    }

    /// Ends the current gap before a key.
    pub(in super::super) fn end(&mut self, key: SplitKey<'_>) {
        let is_longest = self.longest.as_ref().is_none_or(|(passed, _)| *passed < self.passed);
        if self.is_in_gap && self.passed >= WORTH && is_longest {
            let start = self.start.take().unwrap_or_else(|| self.span.start.clone());
            self.longest = Some((self.passed, Span { start, end: key.to_vec() }));
        }
        self.is_in_gap = false;
    }

    /// Returns the longest gap that the scan has found. `gaps` must belong to the scanned state.
    pub(in super::super) fn finish(self, gaps: &Gaps) -> Option<FoundGap> {
        self.longest.map(|(_, span)| gaps.found(span))
    }
}
