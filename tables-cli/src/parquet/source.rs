//! The columns of a Parquet file that is being read, with their roles and the conversion of their values to properties.

use parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use parquet::schema::types::ColumnDescriptor;
use table_core::{EdmType, Value, ticks};
use table_inspect::record::{FileError, Result};
use uuid::Uuid;

use crate::parquet::KEYS;
use crate::parquet::column::Values;
use crate::parquet::value::{Form, TICKS, instant};

/// The role of a column in the imported entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    PartitionKey,
    RowKey,
    /// A column that is not imported, because only the store sets its values.
    Ignored,
    Property(String, Kind),
}

/// How a column's values are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Bytes,
    Guid,
    Number,
    /// An unsigned 32-bit number.
    Unsigned,
    /// The number of days since 1970.
    Days,
    /// A time, given as a number of units since 1970. The field contains the number of units per second.
    Instant(i64),
    Ticks,
}

impl Source {
    /// Returns the name of the property that the column's values are imported into, or `None` for a key column or an ignored column.
    pub(super) fn property(&self) -> Option<&str> {
        match self {
            Self::Property(name, _) => Some(name),
            Self::PartitionKey | Self::RowKey | Self::Ignored => None,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Property(_, kind) => *kind,
            Self::PartitionKey | Self::RowKey => Kind::Text,
            Self::Ignored => Kind::Number,
        }
    }
}

impl Values {
    /// Converts the values of a column to property values, in order.
    pub(super) fn into_values(self, kind: Kind) -> Box<dyn Iterator<Item = Result<Value, &'static str>>> {
        match self {
            Self::Bytes(values) => {
                Box::new(values.into_iter().map(move |bytes| of_bytes(kind, bytes.data())))
            }
            Self::Fixed(values) => {
                Box::new(values.into_iter().map(move |bytes| of_bytes(kind, bytes.data())))
            }
            Self::Int32(values) => Box::new(values.into_iter().map(move |number| match kind {
                Kind::Unsigned => Ok(Value::Int64(i64::from(number.cast_unsigned()))),
                Kind::Days => of_instant(instant(i64::from(number) * 86_400, 1)),
                _ => Ok(Value::Int32(number)),
            })),
            Self::Int64(values) => Box::new(values.into_iter().map(move |number| of_int64(kind, number))),
            Self::Int96(values) => {
                Box::new(values.into_iter().map(|number| of_instant(of_int96(number.data()))))
            }
            Self::Float(values) => {
                Box::new(values.into_iter().map(|number| Ok(Value::Double(number.into()))))
            }
            Self::Double(values) => Box::new(values.into_iter().map(|number| Ok(Value::Double(number)))),
            Self::Boolean(values) => Box::new(values.into_iter().map(|truth| Ok(Value::Boolean(truth)))),
        }
    }
}

/// The maximum size of a value and of a row, in bytes. It is the same as for a line of JSON Lines. The limit is needed because a small file can repeat a large
/// dictionary value in many rows.
pub(super) const MOST_BYTES: usize = 16 << 20;

fn of_bytes(kind: Kind, bytes: &[u8]) -> Result<Value, &'static str> {
    if bytes.len() > MOST_BYTES {
        return Err("the value has more than 16 MiB");
    }
    match kind {
        Kind::Text => std::str::from_utf8(bytes)
            .map(|text| Value::String(text.to_owned()))
            .map_err(|_| "the text is not UTF-8"),
        Kind::Guid => Uuid::from_slice(bytes).map(Value::Guid).map_err(|_| "a GUID does not have 16 bytes"),
        _ => Ok(Value::Binary(bytes.to_vec())),
    }
}

fn of_int64(kind: Kind, number: i64) -> Result<Value, &'static str> {
    match kind {
        Kind::Instant(per_second) => of_instant(instant(number, per_second)),
        Kind::Ticks => of_instant(u64::try_from(number).ok().and_then(ticks::to_datetime)),
        Kind::Unsigned if number < 0 => Err("the number exceeds 64 bits with a sign"),
        _ => Ok(Value::Int64(number)),
    }
}

/// Converts an INT96 time, which consists of two words with the nanoseconds within the day, followed by the Julian day number.
fn of_int96(words: &[u32]) -> Option<chrono::DateTime<chrono::Utc>> {
    const JULIAN_DAY_OF_1970: i128 = 2_440_588;
    const TICKS_PER_DAY: i128 = 864_000_000_000;
    let &[low, high, day] = words else { return None };
    let nanos = u64::from(high) << 32 | u64::from(low);
    let since_1970 = (i128::from(day) - JULIAN_DAY_OF_1970) * TICKS_PER_DAY + i128::from(nanos / 100);
    u64::try_from(since_1970 + i128::from(ticks::UNIX_EPOCH)).ok().and_then(ticks::to_datetime)
}

fn of_instant(instant: Option<chrono::DateTime<chrono::Utc>>) -> Result<Value, &'static str> {
    instant.map(Value::DateTime).ok_or("the instant is outside the years 1 to 9999")
}

