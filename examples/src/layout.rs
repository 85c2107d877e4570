//! Prints the physical layout of an entity declaration: its keys, its properties and two stored rows.

use chrono::SecondsFormat;
use table_core::query::{KeyRange, TextRange};
use table_core::schema::{EntitySchema, IndexKind, KeyPiece};
use table_core::{FromEntity, Query, Result, TableEntity, TableName, TableStore, Value};

use crate::grid::Grid;

/// The maximum number of properties to print per row.
const SHOWN: usize = 12;

/// Returns the key parts, properties and indexes of a schema, each as a row of the grid.
#[must_use]
pub fn of(schema: &EntitySchema) -> Grid {
    let mut grid = Grid::new(["Part", "Of", "Written as", "#Width", "Ordered"]);
    pieces(&mut grid, "PartitionKey", schema.partition_key);
    pieces(&mut grid, "RowKey", schema.row_key);
    for property in schema.properties {
        let written = format!("{}{}", property.edm, if property.optional { ", may be absent" } else { "" });
        grid.row([property.name, property.field, &written, "", ""]);
    }
    for index in schema.indexes {
        let kind = match index.kind {
            IndexKind::Copies => "copies",
            IndexKind::List => "lists of keys",
        };
        let place = match (index.table, index.partition_key) {
            (Some(table), _) => format!("the table {table}"),
            (None, Some(_)) => "other partitions".to_owned(),
            (None, None) => "the same partition".to_owned(),
        };
        let unique = if index.unique { ", unique" } else { "" };
        let sparse = if index.sparse { ", sparse" } else { "" };
        grid.row(["index", index.name, &format!("{kind} in {place}{unique}{sparse}"), "", ""]);
        pieces(&mut grid, "  PartitionKey", index.partition_key.unwrap_or_default());
        pieces(&mut grid, "  RowKey", index.row_key);
        for property in index.properties {
            grid.row([
                &format!("  {}", property.name),
                property.field,
                property.edm.to_string().as_str(),
                "",
                "",
            ]);
        }
    }
    grid.whole()
}

fn pieces(grid: &mut Grid, part: &str, pieces: &[KeyPiece]) {
    for piece in pieces {
        match piece {
            KeyPiece::Literal(text) => {
                let width = text.encode_utf16().count().to_string();
                grid.row([part, "", &format!("'{text}'"), &width, ""])
            }
            KeyPiece::Field { field, codec, form } => {
                let width = match (form.min, form.max) {
                    (min, max) if min == max => min.to_string(),
                    (min, max) => format!("{min}–{max}"),
                };
                grid.row([part, field, codec, &width, if form.ordered { "yes" } else { "no" }])
            }
        };
    }
}

/// Returns the first two stored rows of this schema as untyped entities. Other clients of the store see them in this form.
///
/// # Errors
/// Any error from a query.
pub async fn golden(store: &impl TableStore, schema: &EntitySchema) -> Result<Grid> {
    let prefix = match schema.row_key.first() {
        Some(KeyPiece::Literal(text)) => text,
        _ => "",
    };
    let query = Query::new(KeyRange { partition_key: TextRange::ALL, row_key: TextRange::prefix(prefix) });
    let mut grid = Grid::new(["PartitionKey", "RowKey", "Properties"]);
    let page = match store.query(&TableName::new(schema.table)?, &query, None).await {
        // If several tables share a schema, none of them has the table name declared in it.
        Err(error) if error.is_table_not_found() => return Ok(grid),
        page => page?,
    };
    for entity in page.rows.iter() {
        let bag = TableEntity::from_entity(entity)?;
        // The keys of other types may start with the same prefix.
        let is_of_design =
            schema.properties.iter().all(|property| property.optional || bag.get(property.name).is_some());
        if is_of_design && grid.len() < 2 {
            let mut properties: Vec<_> =
                bag.iter().take(SHOWN).map(|(name, value)| format!("{name}={}", plain(value))).collect();
            if bag.len() > SHOWN {
                properties.push(format!("… {} more", bag.len() - SHOWN));
            }
            grid.row([entity.partition_key, entity.row_key, &properties.join("  ")]);
        }
    }
    Ok(grid)
}

/// Formats the value of a property for display.
#[must_use]
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::DateTime(at) => at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        Value::Guid(id) => id.to_string(),
        Value::Binary(bytes) => format!("{} bytes", bytes.len()),
    }
}
