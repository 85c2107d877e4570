//! Enums without fields as properties: the name of the variant, as in keys (`#[derive(KeyPart)]`).

use crate::error::Result;
use crate::key::codec::{KeyCodec, KeyEnum, Variant};
use crate::property::Property;
use crate::row::RowWriter;
use crate::value::{Value, ValueRef};

/// The name of a variant (`Property::write_to`).
///
/// # Errors
/// `KeyEncoding` if it has none, which no derived enum can be.
pub fn write_variant<E: KeyEnum>(variant: &E, name: &str, row: &mut RowWriter) -> Result<()> {
    let mut text = String::new();
    Variant::encode(variant, &mut text)?;
    text.write_to(name, row)
}

/// The variant of a stored name (`Property::from_value`).
///
/// # Errors
/// `EntityMismatch` if it is absent, no text or the name of no variant.
pub fn read_variant<E: KeyEnum>(value: Option<ValueRef<'_>>) -> Result<E> {
    Variant::decode(&String::from_value(value)?)
}

/// The constant of a filter (`Operand::into_value`).
pub fn variant_value<E: KeyEnum>(variant: &E) -> Value {
    Value::String(E::VARIANTS.get(variant.index()).copied().unwrap_or_default().to_owned())
}
