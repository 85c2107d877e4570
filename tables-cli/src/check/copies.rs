//! Index rows in the partition of their entities, which are compared with the entities and repaired.

use table_core::schema::{Source, StoredIndex, StoredPiece, StoredProperty, StoredSchema};
use table_core::{
    DynTableStore, EdmType, EntityKey, IfMatch, Operation, OperationKind, Query, TableEntity, TableName,
    TableStore, Transaction, Value,
};

use crate::failure::Result;
use crate::rows::Pages;
use crate::transfer::ordered::{OrderedEntities, Paged};
use table_inspect::keys;

/// A defect of an index row.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// An entity has no index row.
    Missing,
    /// The index row has values other than those of its entity.
    Different,
    /// The index row belongs to an entity that does not exist, or has another value.
    Orphaned,
    /// Another entity has the same value in a unique index.
    Taken,
    /// A row cannot be compared, because it does not match the schema.
    Unclear(String),
}

/// A finding about one index row.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyFinding {
    /// The key of the index row, or that of the entity if the index row has no valid key.
    pub key: EntityKey,
    /// The defect.
    pub fault: Fault,
    /// The entity, if it exists.
    pub entity: Option<TableEntity>,
    /// The index row that the entity must have.
    pub wanted: Option<TableEntity>,
    /// The index row that exists.
    pub found: Option<TableEntity>,
}

/// Compares an index with its entities, and calls `found` for each defect. Returns the number of entities and the number of index rows.
///
/// Memory holds one page, and each entity and each index row costs one lookup.
///
/// # Errors
/// Any error of the store, or of `found`.
pub async fn check_copies(
    store: &DynTableStore,
    table: &TableName,
    (schema, index): (&StoredSchema, &StoredIndex),
    mut found: impl AsyncFnMut(CopyFinding) -> Result<()>,
) -> Result<(u64, u64)> {
    let (mut entities, mut copies) = (0, 0);
    let query = Query::new(table_core::query::KeyRange::ALL);
    let mut rows = Paged::new(Pages::new(store, table, query));
    while let Some(row) = rows.next().await? {
        let key = row.key();
        let is_of = |pieces: &[StoredPiece], text: &str| keys::fits(pieces, text);
        if !is_of(&schema.partition_key, key.partition_key.as_str()) {
            continue;
        }
        if is_of(&schema.row_key, key.row_key.as_str()) {
            entities += 1;
            if let Some(finding) = of_entity(store, table, schema, index, row).await? {
                found(finding).await?;
            }
        } else if is_of(&index.row_key, key.row_key.as_str()) {
            copies += 1;
            if let Some(finding) = of_copy(store, table, schema, index, row).await? {
                found(finding).await?;
            }
        }
    }
    Ok((entities, copies))
}

/// Checks that an entity has the correct index row.
async fn of_entity(
    store: &DynTableStore,
    table: &TableName,
    schema: &StoredSchema,
    index: &StoredIndex,
    entity: TableEntity,
) -> Result<Option<CopyFinding>> {
    let finding = |key: &EntityKey, fault| CopyFinding {
        key: key.clone(),
        fault,
        entity: None,
        wanted: None,
        found: None,
    };
    let wanted = match wanted(schema, index, &entity) {
        Ok(Some(wanted)) => wanted,
        Ok(None) => return Ok(None),
        Err(reason) => return Ok(Some(finding(entity.key(), Fault::Unclear(reason)))),
    };
    let found = keys::read(store, table, wanted.key()).await?;
    let fault = match &found {
        None => Fault::Missing,
        Some(found) if is_copy(found, &wanted) => return Ok(None),
        Some(found) if owner(schema, index, found).ok().as_ref() == Some(entity.key()) => Fault::Different,
        Some(_) if index.unique => Fault::Taken,
        Some(_) => Fault::Different,
    };
    let finding = finding(wanted.key(), fault);
    Ok(Some(CopyFinding { entity: Some(entity), wanted: Some(wanted), found, ..finding }))
}

