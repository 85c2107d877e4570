//! Reading the rows of a type where rows of declared others lie among them.

use crate::entity::{FromEntity, Versioned};
use crate::error::Result;
use crate::key::text::RESERVED;
use crate::query::EntityRef;

/// Reads a row as its type if it is of that type; `None` for what is declared beside it. A row that can be read is of the type: keys
/// and kinds tell types apart (PAT-HET-1), so that most rows are judged by reading them.
///
/// # Errors
/// Those of [`FromEntity::read_own`].
#[inline]
pub(super) fn read_own<T: FromEntity>(entity: EntityRef<'_>) -> Result<Option<Versioned<T>>> {
    let Some(not_read) = T::NOT_READ else { return Versioned::read(entity).map(Some) };
    if entity.row_key.starts_with(RESERVED) {
        return Ok(None);
    }
    match T::from_entity(entity) {
        Ok(value) => Ok(Some(Versioned::of(value, entity))),
        Err(error) => not_read(entity, error).map(|()| None),
    }
}

/// The same over the one read before it, if there is one; `false` for what is declared beside it.
///
/// # Errors
/// Those of [`FromEntity::read_own`].
#[inline]
pub(crate) fn read_own_again<T: FromEntity>(
    place: &mut Option<Versioned<T>>,
    entity: EntityRef<'_>,
    is_same_partition: bool,
) -> Result<bool> {
    let (Some(not_read), Some(last)) = (T::NOT_READ, &mut *place) else {
        return put(place, T::read_own(entity));
    };
    if entity.row_key.starts_with(RESERVED) {
        return Ok(false);
    }
    match last.read_again(entity, is_same_partition) {
        Ok(()) => Ok(true),
        Err(error) => not_read(entity, error).map(|()| false),
    }
}

/// Puts what was read in place of the one before it; `false` if nothing was.
#[inline]
pub(crate) fn put<T>(place: &mut Option<Versioned<T>>, read: Result<Option<Versioned<T>>>) -> Result<bool> {
    // Without `?`: an entity is moved once.
    match read {
        Ok(Some(entity)) => {
            *place = Some(entity);
            Ok(true)
        }
        Ok(None) => Ok(false),
        Err(error) => Err(error),
    }
}
