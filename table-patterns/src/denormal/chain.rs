//! Chains of copies: an entity that holds copies can be the source of further copies, which a worker updates.

use table_core::entity::Entity;
use table_core::key::EntityKey;

use crate::denormal::declared::Declared;
use crate::index::{Derived, EntryFingerprint, RemoteChange};

/// Returns the change that a worker settles in the holders of an entity; `None` if no relation copies a value that differs between two states.
pub(super) fn passed_on<E: Entity>(key: &EntityKey, before: &E, after: &E) -> Option<RemoteChange> {
    let declared = Declared::<E>::find()?;
    let is_copied = declared.gives.iter().any(|relation| (relation.changes)(before, after));
    is_copied.then(|| of_source(key))
}

/// Returns the change that a worker settles in all holders of a source.
pub(super) fn of_source(key: &EntityKey) -> RemoteChange {
    RemoteChange {
        of: Derived::CopiesOf,
        owner: key.clone(),
        keys: Vec::new(),
        fingerprint: EntryFingerprint::Unknown,
    }
}
