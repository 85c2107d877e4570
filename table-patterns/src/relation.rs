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
//! - [`insert_part`](ParentTable::insert_part) writes the part and touches the parent in one transaction. It fails if the parent does not exist.
//! - [`delete`](ParentTable::delete) removes the parent and all its parts in one transaction, under the version of each. A part that is
//!   inserted in between changes the version of the parent, and the delete is retried.
//!
//! # Cost
//! Inserting a part is one request with two operations; it changes the `ETag` of the parent. A delete is one range query and one transaction,
//! repeated for each conflict with another writer.
//!
//! # Bounds
//! A delete covers at most 100 rows including the parent (EGT-2); a larger one is refused before anything is deleted. Inserts of parts of one parent
//! are serialised.
//!
//! # When not to
//! For hundreds of parts, or many concurrent writers of parts, omit the check, and delete [in batches](crate::periods), parts first.
//!
//! ```
//! use table_patterns::group::{Many, One};
//! use table_patterns::relation::ParentTable;
//! use table_patterns::{Entity, EntityGroup, TableStoreExt, embedded::Engine};
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
//! let table = Engine::in_memory().table::<Employee>().create_if_missing().await?;
//! let employees = ParentTable::<_, EmployeeWithReviews, _>::new(table);
//! let review = Review { department: "Sales".into(), employee: 223, year: 2012, rating: 5 };
//! assert!(employees.insert_part(Employee::key("Sales", 223), &review).await.unwrap_err().is_not_found());
//!
//! employees.table().insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await?;
//! employees.insert_part(Employee::key("Sales", 223), &review).await?;
//! assert_eq!(employees.delete(Employee::key("Sales", 223)).await?, 2);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod fault;
#[cfg(test)]
mod tests;

use std::fmt;
use std::marker::PhantomData;

use table_core::entity::{Entity, PlainEntity};
use table_core::error::{Error, Result};
use table_core::etag::IfMatch;
use table_core::group::{EntityGroup, GroupOf, GroupScope};
use table_core::key::{EntityKey, RowKey};
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Query, Select};
use table_core::retry::Retry;
use table_core::row::RowWriter;
use table_core::selection::{Point, Selection};
use table_core::store::TableStore;
use table_core::{Table, Transaction};

use crate::entities::{Batch, Contribution, Entities, NoOutbox, Outcome, StepRecorder};
use crate::relation::fault::RelationFault;

/// A table of parents `P`. Their parts are the other members of the group `G`.
pub struct ParentTable<P, G, S, O = NoOutbox> {
    table: Entities<P, S, O>,
    retry: Retry,
    of: PhantomData<fn() -> G>,
}

impl<P: Entity, G: GroupOf<P> + EntityGroup<Named = Point>, S, O> ParentTable<P, G, S, O> {
    /// Creates a table of parents. Everything that the parents declare is maintained by their [handle](crate::Entities), including when they are
    /// deleted.
    #[must_use]
    pub fn new(owners: impl Into<Entities<P, S, O>>) -> Self {
        Self { table: owners.into(), retry: Retry::default(), of: PhantomData }
    }

    /// Sets the retry policy for deletes that conflict with another writer.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// Returns the table, for reads and for parents without parts. [`Table::read_group`] reads a parent with all its parts.
    #[must_use]
    pub const fn table(&self) -> &Table<P, S> {
        self.table.table()
    }

    /// Returns the handle, for writes of parents.
    #[must_use]
    pub const fn entities(&self) -> &Entities<P, S, O> {
        &self.table
    }

    fn in_place(&self, error: Error, key: &EntityKey) -> Error {
        let error = match error.key() {
            Some(_) => error,
            None => error.with_key(key.partition_key.as_str(), key.row_key.as_str()),
        };
        match self.table().name() {
            Ok(name) => error.with_table(name.as_str()),
            Err(_) => error,
        }
    }
}

