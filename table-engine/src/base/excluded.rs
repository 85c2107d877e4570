//! Segments that are excluded from ordinary merges, because a layer cannot be read or a merge was refused.
//!
//! The key range of a corrupted block becomes a separate segment. In this segment, the layer with the block and all older layers are *sealed*, which means that
//! merges leave them unchanged. Newer layers are still merged with each other, so their number stays bounded.

use std::collections::BTreeMap;
use std::sync::Arc;

use table_store::Result;

use crate::base::Base;
use crate::base::policy::{Choice, Condition};
use crate::base::run::Run;
use crate::base::version::stored::Stored;
use crate::base::version::{Segment, Version, successor};
use crate::failpoint::{Step, reach};

/// The segments with sealed layers. Maps the start of each segment to the run number of its newest sealed layer.
#[derive(Debug, Default)]
pub(super) struct Apart(BTreeMap<Vec<u8>, u64>);

impl Apart {
    /// Unseals all segments. The next merge determines whether their layers can be read again.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns `true` if the segment has sealed layers.
    pub(super) fn contains(&self, segment: &Segment) -> bool {
        self.0.contains_key(&*segment.start)
    }

    /// Returns the number of unsealed layers. These are the newest layers of the segment, so their run numbers are larger than those of the sealed layers.
    fn newer(&self, segment: &Segment) -> usize {
        match self.0.get(&*segment.start) {
            Some(sealed) => segment.layers.iter().take_while(|layer| layer.run.number > *sealed).count(),
            None => segment.layers.len(),
        }
    }

    /// Returns the condition of a segment with sealed layers, or `None` if the segment has no sealed layers.
    pub(super) fn condition(&self, segment: &Segment) -> Option<Condition> {
        self.contains(segment).then(|| Condition::SetApart { newer: self.newer(segment) })
    }
}

/// An unreadable block, or a run with an unreadable index.
pub(super) struct Broken {
    /// The index of the segment in the version.
    index: usize,
    /// The number of the unreadable run.
    run: u64,
    keys: Keys,
}

/// The unreadable keys in a segment.
enum Keys {
    /// All keys in the segment, because the run's index cannot be read.
    All,
    /// The keys in one block, from the first to the last.
    Block(Vec<u8>, Vec<u8>),
}

/// Returns the keys in the first unreadable block of `run` between `start` and `end`.
fn broken_keys(run: &Run, start: &[u8], end: Option<&[u8]>) -> Option<Keys> {
    let Ok(directory) = run.directory() else { return Some(Keys::All) };
    let broken = directory.within(start, end).find(|block| run.read_block(*block).is_err())?;
    Some(Keys::Block(directory.first(broken).max(start.to_vec()), directory.last(broken)))
}

impl Base {
    /// Finds the first unreadable layer among the unsealed layers of the segments chosen for a merge.
    pub(super) fn find_broken(&self, choice: &Choice) -> Option<Broken> {
        choice.segments.clone().find_map(|index| {
            let segment = self.version.segments().get(index)?;
            let end = self.version.end(index);
            let mut layers = segment.layers.iter().take(self.merges.apart.newer(segment));
            layers.find_map(|layer| {
                let keys = broken_keys(&layer.run, &segment.start, end)?;
                Some(Broken { index, run: layer.run.number, keys })
            })
        })
    }

    /// Returns the newest layer of the first segment in `choice`. The caller treats this layer as unreadable, which seals all layers of the segment. Returns
    /// `None` if no merge was refused and the segment has no sealed layers.
    pub(super) fn as_broken(&self, choice: &Choice, is_refused: bool) -> Option<Broken> {
        let index = choice.segments.start;
        let segment = self.version.segments().get(index)?;
        let run = segment.layers.first().map_or(0, |newest| newest.run.number);
        (is_refused || self.merges.apart.contains(segment)).then_some(Broken { index, run, keys: Keys::All })
    }

    /// Seals an unreadable layer of a segment, and all older layers. If only one block is unreadable, the function first tries to make the block's key range a
    /// separate segment.
    pub(super) fn set_apart(&mut self, Broken { index, run, keys }: Broken) -> Result<()> {
        let Some(segment) = self.version.segments().get(index) else { return Ok(()) };
        let (mut start, end) = (segment.start.to_vec(), self.version.end(index));
        let mut version = Version::clone(&self.version);
        if let Keys::Block(first, last) = keys {
            let behind = successor(&last);
            let inside = end.is_none_or(|end| behind.as_slice() < end);
            let cut = version.cut(&first).and_then(|()| if inside { version.cut(&behind) } else { Ok(()) });
            // The segment is not split if the index of another run cannot be read.
            match cut {
                Ok(()) => start = first,
                Err(_) => version = Version::clone(&self.version),
            }
        }
        if version.segments().len() > self.version.segments().len() {
            reach(self.hook.as_ref(), Step::MergeCommit)?;
            self.record(Stored { version: Arc::new(version), ..self.stored.clone() })?;
        }
        self.merges.apart.0.insert(start, run);
        Ok(())
    }
}
