//! The values that are read from one column of a row group.

use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;

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
