//! Reads Parquet files that `tables export` wrote, and flat files that other programs wrote.

use std::fs::File;

use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use table_core::{TableEntity, Value};
use table_inspect::record::{FileError, Record, Rejected, Result};

use crate::parquet::column::Rows;
use crate::parquet::source::{Source, source};
use crate::parquet::{CHECKSUM, ROWS, decode};

/// The maximum number of rows that are decoded at once.
const BATCH_ROWS: usize = 1_024;
/// The approximate number of bytes that are decoded at once, estimated from the average row size in a row group.
const BATCH_BYTES: u64 = 8 << 20;

/// An iterator over the records in a Parquet file. It keeps one page of each column and one batch of entities in memory.
#[expect(missing_debug_implementations, reason = "contains a reader without `Debug`")]
pub struct ParquetReader {
    file: SerializedFileReader<File>,
    columns: Vec<Source>,
    /// The number of the next row group.
    group: usize,
    /// The column readers of the current row group.
    open: Vec<ColumnReader>,
    /// The number of remaining rows in the current row group.
    left: usize,
    /// The maximum number of rows in a batch.
    batch: usize,
    ready: std::vec::IntoIter<Record>,
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
        let (open, ready) = (Vec::new(), Vec::new().into_iter());
        Ok(Self { file, columns, group: 0, open, left: 0, batch: 0, ready })
    }

    /// Returns the row count and the checksum from the footer, or `None` if the footer does not contain them.
    #[must_use]
    pub fn recorded(&self) -> Option<(u64, String)> {
        let entries = self.file.metadata().file_metadata().key_value_metadata()?;
        let entry = |name: &str| entries.iter().find(|entry| entry.key == name)?.value.clone();
        Some((entry(ROWS)?.parse().ok()?, entry(CHECKSUM)?))
    }

    /// Returns the number of decoded entities in memory.
    #[cfg(test)]
    pub(super) fn decoded(&self) -> usize {
        self.ready.len()
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
        let (rows, bytes) = (group.metadata().num_rows(), group.metadata().total_byte_size());
        let damage =
            || FileError::Refused("the Parquet file is damaged: a group has a negative size".to_owned());
        self.left = usize::try_from(rows).map_err(|_| damage())?;
        let average = u64::try_from(bytes).map_err(|_| damage())? / (self.left as u64).max(1);
        self.batch = usize::try_from(BATCH_BYTES / average.max(1)).unwrap_or(BATCH_ROWS).clamp(1, BATCH_ROWS);
        let columns = 0..self.columns.len();
        self.open = decode(|| columns.map(|at| group.get_column_reader(at)).collect())?;
        self.group += 1;
        Ok(true)
    }

    /// Decodes the next batch of rows. Returns `false` at the end of the file.
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
            let column = decode(|| Rows::read(reader, rows))?;
            let mut values = column.values.into_values(source.kind());
            for (draft, _) in drafts.iter_mut().zip(&column.levels).filter(|(_, level)| **level > 0) {
                let value = values.next().ok_or_else(|| {
                    FileError::Refused(
                        "the Parquet file is damaged: a column has fewer values than rows".to_owned(),
                    )
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
                    // After damage is detected, no more records are read from the file.
                    (self.left, self.group) = (0, self.file.num_row_groups());
                    return Some(Err(error));
                }
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
            (Source::Property(name, _), Err(reason)) => {
                self.fault = Some(format!("property `{name}`: {reason}"));
            }
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
        let mut entity = TableEntity::new(partition, row).map_err(|error| rejected(error.to_string()))?;
        for (name, value) in self.properties {
            entity.insert(name, value);
        }
        Ok(entity)
    }
}
