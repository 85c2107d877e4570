//! Support for generated code that writes and reads properties and keys.

use table_store::{Error, ErrorCode, Result, quoted};

use crate::column::{IsType, Projected};
use crate::entity::Entity;
use crate::property::PropertyFacts;
use crate::query::EntityRef;
use crate::row::{Row, RowWriter};
use crate::schema::PropertySchema;

use super::message::Message;

/// The `encode` function of a codec, as a function pointer. The function's own type would repeat the codec's bounds wherever it occurs, and rustc would report
/// an unsuitable codec at each occurrence.
pub type Encode<T> = fn(&T, &mut String) -> Result<()>;

/// Adds the name of the field or property to an error from its codec (`encode_key`, `from_entity`).
///
/// # Errors
/// The error in `result`, with the name of the field added.
#[inline]
pub fn of_field<T>(field: &'static str, result: Result<T>) -> Result<T> {
    result.map_err(|error| error.with_property(field))
}

/// Returns the schema of a property, for the constant `SCHEMA`.
///
/// # Panics
/// Panics at compile time if the field is a nested `Option`.
#[must_use]
pub const fn property_schema(
    name: &'static str,
    field: &'static str,
    facts: PropertyFacts,
) -> PropertySchema {
    if facts.is_option_twice {
        let message = Message::new().with("[T058] the property `").with(field).with(
            "` is an `Option` of an `Option`: `Some(None)` would be read back as `None`; use one `Option`, \
             or an enum with a variant for each case, `#[property(json)]`",
        );
        panic!("{}", message.as_str());
    }
    PropertySchema { name, field, edm: facts.edm, optional: facts.optional }
}

/// Returns the row if all properties were written (`to_row`). The results are checked together, because each `?` in an expansion adds to the compile time.
///
/// # Errors
/// The first error in `properties`.
#[inline]
pub fn written<const N: usize>(properties: [Result<()>; N], row: RowWriter) -> Result<Row> {
    properties.into_iter().collect::<Result<()>>()?;
    Ok(row.finish())
}

/// Checks that all parts of a key were written (`encode_key`).
///
/// # Errors
/// The first error in `parts`.
#[inline]
pub fn encoded<const N: usize>(parts: [Result<()>; N]) -> Result<()> {
    parts.into_iter().collect()
}

/// Checks that all parts of an index key were written (`Index::encode_key`).
///
/// # Errors
/// The first error in `parts`.
#[inline]
pub fn entered<const N: usize>(parts: [Result<()>; N]) -> Result<bool> {
    encoded(parts).map(|()| true)
}

/// Appends a literal and the value of a field to a key, using the codec's `encode` (`encode_key`).
///
/// # Errors
/// `KeyEncoding`, with the name of the field, if the codec rejects the value.
#[inline]
pub fn put<T>(
    out: &mut String,
    literal: &str,
    field: &'static str,
    value: &T,
    encode: Encode<T>,
) -> Result<()> {
    out.push_str(literal);
    of_field(field, encode(value, out))
}

/// Appends the last literal of a key.
#[inline]
pub fn put_literal(out: &mut String, literal: &str) -> Result<()> {
    out.push_str(literal);
    Ok(())
}

/// Returns the value if its key equals the stored entity's key. `from_entity` calls this function if it does not decode the key.
///
/// # Errors
/// `EntityMismatch`, with both keys, if the keys differ.
pub fn of_its_key<E: Entity>(value: E, entity: EntityRef<'_>) -> Result<E> {
    let (mut partition_key, mut row_key) = (String::new(), String::new());
    value.encode_key(&mut partition_key, &mut row_key)?;
    for (key, found, made) in
        [("PartitionKey", entity.partition_key, &partition_key), ("RowKey", entity.row_key, &row_key)]
    {
        if found != made {
            let message = format!(
                "the {key} is '{}', but the properties give '{}'; write the entity again",
                quoted(found),
                quoted(made)
            );
            return Err(Error::new(ErrorCode::EntityMismatch, message));
        }
    }
    Ok(value)
}

/// Returns an error. Trait methods generated for an invalid declaration call this function. As a result, rustc reports only the errors in the declaration
/// itself.
///
/// # Errors
/// Always returns an error. The function never runs, because a program with an invalid declaration does not compile.
pub fn stub<T>() -> Result<T> {
    Err(Error::new(ErrorCode::NotImplemented, "the declaration of the entity has mistakes"))
}

/// Reads a field of a projection. The field has the type of its column.
///
/// # Errors
/// Any error from [`Projected::read`].
pub fn read_field<T, C: Projected<Value: IsType<T>>>(
    column: &C,
    entity: EntityRef<'_>,
    hint: &mut usize,
) -> Result<T> {
    column.read(entity, hint).map(IsType::into_value)
}