/// Returns the role of a column.
pub(super) fn source(column: &ColumnDescriptor) -> Result<Source> {
    let name = column.path().string();
    if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() > 1 {
        return Err(FileError::Refused(format!("column `{name}` is nested; properties have single values")));
    }
    let [partition, row, timestamp] = KEYS;
    if name == timestamp {
        return Ok(Source::Ignored);
    }
    let kind = kind(column, &name)?;
    if name == partition || name == row {
        let key = if name == partition { Source::PartitionKey } else { Source::RowKey };
        let help = || {
            FileError::Refused(format!("column `{name}` has numbers or bytes; keys are strings, so cast it"))
        };
        return (kind == Kind::Text).then_some(key).ok_or_else(help);
    }
    // `tables export` writes no other suffixes. A name with any other suffix is kept, so the store rejects it.
    let property = match name.rsplit_once('@') {
        Some((property, suffix)) if suffix == suffix_of(column, kind) && !property.is_empty() => property,
        _ => name.as_str(),
    };
    Ok(Source::Property(property.to_owned(), kind))
}

/// Returns the suffix that `tables export` appends to the name of a column with such values if another column already has the property's name.
fn suffix_of(column: &ColumnDescriptor, kind: Kind) -> &'static str {
    let form = match (kind, column.physical_type()) {
        (Kind::Ticks, _) => Form::Ticks,
        (Kind::Text, _) => Form::Plain(EdmType::String),
        (Kind::Bytes, _) => Form::Plain(EdmType::Binary),
        (Kind::Guid, _) => Form::Plain(EdmType::Guid),
        (Kind::Days | Kind::Instant(_), _) | (Kind::Number, Physical::INT96) => {
            Form::Plain(EdmType::DateTime)
        }
        (Kind::Unsigned, _) | (Kind::Number, Physical::INT64) => Form::Plain(EdmType::Int64),
        (Kind::Number, Physical::INT32) => Form::Plain(EdmType::Int32),
        (Kind::Number, Physical::BOOLEAN) => Form::Plain(EdmType::Boolean),
        (Kind::Number, _) => Form::Plain(EdmType::Double),
    };
    form.suffix()
}

fn kind(column: &ColumnDescriptor, name: &str) -> Result<Kind> {
    use parquet::basic::ConvertedType as Old;
    let (logical, old) = (column.logical_type_ref(), column.converted_type());
    Ok(match (column.physical_type(), logical) {
        (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Json | LogicalType::Enum)) => {
            Kind::Text
        }
        (Physical::BYTE_ARRAY, None) if matches!(old, Old::UTF8 | Old::JSON | Old::ENUM) => Kind::Text,
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)) => Kind::Guid,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, None | Some(LogicalType::Bson))
            if old != Old::DECIMAL =>
        {
            Kind::Bytes
        }
        (Physical::INT32, Some(LogicalType::Date)) => Kind::Days,
        (Physical::INT32, None) if old == Old::DATE => Kind::Days,
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(int)))
            if !int.is_signed && int.bit_width >= 32 =>
        {
            Kind::Unsigned
        }
        (Physical::INT32 | Physical::INT64, None) if matches!(old, Old::UINT_32 | Old::UINT_64) => {
            Kind::Unsigned
        }
        (Physical::INT64, Some(LogicalType::Timestamp(found))) => Kind::Instant(match found.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        (Physical::INT64, None) if old == Old::TIMESTAMP_MILLIS => Kind::Instant(1_000),
        (Physical::INT64, None) if old == Old::TIMESTAMP_MICROS => Kind::Instant(1_000_000),
        (Physical::INT64, None) if name.ends_with(&format!("@{TICKS}")) => Kind::Ticks,
        (Physical::INT32 | Physical::INT64, None | Some(LogicalType::Integer(_)))
            if !matches!(old, Old::DECIMAL | Old::TIME_MILLIS | Old::TIME_MICROS) =>
        {
            Kind::Number
        }
        (Physical::INT96 | Physical::FLOAT | Physical::DOUBLE | Physical::BOOLEAN, None) => Kind::Number,
        (physical, logical) => {
            let logical = logical.map_or_else(|| format!("{old:?}"), |logical| format!("{logical:?}"));
            let help = "no property has such values; cast it";
            return Err(FileError::Refused(format!("column `{name}` is {physical} as {logical}; {help}")));
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    #[test]
    fn only_the_suffix_of_an_exported_column_is_removed_from_its_name() {
        let schema = "message m {
            optional binary user@domain (UTF8); optional binary Age@String (UTF8); optional int32 Age@Int32;
            optional int32 Age@Int64; optional int64 Ends@ticks; optional int64 Seen@DateTime (TIMESTAMP_MICROS);
            optional boolean a@b@Boolean; optional double @Double; optional int32 Id@ticks;
        }";
        let schema = SchemaDescriptor::new(Arc::new(parse_message_type(schema).unwrap()));
        let properties = schema.columns().iter().map(|column| match source(column).unwrap() {
            Source::Property(name, _) => name,
            other => panic!("{other:?}"),
        });
        let expected =
            ["user@domain", "Age", "Age", "Age@Int64", "Ends", "Seen", "a@b", "@Double", "Id@ticks"];
        assert_eq!(properties.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn times_of_96_bits_cover_the_years_1_to_9999() {
        for (words, instant) in [
            ([0, 0, 5_373_484], Some("9999-12-31T00:00:00Z")),
            ([0, 0, 1_721_426], Some("0001-01-01T00:00:00Z")),
            ([700, 1, 2_440_588], Some("1970-01-01T00:00:04.294967900Z")),
            ([0, 0, 1_721_425], None),
            ([0, 0, u32::MAX], None),
        ] {
            assert_eq!(of_int96(&words), instant.map(|text| text.parse().unwrap()), "{words:?}");
        }
    }
}
