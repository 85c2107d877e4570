//! The columns of a table, with their names, types and value sources.

use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use table_core::EdmType;
use table_core::key::codec::Form;
use table_core::schema::StoredSchema;
use table_inspect::keys;

/// The time zone of all timestamps.
const ZONE: &str = "+00:00";

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Text,
    Int32,
    Int64,
    Double,
    Boolean,
    /// Times in nanoseconds.
    Nanos,
    /// Times in microseconds. Finer fractions are truncated.
    Micros,
    /// GUIDs, represented as strings.
    Guid,
    Binary,
}

impl Kind {
    /// Returns the column type for a property. `is_distant` is `true` if a time cannot be represented in nanoseconds.
    pub(crate) const fn of(edm: EdmType, is_distant: bool) -> Self {
        match edm {
            EdmType::String => Self::Text,
            EdmType::Int32 => Self::Int32,
            EdmType::Int64 => Self::Int64,
            EdmType::Double => Self::Double,
            EdmType::Boolean => Self::Boolean,
            EdmType::DateTime if is_distant => Self::Micros,
            EdmType::DateTime => Self::Nanos,
            EdmType::Guid => Self::Guid,
            EdmType::Binary => Self::Binary,
        }
    }

    /// Returns the column type for a key part.
    pub(crate) fn of_part(codec: &str, form: &Form) -> Self {
        let is_digits = codec.starts_with("digits(") || codec.starts_with("desc(digits(");
        let is_ticks = matches!(codec, "ticks" | "desc(ticks)")
            || (codec.starts_with("inverted(") && codec.ends_with(",ticks)"));
        if is_digits && form.is_fixed() && form.max <= 18 {
            Self::Int64
        } else if is_ticks {
            Self::Nanos
        } else {
            Self::Text
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Text | Self::Guid => DataType::Utf8,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Double => DataType::Float64,
            Self::Boolean => DataType::Boolean,
            Self::Nanos => DataType::Timestamp(TimeUnit::Nanosecond, Some(ZONE.into())),
            Self::Micros => DataType::Timestamp(TimeUnit::Microsecond, Some(ZONE.into())),
            Self::Binary => DataType::Binary,
        }
    }
}

/// The origin of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    PartitionKey,
    RowKey,
    Timestamp,
    /// A part of a key, identified by its [label](crate::parts::label).
    Part(String),
    /// The values of a property that have the same type.
    Property(String, EdmType),
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) source: Source,
}

impl Column {
    pub(crate) fn new(name: impl Into<String>, kind: Kind, source: Source) -> Self {
        Self { name: name.into(), kind, source }
    }

    fn field(&self) -> Field {
        let is_required = matches!(self.source, Source::PartitionKey | Source::RowKey);
        Field::new(&self.name, self.kind.data_type(), !is_required)
    }
}

/// Returns the Arrow schema of the given columns.
pub(crate) fn schema(columns: &[Column]) -> Schema {
    Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>())
}

/// Returns the columns for the keys, the `Timestamp` and the key parts. `names` contains the names of the parts, indexed by label. `properties` contains the
/// columns for properties.
pub(crate) fn of_keys(schemas: &[StoredSchema], names: &[String], properties: &[Column]) -> Vec<Column> {
    let mut columns = vec![
        Column::new("PartitionKey", Kind::Text, Source::PartitionKey),
        Column::new("RowKey", Kind::Text, Source::RowKey),
        Column::new("Timestamp", Kind::Nanos, Source::Timestamp),
    ];
    for piece in schemas.iter().flat_map(|schema| schema.partition_key.iter().chain(&schema.row_key)) {
        let table_core::schema::StoredPiece::Part { source, codec, form } = piece else { continue };
        let (label, kind) = (keys::name_of(source), Kind::of_part(codec, form));
        let Some(part) = label.parse().ok().and_then(|label: usize| names.get(label)) else { continue };
        let source = Source::Part(label.to_owned());
        match columns.iter_mut().find(|column| column.source == source) {
            // If several entity types encode a part differently, the column contains the part's text.
            Some(column) if column.kind != kind => column.kind = Kind::Text,
            Some(_) => {}
            None => {
                let is_taken = properties.iter().chain(&columns).any(|column| column.name == *part);
                let name = if is_taken { format!("{part}@key") } else { part.clone() };
                columns.push(Column::new(name, kind, source));
            }
        }
    }
    columns
}
