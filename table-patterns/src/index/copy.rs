//! Writes index copies in the partition of their entity, in the entity's transaction. If the index is complete and no newer release has added properties, a
//! copy is written without a read.

use std::any::Any;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::Row;
use table_core::schema::{EntitySchema, IndexSchema};
use table_core::store::StoredRow;
use table_core::table::SchemaWatch;
use table_core::{Error, Result};

use crate::entities::{DerivedRow, EntityFault, PreparedRow, RowPlace};
use crate::index::changes::{HoldsEntry, OwnerOf};
use crate::index::copy_owner::is_foreign;
use crate::index::fault::{IndexFault, UniqueViolation};
use crate::index::whole::with_newer;

/// A change to one index copy.
#[derive(Clone, Debug)]
pub(crate) struct CopyChange {
    pub(crate) entity: &'static EntitySchema,
    pub(crate) index: &'static IndexSchema,
    pub(crate) owner_of: OwnerOf,
    pub(crate) holds_entry: HoldsEntry,
    /// The owner of the copy before the change. `None` if the copy is new.
    pub(crate) before: Option<EntityKey>,
    /// The owner of the copy after the change, and the copy's new properties. `None` if the copy is removed.
    pub(crate) after: Option<(EntityKey, Row)>,
    /// `true` if the index is complete: each stored entity has its copy, and the row at the copy's key belongs to that entity.
    pub(crate) is_complete: bool,
    /// Watches the stored schema, which declares the properties that other releases write to copies.
    pub(crate) watch: SchemaWatch,
}

impl CopyChange {
    /// Combines the changes that several entities in a transaction make to the same copy.
    fn combined(&self, parts: &[Arc<dyn DerivedRow>]) -> Self {
        let mut all = Self { before: None, after: None, ..self.clone() };
        for part in parts.iter().filter_map(|part| part.as_any().downcast_ref::<Self>()) {
            all.before = part.before.clone().or(all.before);
            all.after = part.after.clone().or(all.after);
        }
        all
    }

    /// Returns `true` if the stored row must be read first. In an incomplete index, the copy of an existing entity may be missing. A copy of a whole entity
    /// must also contain the stored properties that only a newer release knows.
    fn needs_row(&self) -> bool {
        let is_there = self.before.is_some();
        (is_there && !self.is_complete) || (self.after.is_some() && !self.newer_properties().is_empty())
    }

    /// Returns the names of the properties that only a newer release knows. Their values are taken from the stored entity.
    fn newer_properties(&self) -> Arc<[String]> {
        if self.index.include.is_some() {
            return Arc::default();
        }
        self.watch.newer_properties()
    }

    /// Returns the operation that writes the copy without a read. It assumes that the copy matches its entity. The transaction requires the entity's version,
    /// so it fails if the entity has changed.
    fn assumed(&self) -> OperationKind {
        match &self.after {
            // An insert fails if the key is occupied, by another entity's copy or by an entity.
            Some((_, row)) if self.before.is_none() => OperationKind::Insert(row.clone()),
            Some((_, row)) => OperationKind::InsertOrReplace(row.clone()),
            None => OperationKind::Delete(IfMatch::Any),
        }
    }

    /// Returns the key of the stored row's owner. Returns `None` if the row is not a copy of the index.
    fn owner(&self, key: &EntityKey, row: &Row) -> Option<EntityKey> {
        let owner = (self.owner_of)(self.index, key, row)?;
        // In a complete index, the row at this key is certain to be the stored entity's copy, even if another release has added properties to it.
        let is_certain = self.is_complete && self.before.as_ref() == Some(&owner);
        let others = || self.watch.other_properties();
        (is_certain || !is_foreign(self.entity, self.index, row.view(), &others())).then_some(owner)
    }

    /// Returns the owner of the stored row if that entity is not part of this change and no longer has the value. A program without the index may have changed
    /// or deleted the entity.
    async fn obsolete_owner(
        &self,
        place: RowPlace<'_>,
        found: Option<&StoredRow>,
    ) -> Result<Option<EntityKey>> {
        let owner = found.and_then(|found| self.owner(place.key, &found.row));
        let is_known = |owner: &EntityKey| {
            let after = self.after.as_ref().map(|(owner, _)| owner);
            Some(owner) == after || Some(owner) == self.before.as_ref()
        };
        let Some(owner) = owner.filter(|owner| self.after.is_some() && !is_known(owner)) else {
            return Ok(None);
        };
        let stored = place.rows.read(&owner).await?;
        let holds = |stored: StoredRow| (self.holds_entry)(self.index, (&owner, &stored.row), place.key);
        Ok(if stored.is_some_and(holds) { None } else { Some(owner) })
    }

