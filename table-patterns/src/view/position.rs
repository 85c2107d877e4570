//! The resume position and the progress of a rebuild.

use serde::{Deserialize, Serialize};
use table_core::query::Continuation;

use crate::view::ends::Ends;

/// The resume position of a rebuild. It can be stored, for example as JSON, and used by another process to resume the rebuild.
///
/// ```
/// use table_patterns::view::RebuildPosition;
///
/// let stored = serde_json::to_string(&RebuildPosition::default())?;
/// assert_eq!(serde_json::from_str::<RebuildPosition>(&stored)?, RebuildPosition::default());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildPosition {
    pub(super) phase: Phase,
    pub(super) from: Option<Continuation>,
    pub(super) progress: RebuildProgress,
    /// The last recounted partition of the view. The next page may contain more records in this partition.
    pub(super) counted: Option<String>,
    /// The identifier of the view being rebuilt; `None` before the first step.
    pub(super) view: Option<String>,
    /// The ends of the feeds when the rebuild started.
    pub(super) ends: Ends,
    /// The registry page whose feeds' ends are read next; `None` if all ends have been read.
    pub(super) listed: Option<Continuation>,
    /// The identifier with which this rebuild has marked the existing reports. The marked reports become obsolete when the rebuild ends. `None` if no report is
    /// marked.
    pub(super) mark: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Applies all entities in the source.
    #[default]
    Sources,
    /// Removes from the view the entities that no longer exist in the source.
    Gone,
    /// Applies entities that have a record in a partition missing from their list, and recounts the sums from the records.
    Sums,
    /// Moves the view's cursors to the recorded ends of the feeds, and deletes obsolete reports, which concern gaps and entities set aside.
    Feeds,
    Done,
}

/// The progress of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RebuildProgress {
    /// The number of source entities applied.
    pub applied: u64,
    /// The number of entities removed because they no longer exist.
    pub removed: u64,
    /// The number of rows whose sums were corrected.
    pub corrected: u64,
    /// The number of entities that were set aside because they cannot be applied; see [`ViewTable::poison`](crate::view::ViewTable::poison).
    pub failed: u64,
    /// The number of rows of any type that pages of the source, of the registry of feeds, or of the view's lists of partitions
    /// [omit](table_core::query::Page::skipped) and whose keys the store does not return, such as items that other programs wrote to Cosmos DB. If such a row
    /// was applied earlier, or if the store returns the key of an entity that it cannot represent, the entity is set aside, and the view keeps its last valid
    /// version.
    ///
    /// Also counts the entities' records in the view's table that pages omit. The sums in the partitions with these records, or with records that cannot be
    /// decoded, are not recounted. The changes in a feed whose registration is omitted are not followed.
    pub skipped: u64,
}

impl RebuildPosition {
    /// Returns the progress of the rebuild up to this position.
    #[must_use]
    pub const fn progress(&self) -> RebuildProgress {
        self.progress
    }

    /// Returns `true` if the rebuild is complete.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }
}
