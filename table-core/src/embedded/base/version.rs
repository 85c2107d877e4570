//! A version of the base: which runs hold which keys. Immutable; a change makes another.
//!
//! The keys are cut into segments, which follow each other without gaps. A segment has layers, the newest first: of one key the
//! newest layer with an entry says what it is. A run may be a layer of many segments; what it has outside of a segment is not
//! seen there. So a segment may be cut in two, and a part of it merged, without a look at the rest.

pub(super) mod stored;

use std::ops::Range;
use std::sync::Arc;

use crate::embedded::base::run::Run;
use crate::embedded::catalog::Catalog;
use crate::embedded::key;
use crate::error::Result;

/// One layer of a segment.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) run: Arc<Run>,
    /// The bytes of its blocks that have keys of the segment.
    pub(super) bytes: u64,
}

/// The keys from `start` on, up to the start of the next segment.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) start: Arc<[u8]>,
    /// The newest first.
    pub(super) layers: Vec<Layer>,
}

impl Segment {
    /// The bytes of all layers.
    pub(super) fn bytes(&self) -> u64 {
        self.layers.iter().map(|layer| layer.bytes).sum()
    }

    /// The bytes of all layers but the oldest.
    pub(super) fn newer_bytes(&self) -> u64 {
        let newer = self.layers.split_last().map_or(&[][..], |(_, newer)| newer);
        newer.iter().map(|layer| layer.bytes).sum()
    }
}

/// All segments, in key order. The first one starts at the empty key.
#[derive(Clone, Debug)]
pub(super) struct Version {
    segments: Vec<Arc<Segment>>,
}

/// A run as a layer of the keys within bounds; `None` if it has no block there.
fn layer(run: &Arc<Run>, start: &[u8], end: Option<&[u8]>) -> Result<Option<Layer>> {
    // Without a look at its index, which may not be in memory yet.
    if *run.last < *start || end.is_some_and(|end| *run.first >= *end) {
        return Ok(None);
    }
    let directory = run.directory()?;
    let blocks = directory.within(start, end);
    let bytes = directory.bytes(blocks.clone());
    Ok((!blocks.is_empty()).then(|| Layer { run: Arc::clone(run), bytes }))
}

/// The table of a key, or of a bound, which may be cut short.
fn tables(key: &[u8]) -> u32 {
    key::table_of(key).unwrap_or_default()
}

