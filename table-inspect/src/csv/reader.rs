//! A reader for CSV files.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;

use table_core::limits::Limits;
use table_core::{EdmType, TableEntity};

use crate::csv::TYPE;
use crate::csv::limited::{Limited, Watch};
use crate::record::{FileError, Record, Rejected, Result};
use crate::value;

/// The maximum number of properties per record. No store accepts more.
///
/// Each new property name is compared with all other names of the entity. The time to read a record is therefore quadratic in this number.
const MOST_PROPERTIES: usize = Limits::UNLIMITED.properties;

/// The types of columns without a `@type` column.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// The types of individual properties, by name.
    pub named: Vec<(String, EdmType)>,
    /// Determines the type of a column that is not in `named`. If `true`, the type of each value is guessed. If `false`, all values are strings.
    pub guess: bool,
}

/// An iterator over the records in a CSV file. It keeps one record of at most 4 MiB in memory.
#[expect(missing_debug_implementations, reason = "contains a reader without `Debug`")]
pub struct CsvReader<R: Read> {
    reader: csv::Reader<Limited<R>>,
    watch: Watch,
    header: Vec<Column>,
    types: Types,
    line: u64,
}

/// The role of a column in a CSV file.
enum Column {
    PartitionKey,
    RowKey,
    /// A type column, or a column whose values only the store sets.
    Ignored,
    /// A column without a name, whose cells must be empty.
    Unnamed,
    /// A property column, with the index of its type column if it has one.
    Property {
        name: String,
        types: Option<usize>,
    },
}

impl<R: Read> CsvReader<R> {
    /// Reads the header of a comma-separated file.
    ///
    /// # Errors
    /// - `Refused` if a key column is missing, a column occurs twice, or a type column has no value column.
    /// - `Io` if the input cannot be read.
    pub fn new(input: R, types: Types) -> Result<Self> {
        Self::separated(input, b',', types)
    }

    /// Reads the header of a file with the given cell separator. For example, cells copied from a spreadsheet are separated by tabs.
    ///
    /// # Errors
    /// Any error from [`new`](Self::new).
    pub fn separated(input: R, separator: u8, types: Types) -> Result<Self> {
        let watch = Watch::default();
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .delimiter(separator)
            .trim(csv::Trim::Headers)
            .from_reader(Limited::new(input, &watch));
        let mut names = reader.byte_headers()?.clone();
        if watch.is_after(reader.position().byte(), &names) {
            names.clear();
        } else if watch.is_beyond(reader.position().byte()) {
            return Err(FileError::Refused("a quote in the first line of the CSV is not closed".to_owned()));
        }
        refuse_encoding(&names)?;
        let names: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let name = if at == 0 { name.strip_prefix(b"\xef\xbb\xbf").unwrap_or(name) } else { name };
                String::from_utf8_lossy(name).into_owned()
            })
            .collect();
        // The index of the first column with each name.
        let (mut positions, mut repeated) = (HashMap::with_capacity(names.len()), None);
        for (at, name) in names.iter().enumerate() {
            match positions.entry(name.as_str()) {
                Entry::Vacant(free) => drop(free.insert(at)),
                Entry::Occupied(_) if repeated.is_none() && !name.is_empty() => repeated = Some((at, name)),
                Entry::Occupied(_) => {}
            }
        }
        for key in ["PartitionKey", "RowKey"] {
            if !positions.contains_key(key) {
                return Err(FileError::Refused(no_column(key, &names)));
            }
        }
        let is_orphan = |name: &&String| {
            let is_value = |property: &str| positions.contains_key(property);
            name.strip_suffix(TYPE).is_some_and(|property| property.ends_with(TYPE) || !is_value(property))
        };
        if let Some(name) = names.iter().find(is_orphan) {
            let property = name.strip_suffix(TYPE).unwrap_or_default();
            if property.ends_with(TYPE) {
                let message =
                    format!("the CSV has a column `{name}` for the type of a column of types; rename it");
                return Err(FileError::Refused(message));
            }
            return Err(FileError::Refused(format!(
                "the CSV has a column `{name}`, and no column `{property}`"
            )));
        }
        if let Some((at, name)) = repeated {
            return Err(FileError::Refused(format!(
                "column {} of the CSV repeats the name `{name}`; rename one",
                at + 1
            )));
        }
        let column = |name: &String| match name.as_str() {
            "PartitionKey" => Column::PartitionKey,
            "RowKey" => Column::RowKey,
            "" => Column::Unnamed,
            "Timestamp" | "odata.etag" => Column::Ignored,
            // Some programs export the ETag of an entity under this name. If the file has a type column for it, it is an ordinary property.
            "ETag" if !positions.contains_key("ETag@type") => Column::Ignored,
            name if name.strip_suffix(TYPE).is_some_and(|property| positions.contains_key(property)) => {
                Column::Ignored
            }
            name => Column::Property {
                name: name.to_owned(),
                types: positions.get(format!("{name}{TYPE}").as_str()).copied(),
            },
        };
        let header = names.iter().map(column).collect();
        Ok(Self { reader, watch, header, types, line: 0 })
    }

    /// Returns the line number of the last returned record, counted from 1, or 0 before the first record.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// Returns `true` if the file has a column for a property.
    #[must_use]
    pub fn has_column(&self, property: &str) -> bool {
        self.header.iter().any(|column| matches!(column, Column::Property { name, .. } if name == property))
    }

    /// Returns the type of a cell. It comes from the `@type` column, or else from the caller. Otherwise, it is guessed, or is a string.
    fn type_of(&self, name: &str, declared: &str, text: &str) -> Result<EdmType, String> {
        if !declared.is_empty() {
            return value::type_of(declared).ok_or_else(|| format!("`{declared}` is not an Edm type"));
        }
        if let Some((_, edm)) = self.types.named.iter().find(|(known, _)| known == name) {
            return Ok(*edm);
        }
        Ok(if self.types.guess { value::guess(text) } else { EdmType::String })
    }

    fn entity(&self, cells: &csv::ByteRecord) -> Result<TableEntity, (usize, String)> {
        let cell = |at: usize| cells.get(at).unwrap_or_default();
        let text = |at: usize| {
            std::str::from_utf8(cell(at))
                .map_err(|_| (at, "the text is not UTF-8; convert the file first".to_owned()))
        };
        if cells.len() != self.header.len() {
            let message =
                format!("the line has {} cells, and the header {} columns", cells.len(), self.header.len());
            return Err((cells.len().min(self.header.len()), message));
        }
        if self.header.len() > MOST_PROPERTIES {
            // An empty cell with a type is also a property.
            let has_value = |(at, column): (usize, &Column)| match column {
                Column::Property { types, .. } => {
                    !cell(at).is_empty() || types.is_some_and(|types| !cell(types).is_empty())
                }
                Column::PartitionKey | Column::RowKey | Column::Ignored | Column::Unnamed => false,
            };
            if self.header.iter().enumerate().filter(|found| has_value(*found)).count() > MOST_PROPERTIES {
                return Err((
                    0,
                    format!("the line has more than {MOST_PROPERTIES} properties; no store accepts them"),
                ));
            }
        }
        let (mut partition_key, mut row_key) = ("", "");
        for (at, column) in self.header.iter().enumerate() {
            match column {
                Column::PartitionKey => partition_key = text(at)?,
                Column::RowKey => row_key = text(at)?,
                Column::Unnamed if !cell(at).is_empty() => {
                    return Err((
                        at,
                        "the column has no name; name it in the first line, or remove it".to_owned(),
                    ));
                }
                Column::Ignored | Column::Unnamed | Column::Property { .. } => {}
            }
        }
        let mut entity = TableEntity::new(partition_key, row_key).map_err(|error| (0, error.to_string()))?;
        for (at, column) in self.header.iter().enumerate() {
            let Column::Property { name, types } = column else { continue };
            let (text, declared) = (text(at)?, types.map_or(Ok(""), text)?);
            // An empty cell without a type means that the property is absent.
            if text.is_empty() && declared.is_empty() {
                continue;
            }
            let edm = self.type_of(name, declared, text).map_err(|reason| (types.unwrap_or(at), reason))?;
            let found = value::read(edm, text).map_err(|expected| {
                (at, format!("property `{name}`: `{text}` is not {edm}; expected {expected}"))
            })?;
            entity.insert(name.as_str(), found);
        }
        Ok(entity)
    }
}

