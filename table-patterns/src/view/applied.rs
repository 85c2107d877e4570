//! Source entities while they are applied to a view, with the stored rows that are read for them.

use std::collections::BTreeSet;

use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::store::StoredRow;

use crate::view::part::Change;
use crate::view::record::{Places, Share};

/// A source entity that the view must apply.
#[derive(Clone)]
pub(crate) struct Applied {
    pub(super) source: EntityKey,
    /// Partitions of the view that contain the entity according to the last read. An incomplete set only means that applying the entity takes more requests.
    pub(super) places: BTreeSet<String>,
}

impl From<EntityKey> for Applied {
    /// Creates an entity whose partitions are not known yet.
    fn from(source: EntityKey) -> Self {
        Self { source, places: BTreeSet::new() }
    }
}

/// A source entity with its stored list of the view's partitions that contain it.
pub(crate) struct Known {
    pub(super) item: usize,
    pub(super) source: EntityKey,
    /// The list as it was read, or as written in this round.
    pub(super) places: Places,
    pub(super) etag: Option<ETag>,
    /// `false` if the version of the stored list is unknown. Then no partition is removed from the list.
    pub(super) is_current: bool,
    /// Partitions of the view that contain the entity according to the last read. They are added to the list before the entity is read again.
    pub(super) named: BTreeSet<String>,
}

/// A source entity with its records in all partitions of the view that contain it, or may contain it.
pub(crate) struct Recorded {
    pub(super) known: Known,
    pub(super) shares: Vec<(PartitionKey, Option<StoredRow>)>,
}

impl Recorded {
    /// Returns `true` if the entity has rows or amounts in the view's partition `place`.
    pub(super) fn has(&self, place: &str) -> bool {
        let share = self.shares.iter().find(|(at, _)| at.as_str() == place);
        let share = share.and_then(|(_, share)| share.as_ref());
        // A record that cannot be read causes an error later, when it is written.
        share.is_some_and(|share| Share::read(share.row.view()).map_or(true, |share| !share.is_empty()))
    }
}

/// A write for one source entity to one partition of the view's table.
pub(crate) enum Write {
    /// Writes the entity's rows and record, and adds to sums.
    Change(Box<Change>),
    /// Writes the list of the view's partitions that contain the entity.
    Places(Known),
}
