//! Merges runs in steps. The [policy](super::policy) chooses each merge.
//!
//! A step processes a *part*, which consists of a key range and the runs whose entries in this range are merged. If the part is smaller than the segment, the
//! segment is first split at the end of the part. The step then merges the entire part, verifies the result, and publishes it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use table_store::{Error, ErrorCode, Result};

use crate::base::cursor::Layers;
use crate::base::excluded::Apart;
use crate::base::policy::{self, Choice, Condition, Turn};
use crate::base::run::Run;
use crate::base::runs::RunsWriter;
use crate::base::tally::Tally;
use crate::base::version::stored::Stored;
use crate::base::version::{Segment, Version, successor};
use crate::base::{Base, stopped};
use crate::disk::fault::is_shortage;
use crate::event::event;
use crate::failpoint::{Step, reach};
use crate::key;

/// Merge state that is not recorded in versions.
#[derive(Debug, Default)]
pub(super) struct Merges {
    /// The number of the next run when the current compaction started, or `None` if no compaction is in progress. The compaction need not merge runs with this
    /// number or a larger one.
    pub(super) compact: Option<u64>,
    /// The layers excluded from merges.
    pub(super) apart: Apart,
    /// The kind of merge to run next if required merges are due while flushes are stalled.
    pub(super) turn: Turn,
}

/// The result of a merge step.
#[derive(Debug)]
pub(crate) enum Merged {
    /// No merge was due.
    Nothing,
    /// A step was completed, and a new version was recorded.
    Slice,
    /// A segment cannot be merged, and is now excluded from merges.
    Apart(Error),
    /// The merge failed, for example because the disk is full.
    Failed(Error),
    /// The compaction started by [`Base::merge_all`] has ended.
    All,
}

/// The key range and the runs that one step merges.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) start: Arc<[u8]>,
    /// The first key after the part.
    pub(super) end: Option<Vec<u8>>,
    /// The numbers of the runs to merge.
    pub(super) runs: BTreeSet<u64>,
}

/// A finished merge that has not been published.
pub(super) struct Outcome {
    pub(super) stored: Stored,
    pub(super) written: Vec<Arc<Run>>,
    /// The tally of the entries that the merge omits: replaced versions, tombstones without older rows, and rows of dropped tables.
    pub(super) left_out: Tally,
}

impl Base {
    /// Starts a compaction. Each segment that has several layers or tombstones is rewritten as a single layer of new runs.
    pub(crate) fn merge_all(&mut self) {
        self.merges.compact = Some(self.stored.next);
        // Corrupted segments may have become readable again.
        self.merges.apart.clear();
    }

    /// Cancels the compaction. Returns `true` if one was in progress.
    pub(crate) fn abandon_merge_all(&mut self) -> bool {
        self.merges.compact.take().is_some()
    }

    /// Performs the most urgent merge, or one step of that merge.
    ///
    /// # Errors
    /// Any disk error while a new version is recorded, except a lack of disk space, file descriptors or memory. After an error, the base must not be written
    /// to.
    pub(crate) fn merge(&mut self) -> Result<Merged> {
        let figures = self.figures();
        let chosen = policy::choose(&figures, self.run_bytes, self.merges.turn);
        // Under sustained load, some merge is always due. Only required merges therefore delay the two tasks below: pruning the list of dropped tables, and
        // ending a compaction.
        if !figures.iter().any(|segment| segment.condition == Condition::Required) {
            // The list changes only in memory, and the next recorded version stores the change. A segment that is excluded from merges may still contain rows
            // of a dropped table.
            let dropped = std::mem::take(&mut self.stored.meta.dropped);
            self.stored.meta.dropped = dropped.into_iter().filter(|table| self.has_rows_of(*table)).collect();
            // No required merge is left. A merge of a single segment can therefore only be due because of layers added after the compaction started. A merge of
            // several segments joins small segments, which is part of the compaction.
            let is_compacted = chosen.as_ref().is_none_or(|(choice, _)| choice.segments.len() == 1);
            if is_compacted && self.merges.compact.take().is_some() {
                return Ok(Merged::All);
            }
        }
        let Some((choice, turn)) = chosen else { return Ok(Merged::Nothing) };
        let outcome = match self.write(&choice) {
            Ok(outcome) => outcome,
            Err(error) => return self.fail(&choice, error),
        };
        reach(self.hook.as_ref(), Step::MergeCommit)?;
        match self.record(outcome.stored) {
            Err(error) if is_shortage(&error) => Ok(Merged::Failed(error)),
            recorded => {
                recorded?;
                self.merges.turn = turn;
                self.pool.counters.merge(outcome.written.iter().map(|run| run.length).sum());
                self.tell_of_merge(outcome.written.len());
                Ok(Merged::Slice)
            }
        }
    }

    fn tell_of_merge(&self, written: usize) {
        let sum = |bytes: fn(&Segment) -> u64| -> u64 {
            self.version.segments().iter().map(|segment| bytes(segment)).sum()
        };
        let newer = sum(Segment::newer_bytes);
        event!(
            debug,
            written_runs = written,
            unmerged_bytes = newer,
            merged_bytes = sum(Segment::bytes) - newer,
            runs = self.version.runs().len(),
            segments = self.version.segments().len(),
            "slice of a merge recorded"
        );
    }