/// The smallest key above another.
pub(super) fn successor(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

impl Default for Version {
    /// One segment without layers.
    fn default() -> Self {
        Self { segments: vec![Arc::new(Segment { start: Arc::default(), layers: Vec::new() })] }
    }
}

impl Version {
    pub(super) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// The segment that a key belongs to.
    pub(super) fn find(&self, key: &[u8]) -> usize {
        self.segments.partition_point(|segment| &*segment.start <= key).saturating_sub(1)
    }

    /// Where a segment ends; `None` for the last.
    pub(super) fn end(&self, index: usize) -> Option<&[u8]> {
        self.segments.get(index + 1).map(|next| &*next.start)
    }

    /// All runs, each once, by number.
    pub(super) fn runs(&self) -> Vec<Arc<Run>> {
        let layers = self.segments.iter().flat_map(|segment| &segment.layers);
        let mut runs: Vec<Arc<Run>> = layers.map(|layer| Arc::clone(&layer.run)).collect();
        runs.sort_by_key(|run| run.number);
        runs.dedup_by_key(|run| run.number);
        runs
    }

    /// Lets a segment begin at a key. No row moves.
    pub(super) fn cut(&mut self, key: &[u8]) -> Result<()> {
        let index = self.find(key);
        let Some(old) = self.segments.get(index).cloned() else { return Ok(()) };
        if *old.start == *key {
            return Ok(());
        }
        let end = self.end(index).map(<[u8]>::to_vec);
        let part = |start: Arc<[u8]>, end: Option<&[u8]>| -> Result<_> {
            let layers = old.layers.iter().map(|old| layer(&old.run, &start, end));
            let layers = layers.filter_map(Result::transpose).collect::<Result<_>>()?;
            Ok(Arc::new(Segment { start, layers }))
        };
        let parts = [part(Arc::clone(&old.start), Some(key))?, part(key.into(), end.as_deref())?];
        self.segments.splice(index..=index, parts);
        Ok(())
    }

    /// Puts a run on top of all segments that it has keys of. Where it has at least so many bytes, or all of its own, between the
    /// rows that are there, they make a segment: nothing in it will ever have to be merged.
    pub(super) fn add(&mut self, run: &Arc<Run>, least: u64) -> Result<()> {
        for (first, behind) in self.free_parts(run, least)? {
            // No segment is made where there are no rows. Where the index of another run cannot be read, the segment stays as it is.
            if self.has_blocks(self.find(&first), &[], Some(&first)) && self.cut(&first).is_err() {
                continue;
            }
            if self.has_blocks(self.find(&first), &behind, None) {
                let _whole = self.cut(&behind);
            }
        }
        for index in self.find(&run.first)..=self.find(&run.last) {
            let Some(segment) = self.segments.get(index) else { break };
            if let Some(layer) = layer(run, &segment.start, self.end(index))? {
                let layers = std::iter::once(layer).chain(segment.layers.iter().cloned()).collect();
                self.set(index, layers);
            }
        }
        Ok(())
    }

    /// The parts of a run between the rows that are there: where each begins, and a key behind it.
    fn free_parts(&self, run: &Run, least: u64) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let directory = run.directory()?;
        let mut parts: Vec<Range<usize>> = Vec::new();
        for block in 0..directory.len() {
            let is_free = |from: usize| self.is_free(directory.first(from), directory.last(block));
            match parts.last_mut().filter(|part| part.end == block && is_free(part.start)) {
                Some(part) => part.end += 1,
                None if is_free(block) => parts.push(block..block + 1),
                None => {}
            }
        }
        parts.retain(|part| part.len() == directory.len() || directory.bytes(part.clone()) >= least);
        let ends = |part: Range<usize>| {
            (directory.first(part.start).to_vec(), successor(directory.last(part.end - 1)))
        };
        Ok(parts.into_iter().map(ends).collect())
    }

    /// Whether two keys are of one segment, which has layers, but no blocks from the first to the last.
    fn is_free(&self, first: &[u8], last: &[u8]) -> bool {
        let index = self.find(first);
        let has_layers = self.segments.get(index).is_some_and(|segment| !segment.layers.is_empty());
        has_layers && index == self.find(last) && !self.has_blocks(index, first, Some(&successor(last)))
    }

    /// Whether a segment has blocks from `start` on, up to but without `end`. Of a run whose index cannot be read it may have.
    fn has_blocks(&self, index: usize, start: &[u8], end: Option<&[u8]>) -> bool {
        let Some(segment) = self.segments.get(index) else { return false };
        let start = start.max(&segment.start);
        let end = [end, self.end(index)].into_iter().flatten().min();
        segment.layers.iter().any(|each| !matches!(layer(&each.run, start, end), Ok(None)))
    }

    /// Gives a segment other layers.
    pub(super) fn set(&mut self, index: usize, layers: Vec<Layer>) {
        if let Some(segment) = self.segments.get_mut(index) {
            *segment = Arc::new(Segment { start: Arc::clone(&segment.start), layers });
        }
    }

    /// Replaces the newest `count` layers of some segments by the result of merging them. The segments become one.
    pub(super) fn replace(
        &mut self,
        range: Range<usize>,
        count: usize,
        merged: Option<&Arc<Run>>,
    ) -> Result<()> {
        let (Some(first), Some(last)) = (self.segments.get(range.start), range.end.checked_sub(1)) else {
            return Ok(());
        };
        let start = Arc::clone(&first.start);
        let merged = merged.map(|run| layer(run, &start, self.end(last))).transpose()?.flatten();
        // Several segments are merged with all of their layers only.
        let below = first.layers.iter().skip(count).cloned();
        let layers = merged.into_iter().chain(below).collect();
        self.segments.splice(range, [Arc::new(Segment { start, layers })]);
        Ok(())
    }

    /// Whether a segment may have an entry of a key.
    pub(super) fn may_hold(&self, index: usize, key: &[u8]) -> bool {
        let spans = |layer: &Layer| *layer.run.first <= *key && *key <= *layer.run.last;
        self.segments.get(index).is_some_and(|segment| segment.layers.iter().any(spans))
    }

    /// Takes out the layers that have rows of dropped tables alone.
    pub(super) fn drop_dead(&mut self, catalog: &Catalog) {
        for index in 0..self.segments.len() {
            let end = self.end(index).map(<[u8]>::to_vec);
            let Some(segment) = self.segments.get(index) else { break };
            let lives = |layer: &&Layer| {
                let first = (&*layer.run.first).max(&*segment.start);
                let last = end.as_deref().map_or(&*layer.run.last, |end| end.min(&*layer.run.last));
                catalog.contains_any(tables(first)..=tables(last))
            };
            let layers: Vec<Layer> = segment.layers.iter().filter(lives).cloned().collect();
            if layers.len() < segment.layers.len() {
                self.set(index, layers);
            }
        }
    }

    /// Joins neighbouring segments without layers.
    pub(super) fn join_empty(&mut self) {
        self.segments.dedup_by(|next, before| next.layers.is_empty() && before.layers.is_empty());
    }
}
