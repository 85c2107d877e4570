//! A version of the base: the runs that contain the rows of each key range. A version is immutable, so each change creates a new one.
//!
//! The key space is divided into segments without gaps. A segment has layers, newest first. The newest layer with an entry for a key takes precedence.
//!
//! A run may be a layer of many segments. In each of them, only the entries within the segment are visible. As a result, a segment can be split without
//! rewriting any rows, and one half can be merged without reading the other.

pub(super) mod stored;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use table_store::{Error, Result};

use crate::base::fault::BaseFault;
use crate::base::policy::{DELETIONS, Weight};
use crate::base::run::{Directory, Run};
use crate::base::tally::Tally;
use crate::catalog::Catalog;
use crate::key;

/// A layer of a segment: a run, limited to the keys within the segment's range.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) run: Arc<Run>,
    /// The weight of the run's blocks that may contain keys of the segment.
    pub(super) weight: Weight,
}

/// A key range, from `start` to the start of the next segment.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) start: Arc<[u8]>,
    /// The layers of the segment, newest first.
    pub(super) layers: Vec<Layer>,
}

impl Segment {
    /// Returns the total size of all layers in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.layers.iter().map(|layer| layer.weight.bytes).sum()
    }

    /// Returns the total size in bytes of all layers except the oldest.
    pub(super) fn newer_bytes(&self) -> u64 {
        let newer = self.layers.split_last().map_or(&[][..], |(_, newer)| newer);
        newer.iter().map(|layer| layer.weight.bytes).sum()
    }

    /// Returns the number of tombstones in all layers.
    pub(super) fn deletions(&self) -> u64 {
        self.layers.iter().map(|layer| layer.weight.deletions).sum()
    }

    /// Returns the run number of each layer.
    fn runs(&self) -> impl Iterator<Item = u64> {
        self.layers.iter().map(|layer| layer.run.number)
    }
}

/// All segments, in key order. The first one starts at the empty key.
#[derive(Clone, Debug)]
pub(super) struct Version {
    segments: Vec<Arc<Segment>>,
}

/// Returns a run as a layer for the keys between two bounds, or `None` if the run has no block with such keys.
pub(super) fn layer(run: &Arc<Run>, start: &[u8], end: Option<&[u8]>) -> Result<Option<Layer>> {
    // For most runs, the first and last keys already rule out such blocks. Their indexes, which may not be in memory, are then not read.
    if !run.may_hold(start, end) {
        return Ok(None);
    }
    let directory = run.directory()?;
    let blocks = directory.within(start, end);
    let weight = directory.weigh(blocks.clone());
    Ok((!blocks.is_empty()).then(|| Layer { run: Arc::clone(run), weight }))
}

/// A range of blocks in a new run that becomes a separate segment.
#[derive(Debug)]
struct Stretch {
    blocks: Range<usize>,
    /// `true` if the blocks are a separate segment because they consist mostly of tombstones. `false` if they are one because the base has no rows between
    /// their first and last keys.
    deletes: bool,
}

impl Stretch {
    fn ends(&self, directory: &Directory) -> (Vec<u8>, Vec<u8>) {
        (directory.first(self.blocks.start), successor(&directory.last(self.blocks.end - 1)))
    }

    /// Returns `true` if the range is large enough for its own segment entry in `BASE`.
    fn is_large(&self, directory: &Directory, least: u64) -> bool {
        let weight = directory.weigh(self.blocks.clone());
        let is_all = !self.deletes && self.blocks.len() == directory.len();
        is_all || weight.bytes >= least || weight.deletions >= DELETIONS
    }
}

/// A bound greater than all keys. It starts with the largest table id, which is never assigned.
const ABOVE_ALL: [u8; 4] = [0xFF; 4];

/// Returns the id of the table that a key or a bound belongs to.
fn tables(key: &[u8]) -> u32 {
    key::table_of(key).unwrap_or_default()
}