    /// Handles a failed merge step. If layers cannot be read, they are excluded from merges, so the other layers can still be merged.
    fn fail(&mut self, choice: &Choice, error: Error) -> Result<Merged> {
        if is_shortage(&error) || error.code() == ErrorCode::EngineClosed {
            return Ok(Merged::Failed(error));
        }
        let is_refused = matches!(error.code(), ErrorCode::Corrupted | ErrorCode::InternalError);
        // A refused merge is retried only by the next compaction, or after the folder has been opened again.
        let broken = self.find_broken(choice).or_else(|| self.as_broken(choice, is_refused));
        let Some(broken) = broken else { return Ok(Merged::Failed(error)) };
        match self.set_apart(broken) {
            // Nothing is sealed, so a later merge will find the unreadable block again.
            Err(full) if is_shortage(&full) => Ok(Merged::Failed(full)),
            outcome => outcome.map(|()| Merged::Apart(error)),
        }
    }

    /// Returns the part of the chosen merge that the next step performs. If a segment is larger than two runs, the part has about the size of one run.
    pub(super) fn part(&self, choice: &Choice) -> Result<Option<Part>> {
        let version = &self.version;
        let segments = version.segments().get(choice.segments.clone()).unwrap_or_default();
        let Some(first) = segments.first() else { return Ok(None) };
        let chosen = |segment: &'_ Arc<Segment>| {
            let count = choice.layers.min(segment.layers.len());
            segment.layers.iter().take(count).cloned().collect::<Vec<_>>()
        };
        let layers: Vec<_> = segments.iter().flat_map(chosen).collect();
        let runs = layers.iter().map(|layer| layer.run.number).collect();
        let end = version.end(choice.segments.end - 1);
        let part = Part { start: Arc::clone(&first.start), end: end.map(<[u8]>::to_vec), runs };
        let bytes: u64 = layers.iter().map(|layer| layer.weight.bytes).sum();
        // Finding a split point requires the indexes of all layers, but the index of a sealed layer may be unreadable.
        let is_whole = segments.len() > 1 || bytes <= 2 * self.run_bytes || self.merges.apart.contains(first);
        if is_whole {
            return Ok(Some(part));
        }
        // The last key and the size of the first blocks of each layer, up to about the size of one run.
        let mut ends = Vec::new();
        for layer in &layers {
            let directory = layer.run.directory()?;
            let mut sum = 0;
            for block in directory.within(&part.start, end) {
                let bytes = directory.weigh(block..block + 1).bytes;
                if sum > self.run_bytes || end.is_some_and(|end| !directory.ends_below(block, end)) {
                    break;
                }
                sum += bytes;
                ends.push((directory.last(block), bytes));
            }
        }
        ends.sort_unstable();
        let mut sum = 0;
        let cut = ends.into_iter().find(|(_, bytes)| {
            sum += bytes;
            sum >= self.run_bytes
        });
        let cut = cut.map(|(last, _)| successor(&last));
        let is_inside = |cut: &Vec<u8>| end.is_none_or(|end| cut.as_slice() < end);
        Ok(Some(match cut.filter(is_inside) {
            Some(cut) => Part { end: Some(cut), ..part },
            None => part,
        }))
    }

    /// Writes the result of a merge and verifies it without publishing it.
    fn write(&mut self, choice: &Choice) -> Result<Outcome> {
        reach(self.hook.as_ref(), Step::MergeWrite)?;
        let Some(part) = self.part(choice)? else { return Err(stopped()) };
        let outcome = self.write_part(&part)?;
        if let Err(error) = self.prove(&part, &outcome) {
            // The files of the refused merge are removed later. Until then, their run numbers must not be reused.
            self.stored.next = outcome.stored.next;
            self.obsolete.extend(outcome.written);
            return Err(error);
        }
        Ok(outcome)
    }

    pub(super) fn write_part(&self, part: &Part) -> Result<Outcome> {
        let mut version = Version::clone(&self.version);
        if let Some(end) = &part.end {
            version.cut(end)?;
        }
        let first = version.find(&part.start);
        let behind = part.end.as_ref().map_or(version.segments().len(), |end| version.find(end));
        let mut writer = RunsWriter::new(&self.pool, self.stored.next, u64::MAX);
        let (mut left_out, mut joined) = (Tally::default(), Vec::new());
        for index in first..behind {
            let Some(segment) = version.segments().get(index) else { break };
            let is_merged = |layer: &&_| part.merges(layer);
            let merged = segment.layers.iter().take_while(is_merged).count();
            let is_complete = merged == segment.layers.len();
            let layers = segment.layers.get(..merged).unwrap_or_default();
            let mut layers = Layers::counting(layers, &segment.start, version.end(index))?;
            let _all = layers.visit(None, &mut |key, row| {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(stopped());
                }
                let key = key.join(&mut joined);
                let of = key::table_of(key);
                let lives = of.is_some_and(|table| self.stored.meta.catalog.contains(table));
                if lives && !(is_complete && row.is_none()) {
                    writer.push(key, row)?;
                } else {
                    left_out.add(key, row);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            left_out = left_out.with(layers.shadowed());
        }
        let (written, next) = writer.finish()?;
        version.replace(first..behind, &part.runs, written.first())?;
        let stored = Stored { next, version: Arc::new(version), ..self.stored.clone() };
        Ok(Outcome { stored, written, left_out })
    }
}

impl Part {
    fn merges(&self, layer: &super::version::Layer) -> bool {
        self.runs.contains(&layer.run.number)
    }
}
