//! Relationships: a parent and its parts in one partition, changed by transactions (PAT-CK-3, IMP-6).
//!
//! # Context
//! This pattern is for one-to-one and one-to-many relationships, such as an employee with her badge and her reviews. Without foreign keys, a review can outlive
//! its employee, or be added after she has left.
//!
//! # Key layout
//! | PartitionKey | RowKey | |
//! |---|---|---|
//! | `Sales` | `empid_000223` | the parent |
//! | `Sales` | `empid_000223_2012` | a part: its RowKey begins with the parent's RowKey (PAT-CK-2) |
//!
//! An [`EntityGroup`](trait@crate::EntityGroup) declares the types of a parent's parts, and reads a parent together with its parts in one range query.
//!
//! # Guarantee
//! If all writers use this module, a part never exists without its parent:
//! - [`insert_part`](crate::Entities::insert_part) writes the part and touches the parent in one transaction. It fails if the parent does not exist.
//! - [`delete_with_parts`](crate::Entities::delete_with_parts) removes the parent and all its parts in one transaction, if none of them has changed since it
//!   was read. A part inserted in the meantime changes the parent's version, so the delete is retried.
//! - Both functions call the [participants](crate::participant) for the parts' types.
//!
//! # Cost
//! Inserting a part takes one request with two operations; it changes the `ETag` of the parent. A delete takes one range query, or two if the parent's RowKey
//! is empty, and one transaction, repeated for each conflict with another writer. On a store whose pages are not in key order
//! ([`Capabilities::ordered`](table_core::store::Capabilities::ordered)), it first reads the parent in a separate request.
//!
//! # Bounds
//! A delete covers at most 100 rows including the parent (EGT-2); a larger delete is refused before anything is deleted, and does not read all rows. It removes
//! each part as a plain row. It does not remove index rows or copies declared by the part's type, and does not check that type's stored schema, because the
//! parent's handle does not know the parts' types. Delete parts of such types first, through a handle to their type. A [`check`](crate::Entities::check) of the
//! type finds remaining index rows, and removes them in repair mode. Deletes of parts are recorded in the [feed](crate::feed) if the parent's type, or a type
//! in its [entity set](trait@crate::EntitySet), declares a feed. Otherwise, first delete the parts whose type has a feed, through a handle to their type.
//! Concurrent inserts of parts under one parent are serialised.
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

use table_core::__private::{require_owner, require_table_of_owner};
use table_core::entity::{Entity, PlainEntity};
use table_core::etag::{ETag, IfMatch};
use table_core::group::{GroupScope, unreserved};
use table_core::key::{EntityKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query, Select};
use table_core::selection::{Point, Selection};
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::entities::{Current, Draft, Entities, EntityPlan, EntityWrite, Retries, StepRecorder};
use crate::paging::every_row;
use crate::participant;
use crate::relation::fault::RelationFault;

impl<P: Entity, S: 'static, O> Entities<P, S, O> {
    /// Returns `true` if deletes of parts are recorded in the feed, because the parent's type or a type in its entity set declares one. The parts' types are
    /// unknown; feed readers ignore entries for other types.
    pub(crate) fn records_parts(&self) -> bool {
        self.records_changes() || P::SET_SCHEMAS.iter().any(|of| of.keeps.contains(&"feed"))
    }
}

