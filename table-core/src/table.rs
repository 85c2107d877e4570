//! A typed handle to one table in a store.

mod admitted;
mod bulk;
mod decode;
mod ext;
pub(crate) mod fault;
mod group;
mod layout;
mod listing;
mod look_ahead;
mod pages;
mod partition;
mod patch;
pub(crate) mod query;
mod read;
pub(crate) mod refused;
mod repository;
pub(crate) mod request;
mod scan;
#[cfg(test)]
mod tests;
mod transaction;
pub(crate) mod uncommitted;
mod update;
mod write;
mod written_types;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

#[doc(hidden)]
pub use admitted::submit_admitted;
pub use bulk::{
    Bulk, BulkError, BulkProgress, BulkTarget, BulkVerb, IntoDeletions, IntoEntities, WrittenPositions,
};
pub use ext::TableStoreExt;
// These types are hidden from the documentation. Only `table-patterns` uses them, through hidden methods of `Table`.
#[doc(hidden)]
pub use layout::SETTLED_AFTER;
#[doc(hidden)]
pub use layout::{Admission, SchemaWatch, Sightings};
pub use layout::{LAYOUTS, LEASE, SchemaRecord};
pub use listing::{FEEDS, OUTBOXES, list_tables};
pub(crate) use pages::{PageSource, Paging};
pub use partition::InPartition;
#[doc(hidden)]
pub use partition::ReportedPartition;
pub use patch::{Patch, PatchChange, PatchTarget, PatchValue, SetBy};
#[doc(hidden)]
pub use query::PageStart;
pub use query::{EntityPage, EntityQuery};
pub use repository::Repository;
pub use scan::{Bounded, BoundedScan, TableScan};
use table_store::{ErrorCode, Result};
pub use transaction::EntityTransaction;
#[doc(hidden)]
pub use update::{ChangeResult, InPlace, MayFail, ReportedChange, ReportedFrom, ReportedIfMatch};
pub use update::{EntityChange, IntoUpdateFrom, Update, UpdateFrom};

use crate::entity::Entity;
use crate::name::TableName;
use crate::retry::Retry;
use crate::set::EntitySet;
use crate::store::TableStore;
use crate::table::layout::SchemaTracker;

/// A typed handle to a table that stores entities of type `E`.
///
/// [`TableStoreExt::table`] creates a handle. Cloning a handle is cheap.
///
/// Reads take [`Selection`](crate::Selection)s, whose types indicate the cost of the read. Writes require a [`PlainEntity`](crate::entity::PlainEntity), which
/// has no derived rows to maintain. An [`UntypedTable`](crate::UntypedTable) writes [`TableEntity`](crate::TableEntity) values instead.
///
/// ```
/// # use table_core::{Entity, Table, TableStoreExt, embedded::Engine};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// let etag = employees.insert(&ada).await?;
/// let found = employees.get(Employee::key("Sales", 223)).await?.expect("just inserted");
/// assert_eq!((found.age, found.etag()), (36, &etag));
///
/// employees.replace(&Employee { age: 37, ..ada }, etag.clone()).await?;
/// let error = employees.delete(Employee::key("Sales", 223), etag).await.unwrap_err();
/// assert!(error.is_precondition_failed()); // CON-3: the version has changed
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct Table<E, S> {
    store: S,
    /// The name of the table. A name from a schema is validated when it is first used.
    name: Result<TableName>,
    /// The retry policy of updates, or `None` for the default.
    retry: Option<Retry>,
    /// The state that tracks the stored schema for this handle, or `None` if the table has not been opened.
    tracker: Option<Arc<SchemaTracker>>,
    of: PhantomData<fn() -> E>,
}

impl<E, S> Table<E, S> {
    /// Creates a handle to the table with this name, which overrides the name in the schema of `E`.
    #[must_use]
    pub const fn new(store: S, name: TableName) -> Self {
        Self { store, name: Ok(name), retry: None, tracker: None, of: PhantomData }
    }

    /// Sets the policy for [updates](Table::update) that are retried after write conflicts.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry: Some(retry), ..self }
    }

    /// Returns the store of the table.
    #[must_use]
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// Returns the name of the table.
    ///
    /// # Errors
    /// `InvalidResourceName`, `OutOfRangeInput` or `InvalidInput`, as in [`TableName::new`], if the schema's name is invalid.
    pub fn name(&self) -> Result<&TableName> {
        self.name.as_ref().map_err(Clone::clone)
    }
}

impl<E: Entity, S> Table<E, S> {
    /// Creates a handle to the table named in the schema of `E`.
    #[must_use]
    pub fn of(store: S) -> Self {
        Self { store, name: TableName::new(E::SCHEMA.table), retry: None, tracker: None, of: PhantomData }
    }
}

impl<E: EntitySet, S> Table<E, S> {
    /// Creates a handle to the table named in the schemas of the set's members.
    #[must_use]
    pub fn of_set(store: S) -> Self {
        let name = E::MEMBERS.first().map_or("", |design| design.table);
        Self { store, name: TableName::new(name), retry: None, tracker: None, of: PhantomData }
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// Deletes the table with all its entities, its stored schemas, and its index ownership records. Returns `false` if the table did not exist.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn delete_table(&self) -> Result<bool> {
        let table = self.name()?;
        // The rows that describe the table are read before it is deleted. Another program may recreate the table immediately and store its own schema.
        let recorded = layout::recorded(&self.store, table).await?;
        let was_there = match self.store.delete_table(table).await {
            Ok(()) => true,
            Err(error) if error.code() == ErrorCode::ResourceNotFound => false,
            Err(error) => return Err(error),
        };
        layout::forget(&self.store, recorded).await?;
        Ok(was_there)
    }
}

impl<E, S: Clone> Clone for Table<E, S> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            name: self.name.clone(),
            retry: self.retry.clone(),
            tracker: self.tracker.clone(),
            of: PhantomData,
        }
    }
}

impl<E, S: fmt::Debug> fmt::Debug for Table<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("store", &self.store)
            .field("name", &self.name)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}
