//! Relationships: a parent and its parts in one partition, changed by transactions (PAT-CK-3, IMP-6).
//!
//! # Context
//! This pattern is for one-to-one and one-to-many relationships, such as an employee with her badge and her reviews. In a store without foreign keys,
//! a review can outlive its employee, or be added after she has left.
//!
//! # Key layout
//! | PartitionKey | RowKey | |
//! |---|---|---|
//! | `Sales` | `empid_000223` | the parent |
//! | `Sales` | `empid_000223_2012` | a part: its RowKey begins with the parent's RowKey (PAT-CK-2) |
//!
//! An [`EntityGroup`](trait@crate::EntityGroup) declares the part types of a parent, and reads a parent with its parts by one range query.
//!
//! # Guarantee
//! If all writers use this module, a part never exists without its parent:
//! - [`insert_part`](crate::Entities::insert_part) writes the part and touches the parent in one transaction. It fails if the parent does not exist.
//! - [`delete_with_parts`](crate::Entities::delete_with_parts) removes the parent and all its parts in one transaction, under the version of each.
//!   A part that is inserted in the meantime changes the version of the parent, so the delete is retried.
//!
//! # Cost
//! Inserting a part takes one request with two operations; it changes the `ETag` of the parent.
//! A delete takes one range query and one transaction, repeated for each conflict with another writer.
//!
//! # Bounds
//! A delete covers at most 100 rows including the parent (EGT-2); a larger delete is refused before anything is deleted.
//! Inserts of parts under one parent are serialised.
//!
//! # When not to
//! For hundreds of parts, or many concurrent writers of parts, omit the check, and delete [in batches](crate::periods), parts first.
//!
//! ```
//! use table_patterns::group::{Many, One};
//! use table_patterns::{Engine, Entity, EntityGroup, EntityStore};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Company")]
//! #[partition_key(department)]
//! #[row_key("empid_", id)]
//! struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Company")]
//! #[partition_key(department)]
//! #[row_key("empid_", employee, "_", year)]
//! struct Review { department: String, #[digits(6)] employee: u32, #[digits(4)] year: u16, rating: i32 }
//!
//! #[derive(EntityGroup)]
//! #[entity_group(under = Employee)]
//! struct EmployeeWithReviews { employee: One<Employee>, reviews: Many<Review> }
//!
//! # pollster::block_on(async {
//! let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
//! let review = Review { department: "Sales".into(), employee: 223, year: 2012, rating: 5 };
//! assert!(employees.insert_part(Employee::key("Sales", 223), &review).await.unwrap_err().is_not_found());
//!
//! employees.insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await?;
//! employees.insert_part(Employee::key("Sales", 223), &review).await?;
//! let ada: EmployeeWithReviews = employees.table().read_group(Employee::key("Sales", 223)).await?;
//! assert_eq!(ada.reviews.len(), 1);
//! assert_eq!(employees.delete_with_parts(Employee::key("Sales", 223)).await?, 2);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod fault;
#[cfg(test)]
mod tests;

use table_core::__private::require_owner;
use table_core::entity::{Entity, PlainEntity};
use table_core::etag::IfMatch;
use table_core::group::GroupScope;
use table_core::key::{EntityKey, RowKey};
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Query, Select};
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{Contribution, Entities, Outcome, StepRecorder};
use crate::paging::each_row;
use crate::relation::fault::RelationFault;

