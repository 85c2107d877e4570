//! CSV with typed columns: `PartitionKey,RowKey,Timestamp,Age,Age@type`, as Storage Explorer reads and writes it.

use std::io::{Read, Write};

use table_core::{EdmType, TableEntity};

use crate::failure::{Failure, Result};
use crate::transfer::source::{Record, Rejected};
use crate::value;

/// The suffix of a column that holds types.
const TYPE: &str = "@type";

/// Returns the names of all properties of some entities, in the order in which they first appear.
#[must_use]
pub fn columns(entities: &[TableEntity]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for (name, _) in entities.iter().flat_map(TableEntity::iter) {
        if !columns.iter().any(|known| known == name) {
            columns.push(name.to_owned());
        }
    }
    columns
}

/// Writes entities as CSV with a fixed set of columns.
#[expect(missing_debug_implementations, reason = "holds an input or output that has none")]
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
    /// `Refused` for a property that is not among the columns: a file must not lose values; `File` if the output fails.
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

    /// Writes the header if there was no entity, and returns the output.
    ///
    /// # Errors
    /// `File` if the output fails.
    pub fn finish(mut self) -> Result<W> {
        self.begin()?;
        self.out.into_inner().map_err(|error| Failure::file("CSV")(error.into_error()))
    }
}

/// The types of columns that have no `@type` column beside them.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// Types by the name of the property.
    pub named: Vec<(String, EdmType)>,
    /// All other columns are guessed from each value, rather than strings.
    pub guess: bool,
}

/// The records of a CSV file.
#[expect(missing_debug_implementations, reason = "holds an input or output that has none")]
pub struct CsvReader<R: Read> {
    reader: csv::Reader<R>,
    header: Vec<Column>,
    types: Types,
}

/// One column: the role of its cells.
enum Column {
    PartitionKey,
    RowKey,
    /// A value that the store sets itself.
    Ignored,
    /// A property, and the column of its type.
    Property {
        name: String,
        types: Option<usize>,
    },
}

