//! Reading Parquet: files of `tables export`, and flat files of other programs.

use std::fs::File;

use parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use table_core::{TableEntity, Value, ticks};
use table_inspect::record::{FileError, Record, Rejected, Result};
use uuid::Uuid;

use crate::parquet::column::{Rows, Values};
use crate::parquet::value::{TICKS, instant};
use crate::parquet::{CHECKSUM, KEYS, ROWS, failure};

/// The maximum number of rows that are decoded at a time.
const BATCH_ROWS: usize = 1_024;
/// The number of bytes that are decoded at a time, estimated from the average row of a group.
const BATCH_BYTES: u64 = 8 << 20;

/// The records of a Parquet file. Memory holds one page of each column, and the entities of a batch.
#[expect(missing_debug_implementations, reason = "contains a reader without `Debug`")]
pub struct ParquetReader {
    file: SerializedFileReader<File>,
    columns: Vec<Source>,
    /// The number of the next group.
    group: usize,
    /// The columns of the current group, the number of its remaining rows, and the number of rows of a batch.
    open: Vec<ColumnReader>,
    left: usize,
    batch: usize,
    ready: std::vec::IntoIter<Record>,
}

/// One column: the role of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    PartitionKey,
    RowKey,
    /// A value that the store sets itself.
    Ignored,
    Property(String, Kind),
}

/// The meaning of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
    Guid,
    Number,
    /// A number of 32 bits without a sign.
    Unsigned,
    /// Days since 1970.
    Days,
    /// A count since 1970; the number of units in a second.
    Instant(i64),
    Ticks,
}

impl ParquetReader {
    /// Opens a file.
    ///
    /// # Errors
    /// `Refused` for a file that is not Parquet, lacks a key column, or has a column of a type that no property can have.
    pub fn new(file: File) -> Result<Self> {
        let file = SerializedFileReader::new(file).map_err(failure)?;
        let schema = file.metadata().file_metadata().schema_descr();
        let columns: Vec<Source> = schema.columns().iter().map(|column| source(column)).collect::<Result<_>>()?;
        for (key, source) in [("PartitionKey", Source::PartitionKey), ("RowKey", Source::RowKey)] {
            if !columns.contains(&source) {
                return Err(FileError::Refused(format!("the Parquet file has no column `{key}`; both keys are required")));
            }
        }
        let (open, ready) = (Vec::new(), Vec::new().into_iter());
        Ok(Self { file, columns, group: 0, open, left: 0, batch: 0, ready })
    }

    /// Returns the number of rows and the checksum in the footer, if `tables export` wrote the file.
    #[must_use]
    pub fn recorded(&self) -> Option<(u64, String)> {
        let entries = self.file.metadata().file_metadata().key_value_metadata()?;
        let entry = |name: &str| entries.iter().find(|entry| entry.key == name)?.value.clone();
        Some((entry(ROWS)?.parse().ok()?, entry(CHECKSUM)?))
    }

    /// Opens the next group. Returns `false` at the end.
    fn next_group(&mut self) -> Result<bool> {
        if self.group == self.file.num_row_groups() {
            return Ok(false);
        }
        let group = self.file.get_row_group(self.group).map_err(failure)?;
        let (rows, bytes) = (group.metadata().num_rows(), group.metadata().total_byte_size());
        let damage = || FileError::Refused("the Parquet file is damaged: a group has a negative size".to_owned());
        self.left = usize::try_from(rows).map_err(|_| damage())?;
        let average = u64::try_from(bytes).map_err(|_| damage())? / (self.left as u64).max(1);
        self.batch = usize::try_from(BATCH_BYTES / average.max(1)).unwrap_or(BATCH_ROWS).clamp(1, BATCH_ROWS);
        let columns = 0..self.columns.len();
        self.open = columns.map(|at| group.get_column_reader(at)).collect::<Result<_, _>>().map_err(failure)?;
        self.group += 1;
        Ok(true)
    }

    /// Decodes the next batch. Returns `false` at the end.
    fn next_batch(&mut self) -> Result<bool> {
        while self.left == 0 {
            if !self.next_group()? {
                return Ok(false);
            }
        }
        let rows = self.left.min(self.batch);
        self.left -= rows;
        let mut drafts = vec![Draft::default(); rows];
        for (reader, source) in self.open.iter_mut().zip(&self.columns) {
            let column = Rows::read(reader, rows).map_err(failure)?;
            let mut values = column.values.into_values(source.kind());
            for (draft, _) in drafts.iter_mut().zip(&column.levels).filter(|(_, level)| **level > 0) {
                let value = values.next().ok_or_else(|| {
                    FileError::Refused("the Parquet file is damaged: a column has fewer values than rows".to_owned())
                })?;
                draft.set(source, value);
            }
        }
        self.ready = drafts.into_iter().map(Draft::finish).collect::<Vec<_>>().into_iter();
        Ok(true)
    }
}

impl Iterator for ParquetReader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.ready.next() {
                return Some(Ok(record));
            }
            match self.next_batch() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    // A damaged file has no further records.
                    (self.left, self.group) = (0, self.file.num_row_groups());
                    return Some(Err(error));
                }
            }
        }
    }
}

