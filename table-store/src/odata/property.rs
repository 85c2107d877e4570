//! Serialization of a property as JSON members: an optional type annotation, then the value (TYPE-1).

use std::fmt::Display;

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Error, Serialize, SerializeMap, Serializer};

use crate::row::RowView;
use crate::ticks;
use crate::value::ValueRef;

/// The properties written with an `@odata.type` (JSON-3).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Annotate {
    /// No properties.
    Never,
    /// Properties whose type does not follow from their JSON value.
    Ambiguous,
    /// `Ambiguous` properties, and Doubles that are whole numbers. Some servers drop the fraction of `3.0` and would then store an `Int32` (AZ-4).
    Strict,
}

impl Annotate {
    fn wants(self, value: ValueRef<'_>) -> bool {
        let strict = match self {
            Self::Never => return false,
            Self::Ambiguous => false,
            Self::Strict => true,
        };
        match value {
            ValueRef::String(_) | ValueRef::Int32(_) | ValueRef::Boolean(_) => false,
            ValueRef::Int64(_) | ValueRef::DateTime(_) | ValueRef::Guid(_) | ValueRef::Binary(_) => true,
            ValueRef::Double(number) => !number.is_finite() || (strict && number.fract() == 0.0),
        }
    }
}

/// Serializes a `Display` value as a JSON string without an intermediate copy.
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Serializes a date-time, given in ticks, in the service's format (TYPE-5).
pub(crate) struct Ticks(pub(crate) u64);

impl Serialize for Ticks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let instant = ticks::print(self.0, ":")
            .ok_or_else(|| S::Error::custom(format_args!("tick {} is after the year 9999", self.0)))?;
        serializer.serialize_str(instant.as_str())
    }
}

/// Serializes all properties of a row in stored order (PROP-7).
pub(crate) fn serialize_properties<M: SerializeMap>(
    map: &mut M,
    row: RowView<'_>,
    annotate: Annotate,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), M::Error> {
    for property in row.properties() {
        let property = property.map_err(M::Error::custom)?;
        if wanted(property.name) {
            serialize_property(map, property.name, property.value, annotate)?;
        }
    }
    Ok(())
}

fn serialize_property<M: SerializeMap>(
    map: &mut M,
    name: &str,
    value: ValueRef<'_>,
    annotate: Annotate,
) -> Result<(), M::Error> {
    if annotate.wants(value) {
        map.serialize_entry(&Text(format_args!("{name}@odata.type")), value.edm_type().name())?;
    }
    match value {
        ValueRef::String(text) => map.serialize_entry(name, text),
        ValueRef::Int32(number) => map.serialize_entry(name, &number),
        ValueRef::Int64(number) => map.serialize_entry(name, &Text(number)),
        // serde_json prints the shortest digits that round-trip, always with a fraction or an exponent (TYPE-4).
        ValueRef::Double(number) if number.is_finite() => map.serialize_entry(name, &number),
        ValueRef::Double(number) if number.is_nan() => map.serialize_entry(name, "NaN"),
        ValueRef::Double(number) if number > 0.0 => map.serialize_entry(name, "Infinity"),
        ValueRef::Double(_) => map.serialize_entry(name, "-Infinity"),
        ValueRef::Boolean(flag) => map.serialize_entry(name, &flag),
        ValueRef::DateTime(count) => map.serialize_entry(name, &Ticks(count)),
        ValueRef::Guid(guid) => map.serialize_entry(name, &Text(guid.hyphenated())),
        ValueRef::Binary(bytes) => map.serialize_entry(name, &Text(Base64Display::new(bytes, &STANDARD))),
    }
}
