//! Computes an entity's index row, or an index row's entity key, from the stored schema.

use table_core::schema::{Source, StoredIndex, StoredPiece, StoredProperty, StoredSchema};
use table_core::{EdmType, EntityKey, TableEntity, Value};

use table_inspect::keys;

/// Returns the index row that an entity must have, or `None` if a sparse index omits the entity.
pub(super) fn wanted(
    schema: &StoredSchema,
    index: &StoredIndex,
    entity: &TableEntity,
) -> Result<Option<TableEntity>, String> {
    let parts = key_parts(&[
        (&schema.partition_key, entity.key().partition_key.as_str()),
        (&schema.row_key, entity.key().row_key.as_str()),
    ]);
    let Some(row_key) = compose(&index.row_key, &parts, entity)? else { return Ok(None) };
    let key =
        EntityKey::new(entity.key().partition_key.as_str(), row_key).map_err(|error| error.to_string())?;
    let mut copy = TableEntity::from(key);
    for property in &index.properties {
        if let Some(value) = value(property, &parts, entity)? {
            copy.insert(property.name.as_str(), value);
        }
    }
    Ok(Some(copy))
}

/// Returns the key of an index row's entity.
pub(super) fn owner(
    schema: &StoredSchema,
    index: &StoredIndex,
    copy: &TableEntity,
) -> Result<EntityKey, String> {
    let partition = copy.key().partition_key.as_str();
    let parts =
        key_parts(&[(&schema.partition_key, partition), (&index.row_key, copy.key().row_key.as_str())]);
    let row_key = compose(&schema.row_key, &parts, copy)?.ok_or("it lacks a part of its entity's key")?;
    EntityKey::new(partition, row_key).map_err(|error| error.to_string())
}

/// A key part: its source, codec name, and encoded value.
type Part = (Source, String, String);

fn key_parts(keys: &[(&[StoredPiece], &str)]) -> Vec<Part> {
    let cut = |(pieces, text): &(&[StoredPiece], &str)| keys::parts(pieces, text).unwrap_or_default();
    keys.iter().flat_map(cut).collect()
}

/// Composes a key from the parts of another key and from properties. Returns `None` if a property is absent.
fn compose(pieces: &[StoredPiece], parts: &[Part], row: &TableEntity) -> Result<Option<String>, String> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            StoredPiece::Literal(literal) => text.push_str(literal),
            StoredPiece::Part { source, codec, form } => {
                let copied = parts.iter().find(|(other, written, _)| other == source && written == codec);
                if let Some((_, _, part)) = copied {
                    text.push_str(part);
                    continue;
                }
                let Some(value) = property(source, row) else { return Ok(None) };
                text.push_str(&match source {
                    Source::Property(_) => keys::encode_property(codec, form, value)?,
                    Source::Key(_) => keys::encode_value(codec, form, value)?,
                });
            }
        }
    }
    Ok(Some(text))
}

/// Returns the property that stores the value of a key part, or `None` if the row lacks it.
fn property<'a>(source: &Source, row: &'a TableEntity) -> Option<&'a Value> {
    match source {
        Source::Property(name) => row.get(name),
        Source::Key(field) => {
            row.iter().find(|(name, _)| keys::is_field(field, name)).map(|(_, value)| value)
        }
    }
}

/// Returns the value of an index row's property. It comes from the entity's property with the same name, or from a part of the entity's key.
fn value(property: &StoredProperty, parts: &[Part], entity: &TableEntity) -> Result<Option<Value>, String> {
    if let Some(value) = entity.get(&property.name) {
        return Ok(Some(value.clone()));
    }
    let is_of = |source: &Source| keys::is_field(keys::name_of(source), &property.name);
    let Some((_, codec, text)) = parts.iter().find(|(source, ..)| is_of(source)) else { return Ok(None) };
    let value = match property.edm {
        EdmType::String => Some(Value::String(text.clone())),
        edm if keys::can_encode(codec) => {
            table_inspect::value::read(edm, &keys::decode_text(codec, text)).ok()
        }
        _ => None,
    };
    value
        .map(Some)
        .ok_or_else(|| format!("only the program knows how `{}` is read from the key", property.name))
}
