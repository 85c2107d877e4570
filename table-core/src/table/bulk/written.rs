//! The results of a bulk write: the positions of the written entities, its errors, and its progress.

use std::fmt;
use std::ops::Range;

use table_store::Error;

/// The positions of entities in the input of a bulk write, as ordered ranges.
///
/// ```
/// use table_core::table::WrittenPositions;
///
/// let written: WrittenPositions = [0, 1, 2, 7].into_iter().collect();
/// assert_eq!(written.ranges(), [0..3, 7..8]);
/// assert!(written.contains(7) && !written.contains(3));
/// assert_eq!(written.len(), 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPositions {
    ranges: Vec<Range<usize>>,
}

impl WrittenPositions {
    /// Returns the ranges in order. No range is empty or adjacent to the next one.
    #[must_use]
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// Returns `true` if the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns `true` if the entity at this position has been written.
    #[must_use]
    pub fn contains(&self, position: usize) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= position);
        after.checked_sub(1).and_then(|at| self.ranges.get(at)).is_some_and(|range| range.contains(&position))
    }

    pub(super) fn extend(&mut self, positions: &[usize]) {
        for position in positions {
            self.insert(*position);
        }
    }

    fn insert(&mut self, position: usize) {
        if self.contains(position) {
            return;
        }
        let at = self.ranges.partition_point(|range| range.end < position);
        let touches_next = |range: &Range<usize>| range.start == position + 1;
        match self.ranges.get_mut(at) {
            Some(range) if range.end == position => {
                range.end += 1;
                if self.ranges.get(at + 1).is_some_and(touches_next) {
                    let next = self.ranges.remove(at + 1);
                    if let Some(range) = self.ranges.get_mut(at) {
                        range.end = next.end;
                    }
                }
            }
            Some(range) if touches_next(range) => range.start = position,
            _ => self.ranges.insert(at, position..position + 1),
        }
    }
}

impl FromIterator<usize> for WrittenPositions {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> Self {
        let mut written = Self::default();
        positions.into_iter().for_each(|position| written.insert(position));
        written
    }
}

/// Progress of a bulk write, reported after each transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkProgress {
    /// The number of entities written so far, including those written by an earlier run.
    pub written: usize,
    /// The number of entities in the last transaction.
    pub transaction: usize,
}

/// An error that stopped a bulk write, with the positions of the entities already written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BulkError {
    /// The first error in input order.
    pub source: Error,
    /// The position of the entity that caused the error.
    pub at: Option<usize>,
    /// The positions of the written entities. Pass them to [`Bulk::resume`](super::Bulk::resume).
    pub written: WrittenPositions,
    /// The positions of the entities whose outcome is unknown (CON-11). Read these entities before resuming.
    pub unknown: WrittenPositions,
}

impl fmt::Display for BulkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bulk write stopped")?;
        if let Some(at) = self.at {
            write!(f, " at entity {at}")?;
        }
        write!(f, " after {} entities were written", self.written.len())?;
        if !self.unknown.is_empty() {
            write!(f, "; the outcome of {} more is unknown", self.unknown.len())?;
        }
        Ok(())
    }
}

impl std::error::Error for BulkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Converts the error into the store's error, with the summary prepended to its message. The positions are lost. To resume the bulk write, read
/// [`BulkError::written`] first.
///
/// ```
/// use table_core::{Engine, Entity, Result, TableStoreExt};
///
/// #[derive(Entity)]
/// #[partition_key(user)]
/// #[row_key(id)]
/// struct Hit { user: String, id: u32 }
///
/// async fn insert(hits: Vec<Hit>) -> Result<()> {
///     let table = Engine::in_memory().table::<Hit>();
///     table.bulk().insert_all(hits).await?;
///     Ok(())
/// }
///
/// # pollster::block_on(async {
/// let error = insert(vec![Hit { user: "ada".into(), id: 7 }]).await.unwrap_err();
/// assert!(error.is_table_not_found() && error.to_string().contains("stopped at entity 0"));
/// # });
/// ```
impl From<BulkError> for Error {
    fn from(error: BulkError) -> Self {
        let summary = error.to_string();
        error.source.with_context(&summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn written_positions_equal_a_set_in_separate_ranges(positions in prop::collection::vec(0_usize..40, 0..60)) {
            let written: WrittenPositions = positions.iter().copied().collect();
            let set: BTreeSet<usize> = positions.into_iter().collect();
            prop_assert_eq!(written.len(), set.len());
            prop_assert!((0..41).all(|position| written.contains(position) == set.contains(&position)));
            prop_assert!(written.ranges().iter().all(|range| !range.is_empty()));
            prop_assert!(written.ranges().windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
