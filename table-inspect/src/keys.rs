//! Key parts, as described by stored schemas. Splits keys into parts, shows parts to users, and converts conditions on parts to key ranges.

mod accepted;
mod codec;
mod conditions;
mod digits;
mod instant;
mod label;
mod newest;
mod request;
mod split;
mod stamp;
mod values;

use table_core::query::{KeyRange, Select};
use table_core::schema::{Source, StoredPiece, StoredSchema};
use table_core::{DynTableStore, EntityKey, TableName, TableStore, Value};

use crate::error::{Error, Result};
pub use codec::{
    can_encode, can_encode_property, decode as decode_text, encode_property, encode_value, sorts_as_shown,
};
pub use conditions::PartConditions;
pub(crate) use label::is_derived;
pub use label::labels;
pub use newest::is_newest_first;
pub use request::{PartRequest, key_range, key_range_of_sources, parse_range, row_range, source_of};
pub use split::{Segment, segments};

/// The name of the table that contains the stored schemas of all tables in a store.
pub const SCHEMAS: &str = table_core::table::LAYOUTS;

/// Reads the stored schemas of a table, one per entity type. The list is empty if no program has opened the table with a schema.
///
/// # Errors
/// - Any error from the store.
/// - `Corrupted` or `FormatTooNew` if this version cannot read a schema.
pub async fn schemas(store: &DynTableStore, table: &TableName) -> Result<Vec<StoredSchema>> {
    let stored = read_schemas(store, KeyRange::partition(table.folded())).await?;
    stored.into_iter().map(|stored| stored.schema).collect()
}

/// Reads the stored schemas of all tables, each with the lower-case name of its table.
///
/// # Errors
/// Any error from [`schemas`].
pub async fn all_schemas(store: &DynTableStore) -> Result<Vec<(String, StoredSchema)>> {
    let stored = stored_schemas(store).await?;
    stored.into_iter().map(|stored| Ok((stored.table, stored.schema?))).collect()
}

/// Reads the stored schemas that can describe rows of a table. These are the table's own schemas, and the schemas of other tables that store an index in it.
///
/// Each schema comes with the lower-case name of its table.
///
/// # Errors
/// - Any error from the store.
/// - `Corrupted` or `FormatTooNew` if this version cannot read one of these schemas.
pub async fn schemas_of_rows(
    store: &DynTableStore,
    table: &TableName,
) -> Result<Vec<(String, StoredSchema)>> {
    let stored = stored_schemas(store).await?.into_iter().filter(|stored| stored.may_describe(table));
    stored.map(|stored| Ok((stored.table, stored.schema?))).collect()
}

/// A stored schema, readable or not.
#[derive(Debug)]
pub struct Stored {
    /// The name of the schema's table, in lower case.
    pub table: String,
    /// The name of the entity type.
    pub entity: String,
    /// The text of the schema.
    pub text: String,
    /// The parsed schema, or `Corrupted` or `FormatTooNew` if this version cannot read it.
    pub schema: Result<StoredSchema>,
}

impl Stored {
    /// Returns `true` if the schema can describe rows of a table. It must be a schema of this table, or store an index in it.
    ///
    /// An unreadable schema is assumed to do so if one of its unreadable lines contains the table's name.
    #[must_use]
    pub fn may_describe(&self, table: &TableName) -> bool {
        let is_name = |word: &str| word.eq_ignore_ascii_case(table.as_str());
        self.table == table.folded()
            || match &self.schema {
                Ok(schema) => schema.indexes.iter().filter_map(|index| index.table.as_deref()).any(is_name),
                Err(_) => self.text.lines().any(|line| may_name(line, is_name)),
            }
    }
}

/// Returns `true` if a schema line may name a table. If the line is readable, only the word after `table` counts.
fn may_name(line: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let words: Vec<&str> = line
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    if is_readable(line) {
        words.windows(2).any(|pair| matches!(pair, ["table", name] if is_name(name)))
    } else {
        // The first word is a keyword. The second word of an index line is the name of the index.
        let begin = if words.first() == Some(&"index") { 2 } else { 1 };
        words.into_iter().skip(begin).any(is_name)
    }
}

/// Returns `true` if this version can read a schema line.
fn is_readable(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    // Some index lines are valid only after the declaration of the index.
    let index = match words.as_slice() {
        [] | ["schema", _] => return true,
        ["index", name, ..] => name,
        _ => "Any",
    };
    format!("schema 1\nentity Any\ntable Any\nindex {index} copies\n{line}\n").parse::<StoredSchema>().is_ok()
}

