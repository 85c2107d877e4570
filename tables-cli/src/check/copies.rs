//! Checks of index rows in the same partition as their entities.

use table_core::query::KeyRange;
use table_core::schema::{StoredIndex, StoredSchema};
use table_core::{DynTableStore, EntityKey, Query, TableEntity, TableName};

use crate::check::index_row::{owner, wanted};
use crate::check::sums::Sums;
use crate::failure::Result;
use crate::rows::Pages;
use crate::transfer::compare::is_same;
use crate::transfer::ordered::{Entities, Paged};
use table_inspect::keys;

/// A defect found in an index.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The entity lacks its index row.
    Missing,
    /// The values of the index row differ from those of its entity.
    Different,
    /// The index row's entity does not exist, or has a different value.
    Orphaned,
    /// A different entity has the same value in a unique index.
    Taken,
    /// The row does not match the schema, and therefore cannot be compared.
    Unclear(String),
}

/// A defect found in one index row.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyFinding {
    /// The key of the index row, or the entity's key if the index row has no valid key.
    pub key: EntityKey,
    /// The defect.
    pub fault: Fault,
    /// The entity, if it exists.
    pub entity: Option<TableEntity>,
    /// The index row as it must be for this entity, if any.
    pub wanted: Option<TableEntity>,
    /// The stored index row, if any.
    pub found: Option<TableEntity>,
}

/// Compares an index with its entities, and calls `found` for each defect. Returns the number of entities and the number of index rows.
///
/// The first pass over the table compares the sums of the expected index rows with those of the stored index rows. Only if they differ, a second pass looks
/// up the rows that may be wrong. Keeps one page and the sums in memory.
///
/// # Errors
/// Any error from the store or `found`.
pub async fn check_copies(
    store: &DynTableStore,
    table: &TableName,
    (schema, index): (&StoredSchema, &StoredIndex),
    mut found: impl AsyncFnMut(CopyFinding) -> Result<()>,
) -> Result<(u64, u64)> {
    let (mut entities, mut copies, mut sums) = (0, 0, Sums::new());
    let mut rows = RowsOfIndex::new(store, table, schema, index);
    while let Some((role, row)) = rows.next().await? {
        match role {
            Role::Entity => {
                entities += 1;
                match wanted(schema, index, &row) {
                    Ok(None) => {}
                    Ok(Some(wanted)) => sums.expect(&wanted),
                    Err(_) => sums.suspect(row.key()),
                }
            }
            Role::Copy => {
                copies += 1;
                sums.find(&row);
            }
        }
    }
    if sums.are_equal() {
        return Ok((entities, copies));
    }
    let mut rows = RowsOfIndex::new(store, table, schema, index);
    while let Some((role, row)) = rows.next().await? {
        let finding = match role {
            Role::Copy if sums.may_differ(row.key()) => of_copy(store, table, schema, index, row).await?,
            Role::Entity => {
                let wanted = wanted(schema, index, &row);
                let key =
                    wanted.as_ref().map_or(Some(row.key()), |wanted| wanted.as_ref().map(TableEntity::key));
                if !key.is_some_and(|key| sums.may_differ(key)) {
                    continue;
                }
                of_entity(store, table, (schema, index), row, wanted).await?
            }
            Role::Copy => None,
        };
        if let Some(finding) = finding {
            found(finding).await?;
        }
    }
    Ok((entities, copies))
}

/// The role of a row when one index is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Entity,
    Copy,
}

/// Reads the entities of a schema and the rows of one of its indexes, in the order of the store.
struct RowsOfIndex<'a> {
    rows: Paged<'a>,
    schema: &'a StoredSchema,
    index: &'a StoredIndex,
}

impl<'a> RowsOfIndex<'a> {
    fn new(
        store: &'a DynTableStore,
        table: &'a TableName,
        schema: &'a StoredSchema,
        index: &'a StoredIndex,
    ) -> Self {
        let query = Query::new(KeyRange::ALL);
        Self { rows: Paged::new(Pages::new(store, table, query)), schema, index }
    }

    async fn next(&mut self) -> Result<Option<(Role, TableEntity)>> {
        while let Some(row) = self.rows.next().await? {
            let (partition_key, row_key) = (row.key().partition_key.as_str(), row.key().row_key.as_str());
            if !keys::fits(&self.schema.partition_key, partition_key) {
                continue;
            }
            if keys::fits(&self.schema.row_key, row_key) {
                return Ok(Some((Role::Entity, row)));
            }
            if keys::fits(&self.index.row_key, row_key) {
                return Ok(Some((Role::Copy, row)));
            }
        }
        Ok(None)
    }
}

/// Checks that an entity has the correct index row.
async fn of_entity(
    store: &DynTableStore,
    table: &TableName,
    (schema, index): (&StoredSchema, &StoredIndex),
    entity: TableEntity,
    wanted: Result<Option<TableEntity>, String>,
) -> Result<Option<CopyFinding>> {
    let finding = |key: &EntityKey, fault| CopyFinding {
        key: key.clone(),
        fault,
        entity: None,
        wanted: None,
        found: None,
    };
    let wanted = match wanted {
        Ok(Some(wanted)) => wanted,
        Ok(None) => return Ok(None),
        Err(reason) => return Ok(Some(finding(entity.key(), Fault::Unclear(reason)))),
    };
    let found = keys::read(store, table, wanted.key()).await?;
    let fault = match &found {
        None => Fault::Missing,
        Some(found) if is_same(found, &wanted) => return Ok(None),
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
    // The other values of the row are compared when the entity is read.
    let is_its = match wanted(schema, index, &entity) {
        Ok(wanted) => wanted.is_some_and(|wanted| *wanted.key() == key),
        Err(_) => true,
    };
    Ok((!is_its).then(|| orphan(Fault::Orphaned)))
}
