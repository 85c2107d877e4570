//! Support for generated indexes, and for projections read from them.

use table_store::{Error, ErrorCode, Result, ValueRef};

use crate::entity::FromEntity;
use crate::index::{CopyIndex, Index, IndexOf, IndexPart, read_copy};
use crate::query::{EntityRef, Select};
use crate::row::RowWriter;

use super::property::{Encode, of_field};

/// Writes a field of the entity's key as a string property of the entity's copy in an index (`Index::to_row`). The property has the same text as the field in
/// the key.
///
/// # Errors
/// `KeyEncoding` if the value cannot be encoded.
pub fn write_key_text<T>(
    field: &'static str,
    name: &str,
    value: &T,
    encode: Encode<T>,
    row: &mut RowWriter,
) -> Result<()> {
    let mut text = String::new();
    of_field(field, encode(value, &mut text))?;
    row.property(name, ValueRef::String(&text));
    Ok(())
}

/// Returns the value of a field in the index key.
///
/// # Errors
/// `EntityMismatch` if the value is `None`. An entity without the value is not indexed, so no copy of it exists.
pub fn indexed<'a, T: IndexPart>(field: &'static str, value: &'a T) -> Result<&'a T::Part> {
    value.indexed().ok_or_else(|| {
        let message = "a value of the index's key is absent; write the copy again";
        Error::new(ErrorCode::EntityMismatch, message).with_property(field)
    })
}

/// Returns the run-time description of an index (`Entity::INDEXES`).
#[must_use]
pub const fn index_of<I: Index>() -> IndexOf<I::Entity> {
    IndexOf::new(I::SCHEMA, I::entry, I::owner)
}

/// Reads a copy in the index `I` as a projection (`ReadableAs::read`).
///
/// # Errors
/// Any error from [`FromEntity::from_entity`].
pub fn project<I: CopyIndex, P: FromEntity>(copy: EntityRef<'_>, of_key: bool) -> Result<P> {
    read_copy::<I, P>(copy, of_key)
}

/// Returns the properties that must be selected to read a projection from copies in `I` (`ReadableAs::select`).
#[must_use]
pub fn select_copies<I: CopyIndex, P: FromEntity>(of_key: bool) -> Select {
    crate::index::select_copies::<I, P>(of_key)
}
