//! Source entities being applied to a view, and the stored rows read for them.

use std::collections::BTreeSet;

use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::store::StoredRow;

use crate::view::part::Change;
use crate::view::record::{Places, Share};

/// A source entity to apply to the view.
#[derive(Clone)]
pub(crate) struct Applied {
    pub(super) source: EntityKey,
    /// The view's partitions that contained the entity when it was last read. If the set is incomplete, applying the entity needs more requests but has the
    /// same result.
    pub(super) places: BTreeSet<String>,
}

impl From<EntityKey> for Applied {
    /// Creates an entity whose partitions in the view are not yet known.
    fn from(source: EntityKey) -> Self {
        Self { source, places: BTreeSet::new() }
    }
}

/// A source entity with its stored list of the view's partitions that contain it.
pub(crate) struct Known {
    pub(super) item: usize,
    pub(super) source: EntityKey,
    /// The list as it was last read or written.
    pub(super) places: Places,
    pub(super) etag: Option<ETag>,
    /// `false` if the version of the stored list is unknown. In that case, no partition is removed from the list.
    pub(super) is_current: bool,
    /// The view's partitions that contained the entity when it was last read. They are added to `places` before the entity is read again.
    pub(super) named: BTreeSet<String>,
}

/// A source entity with its records in all partitions of the view that contain or may contain it.
pub(crate) struct Recorded {
    pub(super) known: Known,
    pub(super) shares: Vec<(PartitionKey, Option<StoredRow>)>,
}

impl Recorded {
    /// Returns `true` if the entity has rows in the view's partition `place`, or contributes to sums there.
    pub(super) fn has(&self, place: &str) -> bool {
        let share = self.shares.iter().find(|(at, _)| at.as_str() == place);
        let share = share.and_then(|(_, share)| share.as_ref());
        // An unreadable record counts as having content. The error is reported when the record is written.
        share.is_some_and(|share| Share::read(share.row.view()).map_or(true, |share| !share.is_empty()))
    }
}

/// A write to one partition of the view's table for one source entity.
pub(crate) enum Write {
    /// Writes the rows and the record of the entity, and updates the sums it contributes to.
    Change(Box<Change>),
    /// Writes the list of the view's partitions that contain the entity.
    Places(Known),
}
