//! Checks index rows stored in the same partition as their entities.

use table_core::query::KeyRange;
use table_core::schema::{StoredIndex, StoredSchema};
use table_core::{DynTableStore, EntityKey, ErrorCode, Query, TableEntity, TableName};

use crate::check::index_row::{owner, wanted};
use crate::check::sums::Sums;
use crate::failure::Result;
use crate::rows::Pages;
use crate::transfer::compare::is_same;
use crate::transfer::ordered::{Entities, Paged};
use table_inspect::keys;
use table_inspect::kind::{Kind, Kinds};

/// The maximum number of times an entity and its index row are compared while programs keep changing them.
pub(super) const ATTEMPTS: usize = 10;
const UNSTEADY: &str = "changes each time that it is read; check again";
/// The reason for rows that the store returns on pages but cannot represent when they are read again.
const UNREADABLE: &str = "is a row that the store cannot represent";

/// A row that was read again.
enum Read {
    Missing,
    Row(Box<TableEntity>),
    /// The store cannot represent the row as an entity.
    Unreadable,
}

/// A defect found in an index.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The entity has no index row.
    Missing,
    /// The values of the index row differ from those of its entity.
    Different,
    /// The index row's entity does not exist or has a different value.
    Orphaned,
    /// The index is unique and another entity already has the value, or a row that does not belong to the index occupies the index row's key.
    Taken,
    /// The row does not match the schema, so it cannot be compared.
    Unclear(String),
}

/// A defect in one index row.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyFinding {
    /// The key of the index row, or the key of the entity if the index row would not have a valid key.
    pub key: EntityKey,
    /// The defect.
    pub fault: Fault,
    /// The entity, if the defect was found by comparing the entity with its index row.
    pub entity: Option<TableEntity>,
    /// The index row expected for `entity`, or `None` if `entity` is `None`.
    pub wanted: Option<TableEntity>,
    /// The stored index row, if one was found.
    pub found: Option<TableEntity>,
}

/// An index whose rows are compared with their entities.
///
/// An entity and its index row are read in two requests, and a program may write both in between, so the comparison is valid only if the first row still has
/// the same version after the second row has been read. Otherwise, the rows are compared again.
#[derive(Clone, Copy, Debug)]
pub struct CheckedIndex<'a> {
    /// The store that contains the table.
    pub store: &'a DynTableStore,
    /// The table that contains the entities and the index rows.
    pub table: &'a TableName,
    /// The schema of the entities.
    pub schema: &'a StoredSchema,
    /// The index.
    pub index: &'a StoredIndex,
    /// The kinds of rows in the table.
    pub kinds: &'a Kinds<'a>,
}

/// The numbers of rows compared by the check of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckedRows {
    /// The number of entities.
    pub entities: u64,
    /// The number of index rows.
    pub index_rows: u64,
    /// The number of rows of the table that the store omitted, because it cannot represent them as entities. They were not compared.
    pub omitted: u64,
}

/// Compares the rows of an index with their entities, and calls `found` for each defect. Programs may keep writing to the table.
///
/// The first pass over the table compares sums of the expected index rows with sums of the stored ones. If the sums differ, a second pass compares the rows
/// that may be wrong. Only one page and the sums are kept in memory.
///
/// # Errors
/// Any error from the store or from `found`.
pub async fn check_copies(
    checked: CheckedIndex<'_>,
    mut found: impl AsyncFnMut(CopyFinding) -> Result<()>,
) -> Result<CheckedRows> {
    let CheckedIndex { schema, index, .. } = checked;
    let (mut counted, mut sums) = (CheckedRows::default(), Sums::new());
    let mut rows = RowsOfIndex::new(checked);
    while let Some((role, row)) = rows.next().await? {
        match role {
            Role::Entity => {
                counted.entities += 1;
                match wanted(schema, index, &row) {
                    Ok(None) => {}
                    Ok(Some(wanted)) => sums.expect(&wanted),
                    Err(_) => sums.suspect(row.key()),
                }
            }
            Role::Copy => {
                counted.index_rows += 1;
                sums.find(&row);
            }
        }
    }
    counted.omitted = rows.rows.omitted();
    if sums.are_equal() {
        return Ok(counted);
    }
    let mut rows = RowsOfIndex::new(checked);
    while let Some((role, row)) = rows.next().await? {
        let finding = match role {
            Role::Copy if sums.may_differ(row.key()) => checked.of_copy(row).await?,
            Role::Entity => {
                let wanted = wanted(schema, index, &row);
                let key =
                    wanted.as_ref().map_or(Some(row.key()), |wanted| wanted.as_ref().map(TableEntity::key));
                if !key.is_some_and(|key| sums.may_differ(key)) {
                    continue;
                }
                checked.of_entity(row).await?
            }
            Role::Copy => None,
        };
        if let Some(finding) = finding {
            found(finding).await?;
        }
    }
    Ok(counted)
}

