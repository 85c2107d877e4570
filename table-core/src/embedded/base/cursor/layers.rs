//! Merging cursor over several layers: for each key, the entry of the newest layer that has one.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use super::run::RunCursor;
use crate::embedded::base::version::Layer;
use crate::embedded::key::SplitKey;
use crate::error::Result;
use crate::row::RowView;

/// A place in some layers of a segment.
pub(in super::super) struct Layers {
    /// The oldest layer, which mostly has most of the rows: they are visited without a look at the others from key to key.
    oldest: Option<RunCursor>,
    /// The other layers that have entries left, with their ages; the one to come next is the last.
    newer: Vec<(RunCursor, usize)>,
}

impl Layers {
    /// Before the first entry from `start` on, up to but without `end`, of some layers, the newest first.
    pub(in super::super) fn new(
        layers: &[Layer],
        start: &[u8],
        end: Option<&[u8]>,
        keep: bool,
    ) -> Result<Self> {
        let mut all = Self { oldest: None, newer: Vec::new() };
        let Some((oldest, newer)) = layers.split_last() else { return Ok(all) };
        for (age, layer) in newer.iter().enumerate() {
            let outside = *layer.run.last < *start || end.is_some_and(|end| *layer.run.first >= *end);
            if !outside {
                all.put(RunCursor::new(&layer.run, start, end, keep)?, age);
            }
        }
        let oldest = RunCursor::new(&oldest.run, start, end, keep)?;
        all.oldest = Some(oldest).filter(|oldest| !oldest.is_done());
        Ok(all)
    }

    /// Puts a layer in its order, unless it is behind its last entry.
    fn put(&mut self, cursor: RunCursor, age: usize) {
        if cursor.is_done() {
            return;
        }
        let later = |(other, other_age): &(RunCursor, usize)| {
            other.key().cmp(cursor.key()).then(other_age.cmp(&age)) == Ordering::Greater
        };
        self.newer.insert(self.newer.partition_point(later), (cursor, age));
    }

    /// Whether no entry is left.
    pub(in super::super) fn is_done(&self) -> bool {
        self.newer.is_empty() && self.oldest.as_ref().is_none_or(RunCursor::is_done)
    }

    /// Visits the entries up to a key, without it, a deletion as `None`; and is before the next one. Or its visitor stops it, and it has no
    /// place any more.
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
            // Layers are often neighbours, and not mixed: up to where the next one begins the entries of one come together.
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

    /// Passes over the entries of a key that it is before, in all layers.
    pub(in super::super) fn pass(&mut self, key: &[u8]) -> Result<()> {
        while self.newer.last().is_some_and(|(newer, _)| newer.key() == key)
            && let Some((mut cursor, age)) = self.newer.pop()
        {
            cursor.advance()?;
            self.put(cursor, age);
        }
        if let Some(oldest) = &mut self.oldest
            && !oldest.is_done()
            && oldest.key() == key
        {
            oldest.advance()?;
        }
        Ok(())
    }
}
