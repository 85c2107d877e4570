//! Entities to apply to a view, and the state that is read for them.

use std::collections::BTreeSet;

use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::store::StoredRow;

use crate::view::part::Change;
use crate::view::record::{Places, Share};

/// An entity to apply to the view.
#[derive(Clone)]
pub(crate) struct Applied {
    pub(super) source: EntityKey,
    /// The partitions of the view that the entity was in when it was last read. A partition that is missing from this set only costs additional requests.
    pub(super) places: BTreeSet<String>,
}

impl From<EntityKey> for Applied {
    /// Creates an entity that has not been read.
    fn from(source: EntityKey) -> Self {
        Self { source, places: BTreeSet::new() }
    }
}

/// An entity with its list of partitions.
pub(crate) struct Known {
    pub(super) item: usize,
    pub(super) source: EntityKey,
    /// The stored list, or the list that was written in this round.
    pub(super) places: Places,
    pub(super) etag: Option<ETag>,
    /// `false` if the version of the list is unknown, in which case no partition is removed from the list.
    pub(super) is_current: bool,
    /// Partitions that the entity was in when it was last read. They are added to the list before the entity is read again.
    pub(super) named: BTreeSet<String>,
}

/// An entity with its records in the partitions of the view that currently contain it, or may contain it.
pub(crate) struct Recorded {
    pub(super) known: Known,
    pub(super) shares: Vec<(PartitionKey, Option<StoredRow>)>,
}

impl Recorded {
    /// Returns `true` if the entity has rows or amounts in a partition.
    pub(super) fn has(&self, place: &str) -> bool {
        let share = self.shares.iter().find(|(at, _)| at.as_str() == place);
        let share = share.and_then(|(_, share)| share.as_ref());
        // A record that cannot be read causes an error later, when it is written.
        share.is_some_and(|share| Share::read(share.row.view()).map_or(true, |share| !share.is_empty()))
    }
}

/// A write for one entity in one partition of the view's table.
pub(crate) enum Write {
    /// The entity's rows, its sums, and their record.
    Change(Box<Change>),
    /// The list of the entity's partitions.
    Places(Known),
}