/// The role of a row in the check of one index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Entity,
    Copy,
}

/// Reads a schema's entities and the rows of one of its indexes, in store order.
struct RowsOfIndex<'a> {
    rows: Paged<'a>,
    checked: CheckedIndex<'a>,
}

impl<'a> RowsOfIndex<'a> {
    fn new(checked: CheckedIndex<'a>) -> Self {
        let query = Query::new(KeyRange::ALL);
        Self { rows: Paged::new(Pages::new(checked.store, checked.table, query)), checked }
    }

    async fn next(&mut self) -> Result<Option<(Role, TableEntity)>> {
        while let Some(row) = self.rows.next().await? {
            if let Some(role) = self.checked.role(&row) {
                return Ok(Some((role, row)));
            }
        }
        Ok(None)
    }
}

impl CheckedIndex<'_> {
    /// Returns the role of a row, or `None` for an internal row and for a row of another type or index.
    fn role(&self, row: &TableEntity) -> Option<Role> {
        match self.kinds.of(row) {
            kind if kind == Kind::Entity(self.schema) => Some(Role::Entity),
            kind if kind == Kind::Index(self.schema, self.index) => Some(Role::Copy),
            _ => None,
        }
    }

    /// Reads a row again. A row that the store cannot represent must not end the check of the others.
    async fn read(&self, key: &EntityKey) -> Result<Read> {
        match keys::read(self.store, self.table, key).await {
            Ok(None) => Ok(Read::Missing),
            Ok(Some(row)) => Ok(Read::Row(Box::new(row))),
            Err(table_inspect::Error::Store(error)) if error.code() == ErrorCode::EntityMismatch => {
                Ok(Read::Unreadable)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Checks that an entity has the correct index row. Returns the defect, if any.
    async fn of_entity(&self, mut entity: TableEntity) -> Result<Option<CopyFinding>> {
        for _ in 0..ATTEMPTS {
            let Some(finding) = self.compare_entity(&entity).await? else { return Ok(None) };
            match self.read(entity.key()).await? {
                Read::Missing => return Ok(None),
                Read::Row(now) if now.etag() == entity.etag() => return Ok(Some(finding)),
                Read::Row(now) => entity = *now,
                Read::Unreadable => return Ok(Some(unclear(&entity, UNREADABLE.to_owned()))),
            }
        }
        Ok(Some(unclear(&entity, UNSTEADY.to_owned())))
    }

    /// Checks that an index row belongs to an entity with the same value. Returns the defect, if any.
    async fn of_copy(&self, mut copy: TableEntity) -> Result<Option<CopyFinding>> {
        for _ in 0..ATTEMPTS {
            let Some(finding) = self.compare_copy(&copy).await? else { return Ok(None) };
            match self.read(copy.key()).await? {
                Read::Missing => return Ok(None),
                Read::Row(now) if now.etag() == copy.etag() => return Ok(Some(finding)),
                Read::Row(now) => copy = *now,
                Read::Unreadable => return Ok(Some(unclear(&copy, UNREADABLE.to_owned()))),
            }
        }
        Ok(Some(unclear(&copy, UNSTEADY.to_owned())))
    }

    /// Rechecks the rows of a finding. Returns their current defect, if any.
    pub(super) async fn again(&self, finding: &CopyFinding) -> Result<Option<CopyFinding>> {
        let key = finding.entity.as_ref().map_or(&finding.key, TableEntity::key);
        match self.read(key).await? {
            Read::Missing => Ok(None),
            Read::Row(row) if finding.entity.is_some() => self.of_entity(*row).await,
            Read::Row(row) => self.of_copy(*row).await,
            Read::Unreadable => Ok(Some(unclear_at(key.clone(), UNREADABLE.to_owned()))),
        }
    }

    async fn compare_entity(&self, entity: &TableEntity) -> Result<Option<CopyFinding>> {
        if self.role(entity) != Some(Role::Entity) {
            return Ok(None);
        }
        let wanted = match wanted(self.schema, self.index, entity) {
            Ok(Some(wanted)) => wanted,
            Ok(None) => return Ok(None),
            Err(reason) => return Ok(Some(unclear(entity, reason))),
        };
        let found = match self.read(wanted.key()).await? {
            Read::Missing => None,
            Read::Row(row) => Some(*row),
            Read::Unreadable => {
                return Ok(Some(unclear(
                    entity,
                    "has an index row that the store cannot represent".to_owned(),
                )));
            }
        };
        let is_its = |found| owner(self.schema, self.index, found).ok().as_ref() == Some(entity.key());
        let fault = match &found {
            None => Fault::Missing,
            Some(found) if self.role(found) != Some(Role::Copy) => Fault::Taken,
            Some(found) if is_same(found, &wanted) => return Ok(None),
            Some(found) if self.index.unique && !is_its(found) => Fault::Taken,
            Some(_) => Fault::Different,
        };
        let key = wanted.key().clone();
        Ok(Some(CopyFinding { key, fault, entity: Some(entity.clone()), wanted: Some(wanted), found }))
    }

    async fn compare_copy(&self, copy: &TableEntity) -> Result<Option<CopyFinding>> {
        if self.role(copy) != Some(Role::Copy) {
            return Ok(None);
        }
        let unclear = |reason| CopyFinding { found: Some(copy.clone()), ..unclear(copy, reason) };
        let owner = match owner(self.schema, self.index, copy) {
            Ok(owner) => owner,
            Err(reason) => return Ok(Some(unclear(reason))),
        };
        // The other values of the index row are compared when the entity is checked.
        let is_its = match self.read(&owner).await? {
            Read::Missing => false,
            Read::Unreadable => {
                return Ok(Some(unclear("belongs to an entity that the store cannot represent".to_owned())));
            }
            // The row may belong to a type with a `rest` field, which the stored schema does not show.
            Read::Row(row) if self.kinds.of(&row) == Kind::Unknown => {
                return Ok(Some(unclear("belongs to a row of an unknown type".to_owned())));
            }
            Read::Row(row) if self.role(&row) != Some(Role::Entity) => false,
            Read::Row(entity) => match wanted(self.schema, self.index, &entity) {
                Ok(wanted) => wanted.is_some_and(|wanted| wanted.key() == copy.key()),
                Err(_) => true,
            },
        };
        let (key, found) = (copy.key().clone(), Some(copy.clone()));
        let orphan = CopyFinding { key, fault: Fault::Orphaned, entity: None, wanted: None, found };
        Ok((!is_its).then_some(orphan))
    }
}

/// Returns the finding for a row that cannot be compared.
fn unclear(row: &TableEntity, reason: String) -> CopyFinding {
    unclear_at(row.key().clone(), reason)
}

fn unclear_at(key: EntityKey, reason: String) -> CopyFinding {
    CopyFinding { key, fault: Fault::Unclear(reason), entity: None, wanted: None, found: None }
}