/// Returns the smallest key greater than the given key.
pub(super) fn successor(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

impl Default for Version {
    /// Returns a version with a single segment that has no layers.
    fn default() -> Self {
        Self { segments: vec![Arc::new(Segment { start: Arc::default(), layers: Vec::new() })] }
    }
}

impl Version {
    pub(super) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// Returns the index of the segment that contains a key.
    pub(super) fn find(&self, key: &[u8]) -> usize {
        self.segments.partition_point(|segment| &*segment.start <= key).saturating_sub(1)
    }

    /// Returns the first key after a segment, or `None` for the last segment.
    pub(super) fn end(&self, index: usize) -> Option<&[u8]> {
        self.segments.get(index + 1).map(|next| &*next.start)
    }

    /// Returns all runs, without duplicates and sorted by number.
    pub(super) fn runs(&self) -> Vec<Arc<Run>> {
        let layers = self.segments.iter().flat_map(|segment| &segment.layers);
        let mut runs: Vec<Arc<Run>> = layers.map(|layer| Arc::clone(&layer.run)).collect();
        runs.sort_by_key(|run| run.number);
        runs.dedup_by_key(|run| run.number);
        runs
    }

    /// Returns a run by its number.
    pub(super) fn run(&self, number: u64) -> Option<Arc<Run>> {
        let mut layers = self.segments.iter().flat_map(|segment| &segment.layers);
        layers.find(|layer| layer.run.number == number).map(|layer| Arc::clone(&layer.run))
    }

    /// Splits a segment at a key. No row is moved.
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

    /// Adds the runs of a flush. Each run becomes the newest layer of the segments that contain its keys. A segment gets at most one new layer.
    ///
    /// A range of blocks becomes a separate segment in two cases:
    /// - The base has no rows in this key range. The new segment then never needs to be merged with older rows.
    /// - Its tombstones hide most of the older rows in this range. Merging the new segment then frees much space, because the merge reads many rows and writes
    ///   few.
    pub(super) fn add_all(&mut self, runs: &[Arc<Run>], least: u64) -> Result<()> {
        let is_new = |layer: &Layer| runs.iter().any(|run| run.number == layer.run.number);
        for run in runs {
            for (first, behind) in self.stretches(run, least)? {
                // A cut must not produce a segment without rows, so a cut is made only if the segment has blocks beyond it. If the index of another run cannot
                // be read, the cut fails, and the range stays in its segment.
                if self.has_blocks(self.find(&first), &[], Some(&first)) && self.cut(&first).is_err() {
                    continue;
                }
                if self.has_blocks(self.find(&first), &behind, None) {
                    let _uncut = self.cut(&behind);
                }
            }
            let first = self.segments.get(self.find(&run.first));
            if first.and_then(|segment| segment.layers.first()).is_some_and(is_new) {
                let _uncut = self.cut(&run.first);
            }
            self.add(run)?;
        }
        Ok(())
    }

    /// Adds a run as the newest layer of each segment that contains its keys.
    fn add(&mut self, run: &Arc<Run>) -> Result<()> {
        for index in self.find(&run.first)..=self.find(&run.last) {
            let Some(segment) = self.segments.get(index) else { break };
            if let Some(layer) = layer(run, &segment.start, self.end(index))? {
                let layers = std::iter::once(layer).chain(segment.layers.iter().cloned()).collect();
                self.set(index, layers);
            }
        }
        Ok(())
    }

    /// Returns the key ranges of a run that become separate segments. Each range consists of its first key and a key after its last key.
    fn stretches(&self, run: &Run, least: u64) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let directory = run.directory()?;
        let mut stretches: Vec<Stretch> = Vec::new();
        for block in 0..directory.len() {
            let weight = directory.weigh(block..block + 1);
            let deletes = 2 * weight.deletions > weight.entries;
            let fits = |from: usize| {
                let stretch = Stretch { blocks: from..block + 1, deletes };
                let (first, behind) = stretch.ends(directory);
                if !deletes {
                    return self.is_free(&first, &behind);
                }
                let hidden = 2 * directory.weigh(stretch.blocks).deletions;
                self.rows_between(&first, &behind).is_some_and(|rows| rows <= hidden)
            };
            let extends = |stretch: &Stretch| stretch.blocks.end == block && stretch.deletes == deletes;
            match stretches.last_mut().filter(|stretch| extends(stretch) && fits(stretch.blocks.start)) {
                Some(stretch) => stretch.blocks.end += 1,
                None if fits(block) => stretches.push(Stretch { blocks: block..block + 1, deletes }),
                None => {}
            }
        }
        stretches.retain(|stretch| stretch.is_large(directory, least));
        Ok(stretches.iter().map(|stretch| self.widened(stretch, directory)).collect())
    }

    /// Returns the first key of a block range, and a key after its last key.
    ///
    /// A range of tombstones is extended to an end of its segment if only a few rows lie between them. Otherwise, these rows would become a tiny segment.
    fn widened(&self, stretch: &Stretch, directory: &Directory) -> (Vec<u8>, Vec<u8>) {
        let (mut first, mut behind) = stretch.ends(directory);
        let hidden = 2 * directory.weigh(stretch.blocks.clone()).deletions;
        let Some((index, segment)) = self.segment_of(&first, &behind).filter(|_| stretch.deletes) else {
            return (first, behind);
        };
        let is_hidden =
            |first: &[u8], behind: &[u8]| self.rows_between(first, behind).is_some_and(|rows| rows <= hidden);
        if is_hidden(&segment.start, &behind) {
            first = segment.start.to_vec();
        }
        let end = self.end(index).unwrap_or(&ABOVE_ALL);
        if is_hidden(&first, end) {
            behind = end.to_vec();
        }
        (first, behind)
    }

    /// Returns the segment that contains both keys. Returns `None` if the keys are in different segments, or if the segment has no layers.
    fn segment_of(&self, first: &[u8], behind: &[u8]) -> Option<(usize, &Segment)> {
        let index = self.find(first);
        let segment = self.segments.get(index).filter(|segment| !segment.layers.is_empty())?;
        let is_one = self.end(index).is_none_or(|end| end >= behind);
        is_one.then_some((index, segment))
    }

    /// Returns `true` if both keys are in the same segment and no block of this segment lies between them. The segment must have layers.
    fn is_free(&self, first: &[u8], behind: &[u8]) -> bool {
        self.segment_of(first, behind).is_some_and(|(index, _)| !self.has_blocks(index, first, Some(behind)))
    }

    /// Returns the number of entries in all blocks that may contain keys between two keys. Returns `None` if the keys are in different segments, or if an index
    /// cannot be read.
    fn rows_between(&self, first: &[u8], behind: &[u8]) -> Option<u64> {
        let (_, segment) = self.segment_of(first, behind)?;
        let layers = segment.layers.iter().map(|below| layer(&below.run, first, Some(behind)));
        layers.map(|layer| Some(layer.ok()?.map_or(0, |layer| layer.weight.entries))).sum()
    }

    /// Returns `true` if a segment may have blocks from `start` (inclusive) to `end` (exclusive).
    fn has_blocks(&self, index: usize, start: &[u8], end: Option<&[u8]>) -> bool {
        let Some(segment) = self.segments.get(index) else { return false };
        let start = start.max(&segment.start);
        let end = [end, self.end(index)].into_iter().flatten().min();
        segment.layers.iter().any(|each| !matches!(layer(&each.run, start, end), Ok(None)))
    }

    /// Replaces the layers of a segment.
    pub(super) fn set(&mut self, index: usize, layers: Vec<Layer>) {
        if let Some(segment) = self.segments.get_mut(index) {
            *segment = Arc::new(Segment { start: Arc::clone(&segment.start), layers });
        }
    }

    /// Replaces the layers of the given runs with the merged run. The affected segments become one segment.
    ///
    /// # Errors
    /// `InternalError` if the merged layers are neither the newest layers of one segment nor all layers of several segments. In that case, a layer would be
    /// lost or would end up above a newer one.
    pub(super) fn replace(
        &mut self,
        range: Range<usize>,
        runs: &BTreeSet<u64>,
        merged: Option<&Arc<Run>>,
    ) -> Result<()> {
        let segments = self.segments.get(range.clone()).unwrap_or_default();
        let (Some(first), Some(last)) = (segments.first(), range.end.checked_sub(1)) else {
            return Ok(());
        };
        let is_merged = |layer: &&Layer| runs.contains(&layer.run.number);
        let below: Vec<Layer> = first.layers.iter().skip_while(is_merged).cloned().collect();
        let is_safe = segments.len() == 1
            || segments.iter().all(|segment| segment.layers.iter().all(|layer| is_merged(&layer)));
        if !is_safe || below.iter().any(|layer| is_merged(&layer)) {
            return Err(Error::of(BaseFault::UnsafeMerge));
        }
        let start = Arc::clone(&first.start);
        let merged = merged.map(|run| layer(run, &start, self.end(last))).transpose()?.flatten();
        let layers = merged.into_iter().chain(below).collect();
        self.segments.splice(range, [Arc::new(Segment { start, layers })]);
        Ok(())
    }

    /// Returns the run numbers of the layers in the segment that contains a key, newest first.
    pub(super) fn runs_of(&self, key: &[u8]) -> Vec<u64> {
        self.segments.get(self.find(key)).map(|segment| segment.runs().collect()).unwrap_or_default()
    }

    /// Returns the tally of all entries from `start` (inclusive) to `end` (exclusive), except those in the layers of the given runs.
    pub(super) fn tally(&self, start: &[u8], end: Option<&[u8]>, except: &[u64]) -> Result<Tally> {
        let mut tally = Tally::default();
        for (index, segment) in self.segments.iter().enumerate().skip(self.find(start)) {
            if end.is_some_and(|end| *segment.start >= *end) {
                break;
            }
            let from = start.max(&segment.start);
            let to = [end, self.end(index)].into_iter().flatten().min();
            for layer in segment.layers.iter().filter(|layer| !except.contains(&layer.run.number)) {
                tally = tally.with(layer.run.tally(from, to)?);
            }
        }
        Ok(tally)
    }

    /// Returns `true` if both versions have the same layers outside the range from `start` (inclusive) to `end` (exclusive). In both versions, segments must
    /// start at these keys.
    pub(super) fn is_same_outside(&self, other: &Self, start: &[u8], end: Option<&[u8]>) -> bool {
        let outside = |version: &Self| -> Vec<Arc<Segment>> {
            let is_outside = |segment: &&Arc<Segment>| {
                *segment.start < *start || end.is_some_and(|end| *segment.start >= *end)
            };
            version.segments.iter().filter(is_outside).cloned().collect()
        };
        let is_same = |(left, right): (&Arc<Segment>, &Arc<Segment>)| {
            left.start == right.start && left.runs().eq(right.runs())
        };
        let (left, right) = (outside(self), outside(other));
        left.len() == right.len() && left.iter().zip(&right).all(is_same)
    }

    /// Returns `true` if a segment may have an entry for a key.
    pub(super) fn may_hold(&self, index: usize, key: &[u8]) -> bool {
        let spans = |layer: &Layer| *layer.run.first <= *key && *key <= *layer.run.last;
        self.segments.get(index).is_some_and(|segment| segment.layers.iter().any(spans))
    }

    /// Removes the layers that contain only rows of dropped tables.
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
