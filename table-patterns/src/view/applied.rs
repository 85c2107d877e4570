//! An entity that a view is to be made right for.

use std::collections::BTreeSet;

use table_core::key::EntityKey;

/// An entity that the view is to be made right for.
#[derive(Clone)]
pub(crate) struct Applied {
    pub(super) source: EntityKey,
    /// The partitions of the view that it had something for when it was last read. It is read again once they are recorded: what is
    /// missing here costs a request, and nothing else.
    pub(super) places: BTreeSet<String>,
}

impl From<EntityKey> for Applied {
    /// One that was not read.
    fn from(source: EntityKey) -> Self {
        Self { source, places: BTreeSet::new() }
    }
}
