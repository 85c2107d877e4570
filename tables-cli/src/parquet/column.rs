//! The values of one column in one row group.

use parquet::column::reader::ColumnReader;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type, Int96,
};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

use crate::parquet::value::Cell;

/// The values in a column, without nulls, in row order.
#[derive(Debug)]
pub(super) enum Values {
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Boolean(Vec<bool>),
}

/// The values of a column and its definition levels. The level is 1 for each row with a value, and 0 for each row without a value.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) values: Values,
    pub(super) levels: Vec<i16>,
}

impl Rows {
    pub(super) const fn new(values: Values) -> Self {
        Self { values, levels: Vec::new() }
    }

    /// Adds the value of a row, where rows are numbered from 0. Rows that were skipped since the last call have no value.
    pub(super) fn push(&mut self, row: usize, cell: Cell<'_>) {
        self.levels.resize(row, 0);
        self.levels.push(1);
        match (&mut self.values, cell) {
            (Values::Bytes(values), Cell::Bytes(bytes)) => values.push(ByteArray::from(bytes)),
            (Values::Fixed(values), Cell::Fixed(bytes)) => {
                values.push(FixedLenByteArray::from(ByteArray::from(bytes.as_slice())));
            }
            (Values::Int32(values), Cell::Int32(number)) => values.push(number),
            (Values::Int64(values), Cell::Int64(number)) => values.push(number),
            (Values::Double(values), Cell::Double(number)) => values.push(number),
            (Values::Boolean(values), Cell::Boolean(truth)) => values.push(truth),
            // This case cannot occur, because the form of a column (the representation of its values in the file) determines the type of its values.
            _ => {
                self.levels.pop();
            }
        }
    }

    /// Writes the column with `rows` rows, and clears it.
    pub(super) fn write(
        &mut self,
        rows: usize,
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        self.levels.resize(rows, 0);
        let levels = Some(self.levels.as_slice());
        match &mut self.values {
            Values::Bytes(values) => {
                column.typed::<ByteArrayType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Fixed(values) => {
                column.typed::<FixedLenByteArrayType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Int32(values) => {
                column.typed::<Int32Type>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Int64(values) => {
                column.typed::<Int64Type>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Double(values) => {
                column.typed::<DoubleType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Boolean(values) => {
                column.typed::<BoolType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Int96(_) | Values::Float(_) => {
                return Err(ParquetError::General("a type that is only read".to_owned()));
            }
        }
        self.levels.clear();
        Ok(())
    }

    /// Reads exactly `rows` rows from a column.
    pub(super) fn read(reader: &mut ColumnReader, rows: usize) -> Result<Self, ParquetError> {
        let mut levels = Vec::new();
        macro_rules! values {
            ($reader:expr, $kind:path) => {{
                let mut values = Vec::new();
                let mut read = 0;
                while read < rows {
                    let (records, _, _) =
                        $reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
                    if records == 0 {
                        return Err(ParquetError::EOF(format!("a column has {read} of {rows} rows")));
                    }
                    read += records;
                }
                $kind(values)
            }};
        }
        let values = match reader {
            ColumnReader::BoolColumnReader(reader) => values!(reader, Values::Boolean),
            ColumnReader::Int32ColumnReader(reader) => values!(reader, Values::Int32),
            ColumnReader::Int64ColumnReader(reader) => values!(reader, Values::Int64),
            ColumnReader::Int96ColumnReader(reader) => values!(reader, Values::Int96),
            ColumnReader::FloatColumnReader(reader) => values!(reader, Values::Float),
            ColumnReader::DoubleColumnReader(reader) => values!(reader, Values::Double),
            ColumnReader::ByteArrayColumnReader(reader) => values!(reader, Values::Bytes),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => values!(reader, Values::Fixed),
        };
        // The values of a required column have no definition levels.
        levels.resize(rows, 1);
        Ok(Self { values, levels })
    }
}
