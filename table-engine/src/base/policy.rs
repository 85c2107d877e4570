//! The merge policy: a pure function that chooses the layers to merge next. Its input is the size, entry count and tombstone count of every layer.
//!
//! A merge has one of two forms. It replaces the newest layers of one segment with a single layer, or several neighbouring segments with one segment that has a
//! single layer. The first rule that applies decides:
//! 1. *Required*: a segment is merged if it has rows of a dropped table, or if the compaction in progress has not reached it yet. While flushes are stalled,
//!    required merges alternate with merges chosen by rule 2 or 4. The latter let the flushes resume.
//! 2. *Deep*: a segment with more than [`LAYERS`] layers is merged. The merge starts with the newest layer, and ends before the first layer that is larger than
//!    all newer ones together. At least two layers are merged. If the layers above the oldest one make up at least a quarter of the segment, the segment is
//!    merged completely. Only this rule applies to a segment with sealed layers, which stay unchanged.
//! 3. *Deleted*: a segment with at least half as many tombstones as rows is merged.
//! 4. *Wasteful*: if the waste in the base exceeds a fifth of the oldest layers plus one run, the segment with the largest share of waste is merged. Waste is
//!    the size of all layers above the oldest layer of their segment, plus the estimated size of the rows that tombstones hide.
//! 5. *Small*: [`NEIGHBOURS`] neighbouring segments that fit into one run are merged, unless one of them is larger than all others together.
//!
//! **Termination.** A segment is *settled* if it has at most one layer, and this layer contains no tombstones and no rows of dropped tables. The measure is a
//! pair of numbers. The first is the sum of entries × layers over all segments that are not settled. The second is the number of layers and segments.
//!
//! - Rules 1 to 4 choose a segment that is not settled. They decrease the first number, because at least two layers become one, or because the segment becomes
//!   settled. If the segment has no visible entry, they decrease the second number.
//! - Rule 5 does not increase the first number, and decreases the second.
//! - Splitting a segment before a merge does not increase the first number, and the merged part has an entry.
//!
//! The two numbers are natural numbers, so merges end unless a flush occurs. The tests check the measure after each merge.

use std::ops::Range;

/// Rule 2 merges a segment with more than this many layers. The number is limited because a lookup checks the filter of every layer.
pub(super) const LAYERS: usize = 11;
/// The number of layers in a segment at which flushes stall until a merge completes.
///
/// A flush adds at most one layer to a segment, so a segment without sealed layers never exceeds this number. A segment with sealed layers may exceed it,
/// because sealed layers cannot be merged.
pub(super) const MOST_LAYERS: usize = 16;
/// The permitted waste is the size of the oldest layers divided by this number, plus one run.
const WASTE_SHARE: u64 = 5;
/// Rule 5 merges this many neighbouring segments if they fit into one run.
pub(super) const NEIGHBOURS: usize = 8;
/// Rule 3 merges a segment only if it has at least this many tombstones.
pub(super) const DELETIONS: u64 = 256;

/// The size and entry counts of a layer within a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) bytes: u64,
    /// The number of rows and tombstones. Zero if the version was recorded without counts.
    pub(crate) entries: u64,
    pub(crate) deletions: u64,
}

impl std::iter::Sum for Weight {
    fn sum<I: Iterator<Item = Self>>(weights: I) -> Self {
        weights.fold(Self::default(), |sum, weight| Self {
            bytes: sum.bytes + weight.bytes,
            entries: sum.entries + weight.entries,
            deletions: sum.deletions + weight.deletions,
        })
    }
}

/// A condition for merging a segment. It does not depend on the sizes of the segment's layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Condition {
    #[default]
    Usual,
    /// The segment must be merged completely. Either it has rows of a dropped table, or the compaction in progress has not reached it.
    Required,
    /// Only the `newer` newest layers may be merged, and only if the segment has too many layers. The older layers are sealed, because they cannot be read or
    /// because a merge of them was refused.
    SetApart { newer: usize },
}

/// The sizes of a segment's layers, and the condition for merging it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// The weights of the layers, newest first.
    pub(super) layers: Vec<Weight>,
    pub(super) condition: Condition,
}

/// A merge: the newest layers of one segment, or all layers of several neighbouring segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) segments: Range<usize>,
    pub(super) layers: usize,
}

/// The kind of merge to run next when two kinds are due. One kind is required merges. The other is merges that let stalled flushes resume.
///
/// Alternating the kinds limits how long a flush stalls. It also ensures that required merges make progress even if flushes are always stalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Turn {
    #[default]
    Flushes,
    Required,
}

/// How urgent the pending merges are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Debt {
    /// No segment needs a merge.
    None,
    /// At least one segment needs a merge.
    Some,
    /// Flushes stall until a merge completes, because a segment has too many layers or the base has too much waste.
    Much,
}

impl Figures {
    fn total(&self) -> Weight {
        self.layers.iter().copied().sum()
    }

    /// Returns the size in bytes of all layers except the oldest.
    fn newer(&self) -> u64 {
        self.layers.split_last().map_or(0, |(_, newer)| newer.iter().map(|layer| layer.bytes).sum())
    }

    fn oldest(&self) -> u64 {
        self.layers.last().map_or(0, |oldest| oldest.bytes)
    }

    /// Returns the approximate number of bytes that a complete merge frees.
    pub(super) fn waste(&self) -> u64 {
        let Weight { bytes, entries, deletions } = self.total();
        let hidden = u128::from(bytes) * u128::from(deletions) / u128::from(entries.max(1));
        let hidden = u64::try_from(hidden).unwrap_or(u64::MAX);
        self.newer() + hidden.min(self.oldest())
    }

