//! Merges: which segment is merged next, and one slice of the work.
//!
//! A segment is merged with its oldest layer when what lies above is much against it: then few bytes are written for each that was
//! updated, and little room is taken by what was replaced. Before that, many small layers become one, so that readers look at few.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::embedded::base::cursor::Layers;
use crate::embedded::base::run::Run;
use crate::embedded::base::version::stored::Stored;
use crate::embedded::base::version::{Segment, Version, successor};
use crate::embedded::base::{Base, RunsWriter, stopped};
use crate::embedded::failpoint::{Step, reach};
use crate::embedded::key::{self, Span};
use crate::error::{Error, ErrorCode, Result};

/// Layers of a segment, at most: a look-up asks the filter of each.
const LAYERS: usize = 11;
/// The part of the oldest layers that newer ones may amount to, as a divisor: a fifth.
const NEWER_SHARE: u64 = 5;
/// Neighbouring segments that are worth joining once they fit a run together.
pub(super) const SMALL_SEGMENTS: usize = 8;
/// The runs that a slice reads, at most, where it leaves little behind.
const RUNS_READ: u64 = 4;

/// Above all keys: no table has the largest id.
const ABOVE_ALL: [u8; 4] = [0xFF; 4];

/// What is known of merges beside the version.
#[derive(Debug, Default)]
pub(super) struct Merges {
    /// Where a merge of everything goes on.
    sweep: Option<Vec<u8>>,
    /// Starts of segments that cannot be read.
    broken: BTreeSet<Vec<u8>>,
}

/// What is to be merged: the newest layers of some segments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Task {
    segments: Range<usize>,
    layers: usize,
}

/// The result of a slice of merging.
#[derive(Debug)]
pub(crate) enum Merged {
    /// Nothing was to be done.
    Nothing,
    /// There is a new version.
    Slice,
    /// A slice came to nothing: what it was to merge cannot be read, or the disk is full.
    Failed(Error),
    /// The last of what [`Base::merge_all`] asked for is done.
    All,
}

impl Task {
    /// All layers of a segment.
    fn all(version: &Version, index: usize) -> Self {
        Self { segments: index..index + 1, layers: layers(version, index) }
    }
}

fn layers(version: &Version, index: usize) -> usize {
    version.segments().get(index).map_or(0, |segment| segment.layers.len())
}

/// How much is to be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Debt {
    /// Nothing.
    None,
    /// Something.
    Some,
    /// So much that flushes wait for it.
    Much,
}

/// The newest layers of a segment that are worth merging without its oldest: each at most as large as those above together.
fn newest(segment: &Segment) -> usize {
    let mut sum = 0;
    let similar = |(index, bytes): &(usize, u64)| {
        let similar = *index < 2 || *bytes <= sum;
        sum += bytes;
        similar
    };
    let newer = segment.layers.iter().map(|layer| layer.bytes).enumerate();
    newer.take_while(similar).count().min(segment.layers.len() - 1)
}

/// The first block of a run within bounds that cannot be read.
enum Broken {
    /// All of them: its index is broken.
    All,
    /// The block from one key to another.
    Block(Vec<u8>, Vec<u8>),
}

fn broken_block(run: &Run, start: &[u8], end: Option<&[u8]>) -> Option<Broken> {
    let Ok(directory) = run.directory() else { return Some(Broken::All) };
    let broken = directory.within(start, end).find(|block| run.read_block(*block).is_err())?;
    Some(Broken::Block(directory.first(broken).max(start).to_vec(), directory.last(broken).to_vec()))
}

impl Base {
    /// Begins to bring everything into one layer.
    pub(crate) fn merge_all(&mut self) {
        self.merges.sweep = Some(Vec::new());
        // Perhaps they can be read by now.
        self.merges.broken.clear();
    }

    /// Gives up what [`merge_all`](Self::merge_all) began; whether there was anything.
    pub(crate) fn abandon_merge_all(&mut self) -> bool {
        self.merges.sweep.take().is_some()
    }

    /// How much is to be merged.
    pub(crate) fn debt(&self) -> Debt {
        let (newer, oldest) = self.newer_and_oldest();
        if newer > 2 * self.allowed(oldest) {
            Debt::Much
        } else if self.next_task().is_some()
            || self.merges.sweep.is_some()
            || !self.stored.meta.dropped.is_empty()
        {
            Debt::Some
        } else {
            Debt::None
        }
    }

    /// What newer layers may amount to, by the bytes of oldest ones.
    fn allowed(&self, oldest: u64) -> u64 {
        oldest / NEWER_SHARE + self.run_bytes
    }

    /// The bytes of oldest layers, and of all others.
    fn newer_and_oldest(&self) -> (u64, u64) {
        let sum = |bytes: fn(&Segment) -> u64| self.candidates().map(|(_, segment)| bytes(segment)).sum();
        let (all, newer): (u64, u64) = (sum(Segment::bytes), sum(Segment::newer_bytes));
        (newer, all - newer)
    }