impl<P: Entity + Send + Sync, S: TableStore + Clone + 'static, O: StepRecorder> Entities<P, S, O> {
    /// Inserts a part of an existing entity, in a transaction that also changes the entity's version. See [the pattern](crate::relation).
    ///
    /// # Errors
    /// - `ResourceNotFound`, operation 0, if the entity does not exist.
    /// - `EntityAlreadyExists`, operation 1, if the part exists.
    /// - `InvalidInput` if the part's key does not begin with the entity's key.
    ///
    /// A part declared in a different table than the entity does not compile (T252):
    ///
    /// ```compile_fail,E0080
    /// use table_patterns::{Engine, Entity, EntityStore};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Orders")]
    /// #[partition_key(customer)]
    /// #[row_key("order_", number)]
    /// struct Order { customer: String, #[digits(6)] number: u32 }
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Lines")]
    /// #[partition_key(customer)]
    /// #[row_key("order_", order, "_", number)]
    /// struct Line { customer: String, #[digits(6)] order: u32, #[digits(3)] number: u16 }
    ///
    /// # pollster::block_on(async {
    /// let orders = Engine::in_memory().entities::<Order>().create_if_missing().await?;
    /// orders.insert_part(Order::key("ada", 42), &Line { customer: "ada".into(), order: 42, number: 1 }).await?;
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn insert_part<C: PlainEntity + Send + Sync>(
        &self,
        owner: Selection<P, Point>,
        part: &C,
    ) -> Result<()> {
        const {
            require_owner(P::SCHEMA);
            require_table_of_owner(P::SCHEMA, C::SCHEMA);
        };
        let owner = owner.into_key()?;
        self.check_part(&owner, &part.key_of()?)?;
        let mut unit = self.unit_in(owner.partition_key.clone())?;
        unit.touch::<P>(owner)?.insert(part)?;
        unit.commit().await.map(drop)
    }

    /// Deletes an entity with all its parts in one transaction. Returns the number of deleted rows. See [the pattern](crate::relation).
    ///
    /// The entity's RowKey must not be a prefix of another entity's RowKey, because the range of its parts would then contain that entity:
    ///
    /// ```compile_fail
    /// use table_patterns::{Engine, Entity, EntityStore};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Orders")]
    /// #[partition_key(customer)]
    /// #[row_key("order_", name)] // `order_tea` is a prefix of `order_teapot`
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
    /// - `InvalidInput` (EGT-2) if one transaction cannot delete all rows; nothing is deleted.
    /// - `EntityMismatch` if the parts have participants, and the store cannot represent a part; nothing is deleted.
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted with another writer.
    pub async fn delete_with_parts(&self, owner: Selection<P, Point>) -> Result<usize> {
        const { require_owner(P::SCHEMA) };
        let owner = owner.into_key()?;
        let mut retries = Retries::new(self.retry(), "the owner or its parts").replan_entities(true);
        loop {
            let (own, parts) = self.group_rows(&owner).await?;
            let draft = self.deletion(&owner, &own, &parts)?;
            match retries.submit(&self.site(self.table().name()?), &draft).await {
                Ok(None) => {}
                Ok(Some(outcome)) => return outcome.committed().map(|_| parts.len() + 1),
                Err(error) if error.rule() == Some("CON-3") => {
                    return Err(self.here(error.with_rule("PAT-CK-3"), &owner));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Plans conditional deletes of the parent and its parts.
    fn deletion(
        &self,
        owner: &EntityKey,
        own: &Parent<P>,
        parts: &[(RowKey, StoredRow)],
    ) -> Result<Draft<'_>> {
        let limits = Some(&self.table().store().capabilities().limits);
        let kind = OperationKind::Delete(IfMatch::ETag(own.etag.clone()));
        let plan = self.plan(owner.clone(), kind, own.current.as_ref().map(Current::old), None)?;
        let mut draft = Draft::new(owner.partition_key.clone());
        draft.push(plan, limits)?;
        let context = (self.retry().runtime(), &self.context);
        let mut alone: Vec<EntityPlan> = Vec::with_capacity(parts.len());
        let is_recorded = self.records_parts();
        for (row_key, read) in parts {
            let key = EntityKey { partition_key: owner.partition_key.clone(), row_key: row_key.clone() };
            let kind = OperationKind::Delete(IfMatch::ETag(read.etag.clone()));
            let row = (P::SCHEMA, &key, &read.row);
            let more = participant::deletion(self.table().store(), row, context)?;
            let (is_alone, mut more) = (more.is_none(), more.unwrap_or_default());
            if let Some(feed) = self.feed_recorder().filter(|_| is_recorded) {
                feed.record(row_key, "deleted", &mut more);
                feed.attach(&mut more);
            }
            let plan = more.into_plan(key, kind);
            if is_alone {
                alone.push(plan);
            } else {
                draft.push(EntityWrite::without_contributors(plan), limits)?;
            }
        }
        // A participant may itself write a part's row. That part needs no separate delete.
        alone.retain(|part| !draft.planned().writes(&part.key.row_key));
        alone.into_iter().try_for_each(|part| draft.push(EntityWrite::without_contributors(part), limits))?;
        Ok(draft)
    }

    /// Reads the parent. Returns `None` if its values are not needed and the store is ordered, because the query for its parts then returns it first.
    async fn parent(&self, owner: &EntityKey) -> Result<Option<Parent<P>>> {
        let (store, table) = (self.table().store(), self.table().name()?);
        let found = if !self.is_blind() {
            self.current(owner)
                .await?
                .map(|current| Parent { etag: current.etag.clone(), current: Some(current) })
        } else if store.capabilities().ordered {
            return Ok(None);
        } else {
            let found = store.get(table, owner, &keys()).await?;
            found.map(|found| Parent { etag: found.etag, current: None })
        };
        found.map(Some).ok_or_else(|| self.here(Error::of(RelationFault::NoOwner), owner))
    }

    /// Reads the parent, then its parts. A part inserted after the parent was read changes the parent's version. The parts' properties are read only if
    /// participants need them.
    async fn group_rows(&self, owner: &EntityKey) -> Result<(Parent<P>, Vec<(RowKey, StoredRow)>)> {
        let (mut own, mut parts) = (self.parent(owner).await?, Vec::new());
        let (store, table) = (self.table().store(), self.table().name()?);
        let select = if participant::is_attached(store, P::SCHEMA) { Select::All } else { keys() };
        let most = store.capabilities().limits.operations;
        for keys in ranges(owner) {
            let query = Query { select: select.clone(), ..Query::new(keys) };
            let skipped = every_row(
                store,
                table,
                &query,
                |_| true,
                |entity| {
                    if entity.row_key == owner.row_key.as_str() {
                        own.get_or_insert_with(|| Parent { etag: entity.etag(), current: None });
                        return Ok(());
                    }
                    // The parent's row comes first. If it is missing, or if too many parts follow, an error stops the query before all parts have been read.
                    let fault = match own {
                        None => RelationFault::NoOwner,
                        Some(_) if parts.len() + 1 >= most => RelationFault::TooMany { most },
                        Some(_) => {
                            let read = StoredRow { row: entity.row.to_row(), etag: entity.etag() };
                            parts.push((RowKey::new(entity.row_key)?, read));
                            return Ok(());
                        }
                    };
                    Err(self.here(Error::of(fault), owner))
                },
            )
            .await?;
            // A part among these rows would remain without its parent.
            if skipped > 0 {
                return Err(self.here(Error::of(RelationFault::Omitted), owner));
            }
        }
        match own {
            Some(own) => Ok((own, parts)),
            None => Err(self.here(Error::of(RelationFault::NoOwner), owner)),
        }
    }

    fn check_part(&self, owner: &EntityKey, part: &EntityKey) -> Result<()> {
        let (partition_key, row_key) = (part.partition_key.as_str(), part.row_key.as_str());
        let is_under = ranges(owner).iter().any(|range| range.contains(partition_key, row_key));
        if is_under && part != owner {
            return Ok(());
        }
        Err(self.here(Error::of(RelationFault::OtherKey), part))
    }
}

/// A parent read before its parts.
struct Parent<E> {
    etag: ETag,
    /// The entity, or `None` if deleting it does not require its values.
    current: Option<Current<E>>,
}

/// Returns a projection to keys only, without properties.
fn keys() -> Select {
    Select::names(["PartitionKey", "RowKey"])
}

/// Returns the key ranges of an entity and its parts. The entity is in the first range.
fn ranges(owner: &EntityKey) -> Vec<KeyRange> {
    unreserved(Point::range(KeyRange::point(owner.partition_key.as_str(), owner.row_key.as_str())))
}
