//! The values that are collected for one column of a row group before the group is written.

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

use crate::parquet::column::Values;
use crate::parquet::value::Cell;

/// The collected values of a column and the numbers of their rows. A row without a value needs no memory. This matters for a table with many property names: it
/// has many columns, most of which have no value in most rows.
#[derive(Debug)]
pub(super) struct Collected {
    values: Values,
    /// The row number of each value, in ascending order.
    rows: Vec<usize>,
}

impl Collected {
    /// Creates an empty column for values of the same type as `values`.
    pub(super) const fn new(values: Values) -> Self {
        Self { values, rows: Vec::new() }
    }

    /// Adds the value of a row, where rows are numbered from 0. Rows that were skipped since the last call have no value.
    pub(super) fn push(&mut self, row: usize, cell: Cell<'_>) {
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
            _ => return,
        }
        self.rows.push(row);
    }

    /// Writes the column, and releases the memory of its values. `levels` is a buffer with one level per row of the group; its content is overwritten.
    pub(super) fn write(
        &mut self,
        levels: &mut [i16],
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        levels.fill(0);
        for row in std::mem::take(&mut self.rows) {
            if let Some(level) = levels.get_mut(row) {
                *level = 1;
            }
        }
        let levels = Some(&*levels);
        match &mut self.values {
            Values::Bytes(values) => {
                column.typed::<ByteArrayType>().write_batch(&std::mem::take(values), levels, None)?;
            }
            Values::Fixed(values) => {
                column.typed::<FixedLenByteArrayType>().write_batch(&std::mem::take(values), levels, None)?;
            }
            Values::Int32(values) => {
                column.typed::<Int32Type>().write_batch(&std::mem::take(values), levels, None)?;
            }
            Values::Int64(values) => {
                column.typed::<Int64Type>().write_batch(&std::mem::take(values), levels, None)?;
            }
            Values::Double(values) => {
                column.typed::<DoubleType>().write_batch(&std::mem::take(values), levels, None)?;
            }
            Values::Boolean(values) => {
                column.typed::<BoolType>().write_batch(&std::mem::take(values), levels, None)?;
            }
            Values::Int96(_) | Values::Float(_) => {
                return Err(ParquetError::General("a type that is only read".to_owned()));
            }
        }
        Ok(())
    }

    /// Returns the number of values for which memory is allocated.
    #[cfg(test)]
    pub(super) const fn capacity(&self) -> usize {
        let values = match &self.values {
            Values::Bytes(values) => values.capacity(),
            Values::Fixed(values) => values.capacity(),
            Values::Int32(values) => values.capacity(),
            Values::Int64(values) => values.capacity(),
            Values::Int96(values) => values.capacity(),
            Values::Float(values) => values.capacity(),
            Values::Double(values) => values.capacity(),
            Values::Boolean(values) => values.capacity(),
        };
        values + self.rows.capacity()
    }
}