impl<R: Read> Iterator for CsvReader<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut cells = csv::ByteRecord::new();
        self.watch.renew();
        let begin = self.reader.position().byte();
        match self.reader.read_byte_record(&mut cells) {
            Ok(false) => None,
            Ok(true) if self.watch.is_after(self.reader.position().byte(), &cells) => None,
            Ok(true) => {
                let line = cells.position().map_or(0, |position| self.watch.line_at(position.byte()));
                self.line = line;
                if self.watch.is_beyond(self.reader.position().byte()) {
                    let reason =
                        "the quote of the last cell is not closed; the file may be incomplete".to_owned();
                    return Some(Ok(Err(Rejected { line, column: cells.len(), reason })));
                }
                Some(Ok(self.entity(&cells).map_err(|(column, reason)| Rejected {
                    line,
                    column: column + 1,
                    reason,
                })))
            }
            Err(_) if self.watch.is_spent() => Some(Err(FileError::Refused(format!(
                "line {}: the record has more than 4 MiB; check for an unclosed quote, which joins the following lines into one cell",
                self.watch.line_at(begin)
            )))),
            Err(error) => Some(Err(error.into())),
        }
    }
}

/// Checks that the file is not encoded in UTF-16, like Excel's "Unicode text" format.
fn refuse_encoding(header: &csv::ByteRecord) -> Result<()> {
    let first = header.get(0).unwrap_or_default();
    let is_utf16 = first.starts_with(b"\xff\xfe") || first.starts_with(b"\xfe\xff") || first.contains(&0);
    if is_utf16 {
        let help = "convert it, for example with `iconv -f UTF-16 -t UTF-8`";
        return Err(FileError::Refused(format!("the CSV is UTF-16, not UTF-8; {help}")));
    }
    Ok(())
}

/// Returns the error message for a header without a key column.
fn no_column(key: &str, names: &[String]) -> String {
    let separator =
        [';', '\t'].into_iter().find(|separator| names.iter().any(|name| name.contains(*separator)));
    match separator {
        Some(separator) => format!(
            "the CSV has no column `{key}`; its columns are separated by {separator:?}, and must be separated by commas"
        ),
        None => format!("the CSV has no column `{key}`; its first line must name the columns, and both keys"),
    }
}
