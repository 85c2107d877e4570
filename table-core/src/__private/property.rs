//! Helpers of generated trait impls for properties.

use std::fmt;

use crate::column::{IsType, Projected};
use crate::entity::Entity;
use crate::error::{Error, ErrorCode, Result};
use crate::query::EntityRef;
use crate::row::{Row, RowWriter};
use crate::schema::PropertySchema;
use crate::value::EdmType;

use super::message::Message;

/// The `encode` of a codec. A pointer, because a function's own type drags the codec's bounds to wherever it is mentioned, and
/// rustc would report a codec that does not fit once more for each place.
pub type Encode<T> = fn(&T, &mut String) -> Result<()>;

/// Names the field or property in an error of its codec (`encode_key`, `from_entity`).
///
/// # Errors
/// The one given, with the name.
#[inline]
pub fn of_field<T>(field: &'static str, result: Result<T>) -> Result<T> {
    result.map_err(|error| error.with_property(field))
}

/// The schema of a property (`SCHEMA`).
///
/// # Panics
/// While the declaration is compiled, if the field is an `Option` of an `Option`.
#[must_use]
pub const fn property_schema(
    name: &'static str,
    field: &'static str,
    edm: EdmType,
    optional: bool,
    is_option_twice: bool,
) -> PropertySchema {
    if is_option_twice {
        let message = Message::new().with("[T058] the property `").with(field).with(
            "` is an `Option` of an `Option`: `Some(None)` would not be stored and would be read back as `None`: take one `Option`, \
             or store it as JSON, `#[property(json)]`",
        );
        panic!("{}", message.as_str());
    }
    PropertySchema { name, field, edm, optional }
}

/// The row, if all of its properties could be written (`to_row`). They are asked for at once, because each `?` of an expansion costs
/// the compiler.
///
/// # Errors
/// The first one.
#[inline]
pub fn written<const N: usize>(properties: [Result<()>; N], row: RowWriter) -> Result<Row> {
    properties.into_iter().collect::<Result<()>>()?;
    Ok(row.finish())
}

/// Whether all parts of a key could be written (`encode_key`).
///
/// # Errors
/// The first one.
#[inline]
pub fn encoded<const N: usize>(parts: [Result<()>; N]) -> Result<()> {
    parts.into_iter().collect()
}

/// The same of an entity that is indexed (`Index::encode_key`).
///
/// # Errors
/// The first one.
#[inline]
pub fn entered<const N: usize>(parts: [Result<()>; N]) -> Result<bool> {
    encoded(parts).map(|()| true)
}

/// Appends a literal and the value of a field to a key, by the codec's `encode` (`encode_key`).
///
/// # Errors
/// Those of the codec, with the name of the field.
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

/// Appends the literal that a key ends in.
#[inline]
pub fn put_literal(out: &mut String, literal: &str) -> Result<()> {
    out.push_str(literal);
    Ok(())
}

/// Shows a type of an expansion that wraps one of this module's.
///
/// # Errors
/// Those of the formatter.
pub fn debug(f: &mut fmt::Formatter<'_>, name: &str, inside: &dyn fmt::Debug) -> fmt::Result {
    f.debug_tuple(name).field(inside).finish()
}

/// The value, if its keys are those that it was found under (`from_entity` of a key that is not read).
///
/// # Errors
/// `EntityMismatch`, with both texts.
pub fn of_its_key<E: Entity>(value: E, entity: EntityRef<'_>) -> Result<E> {
    let (mut partition_key, mut row_key) = (String::new(), String::new());
    value.encode_key(&mut partition_key, &mut row_key)?;
    for (key, found, made) in
        [("PartitionKey", entity.partition_key, &partition_key), ("RowKey", entity.row_key, &row_key)]
    {
        if found != made {
            let message =
                format!("the {key} is '{found}', and the properties make '{made}': write the entity again");
            return Err(Error::new(ErrorCode::EntityMismatch, message));
        }
    }
    Ok(value)
}

/// The body of the traits' methods where the declaration had mistakes, so that only these are reported.
///
/// # Errors
/// Always: such a program does not compile.
pub fn stub<T>() -> Result<T> {
    Err(Error::new(ErrorCode::NotImplemented, "the declaration of the entity has mistakes"))
}

/// Reads a field of a projection, whose type is the column's.
///
/// # Errors
/// Those of [`Projected::read`].
pub fn read_field<T, C: Projected<Value: IsType<T>>>(
    column: &C,
    entity: EntityRef<'_>,
    hint: &mut usize,
) -> Result<T> {
    column.read(entity, hint).map(IsType::into_value)
}
