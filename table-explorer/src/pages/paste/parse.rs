//! The text of a paste as entities: cells of a spreadsheet, CSV, or JSON lines.

use table_core::schema::StoredSchema;
use table_core::{EdmType, TableEntity};
use table_inspect::value;

use crate::failure::{Failure, Result};
use crate::pages::paste::MOST;

/// The suffix of a column that contains types.
const TYPE: &str = "@type";
/// Columns that the store sets itself.
const OWN: [&str; 3] = ["Timestamp", "odata.etag", "ETag"];

/// One row of the text.
#[derive(Debug)]
pub(super) struct Line {
    /// The number of its first line in the text.
    pub(super) number: usize,
    /// The entity, or the reason why it is none.
    pub(super) entity: Result<TableEntity, String>,
}

/// Parses a text.
///
/// # Errors
/// `Input` if the text has no rows or too many, or its first line names no key or a column twice.
pub(super) fn lines(text: &str, schema: Option<&StoredSchema>) -> Result<Vec<Line>> {
    let text = text.trim_start_matches('\u{FEFF}');
    let lines = if text.trim_start().starts_with('{') { json(text) } else { cells(text, schema)? };
    if lines.is_empty() {
        return Err(Failure::Input("the text has no rows".to_owned()));
    }
    if lines.len() > MOST {
        return Err(Failure::Input(format!(
            "the text has {} rows; at most {MOST} are pasted at once, and `tables import` reads more",
            lines.len()
        )));
    }
    Ok(lines)
}

fn json(text: &str) -> Vec<Line> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| Line {
            number,
            entity: serde_json::from_str(line).map_err(|error| error.to_string()),
        })
        .collect()
}

fn cells(text: &str, schema: Option<&StoredSchema>) -> Result<Vec<Line>> {
    let delimiter = if text.lines().next().is_some_and(|first| first.contains('\t')) { '\t' } else { ',' };
    let mut records = records(text, delimiter).into_iter();
    let Some((_, header)) = records.next() else { return Ok(Vec::new()) };
    let header: Vec<String> = header.into_iter().map(|name| name.trim().to_owned()).collect();
    for (at, name) in header.iter().enumerate() {
        if header.iter().take(at).any(|before| before == name) {
            return Err(Failure::Input(format!("the first line names column `{name}` twice")));
        }
    }
    for key in ["PartitionKey", "RowKey"] {
        if !header.iter().any(|name| name == key) {
            return Err(Failure::Input(format!("the first line names no column `{key}`")));
        }
    }
    Ok(records.map(|(number, cells)| Line { number, entity: entity(&header, &cells, schema) }).collect())
}

fn entity(header: &[String], cells: &[String], schema: Option<&StoredSchema>) -> Result<TableEntity, String> {
    if cells.len() > header.len() {
        return Err(format!("{} cells, but the first line names {} columns", cells.len(), header.len()));
    }
    let cell = |name: &str| {
        let at = header.iter().position(|known| known == name)?;
        Some(cells.get(at).map(String::as_str).unwrap_or_default())
    };
    let key = |name| cell(name).unwrap_or_default();
    let mut entity =
        TableEntity::new(key("PartitionKey"), key("RowKey")).map_err(|error| error.to_string())?;
    let is_property = |name: &&String| {
        !name.is_empty()
            && !name.ends_with(TYPE)
            && !OWN.contains(&name.as_str())
            && !["PartitionKey", "RowKey"].contains(&name.as_str())
    };
    for name in header.iter().filter(is_property) {
        let text = cell(name).unwrap_or_default();
        let Some(edm) = edm(name, text, cell(&format!("{name}{TYPE}")), schema)? else { continue };
        let found = value::read(edm, text)
            .map_err(|expected| format!("`{name}`: `{text}` is not {edm}; expected {expected}"))?;
        entity.insert(name.as_str(), found);
    }
    Ok(entity)
}

/// Returns the type of a cell: the one in the column of types, the declared one, or the one that its text has. `None` if the property is absent.
fn edm(
    name: &str,
    text: &str,
    typed: Option<&str>,
    schema: Option<&StoredSchema>,
) -> Result<Option<EdmType>, String> {
    match typed {
        Some("") => return Ok(None),
        Some(edm) => {
            return value::type_of(edm).map(Some).ok_or_else(|| {
                format!("`{name}`: `{edm}` is not a type; write one such as `Int32` or `String`")
            });
        }
        None if text.is_empty() => return Ok(None),
        None => {}
    }
    let declared = schema.and_then(|schema| schema.properties.iter().find(|property| property.name == name));
    Ok(Some(declared.map_or_else(|| value::guess(text), |property| property.edm)))
}