/// Reads the stored schemas of all tables, including those that this version cannot read.
///
/// # Errors
/// Any error from the store.
pub async fn stored_schemas(store: &DynTableStore) -> Result<Vec<Stored>> {
    read_schemas(store, KeyRange::ALL).await
}

async fn read_schemas(store: &DynTableStore, keys: KeyRange) -> Result<Vec<Stored>> {
    let schemas = TableName::new(SCHEMAS)?;
    let query = table_core::Query::new(keys);
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = match store.query(&schemas, &query, from.as_ref()).await {
            Err(error) if error.is_table_not_found() => return Ok(Vec::new()),
            page => page?,
        };
        for entity in page.rows.iter() {
            let text = text_of(&table_core::FromEntity::from_entity(entity)?);
            found.extend(text.map(|text| Stored {
                table: entity.partition_key.to_owned(),
                entity: entity.row_key.to_owned(),
                schema: text.parse::<StoredSchema>().map_err(Error::from),
                text,
            }));
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(found);
        }
    }
}

/// Reads a schema from its row. The properties of the row contain the text in chunks of at most 32,000 characters. Returns `None` for an internal row.
///
/// # Errors
/// `Corrupted` or `FormatTooNew` if this version cannot read the schema.
pub fn schema_of(row: &table_core::TableEntity) -> Result<Option<StoredSchema>> {
    Ok(text_of(row).map(|text| text.parse::<StoredSchema>()).transpose()?)
}

/// Returns the schema text in a row, or `None` for an internal row.
fn text_of(row: &table_core::TableEntity) -> Option<String> {
    if row.key().row_key.as_str().starts_with('\u{FFFC}') {
        return None;
    }
    let piece = |at: usize| match row.get(&if at == 0 { "Schema".to_owned() } else { format!("Schema{at}") })
    {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    Some((0..).map_while(piece).collect())
}

/// A decoded part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of the part's field or property.
    pub name: String,
    /// The human-readable value, such as `223` for `000223`.
    pub value: String,
}

/// Returns the name of the source of a key part, as shown to users.
#[must_use]
pub fn name_of(source: &Source) -> &str {
    match source {
        Source::Property(name) | Source::Key(name) => name,
    }
}

/// Returns `true` if a property name corresponds to a Rust field name. For example, `EmployeeId` corresponds to `employee_id`.
#[must_use]
pub fn is_field(field: &str, property: &str) -> bool {
    field.replace('_', "").eq_ignore_ascii_case(property)
}

/// Returns the parts of an entity's keys, or `None` if they do not match the schema.
#[must_use]
pub fn decode(schema: &StoredSchema, key: &EntityKey) -> Option<Vec<Part>> {
    let mut parts = split::split(&schema.partition_key, key.partition_key.as_str())?;
    parts.extend(split::split(&schema.row_key, key.row_key.as_str())?);
    let labels = labels(&schema.partition_key, &schema.row_key);
    let part =
        |(name, (_, codec, text)): (String, split::Cut<'_>)| Part { name, value: codec::decode(codec, text) };
    Some(labels.into_iter().zip(parts).map(part).collect())
}

/// Returns `true` if a key matches these pieces.
#[must_use]
pub fn fits(pieces: &[StoredPiece], text: &str) -> bool {
    split::split(pieces, text).is_some()
}

/// Returns the parts of a key, each with its source, codec and encoded value. Returns `None` if the key does not match these pieces.
#[must_use]
pub fn parts(pieces: &[StoredPiece], text: &str) -> Option<Vec<(Source, String, String)>> {
    let parts = split::split(pieces, text)?;
    let owned = |(source, codec, text): split::Cut<'_>| (source.clone(), codec.to_owned(), text.to_owned());
    Some(parts.into_iter().map(owned).collect())
}

/// Returns the pattern of a key for display, such as `empid_{id}`.
#[must_use]
pub fn pattern(pieces: &[StoredPiece]) -> String {
    let text = |piece: &StoredPiece| match piece {
        StoredPiece::Literal(literal) => literal.clone(),
        StoredPiece::Part { source, .. } => format!("{{{}}}", name_of(source)),
    };
    pieces.iter().map(text).collect()
}

/// Reads the row with the given key and all its properties.
///
/// # Errors
/// Any error from the store.
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
