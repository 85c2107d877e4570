//! Chains of copies: a copied property of one entity can be copied into a third entity. A worker propagates each change to the next entity in the chain.
//!
//! If entities copy from each other in a cycle, a change must not circulate forever. To prevent this, a recorded change contains its *path*: the keys of the
//! entities that have propagated it. A worker rejects a change that returns to the same entity too often.
//!
//! A long path is truncated to its latest keys and all visits to one entity, the path's *anchor*. The first anchor is the entity in which the change began.
//! That entity may be outside the cycle, so another entity becomes the anchor whenever the number of visited entities reaches a power of two (Brent's
//! algorithm). In a cycle of n entities entered after m others, the path has an anchor in the cycle for 8 rounds after at most max(2m, 16n) visits.

use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::key::text::RESERVED;
use table_core::{Error, Result};

use crate::copies::declared::Declared;
use crate::copies::fault::CopyFault;
use crate::index::{Derived, PATH, RemoteChange};

/// The `RowKey` prefix of the first key in a truncated path, followed by the number of entities that have propagated the change.
const VISITED: &str = "visited_";
/// The number of visits to one entity at which a path counts as a cycle. The limit exceeds 1 because entities of several types may have the same key.
const VISITS: usize = 8;

/// Returns the change that makes a worker update the copies in an entity's holders, or `None` if no relation copies a value that differs between `before` and
/// `after`. `path` contains the entities that have propagated the change to this entity.
pub(super) fn passed_on<E: Entity>(
    key: &EntityKey,
    (before, after): (&E, &E),
    path: &[EntityKey],
) -> Option<RemoteChange> {
    let declared = Declared::<E>::find()?;
    let is_copied = declared.gives.iter().any(|relation| (relation.changes)(before, after));
    is_copied.then(|| of_source(key, path))
}

/// Returns the change that makes a worker update the copies in all holders of a source.
pub(super) fn of_source(key: &EntityKey, path: &[EntityKey]) -> RemoteChange {
    RemoteChange::new(Derived::CopiesOf, key.clone(), path.to_vec())
}

/// Returns `path` extended by `source` (the copied entity), for changes propagated by the holders of its copies.
///
/// # Errors
/// `InvalidInput` (PAT-DEN-2), with the keys in the cycle, if the path contains the source too often.
pub(super) fn path_through(path: &[EntityKey], source: &EntityKey) -> Result<Vec<EntityKey>> {
    if path.iter().filter(|visited| *visited == source).count() >= VISITS {
        let last = path.iter().rposition(|visited| visited == source).unwrap_or_default();
        let circle = path.iter().skip(last).chain([source]).map(ToString::to_string).collect::<Vec<_>>();
        return Err(Error::of(CopyFault::Circle(circle.join(", "))));
    }
    let (visited, rest) = match path.split_first() {
        Some((first, rest)) if let Some(visited) = visited_in(first) => (visited, rest),
        _ => (path.len(), path),
    };
    let visited = visited.saturating_add(1);
    let mut longer = rest.to_vec();
    if visited > PATH && visited.is_power_of_two() {
        longer.clear();
    }
    longer.push(source.clone());
    if longer.len() > PATH {
        let other = longer.iter().position(|known| Some(known) != longer.first());
        longer.remove(other.unwrap_or_default());
    }
    if visited > PATH {
        longer.insert(0, EntityKey::new("", format!("{RESERVED}{VISITED}{visited}"))?);
    }
    Ok(longer)
}

/// Returns the number of visited entities if `key` is the first key of a truncated path.
fn visited_in(key: &EntityKey) -> Option<usize> {
    key.row_key.as_str().strip_prefix(RESERVED)?.strip_prefix(VISITED)?.parse().ok()
}

#[cfg(test)]
mod tests;