impl<R: Read> CsvReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// `Refused` without columns for both keys, or with a column twice; `File` if the input cannot be read.
    pub fn new(input: R, types: Types) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
        let names = reader.byte_headers().map_err(|error| Failure::file("CSV")(error.into()))?.clone();
        let names: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let name = if at == 0 { name.strip_prefix(b"\xef\xbb\xbf").unwrap_or(name) } else { name };
                String::from_utf8_lossy(name).into_owned()
            })
            .collect();
        for key in ["PartitionKey", "RowKey"] {
            if !names.iter().any(|name| name == key) {
                let message = format!(
                    "the CSV has no column `{key}`; its first line must name the columns, and both keys"
                );
                return Err(Failure::Refused(message));
            }
        }
        if let Some((at, name)) =
            names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name))
        {
            return Err(Failure::Refused(format!(
                "column {} of the CSV is a second `{name}`; rename one",
                at + 1
            )));
        }
        let column = |name: &String| match name.as_str() {
            "PartitionKey" => Column::PartitionKey,
            "RowKey" => Column::RowKey,
            "Timestamp" | "" | "odata.etag" | "ETag" => Column::Ignored,
            name if name
                .strip_suffix(TYPE)
                .is_some_and(|property| names.iter().any(|other| other == property)) =>
            {
                Column::Ignored
            }
            name => {
                let wanted = format!("{name}{TYPE}");
                Column::Property {
                    name: name.to_owned(),
                    types: names.iter().position(|other| *other == wanted),
                }
            }
        };
        let header = names.iter().map(column).collect();
        Ok(Self { reader, header, types })
    }

    /// Returns the type of a cell: the `@type` column's, the one that the caller named, a guess, or a string.
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
        if cells.len() > self.header.len() {
            let message =
                format!("the line has {} cells, and the header {} columns", cells.len(), self.header.len());
            return Err((self.header.len(), message));
        }
        let (mut partition_key, mut row_key) = ("", "");
        for (at, column) in self.header.iter().enumerate() {
            match column {
                Column::PartitionKey => partition_key = text(at)?,
                Column::RowKey => row_key = text(at)?,
                Column::Ignored | Column::Property { .. } => {}
            }
        }
        let mut entity = TableEntity::new(partition_key, row_key).map_err(|error| (0, error.to_string()))?;
        for (at, column) in self.header.iter().enumerate() {
            let Column::Property { name, types } = column else { continue };
            let (text, declared) = (text(at)?, types.map_or(Ok(""), text)?);
            // An empty cell without a type is an absent property.
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
        match self.reader.read_byte_record(&mut cells) {
            Ok(false) => None,
            Ok(true) => {
                let line = cells.position().map_or(0, csv::Position::line);
                Some(Ok(self.entity(&cells).map_err(|(column, reason)| Rejected {
                    line,
                    column: column + 1,
                    reason,
                })))
            }
            Err(error) => Some(Err(Failure::file("CSV")(error.into()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::Value;

    fn read(text: &str, types: Types) -> Vec<Record> {
        CsvReader::new(text.as_bytes(), types).unwrap().collect::<Result<_>>().unwrap()
    }

    #[test]
    fn entities_are_written_with_types_and_read_back() {
        let one = TableEntity::new("p", "1").unwrap().with("Age", 36).with("Name", "a,\"b\"\nc");
        let two = TableEntity::new("p", "2").unwrap().with("Name", "").with("Badge", 7_i64);
        let entities = [one, two];
        let mut csv = CsvWriter::new(Vec::new(), columns(&entities));
        for entity in &entities {
            csv.write(entity).unwrap();
        }
        let text = String::from_utf8(csv.finish().unwrap()).unwrap();
        assert!(
            text.starts_with("PartitionKey,RowKey,Timestamp,Age,Age@type,Name,Name@type,Badge,Badge@type\n"),
            "{text}"
        );
        assert_eq!(read(&text, Types::default()), entities.map(Ok));
    }

    #[test]
    fn untyped_columns_are_strings_unless_named_or_guessed() {
        let text = "\u{feff}PartitionKey,RowKey,Age,Zip\r\np,1,36,08001\r\n";
        let value = |types: Types| {
            let entity = read(text, types).remove(0).unwrap();
            (entity.get("Age").cloned(), entity.get("Zip").cloned())
        };
        let string = |text: &str| Some(Value::from(text));
        assert_eq!(value(Types::default()), (string("36"), string("08001")));
        let named = vec![("Age".to_owned(), EdmType::Int64)];
        assert_eq!(value(Types { named, guess: false }), (Some(Value::Int64(36)), string("08001")));
        assert_eq!(
            value(Types { named: Vec::new(), guess: true }),
            (Some(Value::Int32(36)), string("08001"))
        );
    }

    #[test]
    fn a_wrong_cell_is_rejected_with_line_column_and_expectation() {
        let text = "PartitionKey,RowKey,Age,Age@type\np,1,36,Edm.Int32\np,2,x,Edm.Int32\np,3,1,Edm.Int33\np,4,1,Edm.Int32,9\n";
        let rejected: Vec<String> = read(text, Types::default())
            .into_iter()
            .filter_map(Result::err)
            .map(|rejected| rejected.to_string())
            .collect();
        assert_eq!(
            rejected,
            [
                "line 3, column 3: property `Age`: `x` is not Edm.Int32; expected a whole number from -2147483648 to 2147483647",
                "line 4, column 4: `Edm.Int33` is not an Edm type",
                "line 5, column 5: the line has 5 cells, and the header 4 columns",
            ]
        );
    }

    #[test]
    fn a_file_without_keys_or_with_a_column_twice_is_refused() {
        let refused =
            |text: &str| CsvReader::new(text.as_bytes(), Types::default()).err().unwrap().to_string();
        assert!(refused("RowKey,Age\n").contains("no column `PartitionKey`"));
        assert!(refused("PartitionKey,RowKey,A,A\n").contains("column 4 of the CSV is a second `A`"));
    }
}
