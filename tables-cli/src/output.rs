//! The output of commands, in one format for human readers and two formats for programs.

mod grid;

use std::io::Write;

use serde_json::json;
use table_core::query::Select;
use table_core::schema::StoredSchema;
use table_core::{DynTableStore, TableEntity, TableName};

use crate::failure::{Failure, Result};
use crate::terminal::{json_text, print_line};
pub use grid::Grid;
use table_inspect::csv::{Columns, CsvWriter};
use table_inspect::keys;
use table_inspect::kind::Kinds;

/// The format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table that fits the width of the terminal.
    #[default]
    Table,
    /// One JSON object per line; entities in the service's format, with types; other rows with strings.
    Json,
    /// Comma-separated values with typed columns, as Storage Explorer reads and writes them.
    Csv,
}

impl Format {
    /// Returns the schemas that name the key parts of a table's rows in the output. The formats for programs show the stored keys and need no schema.
    ///
    /// If this version cannot read one of the schemas, prints a note and returns no schemas, because rows of the unreadable schema could match a readable one.
    pub(crate) async fn schemas(
        self,
        store: &DynTableStore,
        table: &TableName,
    ) -> Result<Vec<(String, StoredSchema)>> {
        if self != Self::Table {
            return Ok(Vec::new());
        }
        let mut schemas = Vec::new();
        for stored in keys::stored_schemas(store).await? {
            if !stored.may_describe(table) {
                continue;
            }
            match stored.schema {
                Ok(schema) => schemas.push((stored.table, schema)),
                Err(error) => {
                    let schema = format_args!("the schema of {} in {}", stored.entity, stored.table);
                    print_line(format_args!(
                        "note: {schema} cannot be read, so the keys of {table} are shown as they are stored: {error}"
                    ));
                    return Ok(Vec::new());
                }
            }
        }
        Ok(schemas)
    }
}

/// The maximum number of rows buffered for alignment. Only rows in the same group of this size are aligned with each other.
const GRID_ROWS: usize = 1_000;
/// The maximum number of rows in CSV output. All rows are buffered, because the columns are not known before the last row.
const CSV_ROWS: usize = 10_000;

/// A writer that formats entities as they arrive. It keeps at most 10,000 rows in memory.
#[expect(missing_debug_implementations, reason = "contains a writer without `Debug`")]
pub struct Entities<'a> {
    format: Format,
    out: &'a mut dyn Write,
    /// The kinds of rows in the table, or `None` if a table shows the stored keys.
    kinds: Option<Kinds<'a>>,
    shown: Select,
    grid: Grid,
    held: Vec<TableEntity>,
}

impl<'a> Entities<'a> {
    /// Creates a writer. If `kinds` is `None`, a table shows the stored keys instead of their parts.
    pub fn new(format: Format, out: &'a mut dyn Write, kinds: Option<Kinds<'a>>) -> Self {
        Self { format, out, kinds, shown: Select::All, grid: Grid::default(), held: Vec::new() }
    }

    /// Makes a table show only these properties. Other formats contain all properties of the entities.
    #[must_use]
    pub fn showing(self, shown: Select) -> Self {
        Self { shown, ..self }
    }

    /// Writes one entity, or buffers it until the columns are known.
    ///
    /// # Errors
    /// `Refused` if CSV output has more than 10,000 rows. `File` if the output cannot be written.
    pub fn push(&mut self, entity: TableEntity) -> Result<()> {
        match self.format {
            Format::Json => {
                let json = json_text(&entity).map_err(Failure::file("-"))?;
                writeln!(self.out, "{json}").map_err(Failure::file("-"))
            }
            Format::Table => {
                self.grid.push(&entity, self.kinds.as_ref(), &self.shown);
                if self.grid.len() < GRID_ROWS {
                    return Ok(());
                }
                write!(self.out, "{}", std::mem::take(&mut self.grid)).map_err(Failure::file("-"))
            }
            Format::Csv if self.held.len() >= CSV_ROWS => Err(Failure::Refused(format!(
                "the columns of more than {CSV_ROWS} rows are not known before the last one; use `tables export TABLE - --format csv`"
            ))),
            Format::Csv => {
                self.held.push(entity);
                Ok(())
            }
        }
    }

    /// Writes all buffered entities.
    ///
    /// # Errors
    /// `File` if the output cannot be written.
    pub fn finish(self) -> Result<()> {
        match self.format {
            Format::Json => Ok(()),
            Format::Table => write!(self.out, "{}", self.grid).map_err(Failure::file("-")),
            Format::Csv => {
                let mut csv = CsvWriter::new(Vec::new(), Columns::of(&self.held));
                for entity in &self.held {
                    csv.write(entity)?;
                }
                self.out.write_all(&csv.finish()?).map_err(Failure::file("-"))
            }
        }
    }
}

