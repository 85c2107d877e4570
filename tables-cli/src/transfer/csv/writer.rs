//! Writing CSV.

use std::io::Write;

use table_core::TableEntity;

use crate::failure::{Failure, Result};
use crate::transfer::csv::TYPE;
use table_inspect::value;

/// Writes entities as CSV with a fixed set of columns.
#[expect(missing_debug_implementations, reason = "contains a reader or writer without `Debug`")]
pub struct CsvWriter<W: Write> {
    columns: Vec<String>,
    out: csv::Writer<W>,
    is_begun: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer for these properties.
    pub fn new(out: W, columns: Vec<String>) -> Self {
        Self { columns, out: csv::Writer::from_writer(out), is_begun: false }
    }

    fn begin(&mut self) -> Result<()> {
        if self.is_begun {
            return Ok(());
        }
        self.is_begun = true;
        let keys = ["PartitionKey", "RowKey", "Timestamp"].map(str::to_owned);
        let header = keys
            .into_iter()
            .chain(self.columns.iter().flat_map(|name| [name.clone(), format!("{name}{TYPE}")]));
        self.out.write_record(header).map_err(|error| Failure::file("CSV")(error.into()))
    }

    /// Writes one entity. An absent property has an empty value and an empty type; an empty string has a type.
    ///
    /// # Errors
    /// `Refused` for a property that is not among the columns, because a file must not lose values; `File` if the output fails.
    pub fn write(&mut self, entity: &TableEntity) -> Result<()> {
        self.begin()?;
        if let Some((name, _)) =
            entity.iter().find(|(name, _)| !self.columns.iter().any(|known| known == name))
        {
            let (key, help) =
                (entity.key(), "the table changed while it was exported; run the command again");
            let (partition, row) = (key.partition_key.as_str(), key.row_key.as_str());
            let message = format!(
                "property `{name}` of ('{partition}', '{row}') has no column; name it in `--columns`, or: {help}"
            );
            return Err(Failure::Refused(message));
        }
        let timestamp = entity.timestamp().map(|at| value::show(&at.into())).unwrap_or_default();
        let keys = [
            entity.key().partition_key.as_str().to_owned(),
            entity.key().row_key.as_str().to_owned(),
            timestamp,
        ];
        let cells = self.columns.iter().flat_map(|name| match entity.get(name) {
            Some(found) => [value::show(found), found.edm_type().name().to_owned()],
            None => [String::new(), String::new()],
        });
        self.out
            .write_record(keys.into_iter().chain(cells))
            .map_err(|error| Failure::file("CSV")(error.into()))
    }

    /// Writes the header if there were no entities, and returns the output.
    ///
    /// # Errors
    /// `File` if the output fails.
    pub fn finish(mut self) -> Result<W> {
        self.begin()?;
        self.out.into_inner().map_err(|error| Failure::file("CSV")(error.into_error()))
    }
}