    /// What to merge next.
    fn next_task(&self) -> Option<Task> {
        self.swept()
            .or_else(|| self.dead())
            .or_else(|| self.deepest())
            .or_else(|| self.heaviest())
            .or_else(|| self.small())
    }

    fn is_whole(&self, segment: &Segment) -> bool {
        !self.merges.broken.contains(&*segment.start)
    }

    /// The segments that can be merged, with their places.
    fn candidates(&self) -> impl Iterator<Item = (usize, &Segment)> {
        let segments = self.version.segments().iter().map(|segment| &**segment).enumerate();
        segments.filter(|(_, segment)| self.is_whole(segment))
    }

    /// The next segment of a merge of everything.
    fn swept(&self) -> Option<Task> {
        let sweep = self.merges.sweep.as_deref()?;
        let next =
            self.candidates().find(|(_, segment)| *segment.start >= *sweep && segment.layers.len() > 1);
        next.map(|(index, _)| Task::all(&self.version, index))
    }

    /// A segment that has rows of a dropped table.
    fn dead(&self) -> Option<Task> {
        let spans: Vec<Span> = self.stored.meta.dropped.iter().map(|table| Span::table(*table)).collect();
        let mut dead = spans.iter().filter_map(|span| self.holding(span));
        dead.next().map(|index| Task::all(&self.version, index))
    }

    /// The first segment that has a block with rows of a span, as far as this is known without reading blocks.
    fn holding(&self, span: &Span) -> Option<usize> {
        let from = self.version.find(&span.start);
        let mut found = self.candidates().skip_while(|(index, _)| *index < from);
        found
            .find(|(index, segment)| {
                let start = (&*segment.start).max(span.start.as_slice());
                let end =
                    self.version.end(*index).map_or(span.end.as_slice(), |end| end.min(span.end.as_slice()));
                start < end
                    && segment.layers.iter().any(|layer| {
                        let run = &layer.run;
                        &*run.first < end
                            && &*run.last >= start
                            && run
                                .directory()
                                .is_ok_and(|directory| !directory.within(start, Some(end)).is_empty())
                    })
            })
            .map(|(index, _)| index)
    }

    /// The segment with the most layers, if these are too many.
    fn deepest(&self) -> Option<Task> {
        let (index, segment) = self.candidates().max_by_key(|(_, segment)| segment.layers.len())?;
        if segment.layers.len() <= LAYERS {
            return None;
        }
        let newest = newest(segment);
        let few = newest < 2 || 4 * segment.newer_bytes() >= segment.bytes();
        Some(if few {
            Task::all(&self.version, index)
        } else {
            Task { segments: index..index + 1, layers: newest }
        })
    }

    /// The segment where most was updated against what it has, if all is too much.
    fn heaviest(&self) -> Option<Task> {
        let (newer, oldest) = self.newer_and_oldest();
        if newer <= self.allowed(oldest) {
            return None;
        }
        // In thousandths of the oldest layer, which weighs something even where it is small.
        let weight = |segment: &Segment| {
            let newer = segment.newer_bytes();
            newer * 1_000 / (segment.bytes() - newer + self.run_bytes / 64)
        };
        let (index, _) = self.candidates().max_by_key(|(_, segment)| weight(segment))?;
        Some(Task::all(&self.version, index))
    }

    /// Neighbours that would make one run together.
    fn small(&self) -> Option<Task> {
        let segments = self.version.segments();
        let (mut start, mut bytes) = (0, 0);
        for (index, segment) in segments.iter().enumerate() {
            if !self.is_whole(segment) {
                (start, bytes) = (index + 1, 0);
                continue;
            }
            bytes += segment.bytes();
            while bytes > self.run_bytes {
                bytes -= segments.get(start).map_or(0, |segment| segment.bytes());
                start += 1;
            }
            if index + 1 - start >= SMALL_SEGMENTS {
                return Some(Task { segments: start..index + 1, layers: usize::MAX });
            }
        }
        None
    }

    /// Merges a slice of what is to be merged most urgently.
    ///
    /// # Errors
    /// Those of a new version that could not be recorded, but for want of room: nothing is to be written after them.
    pub(crate) fn merge(&mut self) -> Result<Merged> {
        match self.merge_slice() {
            Err(error) if error.code() == ErrorCode::DiskFull => Ok(Merged::Failed(error)),
            outcome => outcome,
        }
    }