    /// Adds the stored properties that only a newer release knows to the new copy.
    ///
    /// IMPORTANT: the transaction must require the entity's version, or insert the entity. It then fails if the entity has changed since that version.
    async fn keep_newer(&mut self, place: RowPlace<'_>) -> Result<()> {
        let names = self.newer_properties();
        let Some((owner, row)) = self.after.as_mut().filter(|_| !names.is_empty()) else { return Ok(()) };
        if let Some(stored) = place.rows.read(owner).await? {
            *row = with_newer(row.clone(), stored.row.view(), &names)?;
        }
        Ok(())
    }

    /// Returns the operation on the row. Returns `None` if no write is needed. `found` is the stored row.
    fn for_stored(&self, key: &EntityKey, found: Option<&StoredRow>) -> Result<Option<OperationKind>> {
        let Some(StoredRow { row: stored, etag }) = found else {
            return Ok(self.after.as_ref().map(|(_, row)| OperationKind::Insert(row.clone())));
        };
        let if_match = IfMatch::ETag(etag.clone());
        let owner = self.owner(key, stored);
        let after = self.after.as_ref().map(|(owner, _)| owner);
        let is_ours = owner.is_some() && (owner == self.before || owner.as_ref() == after);
        // The row may be a copy to which a release has added properties that this handle does not know.
        let may_be_ours = owner.is_none() && (self.owner_of)(self.index, key, stored) == self.before;
        Ok(match &self.after {
            Some((_, row)) if is_ours => Some(OperationKind::Replace(row.clone(), if_match)),
            None if is_ours => Some(OperationKind::Delete(if_match)),
            // The row already belonged to another entity or type when the index was declared. This entity has never had a copy, and does not get one now.
            Some((after, _)) if !may_be_ours && self.before.as_ref() == Some(after) => None,
            Some(_) => {
                return Err(match owner {
                    Some(owner) => violation(self.index, key, &owner),
                    None => occupied(self.index, key),
                });
            }
            None => None,
        })
    }
}

impl DerivedRow for CopyChange {
    fn row(&self) -> Option<&Row> {
        self.after.as_ref().map(|(_, row)| row)
    }

    fn follows(&self, key: &EntityKey, earlier: &dyn DerivedRow) -> Result<()> {
        let Some(earlier) = earlier.as_any().downcast_ref::<Self>() else {
            let (first, second) = (self.index.name.to_owned(), self.index.name.to_owned());
            return Err(Error::of(EntityFault::SameRow { first, second }));
        };
        match (&earlier.after, &self.after) {
            (Some((other, _)), Some(_)) => Err(violation(self.index, key, other)),
            _ => Ok(()),
        }
    }

    fn is_addition(&self) -> bool {
        self.after.is_some()
    }

    fn assumed(&self, parts: &[Arc<dyn DerivedRow>]) -> Option<OperationKind> {
        let all = self.combined(parts);
        let needs_row =
            parts.iter().filter_map(|part| part.as_any().downcast_ref::<Self>()).any(Self::needs_row);
        (!needs_row).then(|| CopyChange::assumed(&all))
    }

    fn prepare<'a>(
        &'a self,
        place: RowPlace<'a>,
        parts: &'a [Arc<dyn DerivedRow>],
        found: Option<&'a StoredRow>,
    ) -> BoxFuture<'a, Result<Option<PreparedRow>>> {
        async move {
            let mut all = self.combined(parts);
            if let Some(owner) = all.obsolete_owner(place, found).await? {
                all.before = Some(owner);
            }
            all.keep_newer(place).await?;
            Ok(all.for_stored(place.key, found)?.map(|kind| PreparedRow { kind, undo: None }))
        }
        .boxed()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the error for a unique value that another entity already has (PAT-INTRA-5).
pub(crate) fn violation(index: &IndexSchema, copy: &EntityKey, owner: &EntityKey) -> Error {
    let taken = UniqueViolation { index: index.name, owner: owner.clone() };
    Error::of(IndexFault::Taken(taken)).with_key(copy.partition_key.as_str(), copy.row_key.as_str())
}

/// Returns the error for a copy whose key is occupied by a row that is not a copy of the index (PAT-HET-2).
pub(crate) fn occupied(index: &IndexSchema, copy: &EntityKey) -> Error {
    let occupied = IndexFault::Occupied { index: index.name, at: copy.to_string() };
    Error::of(occupied).with_key(copy.partition_key.as_str(), copy.row_key.as_str())
}