/// Splits a text into records of cells, each with the number of its first line. A cell in quotes may contain delimiters and line ends.
fn records(text: &str, delimiter: char) -> Vec<(usize, Vec<String>)> {
    let mut records = Vec::new();
    let (mut record, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let (mut line, mut first) = (1, 1);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        line += usize::from(character == '\n');
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            _ if is_quoted => cell.push(character),
            '"' if cell.is_empty() => is_quoted = true,
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\r' => {
                record.push(std::mem::take(&mut cell));
                records.push((first, std::mem::take(&mut record)));
                first = line;
            }
            _ if character == delimiter => record.push(std::mem::take(&mut cell)),
            _ => cell.push(character),
        }
    }
    record.push(cell);
    records.push((first, record));
    records.retain(|(_, cells)| cells.iter().any(|cell| !cell.trim().is_empty()));
    records
}

#[cfg(test)]
mod tests {
    use table_core::Value;

    use super::*;

    fn entities(text: &str) -> Vec<Result<TableEntity, String>> {
        lines(text, None).unwrap().into_iter().map(|line| line.entity).collect()
    }

    #[test]
    fn cells_of_a_spreadsheet_have_the_types_of_their_texts() {
        let found = entities(
            "PartitionKey\tRowKey\tAge\tName\nSales\t1\t36\t\"Ada\nLovelace\"\r\nSales\t2\t\t007x\n\n",
        );
        let one = TableEntity::new("Sales", "1").unwrap().with("Age", 36).with("Name", "Ada\nLovelace");
        assert_eq!(found, [Ok(one), Ok(TableEntity::new("Sales", "2").unwrap().with("Name", "007x"))]);
    }

    #[test]
    fn csv_has_the_types_of_its_columns_and_ignores_the_time() {
        let found = entities(
            "PartitionKey,RowKey,Timestamp,Age,Age@type,Text,Text@type\nSales,1,2026-01-01T00:00:00Z,36,Edm.Int64,,\nSales,2,,36,String,\"a \"\"b\"\", c\",Edm.String\n",
        );
        let one = TableEntity::new("Sales", "1").unwrap().with("Age", 36_i64);
        let other = TableEntity::new("Sales", "2").unwrap().with("Age", "36").with("Text", "a \"b\", c");
        assert_eq!(found, [Ok(one), Ok(other)]);
    }

    #[test]
    fn a_row_that_cannot_be_read_says_its_line_and_reason() {
        let found = lines("PartitionKey,RowKey,Age,Age@type\na,\"1\n2\",x,Edm.String\nb,2,x,Edm.Int32\nc/d,3,,\ne,4,1,Edm.Int32,5\n", None).unwrap();
        let faults: Vec<_> = found
            .iter()
            .filter_map(|line| Some((line.number, line.entity.as_ref().err()?.as_str())))
            .collect();
        assert_eq!(faults.len(), 4, "{faults:?}");
        let expected = [(2, "RowKey"), (4, "expected a whole number"), (5, "PartitionKey"), (6, "5 cells")];
        for ((number, fault), (line, part)) in faults.iter().zip(expected) {
            assert!(*number == line && fault.contains(part), "{number}: {fault}");
        }
    }

    #[test]
    fn lines_of_json_are_entities() {
        let found = entities("{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\",\"Age\":36}\n\n{]");
        assert_eq!(found.first().unwrap().as_ref().unwrap().get("Age"), Some(&Value::Int32(36)));
        assert!(found.last().unwrap().is_err());
    }

    #[test]
    fn the_first_line_names_each_column_once_and_both_keys() {
        for (text, fault) in [
            ("", "no rows"),
            ("a,b\n1,2", "`PartitionKey`"),
            ("PartitionKey,RowKey,A,A\n1,2,3,4", "twice"),
            ("PartitionKey,RowKey", "no rows"),
        ] {
            assert!(lines(text, None).unwrap_err().to_string().contains(fault), "{text}");
        }
        let many = format!("PartitionKey,RowKey\n{}", "a,1\n".repeat(MOST + 1));
        assert!(lines(&many, None).unwrap_err().to_string().contains("1001 rows"));
    }
}