impl<P: Entity + Send + Sync, S: TableStore + Clone + 'static, O: StepRecorder> Entities<P, S, O> {
    /// Inserts a part of an existing entity, in one transaction that also changes the version of the entity. See [the pattern](crate::relation).
    ///
    /// # Errors
    /// - `ResourceNotFound`, operation 0, if the entity does not exist.
    /// - `EntityAlreadyExists`, operation 1, if the part exists.
    /// - `InvalidInput` if the key of the part does not begin with the key of the entity, or its schema names another table.
    pub async fn insert_part<C: PlainEntity + Send + Sync>(
        &self,
        owner: Selection<P, Point>,
        part: &C,
    ) -> Result<()> {
        const { require_owner(P::SCHEMA) };
        let owner = owner.into_key()?;
        self.check_part::<C>(&owner, &part.key_of()?)?;
        let mut unit = self.unit_in(owner.partition_key.clone())?;
        unit.touch::<P>(owner)?.insert(part)?;
        unit.commit().await.map(drop)
    }

    /// Deletes an entity with all its parts in one transaction. Returns the number of deleted rows. See [the pattern](crate::relation).
    ///
    /// The row key of the entity must not be a prefix of another entity's row key, or the range of its parts would contain the other entity:
    ///
    /// ```compile_fail
    /// use table_patterns::{Engine, Entity, EntityStore};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Orders")]
    /// #[partition_key(customer)]
    /// #[row_key("order_", name)] // 'order_tea' begins 'order_teapot'
    /// struct Order {
    ///     customer: String,
    ///     name: String,
    /// }
    ///
    /// # pollster::block_on(async {
    /// let orders = Engine::in_memory().entities::<Order>().create_if_missing().await?;
    /// orders.delete_with_parts(Order::key("ada", "tea")).await?;
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `InvalidInput` (EGT-2) if a transaction cannot delete all rows; nothing is deleted.
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted with another writer.
    pub async fn delete_with_parts(&self, owner: Selection<P, Point>) -> Result<usize> {
        const { require_owner(P::SCHEMA) };
        let owner = owner.into_key()?;
        let mut race = self.retry().start("the owner or its parts");
        let mut look = false;
        loop {
            let deletes = self.deletes(&owner).await?;
            let count = deletes.len();
            let lost = match self.delete_all(&owner, deletes, look).await {
                Ok(Some(Outcome::Committed(_))) => return Ok(count),
                // Another writer changed or deleted a row since it was read.
                Ok(Some(Outcome::Conflict(_, error))) => Some(error),
                Ok(None) => None,
                Err(error) if error.is_conflict() => Some(error),
                Err(error) => return Err(error),
            };
            look = true;
            let given_up = race.retry(lost).await.map_err(|error| error.with_rule("PAT-CK-3"));
            given_up.map_err(|error| self.here(error, &owner))?;
        }
    }

    /// Deletes the parent with its derived rows and parts. Returns `None` if the parent changed since the rows were read.
    async fn delete_all(
        &self,
        owner: &EntityKey,
        rows: Vec<(RowKey, OperationKind)>,
        look: bool,
    ) -> Result<Option<Outcome>> {
        let (mut own, mut parts) = (None, Contribution::default());
        for (row_key, kind) in rows {
            if row_key == owner.row_key {
                own = Some(kind);
            } else {
                parts.write("parts of an owner", Operation { row_key, kind });
            }
        }
        let Some(OperationKind::Delete(IfMatch::ETag(etag))) = own else { return Ok(None) };
        let current = if self.is_blind() { None } else { self.current(owner).await? };
        if current.as_ref().is_some_and(|current| current.etag != etag) {
            return Ok(None);
        }
        let kind = OperationKind::Delete(IfMatch::ETag(etag));
        let old = current.as_ref().map(|current| &current.entity);
        let plan = self.plan(owner.clone(), kind, old, None)?;
        self.admit(false).await?;
        let stored = current.as_ref().and_then(|current| current.stored.clone());
        let (mut batch, _) = self.complete(plan, stored, &mut true).await?;
        batch.add_rows(parts.rows, None)?;
        self.site(self.table().name()?).attempt(&batch, look).await.map(Some)
    }

    /// Returns a delete of each row of the group, under its current version.
    async fn deletes(&self, owner: &EntityKey) -> Result<Vec<(RowKey, OperationKind)>> {
        let (store, table) = (self.table().store(), self.table().name()?);
        let select = Select::names(["PartitionKey", "RowKey"]);
        let query = Query { select, ..Query::new(range(owner)) };
        let (mut deletes, mut has_owner) = (Vec::new(), false);
        each_row(store, table, &query, |entity| {
            has_owner |= entity.row_key == owner.row_key.as_str();
            let delete = OperationKind::Delete(IfMatch::ETag(entity.etag()));
            deletes.push((RowKey::new(entity.row_key)?, delete));
            Ok(())
        })
        .await?;
        let (most, count) = (store.capabilities().limits.operations, deletes.len());
        let fault = if !has_owner {
            RelationFault::NoOwner
        } else if count > most {
            RelationFault::TooMany { rows: count, most }
        } else {
            return Ok(deletes);
        };
        Err(self.here(Error::of(fault), owner))
    }

    fn check_part<C: Entity>(&self, owner: &EntityKey, part: &EntityKey) -> Result<()> {
        let under = range(owner).contains(part.partition_key.as_str(), part.row_key.as_str());
        let fault = if C::SCHEMA.table != P::SCHEMA.table {
            RelationFault::OtherTable
        } else if !under || part == owner {
            RelationFault::OtherKey
        } else {
            return Ok(());
        };
        Err(self.here(Error::of(fault), part))
    }
}

/// Returns the range of an entity and its parts.
fn range(owner: &EntityKey) -> KeyRange {
    Point::range(KeyRange::point(owner.partition_key.as_str(), owner.row_key.as_str()))
}
