//! Keys by their parts: the stored schema of a table, read by people and turned into key ranges.

mod codec;
mod request;
mod split;

use table_core::query::Select;
use table_core::schema::{Source, StoredPiece, StoredSchema};
use table_core::{DynTableStore, EntityKey, TableName, TableStore, Value};

use crate::failure::Result;
use crate::rows;
pub use request::{PartRequest, key_range};

/// The table that holds the stored schemas of all tables of a store.
pub const SCHEMAS: &str = table_core::table::LAYOUTS;

/// Reads the stored schemas of a table, one for each entity type; empty if no program of ours has opened it.
///
/// # Errors
/// The errors of the store, and `Corrupted` or `FormatTooNew` for a schema that this version cannot read.
pub async fn schemas(store: &DynTableStore, table: &TableName) -> Result<Vec<StoredSchema>> {
    let schemas = TableName::new(SCHEMAS)?;
    let query = table_core::Query::new(table_core::query::KeyRange::partition(table.folded()));
    let mut found = Vec::new();
    let mut pages = rows::Pages::new(store, &schemas, query);
    loop {
        match pages.next().await {
            Ok(Some(page)) => {
                let schemas = page.rows.iter().filter(|entity| !entity.row_key.starts_with('\u{FFFC}'));
                for entity in schemas {
                    found.push(schema_of(&table_core::FromEntity::from_entity(entity)?)?);
                }
            }
            Ok(None) => return Ok(found),
            Err(crate::failure::Failure::Store(error)) if error.is_table_not_found() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
    }
}

/// Reads the schema out of its row, where its text is cut into properties of at most 32,000 characters.
fn schema_of(row: &table_core::TableEntity) -> Result<StoredSchema> {
    let piece = |at: usize| match row.get(&if at == 0 { "Schema".to_owned() } else { format!("Schema{at}") })
    {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let text: String = (0..).map_while(piece).collect();
    Ok(text.parse::<StoredSchema>()?)
}

/// One part of a key, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of the field or property.
    pub name: String,
    /// The value as people write it: `223` for `000223`.
    pub value: String,
}

/// Returns the name of a part as people know it.
#[must_use]
pub fn name_of(source: &Source) -> &str {
    match source {
        Source::Property(name) | Source::Key(name) => name,
    }
}

/// Returns the parts of an entity's key; `None` if the key is not one of this schema.
#[must_use]
pub fn decode(schema: &StoredSchema, key: &EntityKey) -> Option<Vec<Part>> {
    let mut parts = split::split(&schema.partition_key, key.partition_key.as_str())?;
    parts.extend(split::split(&schema.row_key, key.row_key.as_str())?);
    let decoded = parts.into_iter().map(|(source, codec, text)| Part {
        name: name_of(source).to_owned(),
        value: codec::decode(codec, text),
    });
    Some(decoded.collect())
}

/// Returns the pattern of a key for people: `empid_{id}`.
#[must_use]
pub fn pattern(pieces: &[StoredPiece]) -> String {
    let text = |piece: &StoredPiece| match piece {
        StoredPiece::Literal(literal) => literal.clone(),
        StoredPiece::Part { source, .. } => format!("{{{}}}", name_of(source)),
    };
    pieces.iter().map(text).collect()
}

/// Reads one row by its key, with all properties.
///
/// # Errors
/// The errors of the store.
pub async fn read(
    store: &DynTableStore,
    table: &TableName,
    key: &EntityKey,
) -> Result<Option<table_core::TableEntity>> {
    let Some(found) = store.get(table, key, &Select::All).await? else { return Ok(None) };
    let row =
        table_core::query::EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), found.row.view());
    Ok(Some(table_core::FromEntity::from_entity(row.with_etag(&found.etag))?))
}
