//! Functions that read rows of one type from a table of several declared types.

use table_store::Result;

use crate::entity::{FromEntity, Versioned};
use crate::key::text::RESERVED;
use crate::query::EntityRef;

/// Reads a row as a `T`, or returns `None` for a row of another declared type.
///
/// Keys and kinds distinguish the types (PAT-HET-1), so a row that can be read as a type belongs to that type. Most rows need no other classification.
///
/// # Errors
/// Any error from [`FromEntity::read_own`].
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

/// Reads a row. If a previous value exists, its memory is reused. Returns `false` for a row of another declared type.
///
/// # Errors
/// Any error from [`FromEntity::read_own`].
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

/// Replaces the previous value with the value in `read`. Returns `false` if `read` contains no value.
#[inline]
pub(crate) fn put<T>(place: &mut Option<Versioned<T>>, read: Result<Option<Versioned<T>>>) -> Result<bool> {
    // A `match` instead of `?` moves the entity only once.
    match read {
        Ok(Some(entity)) => {
            *place = Some(entity);
            Ok(true)
        }
        Ok(None) => Ok(false),
        Err(error) => Err(error),
    }
}
