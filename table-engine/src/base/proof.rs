//! Verification of merges. Before the result of a merge is published, it is compared with the layers that were merged.

use table_store::{Error, Result};

use crate::base::Base;
use crate::base::fault::BaseFault;
use crate::base::merge::{Outcome, Part};
use crate::base::version::Version;

impl Base {
    /// Verifies that a merge loses nothing.
    ///
    /// Within the merged key range, each entry of the merged layers must be in the new layer or in the tally of omitted entries. Older layers must be
    /// unchanged. Outside this range, all layers must be unchanged.
    ///
    /// Tallies come from the indexes of the layers. A block is read only if it extends beyond the range or has no recorded tally.
    ///
    /// # Errors
    /// `InternalError` if the tallies or the layers differ.
    pub(super) fn prove(&self, part: &Part, outcome: &Outcome) -> Result<()> {
        let (mut old, new) = (Version::clone(&self.version), &outcome.stored.version);
        let end = part.end.as_deref();
        // A segment in the new version may start at `end`, so the old version is split there before the two are compared.
        if let Some(end) = end {
            old.cut(end)?;
        }
        let mut below = old.runs_of(&part.start);
        below.retain(|run| !part.runs.contains(run));
        let before = old.tally(&part.start, end, &below)?;
        let accounted = new.tally(&part.start, end, &below)?.with(outcome.left_out);
        let is_same_below = new.runs_of(&part.start).ends_with(&below);
        let is_proven = before == accounted && is_same_below && old.is_same_outside(new, &part.start, end);
        if is_proven {
            return Ok(());
        }
        let folder = self.pool.folder.clone();
        Err(Error::of(BaseFault::UnprovenMerge {
            folder,
            read: before.entries,
            accounted: accounted.entries,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use table_store::ErrorCode;

    use super::*;
    use crate::base::policy::Choice;
    use crate::base::tally::Tally;
    use crate::base::tests::{base, key_of, meta, row_of};
    use crate::base::version::stored::Stored;

    /// Performs a merge in a base with one segment and two layers. Returns the merged part and the outcome.
    fn merged(base: &mut Base) -> (Part, Outcome) {
        for numbers in [0..200, 50..60] {
            let row = row_of(numbers.len() as u64, 10);
            let keys: Vec<_> = numbers.map(|n| key_of(1, n)).collect();
            base.flush(keys.iter().map(|key| (key.as_slice(), Some(row.view()))), meta(&[1])).unwrap();
        }
        let part = base.part(&Choice { segments: 0..1, layers: 2 }).unwrap().unwrap();
        let outcome = base.write_part(&part).unwrap();
        base.prove(&part, &outcome).unwrap();
        (part, outcome)
    }

    #[test]
    fn a_merge_that_would_lose_or_add_rows_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = base(folder.path());
        let (part, outcome) = merged(&mut base);
        assert_eq!(outcome.left_out.entries, 10);
        let version = |change: &dyn Fn(&mut Version)| {
            let mut version = Version::clone(&outcome.stored.version);
            change(&mut version);
            Outcome {
                stored: Stored { version: Arc::new(version), ..outcome.stored.clone() },
                written: Vec::new(),
                left_out: outcome.left_out,
            }
        };
        let old = base.version.segments()[0].layers.clone();
        let refused = [
            version(&|version| version.set(0, Vec::new())),
            version(&|version| version.set(0, vec![old[0].clone()])),
            version(&|version| version.set(0, vec![old[1].clone()])),
            version(&|version| version.set(0, vec![old[1].clone(), version.segments()[0].layers[0].clone()])),
            Outcome { left_out: Tally::default(), ..version(&|_| {}) },
            Outcome { left_out: Tally { sum: 1, ..outcome.left_out }, ..version(&|_| {}) },
        ];
        for (index, outcome) in refused.iter().enumerate() {
            let error = base.prove(&part, outcome).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InternalError, "{index}");
        }
        // The next case is a change outside the merged part.
        let part = Part { end: Some(key_of(1, 100)), ..part };
        let mut elsewhere = Version::clone(&base.version);
        elsewhere.cut(&key_of(1, 100)).unwrap();
        elsewhere.set(1, Vec::new());
        let stored = Stored { version: Arc::new(elsewhere), ..base.stored.clone() };
        let outcome = Outcome { stored, written: Vec::new(), left_out: Tally::default() };
        assert_eq!(base.prove(&part, &outcome).unwrap_err().code(), ErrorCode::InternalError);
    }

    #[test]
    fn layers_are_replaced_by_run_number_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = base(folder.path());
        let (part, outcome) = merged(&mut base);
        let runs: Vec<u64> = base.version.segments()[0].layers.iter().map(|layer| layer.run.number).collect();
        let replace = |runs: &[u64]| {
            let mut version = Version::clone(&base.version);
            let runs = runs.iter().copied().collect();
            version.replace(0..1, &runs, outcome.written.first()).map(|()| version)
        };
        assert_eq!(replace(&runs[1..]).unwrap_err().code(), ErrorCode::InternalError, "below another one");
        let top = replace(&[runs[0], 1_000]).unwrap();
        assert_eq!(top.segments()[0].layers.len(), 2, "an unknown run counts for nothing");
        assert_eq!(part.runs.len(), 2);
    }
}