    /// Returns `true` if the segment is settled: a complete merge would only copy its rows to another run.
    pub(super) fn is_settled(&self) -> bool {
        self.layers.len() <= 1 && self.total().deletions == 0
    }

    fn is_mostly_deleted(&self) -> bool {
        let Weight { entries, deletions, .. } = self.total();
        deletions >= DELETIONS && 2 * deletions >= entries.saturating_sub(deletions)
    }

    /// Returns how many of the newest layers may be merged.
    fn mergeable(&self) -> usize {
        match self.condition {
            Condition::SetApart { newer } => newer.min(self.layers.len()),
            Condition::Usual | Condition::Required => self.layers.len(),
        }
    }

    /// Returns the number of layers, or 0 if a merge cannot reduce that number.
    fn depth(&self) -> usize {
        if self.mergeable() < 2 { 0 } else { self.layers.len() }
    }

    /// Returns how many of the newest layers to merge if the segment has too many.
    fn top(&self) -> usize {
        let mergeable = self.mergeable();
        if mergeable == self.layers.len() && 4 * self.newer() >= self.total().bytes {
            return mergeable;
        }
        let mut above = 0;
        let fits = |(index, bytes): &(usize, u64)| {
            let fits = *index < 2 || *bytes <= above;
            above += bytes;
            fits
        };
        self.layers.iter().take(mergeable).map(|layer| layer.bytes).enumerate().take_while(fits).count()
    }
}

/// Returns the segments that can be merged completely, each with its index.
fn readable(segments: &[Figures]) -> impl Iterator<Item = (usize, &Figures)> {
    segments
        .iter()
        .enumerate()
        .filter(|(_, segment)| !matches!(segment.condition, Condition::SetApart { .. }))
}

/// Returns the number of wasted bytes and the permitted number of wasted bytes.
fn waste(segments: &[Figures], run_bytes: u64) -> (u64, u64) {
    let sum =
        |bytes: fn(&Figures) -> u64| -> u64 { readable(segments).map(|(_, segment)| bytes(segment)).sum() };
    (sum(Figures::waste), sum(Figures::oldest) / WASTE_SHARE + run_bytes)
}

/// Returns how urgent the pending merges are. At least one merge must be due.
pub(super) fn urgency(segments: &[Figures], run_bytes: u64) -> Debt {
    if urgent(segments, run_bytes).is_some() { Debt::Much } else { Debt::Some }
}

/// Returns the next merge and the turn after it, or `None` if no merge is due.
pub(super) fn choose(segments: &[Figures], run_bytes: u64, turn: Turn) -> Option<(Choice, Turn)> {
    let required = readable(segments).find(|(_, segment)| segment.condition == Condition::Required);
    let Some((required, _)) = required else {
        let deleted = || readable(segments).find(|(_, segment)| segment.is_mostly_deleted());
        let usual = deep(segments, LAYERS + 1)
            .or_else(|| deleted().map(|(index, _)| complete(index)))
            .or_else(|| wasteful(segments, run_bytes, 1))
            .or_else(|| small(segments, run_bytes));
        return usual.map(|choice| (choice, Turn::Flushes));
    };
    if turn == Turn::Flushes
        && let Some(urgent) = urgent(segments, run_bytes)
    {
        return Some((urgent, Turn::Required));
    }
    Some((complete(required), Turn::Flushes))
}

/// Chooses the merge that lets stalled flushes resume, or `None` if flushes are not stalled.
fn urgent(segments: &[Figures], run_bytes: u64) -> Option<Choice> {
    deep(segments, MOST_LAYERS).or_else(|| wasteful(segments, run_bytes, 2))
}

/// Chooses all layers of a segment.
fn complete(index: usize) -> Choice {
    Choice { segments: index..index + 1, layers: usize::MAX }
}

/// If the segment with the most layers has at least `least` layers, chooses its newest layers.
fn deep(segments: &[Figures], least: usize) -> Option<Choice> {
    let (index, segment) = segments.iter().enumerate().max_by_key(|(_, segment)| segment.depth())?;
    let choice = || Choice { segments: index..index + 1, layers: segment.top() };
    (segment.depth() >= least).then(choice)
}

/// Chooses the segment with the largest share of waste if the base has more than `times` times the permitted waste.
fn wasteful(segments: &[Figures], run_bytes: u64, times: u64) -> Option<Choice> {
    let (waste, allowed) = waste(segments, run_bytes);
    let share = |segment: &Figures| {
        // The constant in the divisor prevents a small segment from counting as wasteful because of a few wasted bytes.
        u128::from(segment.waste()) * 1_000_000 / u128::from(segment.oldest() + run_bytes / 64 + 1)
    };
    let unsettled = readable(segments).filter(|(_, segment)| segment.waste() > 0);
    let most = unsettled.max_by_key(|(_, segment)| share(segment));
    most.filter(|_| waste > times * allowed).map(|(index, _)| complete(index))
}

/// Chooses neighbouring segments that fit into one run together. The merged segment is at least twice as large as each of them, so each row is rewritten only a
/// few times.
fn small(segments: &[Figures], run_bytes: u64) -> Option<Choice> {
    let mut start = 0;
    for (index, segment) in segments.iter().enumerate() {
        if matches!(segment.condition, Condition::SetApart { .. }) {
            start = index + 1;
        }
        while let Some(window) = segments.get(start..=index).filter(|window| window.len() >= NEIGHBOURS) {
            let sizes = || window.iter().map(|segment| segment.total().bytes);
            let (all, largest) = (sizes().sum::<u64>(), sizes().max().unwrap_or_default());
            if all <= run_bytes && 2 * largest <= all {
                return Some(Choice { segments: start..index + 1, layers: usize::MAX });
            }
            start += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests;