/// A row whose values are being collected.
#[derive(Clone, Debug, Default)]
struct Draft {
    partition_key: Option<String>,
    row_key: Option<String>,
    properties: Vec<(String, Value)>,
    fault: Option<String>,
}

impl Draft {
    fn set(&mut self, source: &Source, value: Result<Value, &'static str>) {
        match (source, value) {
            (Source::Ignored, _) => {}
            (Source::PartitionKey, Ok(Value::String(key))) => self.partition_key = Some(key),
            (Source::RowKey, Ok(Value::String(key))) => self.row_key = Some(key),
            (Source::Property(name, _), Ok(_)) if self.properties.iter().any(|(known, _)| known == name) => {
                self.fault = Some(format!("property `{name}` has values in two columns"));
            }
            (Source::Property(name, _), Ok(value)) => self.properties.push((name.clone(), value)),
            (Source::Property(name, _), Err(reason)) => self.fault = Some(format!("property `{name}`: {reason}")),
            (Source::PartitionKey | Source::RowKey, _) => self.fault = Some("a key is not UTF-8".to_owned()),
        }
    }

    fn finish(self) -> Record {
        let rejected = |reason: String| Rejected { line: 0, column: 0, reason };
        let (Some(partition), Some(row)) = (self.partition_key, self.row_key) else {
            return Err(rejected(self.fault.unwrap_or_else(|| "a key is null".to_owned())));
        };
        if let Some(fault) = self.fault {
            return Err(rejected(format!("('{partition}', '{row}'): {fault}")));
        }
        let mut entity =
            TableEntity::new(partition, row).map_err(|error| rejected(error.to_string()))?;
        for (name, value) in self.properties {
            entity.insert(name, value);
        }
        Ok(entity)
    }
}

impl Source {
    fn kind(&self) -> Kind {
        match self {
            Self::Property(_, kind) => *kind,
            Self::PartitionKey | Self::RowKey => Kind::Text,
            Self::Ignored => Kind::Number,
        }
    }
}

impl Values {
    /// Returns the values of properties, in order.
    fn into_values(self, kind: Kind) -> Box<dyn Iterator<Item = Result<Value, &'static str>>> {
        match self {
            Self::Bytes(values) => Box::new(values.into_iter().map(move |bytes| of_bytes(kind, bytes.data()))),
            Self::Fixed(values) => Box::new(values.into_iter().map(move |bytes| of_bytes(kind, bytes.data()))),
            Self::Int32(values) => Box::new(values.into_iter().map(move |number| match kind {
                Kind::Unsigned => Ok(Value::Int64(i64::from(number.cast_unsigned()))),
                Kind::Days => of_instant(instant(i64::from(number) * 86_400, 1)),
                _ => Ok(Value::Int32(number)),
            })),
            Self::Int64(values) => Box::new(values.into_iter().map(move |number| of_int64(kind, number))),
            Self::Int96(values) => {
                Box::new(values.into_iter().map(|number| of_instant(instant(number.to_nanos(), 1_000_000_000))))
            }
            Self::Float(values) => Box::new(values.into_iter().map(|number| Ok(Value::Double(number.into())))),
            Self::Double(values) => Box::new(values.into_iter().map(|number| Ok(Value::Double(number)))),
            Self::Boolean(values) => Box::new(values.into_iter().map(|truth| Ok(Value::Boolean(truth)))),
        }
    }
}

fn of_bytes(kind: Kind, bytes: &[u8]) -> Result<Value, &'static str> {
    match kind {
        Kind::Text => {
            std::str::from_utf8(bytes).map(|text| Value::String(text.to_owned())).map_err(|_| "the text is not UTF-8")
        }
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

fn of_instant(instant: Option<chrono::DateTime<chrono::Utc>>) -> Result<Value, &'static str> {
    instant.map(Value::DateTime).ok_or("the instant is outside the years 1 to 9999")
}

/// Returns the role of a column.
fn source(column: &ColumnDescriptor) -> Result<Source> {
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
        let help = || FileError::Refused(format!("column `{name}` has numbers or bytes; keys are strings, so cast it"));
        return (kind == Kind::Text).then_some(key).ok_or_else(help);
    }
    let property = name.split_once('@').map_or(name.as_str(), |(property, _)| property);
    Ok(Source::Property(property.to_owned(), kind))
}

fn kind(column: &ColumnDescriptor, name: &str) -> Result<Kind> {
    use parquet::basic::ConvertedType as Old;
    let (logical, old) = (column.logical_type_ref(), column.converted_type());
    Ok(match (column.physical_type(), logical) {
        (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Json | LogicalType::Enum)) => Kind::Text,
        (Physical::BYTE_ARRAY, None) if matches!(old, Old::UTF8 | Old::JSON | Old::ENUM) => Kind::Text,
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)) => Kind::Guid,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, None | Some(LogicalType::Bson)) if old != Old::DECIMAL => {
            Kind::Bytes
        }
        (Physical::INT32, Some(LogicalType::Date)) => Kind::Days,
        (Physical::INT32, None) if old == Old::DATE => Kind::Days,
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(int)))
            if !int.is_signed && int.bit_width >= 32 =>
        {
            Kind::Unsigned
        }
        (Physical::INT32 | Physical::INT64, None) if matches!(old, Old::UINT_32 | Old::UINT_64) => Kind::Unsigned,
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
