//! Support for fieldless enums as properties. The property contains the variant's name, like a key part of the enum (`#[derive(KeyPart)]`).

use table_store::{Result, Value, ValueRef};

use crate::key::codec::{KeyCodec, KeyEnum, Variant};
use crate::property::Property;
use crate::row::RowWriter;

/// Writes the name of a variant (`Property::write_to`).
///
/// # Errors
/// `KeyEncoding` if the variant has no name, which is impossible for a derived enum.
pub fn write_variant<E: KeyEnum>(variant: &E, name: &str, row: &mut RowWriter) -> Result<()> {
    let mut text = String::new();
    Variant::encode(variant, &mut text)?;
    text.write_to(name, row)
}

/// Reads the variant with the stored name (`Property::from_value`).
///
/// # Errors
/// `EntityMismatch` if the property is absent, not a string, or not the name of a variant.
pub fn read_variant<E: KeyEnum>(value: Option<ValueRef<'_>>) -> Result<E> {
    Variant::decode(&String::from_value(value)?)
}

/// Returns the constant that represents the variant in a filter (`Operand::into_value`).
pub fn variant_value<E: KeyEnum>(variant: &E) -> Value {
    Value::String(E::VARIANTS.get(variant.index()).copied().unwrap_or_default().to_owned())
}
