//! Chains of copies: a copied property of one entity can be copied into a third entity. A worker passes each change on to the next entity in the chain.
//!
//! If entities copy from each other in a cycle, a change must not be passed on forever. A recorded change therefore contains its *path*: the keys of the
//! entities that have passed it on. A worker rejects a change that returns to the same entity too often.

use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::{Error, Result};

use crate::copies::declared::Declared;
use crate::copies::fault::CopyFault;
use crate::index::{Derived, RemoteChange};

/// The maximum number of entities in a recorded path.
const PATH: usize = 64;
/// The number of visits to one entity at which a path counts as a cycle. The limit exceeds 1 because entities of several types may have the same key.
const VISITS: usize = 8;

/// Returns the change that makes a worker settle the holders of an entity (update their copies); `None` if no relation copies a value that differs between
/// `before` and `after`. `path` contains the entities that have passed the change on to this entity.
pub(super) fn passed_on<E: Entity>(
    key: &EntityKey,
    (before, after): (&E, &E),
    path: &[EntityKey],
) -> Option<RemoteChange> {
    let declared = Declared::<E>::find()?;
    let is_copied = declared.gives.iter().any(|relation| (relation.changes)(before, after));
    is_copied.then(|| of_source(key, path))
}

/// Returns the change that makes a worker settle all holders of a source.
pub(super) fn of_source(key: &EntityKey, path: &[EntityKey]) -> RemoteChange {
    RemoteChange::new(Derived::CopiesOf, key.clone(), path.to_vec())
}

/// Returns `path` extended by `source` (the copied entity), for the changes that the holders of its copies pass on.
///
/// # Errors
/// `InvalidInput` (PAT-DEN-2), with the keys in the cycle, if the path contains the source too often.
pub(super) fn path_through(path: &[EntityKey], source: &EntityKey) -> Result<Vec<EntityKey>> {
    if path.iter().filter(|visited| *visited == source).count() >= VISITS {
        let last = path.iter().rposition(|visited| visited == source).unwrap_or_default();
        let circle = path.iter().skip(last).chain([source]).map(ToString::to_string).collect::<Vec<_>>();
        return Err(Error::of(CopyFault::Circle(circle.join(", "))));
    }
    let mut longer = [path, std::slice::from_ref(source)].concat();
    if longer.len() > PATH {
        // Visits to the first entity are kept, so a cycle through it is found regardless of the cycle's length.
        let other = longer.iter().position(|visited| Some(visited) != path.first());
        longer.remove(other.unwrap_or_default());
    }
    Ok(longer)
}
