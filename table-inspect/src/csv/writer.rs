//! A writer for CSV files.

use std::io::Write;

use table_core::TableEntity;

use crate::csv::TYPE;
use crate::csv::columns::{Columns, KEYS};
use crate::record::{FileError, Result};
use crate::value;

/// A CSV writer for entities, with a fixed set of columns.
#[expect(missing_debug_implementations, reason = "contains a writer without `Debug`")]
pub struct CsvWriter<W: Write> {
    columns: Columns,
    out: csv::Writer<W>,
    has_header: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer that starts with a header line.
    pub fn new(out: W, columns: Columns) -> Self {
        Self { columns, out: csv::Writer::from_writer(out), has_header: false }
    }

    /// Creates a writer that continues an existing file, without a header.
    pub fn continuing(out: W, columns: Columns) -> Self {
        Self { has_header: true, ..Self::new(out, columns) }
    }

    fn begin(&mut self) -> Result<()> {
        self.columns.check()?;
        if !std::mem::replace(&mut self.has_header, true) {
            let properties = self.columns.names().flat_map(|name| [name.to_owned(), format!("{name}{TYPE}")]);
            self.out.write_record(KEYS.map(str::to_owned).into_iter().chain(properties))?;
        }
        Ok(())
    }

    /// Writes one entity. For an absent property, the value and the type are empty. For an empty string, only the value is empty.
    ///
    /// # Errors
    /// - `Refused` if a property has no column, because an export must not lose values.
    /// - `Refused` if [`Columns::check`] fails.
    /// - `Io` if the output fails.
    pub fn write(&mut self, entity: &TableEntity) -> Result<()> {
        self.begin()?;
        let (partition, row) = (entity.key().partition_key.as_str(), entity.key().row_key.as_str());
        let mut values = vec![None; self.columns.names().len()];
        for (name, value) in entity.iter() {
            if let Some(found) = self.columns.position(name).and_then(|at| values.get_mut(at)) {
                *found = Some(value);
                continue;
            }
            return Err(FileError::Refused(format!(
                "property `{name}` of ('{partition}', '{row}') has no column; select it, or, if the table changed while it was \
                 exported, export it again"
            )));
        }
        let timestamp = entity.timestamp().map(|at| value::show(&at.into())).unwrap_or_default();
        let keys = [partition.to_owned(), row.to_owned(), timestamp];
        let cells = values.into_iter().flat_map(|value| match value {
            Some(found) => [value::show(found), found.edm_type().name().to_owned()],
            None => [String::new(), String::new()],
        });
        self.out.write_record(keys.into_iter().chain(cells))?;
        Ok(())
    }

    /// Writes the header if no entity has been written. Returns the output.
    ///
    /// # Errors
    /// - `Refused` if [`Columns::check`] fails.
    /// - `Io` if the output fails.
    pub fn finish(mut self) -> Result<W> {
        self.begin()?;
        self.out.into_inner().map_err(|error| error.into_error().into())
    }
}
