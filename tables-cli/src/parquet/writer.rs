//! Writes Parquet files.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use table_core::{EdmType, TableEntity, Value};
use table_inspect::record::{FileError, Result};

use crate::parquet::collected::Collected;
use crate::parquet::column::Values;
use crate::parquet::layout::Layout;
use crate::parquet::value::{Cell, Form, nanos};
use crate::parquet::{CHECKSUM, ROWS, failure};
use crate::transfer::checksum::Checksum;

/// Once a row group has this many rows, it is written.
const GROUP_ROWS: usize = 100_000;
/// Once a row group's values reach this total size, in bytes, the group is written.
const GROUP_BYTES: usize = 32 << 20;

/// A writer that writes entities as Parquet with a fixed set of columns. It keeps one row group in memory.
#[expect(missing_debug_implementations, reason = "contains a writer without `Debug`")]
pub struct ParquetWriter<W: Write + Send> {
    layout: Layout,
    file: SerializedFileWriter<W>,
    group: Vec<Collected>,
    rows: usize,
    bytes: usize,
    checksum: Checksum,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Creates a writer, and writes the header of the file.
    ///
    /// # Errors
    /// `Io` if the output fails.
    pub fn new(out: W, layout: Layout) -> Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = layout.schema().map_err(failure)?;
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failure)?;
        let group = layout.columns.iter().map(|column| Collected::new(empty(column.form))).collect();
        Ok(Self { layout, file, group, rows: 0, bytes: 0, checksum: Checksum::default() })
    }

    /// Adds one entity.
    ///
    /// # Errors
    /// `Refused` if a value has no column, because an export must not lose values. `Io` if the output fails.
    pub fn write(&mut self, entity: &TableEntity) -> Result<()> {
        let (partition, row) = (entity.key().partition_key.as_str(), entity.key().row_key.as_str());
        self.push(0, Cell::Bytes(partition.as_bytes()));
        self.push(1, Cell::Bytes(row.as_bytes()));
        if let Some(timestamp) = entity.timestamp().and_then(nanos) {
            self.push(2, Cell::Int64(timestamp));
        }
        for (name, value) in entity.iter() {
            let encoded = self.layout.of(name).find_map(|(at, form)| Some((at, form.encode(value)?)));
            let Some((at, cell)) = encoded else { return Err(no_column(name, value, entity)) };
            self.push(at, cell);
        }
        self.checksum.add(entity);
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.end_group() } else { Ok(()) }
    }

    fn push(&mut self, at: usize, cell: Cell<'_>) {
        // Each value needs additional memory for its row number and for a reference to its bytes.
        self.bytes += match cell {
            Cell::Bytes(bytes) => bytes.len() + 48,
            Cell::Fixed(_) => 64,
            _ => 16,
        };
        if let Some(column) = self.group.get_mut(at) {
            column.push(self.rows, cell);
        }
    }

    fn end_group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failure)?;
        let mut levels = vec![0; self.rows];
        for collected in &mut self.group {
            let Some(mut column) = group.next_column().map_err(failure)? else { break };
            collected.write(&mut levels, &mut column).map_err(failure)?;
            column.close().map_err(failure)?;
        }
        group.close().map_err(failure)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Returns the number of values for which memory is allocated.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.group.iter().map(Collected::capacity).sum()
    }

    /// Writes the last row group and the footer. Returns the output.
    ///
    /// # Errors
    /// `Io` if the output fails.
    pub fn finish(mut self) -> Result<W> {
        self.end_group()?;
        for (name, value) in [(ROWS, self.checksum.count.to_string()), (CHECKSUM, self.checksum.to_string())]
        {
            self.file.append_key_value_metadata(KeyValue::new(name.to_owned(), value));
        }
        self.file.into_inner().map_err(failure)
    }
}

/// Returns an empty list of values with the physical type of the given form.
const fn empty(form: Form) -> Values {
    match form {
        Form::Plain(EdmType::String | EdmType::Binary) => Values::Bytes(Vec::new()),
        Form::Plain(EdmType::Guid) => Values::Fixed(Vec::new()),
        Form::Plain(EdmType::Int32) => Values::Int32(Vec::new()),
        Form::Plain(EdmType::Double) => Values::Double(Vec::new()),
        Form::Plain(EdmType::Boolean) => Values::Boolean(Vec::new()),
        Form::Plain(EdmType::Int64 | EdmType::DateTime) | Form::Nanos | Form::Micros | Form::Ticks => {
            Values::Int64(Vec::new())
        }
    }
}

fn no_column(name: &str, value: &Value, entity: &TableEntity) -> FileError {
    let (partition, row) = (entity.key().partition_key.as_str(), entity.key().row_key.as_str());
    FileError::Refused(format!(
        "property `{name}` of ('{partition}', '{row}') has no column for {}; the table changed while it was exported, so export it again",
        value.edm_type()
    ))
}
