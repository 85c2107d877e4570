//! Parsing of pasted text into entities: cells from a spreadsheet, CSV, or JSON lines.

use table_core::schema::{ENTITY_TYPE, StoredSchema};
use table_core::{EdmType, TableEntity, TableName};
use table_inspect::csv::{CsvReader, Types};
use table_inspect::kind::{Kind, Kinds};
use table_inspect::lines::LineReader;
use table_inspect::record::{self, Record};

use crate::failure::{Failure, Result};
use crate::pages::paste::MOST;

/// The stored schemas of all tables, each paired with the lower-case name of its table.
type Schemas = [(String, StoredSchema)];

/// Parses pasted text into entities of a table.
///
/// # Errors
/// `Input` if the text has no rows or too many rows, or if its first line lacks a key column or contains a column twice.
pub(super) fn lines(text: &str, table: &TableName, schemas: &Schemas) -> Result<Vec<Record>> {
    let text = text.trim_start_matches('\u{FEFF}');
    let lines = if text.trim_start().starts_with('{') {
        LineReader::new(text.as_bytes()).collect::<record::Result<Vec<_>>>()?
    } else {
        cells(text, table, schemas)?
    };
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

/// Converts rows of cells to entities. A property without a type column has the type declared in the schema matched by the row. If no schema declares the type,
/// it is guessed from the text.
fn cells(text: &str, table: &TableName, schemas: &Schemas) -> Result<Vec<Record>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let guessed = read(text, None)?;
    let of_table = schemas.iter().filter(|(of, _)| of == table.folded());
    let declared =
        of_table.map(|(_, schema)| Ok((schema, read(text, Some(schema))?))).collect::<Result<Vec<_>>>()?;
    let kinds = Kinds::new(table.as_str(), schemas);
    let typed = |(at, guessed): (usize, Record)| {
        let of_schema = declared.iter().find_map(|(schema, records)| {
            let record = records.get(at)?;
            // A row belongs to the schema matched by its key, even if a value does not have the declared type.
            let row = record.as_ref().or(guessed.as_ref()).ok()?;
            let is_own = matches!(kinds.of(row), Kind::Entity(found) if std::ptr::eq(found, *schema));
            is_own.then(|| record.clone())
        });
        of_schema.unwrap_or(guessed)
    };
    let mut records: Vec<Record> = guessed.into_iter().enumerate().map(typed).collect();
    // Copied cells often end with blank rows.
    records.retain(|record| !record.as_ref().is_ok_and(is_blank));
    Ok(records)
}

/// Reads rows of cells, using the types declared in the schema if one is given.
fn read(text: &str, schema: Option<&StoredSchema>) -> Result<Vec<Record>> {
    let properties = schema.into_iter().flat_map(|schema| &schema.properties);
    let kind =
        schema.and_then(|schema| schema.kind.as_ref()).map(|_| (ENTITY_TYPE.to_owned(), EdmType::String));
    let named = properties.map(|property| (property.name.clone(), property.edm)).chain(kind).collect();
    let has_tabs = text.lines().next().is_some_and(|first| first.contains('\t'));
    let separator = if has_tabs { b'\t' } else { b',' };
    let reader = CsvReader::separated(text.as_bytes(), separator, Types { named, guess: true })?;
    Ok(reader.collect::<record::Result<Vec<_>>>()?)
}

fn is_blank(entity: &TableEntity) -> bool {
    let key = entity.key();
    key.partition_key.as_str().is_empty() && key.row_key.as_str().is_empty() && entity.iter().next().is_none()
}

#[cfg(test)]
mod tests {
    use table_core::Value;

    use super::*;

    fn parsed(text: &str) -> Result<Vec<Record>> {
        lines(text, &TableName::new("Company").unwrap(), &[])
    }

    fn entities(text: &str) -> Vec<Result<TableEntity, String>> {
        parsed(text).unwrap().into_iter().map(|record| record.map_err(|rejected| rejected.reason)).collect()
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
    fn a_row_that_cannot_be_read_is_reported_with_line_and_reason() {
        let found = parsed("PartitionKey,RowKey,Age,Age@type\na,\"1\n2\",x,Edm.String\nb,2,x,Edm.Int32\nc/d,3,,\ne,4,1,Edm.Int32,5\n").unwrap();
        let faults: Vec<_> = found
            .iter()
            .filter_map(|record| Some((record.as_ref().err()?.line, record.as_ref().err()?.reason.as_str())))
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
        assert_eq!(found[0].as_ref().unwrap().get("Age"), Some(&Value::Int32(36)));
        assert!(found.last().unwrap().is_err());
    }

    #[test]
    fn the_first_line_names_each_column_once_and_both_keys() {
        for (text, fault) in [
            ("", "no rows"),
            ("a,b\n1,2", "`PartitionKey`"),
            ("PartitionKey,RowKey,A,A\n1,2,3,4", "repeats"),
            ("PartitionKey,RowKey", "no rows"),
        ] {
            assert!(parsed(text).unwrap_err().to_string().contains(fault), "{text}");
        }
        let many = format!("PartitionKey,RowKey\n{}", "a,1\n".repeat(MOST + 1));
        assert!(parsed(&many).unwrap_err().to_string().contains("1001 rows"));
    }

    #[test]
    fn a_row_has_the_types_of_the_schema_of_its_key() {
        let schema = |entity: &str, property: &str| {
            let text = format!(
                "schema 1\nentity {entity}\ntable Company\nPartitionKey street text 0..512 ordered legal\nRowKey \"{entity}_\"\n\
                 RowKey id digits(2) 2 ordered [0-9]\nproperty {property}\n"
            );
            ("company".to_owned(), text.parse::<StoredSchema>().unwrap())
        };
        let schemas = [schema("Address", "Number Edm.String"), schema("House", "Number Edm.Int64")];
        let text = "PartitionKey,RowKey,Number\ns,Address_01,7\ns,House_01,7\ns,other,7\ns,House_02,x\n";
        let found = lines(text, &TableName::new("Company").unwrap(), &schemas).unwrap();
        let values: Vec<_> =
            found.iter().map(|row| row.as_ref().ok().and_then(|row| row.get("Number").cloned())).collect();
        assert_eq!(values, [Some("7".into()), Some(Value::Int64(7)), Some(Value::Int32(7)), None]);
        assert!(found[3].as_ref().unwrap_err().reason.contains("Edm.Int64"));
    }
}
