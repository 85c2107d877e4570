//! A cursor that merges several layers. For each key, it visits only the entry in the newest layer with that key.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use table_store::Result;
use table_store::row::RowView;

use super::run::RunCursor;
use super::skipped::Reading;
use crate::base::tally::Tally;
use crate::base::version::Layer;
use crate::key::SplitKey;

/// A merging cursor over several layers of a segment.
pub(in super::super) struct Layers {
    /// The oldest layer, which usually contains most of the rows. It is kept separate so that long sequences of its rows can be visited without comparing each
    /// row with the newer layers.
    oldest: Option<RunCursor>,
    /// The newer layers that have entries left, each with its age (0 is the newest). The list is sorted in descending order by the next key of each layer.
    newer: Vec<(RunCursor, usize)>,
    /// The tally (number and checksum) of the entries hidden by newer entries, or `None` if it is not needed.
    shadowed: Option<Tally>,
}

impl Layers {
    /// Creates a cursor for a merge of the given layers (newest first). It counts the entries that newer entries hide, and adds them to a tally.
    pub(in super::super) fn counting(layers: &[Layer], start: &[u8], end: Option<&[u8]>) -> Result<Self> {
        let reading = Reading { keep: false, skipped: None };
        Ok(Self { shadowed: Some(Tally::default()), ..Self::new(layers, start, end, &reading)? })
    }

    /// Returns the tally of the entries hidden by newer entries.
    pub(in super::super) fn shadowed(&self) -> Tally {
        self.shadowed.unwrap_or_default()
    }

    /// Creates a cursor over the given layers (newest first). It is positioned before their first entry between `start` (inclusive) and `end` (exclusive).
    pub(in super::super) fn new(
        layers: &[Layer],
        start: &[u8],
        end: Option<&[u8]>,
        reading: &Reading,
    ) -> Result<Self> {
        let mut all = Self { oldest: None, newer: Vec::new(), shadowed: None };
        let oldest = layers.len().saturating_sub(1);
        // Layers outside the bounds are skipped. Their indexes are not needed, and may be unreadable.
        let within = layers.iter().enumerate().filter(|(_, layer)| layer.run.may_hold(start, end));
        for (age, layer) in within {
            let cursor = RunCursor::new(&layer.run, start, end, reading)?;
            if age == oldest {
                all.oldest = Some(cursor).filter(|oldest| !oldest.is_done());
            } else {
                all.put(cursor, age);
            }
        }
        Ok(all)
    }

    /// Inserts a layer in sort order if it has entries left.
    fn put(&mut self, cursor: RunCursor, age: usize) {
        if cursor.is_done() {
            return;
        }
        let later = |(other, other_age): &(RunCursor, usize)| {
            other.key().cmp(cursor.key()).then(other_age.cmp(&age)) == Ordering::Greater
        };
        self.newer.insert(self.newer.partition_point(later), (cursor, age));
    }

    /// Returns `true` if no entry remains.
    pub(in super::super) fn is_done(&self) -> bool {
        self.newer.is_empty() && self.oldest.as_ref().is_none_or(RunCursor::is_done)
    }

    /// Visits the entries before a key and moves the cursor to that key. For a tombstone, the visitor receives `None`. If the visitor stops early, the cursor
    /// cannot be used again.
    pub(in super::super) fn visit(
        &mut self,
        end: Option<&[u8]>,
        visit: &mut impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        loop {
            let next = self.newer.last().map(|(newer, _)| newer.key());
            let within = next.filter(|next| end.is_none_or(|end| *next < end));
            if let Some(oldest) = &mut self.oldest
                && oldest.visit(within.or(end), visit)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
            let is_within = within.is_some();
            let Some((mut newer, age)) = self.newer.pop_if(|_| is_within) else {
                return Ok(ControlFlow::Continue(()));
            };
            // The key ranges of layers often do not overlap. All entries before the next key of the other layers are therefore visited together.
            let other = self.newer.last().map(|(other, _)| other);
            let oldest = self.oldest.as_ref().filter(|oldest| !oldest.is_done());
            let until = other.into_iter().chain(oldest).map(RunCursor::key).chain(end).min();
            let visited = if until.is_none_or(|until| newer.key() < until) {
                newer.visit(until, visit)?
            } else {
                let visited = visit(SplitKey::whole(newer.key()), newer.row()?)?;
                self.pass(newer.key())?;
                newer.advance()?;
                visited
            };
            if visited.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.put(newer, age);
        }
    }

    /// Skips the next entry of each layer if its key equals the given key.
    pub(in super::super) fn pass(&mut self, key: &[u8]) -> Result<()> {
        while self.newer.last().is_some_and(|(newer, _)| newer.key() == key)
            && let Some((mut cursor, age)) = self.newer.pop()
        {
            self.count(&cursor)?;
            cursor.advance()?;
            self.put(cursor, age);
        }
        if let Some(oldest) = &mut self.oldest
            && !oldest.is_done()
            && oldest.key() == key
        {
            if let Some(shadowed) = &mut self.shadowed {
                shadowed.add(key, oldest.row()?);
            }
            oldest.advance()?;
        }
        Ok(())
    }

    /// Adds an entry that a newer entry hides to the tally, if the cursor keeps one.
    fn count(&mut self, cursor: &RunCursor) -> Result<()> {
        if let Some(shadowed) = &mut self.shadowed {
            shadowed.add(cursor.key(), cursor.row()?);
        }
        Ok(())
    }
}