/// Checks that an index row belongs to an entity with the same value.
async fn of_copy(
    store: &DynTableStore,
    table: &TableName,
    schema: &StoredSchema,
    index: &StoredIndex,
    copy: TableEntity,
) -> Result<Option<CopyFinding>> {
    let key = copy.key().clone();
    let orphan = |fault| CopyFinding {
        key: key.clone(),
        fault,
        entity: None,
        wanted: None,
        found: Some(copy.clone()),
    };
    let owner = match owner(schema, index, &copy) {
        Ok(owner) => owner,
        Err(reason) => return Ok(Some(orphan(Fault::Unclear(reason)))),
    };
    let Some(entity) = keys::read(store, table, &owner).await? else {
        return Ok(Some(orphan(Fault::Orphaned)));
    };
    // Other values of the row are compared when the entity is read.
    let is_its = match wanted(schema, index, &entity) {
        Ok(wanted) => wanted.is_some_and(|wanted| *wanted.key() == key),
        Err(_) => true,
    };
    Ok((!is_its).then(|| orphan(Fault::Orphaned)))
}

/// Repairs one finding in one transaction, under the versions that were read. Returns `false` if the fault can only be repaired by a program or
/// manually.
///
/// # Errors
/// `UpdateConditionNotSatisfied` if a row was changed in the meantime; check again.
pub async fn repair_copy(store: &DynTableStore, table: &TableName, finding: &CopyFinding) -> Result<bool> {
    let version = |row: &TableEntity| row.etag().cloned().map_or(IfMatch::Any, IfMatch::ETag);
    let mut transaction = Transaction::new(finding.key.partition_key.clone(), store.capabilities().limits)?;
    let row_key = finding.key.row_key.clone();
    match (&finding.fault, &finding.entity, &finding.wanted, &finding.found) {
        (Fault::Orphaned, _, _, Some(found)) => {
            transaction.push(Operation { row_key, kind: OperationKind::Delete(version(found)) })?;
        }
        (Fault::Missing | Fault::Different, Some(entity), Some(wanted), found) => {
            // The entity must not change between its read and the write of its index row.
            let unchanged = TableEntity::from(entity.key().clone()).to_row()?;
            let kind = OperationKind::Merge(unchanged, version(entity));
            transaction.push(Operation { row_key: entity.key().row_key.clone(), kind })?;
            let row = wanted.to_row()?;
            let kind = match found {
                Some(found) => OperationKind::Replace(row, version(found)),
                None => OperationKind::Insert(row),
            };
            transaction.push(Operation { row_key, kind })?;
        }
        _ => return Ok(false),
    }
    store.submit(table, transaction).await?;
    Ok(true)
}

/// Returns `true` if an index row has the expected properties.
fn is_copy(found: &TableEntity, wanted: &TableEntity) -> bool {
    crate::transfer::compare::is_same(found, wanted)
}

/// Returns the index row of an entity; `None` if a sparse index does not contain it.
fn wanted(
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

/// Returns the key of the entity to which an index row belongs.
fn owner(schema: &StoredSchema, index: &StoredIndex, copy: &TableEntity) -> Result<EntityKey, String> {
    let partition = copy.key().partition_key.as_str();
    let parts =
        key_parts(&[(&schema.partition_key, partition), (&index.row_key, copy.key().row_key.as_str())]);
    let row_key = compose(&schema.row_key, &parts, copy)?.ok_or("it lacks a part of its entity's key")?;
    EntityKey::new(partition, row_key).map_err(|error| error.to_string())
}

/// A part of a key: its source, its codec and its encoded value.
type Part = (Source, String, String);

fn key_parts(keys: &[(&[StoredPiece], &str)]) -> Vec<Part> {
    let cut = |(pieces, text): &(&[StoredPiece], &str)| keys::parts(pieces, text).unwrap_or_default();
    keys.iter().flat_map(cut).collect()
}

/// Returns a key that is composed of parts of another key and of properties; `None` if a property is absent.
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
                text.push_str(&keys::encode_value(codec, form, value)?);
            }
        }
    }
    Ok(Some(text))
}

/// Returns the property in which a row stores the value of a key part.
fn property<'a>(source: &Source, row: &'a TableEntity) -> Option<&'a Value> {
    match source {
        Source::Property(name) => row.get(name),
        Source::Key(field) => {
            row.iter().find(|(name, _)| keys::is_field(field, name)).map(|(_, value)| value)
        }
    }
}

/// Returns the value of a property of an index row: the entity's property, or a part of its key.
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
