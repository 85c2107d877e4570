//! Reads Parquet files that `tables export` wrote, and flat files that other programs wrote.

use std::collections::HashMap;
use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use table_core::limits::Limits;
use table_core::{TableEntity, Value};
use table_inspect::record::{FileError, Record, Rejected, Result};

use crate::parquet::cursor::Cursor;
use crate::parquet::source::{MOST_BYTES, Source, source};
use crate::parquet::{CHECKSUM, ROWS, decode};

/// The maximum number of properties in a row. No store accepts more.
const MOST_PROPERTIES: usize = Limits::UNLIMITED.properties;

/// An iterator over the records in a Parquet file. It keeps one page and up to 1,024 values of each column in memory, and one entity.
#[expect(missing_debug_implementations, reason = "contains a reader without `Debug`")]
pub struct ParquetReader {
    file: SerializedFileReader<File>,
    columns: Vec<Source>,
    /// For each column, the number of its property. Columns of the same property have the same number.
    properties: Vec<usize>,
    /// For each property, the number of the last row that has a value, counted from 1.
    seen: Vec<u64>,
    /// The number of rows read so far.
    row: u64,
    /// The number of the next row group.
    group: usize,
    /// The positions in the columns of the current row group.
    open: Vec<Cursor>,
    /// The number of remaining rows in the current row group.
    left: usize,
}

impl ParquetReader {
    /// Opens a Parquet file and checks its columns.
    ///
    /// # Errors
    /// `Refused` if the file is not a Parquet file, lacks a key column, or has a column of a type that no property can have.
    pub fn new(file: File) -> Result<Self> {
        let file = decode(|| SerializedFileReader::new(file))?;
        let schema = file.metadata().file_metadata().schema_descr();
        let columns: Vec<Source> =
            schema.columns().iter().map(|column| source(column)).collect::<Result<_>>()?;
        for (key, source) in [("PartitionKey", Source::PartitionKey), ("RowKey", Source::RowKey)] {
            if !columns.contains(&source) {
                return Err(FileError::Refused(format!(
                    "the Parquet file has no column `{key}`; both keys are required"
                )));
            }
        }
        let (properties, count) = number_properties(&columns);
        let seen = vec![0; count];
        Ok(Self { file, columns, properties, seen, row: 0, group: 0, open: Vec::new(), left: 0 })
    }

    /// Returns the row count and the checksum from the footer, or `None` if the footer does not contain them.
    #[must_use]
    pub fn recorded(&self) -> Option<(u64, String)> {
        let entries = self.file.metadata().file_metadata().key_value_metadata()?;
        let entry = |name: &str| entries.iter().find(|entry| entry.key == name)?.value.clone();
        Some((entry(ROWS)?.parse().ok()?, entry(CHECKSUM)?))
    }

    /// Returns the smallest number of decoded values that any open column holds in memory.
    #[cfg(test)]
    pub(super) fn decoded(&self) -> usize {
        self.open.iter().map(Cursor::decoded).min().unwrap_or_default()
    }

    /// Returns the number of row groups in the file.
    #[cfg(test)]
    pub(super) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Opens the next row group. Returns `false` at the end of the file.
    fn next_group(&mut self) -> Result<bool> {
        if self.group == self.file.num_row_groups() {
            return Ok(false);
        }
        let group = decode(|| self.file.get_row_group(self.group))?;
        let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| {
            FileError::Refused("the Parquet file is damaged: a group has a negative size".to_owned())
        })?;
        let open = self.columns.iter().enumerate().map(|(at, source)| {
            let reader = group.get_column_reader(at);
            reader.map(|reader| Cursor::new(reader, source.kind(), rows))
        });
        self.open = decode(|| open.collect())?;
        self.left = rows;
        self.group += 1;
        Ok(true)
    }

    /// Reads the next row. Returns `None` at the end of the file.
    fn next_row(&mut self) -> Result<Option<Record>> {
        while self.left == 0 {
            if !self.next_group()? {
                return Ok(None);
            }
        }
        self.left -= 1;
        self.row += 1;
        let mut draft = Draft::default();
        for ((cursor, source), property) in self.open.iter_mut().zip(&self.columns).zip(&self.properties) {
            let Some(value) = cursor.next()? else { continue };
            let last = self.seen.get_mut(*property).map(|seen| std::mem::replace(seen, self.row));
            draft.set(source, value, last == Some(self.row));
        }
        Ok(Some(draft.finish()))
    }
}

