//! Builds Arrow arrays of property values row by row.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder, TimestampNanosecondBuilder,
};
use table_core::{ValueRef, ticks};

use crate::column::Kind;

/// The builder of one column's array.
#[derive(Debug)]
pub(crate) enum Builder {
    Text(StringBuilder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Double(Float64Builder),
    Boolean(BooleanBuilder),
    Nanos(TimestampNanosecondBuilder),
    Micros(TimestampMicrosecondBuilder),
    Binary(BinaryBuilder),
}

impl Builder {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text | Kind::Guid => Self::Text(StringBuilder::new()),
            Kind::Int32 => Self::Int32(Int32Builder::new()),
            Kind::Int64 => Self::Int64(Int64Builder::new()),
            Kind::Double => Self::Double(Float64Builder::new()),
            Kind::Boolean => Self::Boolean(BooleanBuilder::new()),
            Kind::Nanos => Self::Nanos(TimestampNanosecondBuilder::new().with_timezone("+00:00")),
            Kind::Micros => Self::Micros(TimestampMicrosecondBuilder::new().with_timezone("+00:00")),
            Kind::Binary => Self::Binary(BinaryBuilder::new()),
        }
    }

    /// Appends a row without a value.
    pub(crate) fn push_null(&mut self) {
        match self {
            Self::Text(builder) => builder.append_null(),
            Self::Int32(builder) => builder.append_null(),
            Self::Int64(builder) => builder.append_null(),
            Self::Double(builder) => builder.append_null(),
            Self::Boolean(builder) => builder.append_null(),
            Self::Nanos(builder) => builder.append_null(),
            Self::Micros(builder) => builder.append_null(),
            Self::Binary(builder) => builder.append_null(),
        }
    }

    /// Appends a value. Returns `false` if the column cannot represent the value.
    pub(crate) fn push(&mut self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (Self::Text(builder), ValueRef::String(text)) => builder.append_value(text),
            (Self::Text(builder), ValueRef::Guid(guid)) => builder.append_value(guid.to_string()),
            (Self::Int32(builder), ValueRef::Int32(number)) => builder.append_value(number),
            (Self::Int64(builder), ValueRef::Int64(number)) => builder.append_value(number),
            // SQL orders a negative NaN before all numbers, but stores treat all NaNs as the same value, so every NaN is stored as the positive one.
            (Self::Double(builder), ValueRef::Double(number)) if number.is_nan() => {
                builder.append_value(f64::NAN.copysign(1.0));
            }
            (Self::Double(builder), ValueRef::Double(number)) => builder.append_value(number),
            (Self::Boolean(builder), ValueRef::Boolean(truth)) => builder.append_value(truth),
            (Self::Binary(builder), ValueRef::Binary(bytes)) => builder.append_value(bytes),
            (Self::Nanos(builder), ValueRef::DateTime(ticks)) => match nanos(ticks) {
                Some(nanos) => builder.append_value(nanos),
                None => return false,
            },
            (Self::Micros(builder), ValueRef::DateTime(ticks)) => match since_1970(ticks) {
                Some(ticks) => builder.append_value(ticks.div_euclid(10)),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Int32(builder) => Arc::new(builder.finish()),
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::Double(builder) => Arc::new(builder.finish()),
            Self::Boolean(builder) => Arc::new(builder.finish()),
            Self::Nanos(builder) => Arc::new(builder.finish()),
            Self::Micros(builder) => Arc::new(builder.finish()),
            Self::Binary(builder) => Arc::new(builder.finish()),
        }
    }
}

/// Converts ticks to nanoseconds since 1970. Returns `None` for times outside the years 1678 to 2261.
pub(crate) fn nanos(ticks: u64) -> Option<i64> {
    since_1970(ticks)?.checked_mul(100)
}

fn since_1970(ticks: u64) -> Option<i64> {
    i64::try_from(ticks).ok()?.checked_sub_unsigned(ticks::UNIX_EPOCH)
}