    fn merge_slice(&mut self) -> Result<Merged> {
        let Some(task) = self.next_task() else {
            // Recorded with the next version.
            self.stored.meta.dropped.clear();
            return Ok(if self.merges.sweep.take().is_some() { Merged::All } else { Merged::Nothing });
        };
        let start = self
            .version
            .segments()
            .get(task.segments.start)
            .map_or(Arc::default(), |first| Arc::clone(&first.start));
        match self.write_slice(&task) {
            Ok(stored) => {
                reach(self.hook.as_ref(), Step::MergeCommit)?;
                let written = stored.next - self.stored.next;
                self.record(stored)?;
                self.tell_of_slice(written);
            }
            Err(error) => {
                if error.code() == ErrorCode::Corrupted {
                    // IMPORTANT: what cannot be read is never written anew: its layers stay as they are.
                    self.set_apart(&task)?;
                }
                return Ok(Merged::Failed(error));
            }
        }
        if let Some(sweep) = &mut self.merges.sweep {
            let end = self.version.end(self.version.find(&start));
            *sweep = end.unwrap_or(&ABOVE_ALL).to_vec();
        }
        Ok(Merged::Slice)
    }

    fn tell_of_slice(&self, written: u64) {
        let (newer, oldest) = self.newer_and_oldest();
        tracing::debug!(
            target: "table_core::engine",
            written_runs = written,
            unmerged_bytes = newer,
            merged_bytes = oldest,
            runs = self.version.runs().len(),
            segments = self.version.segments().len(),
            "slice of a merge recorded"
        );
    }

    /// Makes a segment of the first block that cannot be read, so that the rest around it can be merged; and merges it no more.
    fn set_apart(&mut self, task: &Task) -> Result<()> {
        let mut version = Version::clone(&self.version);
        let segments = self.version.segments();
        let mut broken = task.segments.clone().filter_map(|index| {
            let (segment, end) = (segments.get(index)?, self.version.end(index));
            let mut layers = segment.layers.iter();
            let block = layers.find_map(|layer| broken_block(&layer.run, &segment.start, end))?;
            Some((segment.start.to_vec(), end, block))
        });
        let (mut start, end, block) = broken.next().unwrap_or_else(|| {
            let start = segments.get(task.segments.start).map(|segment| segment.start.to_vec());
            (start.unwrap_or_default(), None, Broken::All)
        });
        if let Broken::Block(first, last) = block {
            let behind = successor(&last);
            let inside = end.is_none_or(|end| behind.as_slice() < end);
            let cut = version.cut(&first).and_then(|()| if inside { version.cut(&behind) } else { Ok(()) });
            // Where another run's index cannot be read, the segment stays as it is.
            match cut {
                Ok(()) => start = first,
                Err(_) => version = Version::clone(&self.version),
            }
        }
        self.merges.broken.insert(start);
        if version.segments().len() == self.version.segments().len() {
            return Ok(());
        }
        reach(self.hook.as_ref(), Step::MergeCommit)?;
        self.record(Stored { version: Arc::new(version), ..self.stored.clone() })
    }

    /// Writes the result of a slice, and the version that has it.
    fn write_slice(&self, task: &Task) -> Result<Stored> {
        reach(self.hook.as_ref(), Step::MergeWrite)?;
        let version = &self.version;
        let segments = version.segments().get(task.segments.clone()).unwrap_or_default();
        let bytes: u64 = segments.iter().map(|segment| segment.bytes()).sum();
        // What is a little more than a run becomes a longer run, and not a short one more.
        let most = if bytes > 2 * self.run_bytes { self.run_bytes } else { 2 * self.run_bytes };
        let mut writer = RunsWriter::new(&self.pool, self.stored.next, u64::MAX);
        let (mut last, mut read, mut joined) = (Vec::new(), 0, Vec::new());
        let mut full = ControlFlow::Continue(());
        for (segment, index) in segments.iter().zip(task.segments.clone()) {
            let oldest = task.layers >= segment.layers.len();
            let merged = segment.layers.get(..task.layers).unwrap_or(&segment.layers);
            let mut layers = Layers::new(merged, &segment.start, version.end(index), false)?;
            full = layers.visit(None, &mut |key, row| {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(stopped());
                }
                let key = key.join(&mut joined);
                let of = key::table_of(key);
                let lives = of.is_some_and(|table| self.stored.meta.catalog.contains(table));
                if lives && !(oldest && row.is_none()) {
                    writer.push(key, row)?;
                }
                read += (key.len() + row.map_or(0, |row| row.bytes())) as u64;
                if writer.bytes() < most && read < RUNS_READ * self.run_bytes {
                    return Ok(ControlFlow::Continue(()));
                }
                last.clear();
                last.extend_from_slice(key);
                Ok(ControlFlow::Break(()))
            })?;
            if full.is_break() {
                break;
            }
        }
        let (runs, next) = writer.finish()?;
        self.pool.counters.merge(runs.iter().map(|run| run.length).sum());
        let mut version = Version::clone(version);
        let mut segments = task.segments.clone();
        if full.is_break() {
            // The rest is left as it is, in a segment of its own.
            version.cut(&successor(&last))?;
            segments.end = version.find(&last) + 1;
        }
        version.replace(segments, task.layers, runs.first())?;
        Ok(Stored { next, version: Arc::new(version), ..self.stored.clone() })
    }
}