/// Numbers the properties. Returns the number for each column, and the count of different numbers. All columns without a property share a number.
fn number_properties(columns: &[Source]) -> (Vec<usize>, usize) {
    let (mut numbers, mut properties) = (HashMap::<Option<&str>, usize>::new(), Vec::new());
    for column in columns {
        let next = numbers.len();
        properties.push(*numbers.entry(column.property()).or_insert(next));
    }
    (properties, numbers.len())
}

impl Iterator for ParquetReader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_row() {
            Ok(record) => record.map(Ok),
            Err(error) => {
                // After corruption is detected, no more records are read from the file.
                (self.left, self.group) = (0, self.file.num_row_groups());
                Some(Err(error))
            }
        }
    }
}

/// A row that is being assembled from the values of its columns.
#[derive(Clone, Debug, Default)]
struct Draft {
    partition_key: Option<String>,
    row_key: Option<String>,
    properties: Vec<(String, Value)>,
    /// The number of bytes of all values.
    bytes: usize,
    fault: Option<String>,
}

impl Draft {
    /// Sets the value of a column. `is_repeated` is `true` if an earlier column has a value of the same property.
    fn set(&mut self, source: &Source, value: Result<Value, &'static str>, is_repeated: bool) {
        self.bytes += match &value {
            Ok(Value::String(text)) => text.len(),
            Ok(Value::Binary(bytes)) => bytes.len(),
            _ => 0,
        };
        if self.bytes > MOST_BYTES {
            self.fault = Some("the row has more than 16 MiB".to_owned());
            return;
        }
        match (source, value) {
            (Source::Ignored, _) => {}
            (Source::PartitionKey, Ok(Value::String(key))) => self.partition_key = Some(key),
            (Source::RowKey, Ok(Value::String(key))) => self.row_key = Some(key),
            (Source::Property(name, _), Ok(_)) if is_repeated => {
                self.fault = Some(format!("property `{name}` has values in two columns"));
            }
            (Source::Property(..), Ok(_)) if self.properties.len() >= MOST_PROPERTIES => {
                self.fault = Some(format!(
                    "the row has more than {MOST_PROPERTIES} properties; no store accepts them"
                ));
            }
            (Source::Property(name, _), Ok(value)) => self.properties.push((name.clone(), value)),
            (Source::Property(name, _), Err(reason)) => {
                self.fault = Some(format!("property `{name}`: {reason}"));
            }
            (Source::PartitionKey | Source::RowKey, Err(reason)) => {
                self.fault = Some(format!("a key: {reason}"));
            }
            (Source::PartitionKey | Source::RowKey, Ok(_)) => {
                self.fault = Some("a key is not a string".to_owned());
            }
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
        let mut entity = TableEntity::new(partition, row).map_err(|error| rejected(error.to_string()))?;
        for (name, value) in self.properties {
            entity.insert(name, value);
        }
        Ok(entity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::source::Kind;

    #[test]
    fn a_row_with_more_properties_than_a_store_accepts_is_rejected() {
        for (count, is_accepted) in [(MOST_PROPERTIES, true), (MOST_PROPERTIES + 1, false)] {
            let mut draft = Draft::default();
            for number in 0..count {
                let source = Source::Property(format!("P{number}"), Kind::Number);
                draft.set(&source, Ok(Value::Boolean(true)), false);
            }
            assert_eq!(draft.fault.is_none(), is_accepted, "{count}: {:?}", draft.fault);
            assert_eq!(draft.properties.len(), MOST_PROPERTIES);
        }
    }
}
