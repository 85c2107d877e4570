//! Gaps: key ranges that are known to have no rows. Scans can skip them.
//!
//! A deleted row leaves a tombstone in memory, and later in the base, until a merge removes it. A scan that visits many consecutive tombstones reports their
//! key range as a gap. The committer adds the gap to its latest state, unless a row has been written in the range in the meantime.
//!
//! Writing a row in a gap splits the gap at the row's key. Deleting the first row after a gap extends the gap.
//!
//! Gaps belong to the state, so each snapshot has its own. They are never stored. After the folder is reopened, scans find them again.

mod search;

use std::collections::VecDeque;
use std::ops::Bound;

use imbl::OrdMap;

use crate::key::{Key, Span};

pub(super) use search::Search;

/// The maximum number of gaps in a state. If this number is exceeded, all gaps are discarded, and scans find the relevant ones again.
const MOST: usize = 1_024;
/// The number of recently written keys that are remembered. A gap that was found before the oldest of these writes is discarded.
const REMEMBERED: usize = 2_048;

/// The gaps of a state. Cloning is O(1).
#[derive(Clone, Default)]
pub(crate) struct Gaps {
    /// The end of each gap, keyed by the gap's start. Gaps neither overlap nor touch.
    ends: OrdMap<Key, Key>,
    /// The number of rows written between the opening of the engine and this state.
    writes: u64,
}

/// A gap found by a scan.
#[derive(Debug)]
pub(crate) struct FoundGap {
    span: Span,
    /// The value of `Gaps::writes` in the scanned state.
    writes: u64,
}

/// The keys of the most recently written rows.
#[derive(Default)]
pub(crate) struct WrittenKeys(VecDeque<Key>);

impl Gaps {
    /// Returns the first gap that overlaps a span.
    pub(super) fn first_in(&self, span: &Span) -> Option<(&Key, &Key)> {
        if self.ends.is_empty() {
            return None;
        }
        let (start, end) = (span.start.as_slice(), span.end.as_slice());
        let before = self.ends.range::<_, [u8]>((Bound::Unbounded, Bound::Included(start))).next_back();
        before.filter(|(_, behind)| ***behind > *start).or_else(|| {
            let bounds = (Bound::Excluded(start), Bound::Excluded(end));
            if start < end { self.ends.range::<_, [u8]>(bounds).next() } else { None }
        })
    }

    /// Counts a written row. If its key is in a gap, splits the gap into the gaps before and after the key.
    pub(super) fn write(&mut self, key: &Key) {
        self.writes += 1;
        if self.ends.is_empty() {
            return;
        }
        let only = Span { start: key.to_vec(), end: [key, &[0][..]].concat() };
        let Some((start, end)) = self.first_in(&only) else { return };
        let (start, end) = (Key::clone(start), Key::clone(end));
        self.ends.remove(&start);
        if start < *key {
            self.ends.insert(start, Key::clone(key));
        }
        let behind = Key::from(only.end);
        if behind < end {
            self.ends.insert(behind, end);
        }
    }

    /// Returns `true` if a gap ends just before this key.
    pub(super) fn end_at(&self, key: &[u8]) -> bool {
        let before = self.ends.range::<_, [u8]>((Bound::Unbounded, Bound::Excluded(key))).next_back();
        before.is_some_and(|(_, end)| **end == *key)
    }

    /// Records that this state has no rows in `span`.
    pub(super) fn extend(&mut self, span: Span) {
        if !span.is_empty() {
            self.join(span);
        }
    }

    /// Adds a gap found by a scan, unless this state may have rows in the gap. Returns `true` if the gap was added.
    pub(super) fn add(&mut self, found: FoundGap, written: &WrittenKeys) -> bool {
        let is_gap = written.none_in(&found, self.writes);
        if is_gap {
            self.extend(found.span);
        }
        is_gap
    }

    fn join(&mut self, Span { start, end }: Span) {
        let (mut start, mut end) = (Key::from(start), Key::from(end));
        if self.ends.len() >= MOST {
            self.ends.clear();
        }
        if let Some((before, behind)) = self.ends.range(..=Key::clone(&start)).next_back()
            && *behind >= start
        {
            (start, end) = (Key::clone(before), end.max(Key::clone(behind)));
        }
        let reached = || self.ends.range(Key::clone(&start)..=Key::clone(&end));
        let reached: Vec<_> = reached().map(|(start, end)| (Key::clone(start), Key::clone(end))).collect();
        for (within, behind) in reached {
            self.ends.remove(&within);
            end = end.max(behind);
        }
        self.ends.insert(start, end);
    }

    /// Returns a report of a gap that was found in this state.
    pub(super) const fn found(&self, span: Span) -> FoundGap {
        FoundGap { span, writes: self.writes }
    }
}

impl WrittenKeys {
    /// Remembers a written key, and forgets the oldest key if too many are remembered.
    pub(super) fn push(&mut self, key: &Key) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(Key::clone(key));
    }

    /// Discards all keys, because some writes were rolled back. As a result, gaps found in an earlier state are discarded.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns `true` if it is certain that no row was written into a gap since it was found. `writes` is the current number of writes.
    fn none_in(&self, found: &FoundGap, writes: u64) -> bool {
        let since = writes.checked_sub(found.writes).and_then(|since| usize::try_from(since).ok());
        let Some(since) = since.filter(|since| *since <= self.0.len()) else { return false };
        let span = &found.span;
        let is_in = |key: &Key| **key >= *span.start && **key < *span.end;
        !self.0.iter().rev().take(since).any(is_in)
    }
}

#[cfg(test)]
mod tests;
