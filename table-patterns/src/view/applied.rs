//! Source entities that are being applied to a view, with the stored rows that are read for them.

use std::collections::BTreeSet;

use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::store::StoredRow;

use crate::view::part::Change;
use crate::view::record::{Places, Share};

/// A source entity that must be applied to the view.
#[derive(Clone)]
pub(crate) struct Applied {
    pub(super) source: EntityKey,
    /// The view's partitions that contain the entity, as of the last read. If the set is incomplete, applying the entity only takes more requests.
    pub(super) places: BTreeSet<String>,
}

impl From<EntityKey> for Applied {
    /// Creates an entity whose partitions are not yet known.
    fn from(source: EntityKey) -> Self {
        Self { source, places: BTreeSet::new() }
    }
}

/// A source entity with its stored list of the view's partitions that contain it.
pub(crate) struct Known {
    pub(super) item: usize,
    pub(super) source: EntityKey,
    /// The list as last read, or as written in this round.
    pub(super) places: Places,
    pub(super) etag: Option<ETag>,
    /// `false` if the version of the stored list is unknown; in this case no partition is removed from the list.
    pub(super) is_current: bool,
    /// The view's partitions that contain the entity, as of the last read. They are added to the list before the entity is read again.
    pub(super) named: BTreeSet<String>,
}

/// A source entity with its records in all partitions of the view that contain or may contain it.
pub(crate) struct Recorded {
    pub(super) known: Known,
    pub(super) shares: Vec<(PartitionKey, Option<StoredRow>)>,
}

impl Recorded {
    /// Returns `true` if the entity has rows or amounts in the view's partition `place`.
    pub(super) fn has(&self, place: &str) -> bool {
        let share = self.shares.iter().find(|(at, _)| at.as_str() == place);
        let share = share.and_then(|(_, share)| share.as_ref());
        // A record that cannot be read causes an error when it is written later.
        share.is_some_and(|share| Share::read(share.row.view()).map_or(true, |share| !share.is_empty()))
    }
}

/// A write to one partition of the view's table for one source entity.
pub(crate) enum Write {
    /// Writes the entity's rows and record, and adds to sums.
    Change(Box<Change>),
    /// Writes the list of the view's partitions that contain the entity.
    Places(Known),
}