impl<P: Entity, G: GroupOf<P> + EntityGroup<Named = Point>, S: TableStore, O: StepRecorder>
    ParentTable<P, G, S, O>
{
    /// Inserts a part of an existing parent, in one transaction that touches the parent and inserts the part.
    ///
    /// # Errors
    /// - `ResourceNotFound`, operation 0, if the parent does not exist.
    /// - `EntityAlreadyExists`, operation 1, if the part exists.
    /// - `InvalidInput` if the key of the part does not begin with the parent's key, or its schema names another table.
    pub async fn insert_part<C: PlainEntity>(&self, owner: Selection<P, Point>, part: &C) -> Result<()> {
        let (owner, key) = (owner.into_key()?, part.key_of()?);
        self.check_part::<C>(&owner, &key)?;
        let touch = OperationKind::Merge(RowWriter::with_capacity(0).finish(), IfMatch::Any);
        let operations =
            [(owner.row_key.clone(), touch), (key.row_key, OperationKind::Insert(part.to_row()?))];
        self.submit(&owner, operations).await
    }

    /// Deletes a parent with all its parts in one transaction. Returns the number of deleted rows.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the parent does not exist.
    /// - `InvalidInput` (EGT-2) if a transaction cannot delete all rows; nothing is deleted.
    /// - `UpdateConditionNotSatisfied` if every attempt conflicted with another writer.
    pub async fn delete(&self, owner: Selection<P, Point>) -> Result<usize> {
        let owner = owner.into_key()?;
        let mut race = self.retry.start("the owner or its parts");
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
            given_up.map_err(|error| self.in_place(error, &owner))?;
        }
    }

    /// Deletes the parent with its derived rows and parts; `None` if it changed since the rows were read.
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
        let current = if self.table.is_blind() { None } else { self.table.current(owner).await? };
        if current.as_ref().is_some_and(|current| current.etag != etag) {
            return Ok(None);
        }
        let kind = OperationKind::Delete(IfMatch::ETag(etag));
        let old = current.as_ref().map(|current| &current.entity);
        let mut plan = self.table.plan(owner.clone(), kind, old, None)?;
        plan.rows.extend(parts.rows);
        self.table.admit(false).await?;
        self.table.site(self.table().name()?).attempt(&Batch::of(plan)?, look).await.map(Some)
    }

    /// Returns a delete of each row of the group, under its current version.
    async fn deletes(&self, owner: &EntityKey) -> Result<Vec<(RowKey, OperationKind)>> {
        let (store, table) = (self.table().store(), self.table().name()?);
        let select = Select::names(["PartitionKey", "RowKey"]);
        let query = Query { select, ..Query::new(Self::range(owner)) };
        let (mut deletes, mut from) = (Vec::new(), None);
        let mut has_owner = false;
        loop {
            let page = store.query(table, &query, from.as_ref()).await?;
            for entity in page.rows.iter() {
                has_owner |= entity.row_key == owner.row_key.as_str();
                let delete = OperationKind::Delete(IfMatch::ETag(entity.etag()));
                deletes.push((RowKey::new(entity.row_key)?, delete));
            }
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        let (most, count) = (store.capabilities().limits.operations, deletes.len());
        let fault = if !has_owner {
            RelationFault::NoOwner
        } else if count > most {
            RelationFault::TooMany { rows: count, most }
        } else {
            return Ok(deletes);
        };
        Err(self.in_place(Error::of(fault), owner))
    }

    async fn submit(
        &self,
        owner: &EntityKey,
        operations: impl IntoIterator<Item = (RowKey, OperationKind)>,
    ) -> Result<()> {
        let (store, table) = (self.table().store(), self.table().name()?);
        let in_place = |error| self.in_place(error, owner);
        let limits = store.capabilities().limits;
        let mut transaction = Transaction::new(owner.partition_key.clone(), limits).map_err(in_place)?;
        for (row_key, kind) in operations {
            transaction.push(Operation { row_key, kind }).map_err(in_place)?;
        }
        store.submit(table, transaction).await.map(drop)
    }

    fn range(owner: &EntityKey) -> KeyRange {
        G::Named::range(KeyRange::point(owner.partition_key.as_str(), owner.row_key.as_str()))
    }

    fn check_part<C: Entity>(&self, owner: &EntityKey, part: &EntityKey) -> Result<()> {
        let under = Self::range(owner).contains(part.partition_key.as_str(), part.row_key.as_str());
        let fault = if C::SCHEMA.table != P::SCHEMA.table {
            RelationFault::OtherTable
        } else if !under || part == owner {
            RelationFault::OtherKey
        } else {
            return Ok(());
        };
        Err(self.in_place(Error::of(fault), part))
    }
}

impl<P, G, S: Clone, O: Clone> Clone for ParentTable<P, G, S, O> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), retry: self.retry.clone(), of: PhantomData }
    }
}

impl<P, G, S: fmt::Debug, O: fmt::Debug> fmt::Debug for ParentTable<P, G, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParentTable").field("table", &self.table).field("retry", &self.retry).finish()
    }
}