/// A writer for rows of strings. It writes a table for human readers, or JSON lines or CSV for programs, and keeps at most 1,000 rows in memory.
#[expect(missing_debug_implementations, reason = "contains a writer without `Debug`")]
pub struct Rows<'a> {
    format: Format,
    out: &'a mut dyn Write,
    names: &'a [&'a str],
    /// The unique column names, used as JSON keys and CSV headings.
    distinct: Vec<String>,
    held: Vec<Vec<String>>,
    is_begun: bool,
}

impl<'a> Rows<'a> {
    /// Creates a writer for rows with the given columns.
    pub fn new(format: Format, out: &'a mut dyn Write, names: &'a [&'a str]) -> Self {
        Self { format, out, names, distinct: distinct(names), held: Vec::new(), is_begun: false }
    }

    /// Writes a row, or buffers it until the column widths are known.
    ///
    /// # Errors
    /// `File` if the output cannot be written.
    pub fn push(&mut self, row: Vec<String>) -> Result<()> {
        self.held.push(row);
        if self.held.len() < GRID_ROWS { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.held);
        let text = match self.format {
            Format::Table => grid::plain(self.names, &rows),
            Format::Json => {
                let mut text = String::new();
                for row in &rows {
                    let pairs = self.distinct.iter().zip(row);
                    let object: serde_json::Map<_, _> =
                        pairs.map(|(name, value)| (name.clone(), json!(value))).collect();
                    text.push_str(&json_text(&object).map_err(Failure::file("-"))?);
                    text.push('\n');
                }
                text
            }
            Format::Csv => {
                let header = (!self.is_begun).then(|| self.distinct.clone());
                let mut csv = ::csv::Writer::from_writer(Vec::new());
                let written =
                    header.into_iter().chain(rows).try_for_each(|row: Vec<String>| csv.write_record(row));
                written.map_err(|error| Failure::file("-")(error.into()))?;
                let bytes = csv.into_inner().map_err(|error| Failure::file("-")(error.into_error()))?;
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        self.is_begun = true;
        self.out.write_all(text.as_bytes()).map_err(Failure::file("-"))
    }

    /// Writes all buffered rows.
    ///
    /// # Errors
    /// `File` if the output cannot be written.
    pub fn finish(mut self) -> Result<()> {
        if self.held.is_empty() && self.is_begun { Ok(()) } else { self.write() }
    }
}

/// Returns unique column names. A number is appended to a repeated name, as in `RowKey_2`. Numbers that would result in the name of another column are skipped.
fn distinct(names: &[&str]) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let unused = numbered.filter(|numbered| !names.contains(&numbered.as_str()));
        let mut candidates = std::iter::once((*name).to_owned()).chain(unused);
        distinct.extend(candidates.find(|candidate| !distinct.contains(candidate)));
    }
    distinct
}

/// Writes rows of strings with the given column names.
///
/// # Errors
/// `File` if the output cannot be written.
pub fn rows(format: Format, out: &mut dyn Write, names: &[&str], rows: &[Vec<String>]) -> Result<()> {
    let mut written = Rows::new(format, out, names);
    rows.iter().try_for_each(|row| written.push(row.clone()))?;
    written.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_raw_control_characters() {
        let (mut entities, mut table) = (Vec::new(), Vec::new());
        let text = "\u{1b}[31m\u{7f}\u{80}\u{9b}é";
        let mut written = Entities::new(Format::Json, &mut entities, None);
        written.push(TableEntity::new("p", "r").unwrap().with("A", text)).unwrap();
        written.finish().unwrap();
        rows(Format::Json, &mut table, &["A"], &[vec![text.to_owned()]]).unwrap();
        for written in [entities, table] {
            let json = String::from_utf8(written).unwrap();
            assert!(json.trim_end().chars().all(|character| !character.is_control()), "{json:?}");
            let read: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(read["A"], text);
        }
    }

    #[test]
    fn columns_of_equal_names_all_reach_a_program() {
        let written = |format| {
            let mut out = Vec::new();
            let row = ["1", "2", "3", "4"].map(str::to_owned).to_vec();
            rows(format, &mut out, &["RowKey", "RowKey", "RowKey_2", "RowKey"], &[row]).unwrap();
            String::from_utf8(out).unwrap()
        };
        let object: serde_json::Value = serde_json::from_str(&written(Format::Json)).unwrap();
        let expected = json!({ "RowKey": "1", "RowKey_3": "2", "RowKey_2": "3", "RowKey_4": "4" });
        assert_eq!(object, expected);
        assert_eq!(written(Format::Csv), "RowKey,RowKey_3,RowKey_2,RowKey_4\n1,2,3,4\n");
    }
}
