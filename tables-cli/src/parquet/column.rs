//! The values that are read from one column of a row group.

use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;

/// The maximum number of rows decoded in one batch.
const BATCH_ROWS: usize = 1_024;
/// Once the decoded values take up this many bytes, no more values are added to the batch.
const BATCH_BYTES: usize = 1 << 20;
/// The maximum number of variable-length values that are decoded before the size of the batch is checked.
const STEP: usize = 16;

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
    /// Reads at least one and at most `left` rows from a column.
    pub(super) fn read(reader: &mut ColumnReader, left: usize) -> Result<Self, ParquetError> {
        let (rows, mut levels, mut read) = (left.min(BATCH_ROWS), Vec::new(), 0);
        macro_rules! values {
            ($reader:expr, $kind:path, $step:expr, $size:expr) => {{
                let (mut values, mut bytes) = (Vec::new(), 0);
                while read < rows && bytes < BATCH_BYTES {
                    let (step, before) = ((rows - read).min($step), values.len());
                    let (records, _, _) = $reader.read_records(step, Some(&mut levels), None, &mut values)?;
                    if records == 0 {
                        return Err(ParquetError::EOF(format!("a column lacks {} rows", left - read)));
                    }
                    read += records;
                    bytes += values.iter().skip(before).map($size).sum::<usize>();
                }
                $kind(values)
            }};
            ($reader:expr, $kind:path) => {
                values!($reader, $kind, BATCH_ROWS, |_| 0_usize)
            };
        }
        let values = match reader {
            ColumnReader::BoolColumnReader(reader) => values!(reader, Values::Boolean),
            ColumnReader::Int32ColumnReader(reader) => values!(reader, Values::Int32),
            ColumnReader::Int64ColumnReader(reader) => values!(reader, Values::Int64),
            ColumnReader::Int96ColumnReader(reader) => values!(reader, Values::Int96),
            ColumnReader::FloatColumnReader(reader) => values!(reader, Values::Float),
            ColumnReader::DoubleColumnReader(reader) => values!(reader, Values::Double),
            ColumnReader::ByteArrayColumnReader(reader) => {
                values!(reader, Values::Bytes, STEP, ByteArray::len)
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                values!(reader, Values::Fixed, STEP, |value: &FixedLenByteArray| value.len())
            }
        };
        // The values of a required column have no definition levels.
        levels.resize(read, 1);
        Ok(Self { values, levels })
    }
}
