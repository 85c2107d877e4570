//! Lookups of typed entities, by a single point query or by many concurrent ones.

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use table_store::Result;

use crate::entity::{FromEntity, ProjectionOf, Versioned};
use crate::key::EntityKey;
use crate::name::TableName;
use crate::query::{Plan, Query, QueryClass};
use crate::selection::{Class, IntoPoints, IntoSelection, Point, PointKey, ReadableAs, Selection, Source};
use crate::store::{StoredRow, TableStore};
use crate::table::{Table, request};

/// The number of point queries sent concurrently by [`Table::get_many`] (IMP-5).
pub(crate) const CONCURRENCY: usize = 16;

// The functions return a boxed future instead of being `async`. For an `async fn`, rustc would check the bounds of the arguments again at each `.await`, and
// report the same mistake three times.
impl<E: FromEntity, S: TableStore> Table<E, S> {
    /// Returns the plan of a selection, computed without I/O (design promise 2).
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    pub fn plan<C: Class, F: Source>(&self, selection: impl IntoSelection<E, C, F>) -> Result<Plan> {
        let selection = selection.into_selection();
        let queries: Vec<Query> = selection.ranges()?.iter().cloned().map(Query::new).collect();
        let table = request::table_of::<F>(self.name())?;
        Ok(request::with_index::<F>(Plan::new(&table, selection.class(), &queries)))
    }

    /// Returns one entity with its version, or `None` if it does not exist. Sends one request (DQ-2).
    ///
    /// A lookup in a unique index returns the copy of the entity in that index, with the version of the copy. A conditional write to the entity fails if it
    /// uses that version.
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key; `EntityMismatch` if the stored row is not an `E`.
    pub fn get(
        &self,
        key: impl PointKey<E, From: ReadableAs<E>>,
    ) -> BoxFuture<'_, Result<Option<Versioned<E>>>> {
        self.get_from(key.into_point()).boxed()
    }

    /// Returns one entity as a projection. Only the properties of the projection are requested (DQ-13).
    ///
    /// # Errors
    /// Any error from [`get`](Self::get).
    pub fn get_as<'a, P: ProjectionOf<E> + 'a>(
        &'a self,
        key: impl PointKey<E, From: ReadableAs<P>>,
    ) -> BoxFuture<'a, Result<Option<Versioned<P>>>> {
        self.get_from(key.into_point()).boxed()
    }

    /// Returns `true` if the entity exists. Sends one request, and does not decode the entity.
    ///
    /// ```
    /// # use table_core::{Entity, TableStoreExt, embedded::Engine};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// assert!(!employees.exists(Employee::key("Sales", 223)).await?);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    pub fn exists(&self, key: impl PointKey<E, From: ReadableAs<E>>) -> BoxFuture<'_, Result<bool>> {
        exists(self, key.into_point()).boxed()
    }

    async fn get_from<P, F: ReadableAs<P>>(
        &self,
        key: Selection<E, Point, F>,
    ) -> Result<Option<Versioned<P>>> {
        let (table, key) = (request::table_of::<F>(self.name())?, key.into_key()?);
        let found = request::get(&self.store, &table, &key, &F::select()).await?;
        match found {
            Some(found) => match request::read_from::<F, P>(&table, &key, &found) {
                Ok(read) => Ok(Some(read)),
                Err(error) => Err(error),
            },
            None => Ok(None),
        }
    }

    async fn read_row<F: ReadableAs<E>>(&self, key: Selection<E, Point, F>) -> Result<Option<Found>> {
        let (table, key) = (request::table_of::<F>(self.name())?.into_owned(), key.into_key()?);
        let stored = request::get(&self.store, &table, &key, &F::select()).await?;
        Ok(stored.map(|stored| Found { table, key, stored }))
    }

    /// Returns the plan of [`get_many`](Self::get_many), which contains a point query for each key.
    ///
    /// ```
    /// # use table_core::query::{QueryClass, Requests};
    /// # use table_core::{Entity, TableStoreExt, embedded::Engine};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
    /// # let employees = Engine::in_memory().table::<Employee>();
    /// let plan = employees.plan_many([121, 223].map(|id| Employee::key("Sales", id)))?;
    /// assert_eq!((plan.class, plan.requests), (QueryClass::Point, Requests::AtMost(2)));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Any error from [`plan`](Self::plan).
    pub fn plan_many<F: ReadableAs<E>>(&self, keys: impl IntoPoints<E, From = F>) -> Result<Plan> {
        let mut queries = Vec::new();
        for key in keys.into_points() {
            queries.extend(key.ranges()?.iter().cloned().map(Query::new));
        }
        let table = request::table_of::<F>(self.name())?;
        Ok(request::with_index::<F>(Plan::new(&table, QueryClass::Point, &queries)))
    }

    /// Returns many entities in the order of the given keys. Sends up to 16 point queries concurrently.
    ///
    /// Prefer this function to a filter such as `RowKey eq '121' or RowKey eq '322'`. The service scans the whole partition for such a filter (DQ-7). The
    /// entities are not a snapshot (CON-9).
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
    /// employees.insert(&ada).await?;
    /// let found = employees.get_many([121, 223].map(|id| Employee::key("Sales", id))).await?;
    /// assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The first error from a lookup.
    pub fn get_many<K: IntoPoints<E, From: ReadableAs<E>>>(
        &self,
        keys: K,
    ) -> BoxFuture<'_, Result<Vec<Option<Versioned<E>>>>> {
        // Each read is boxed, so the code that drives many reads is compiled only once, not once per key type.
        let reads: Vec<BoxFuture<'_, _>> =
            keys.into_points().into_iter().map(|key| self.read_row(key).boxed()).collect();
        async move {
            // The rows are decoded after the last read. The future contains no entities, so it can be sent between threads even if an entity cannot.
            let found: Vec<Option<Found>> = stream::iter(reads).buffered(CONCURRENCY).try_collect().await?;
            found.into_iter().map(|found| found.map(|found| found.read::<K::From, E>()).transpose()).collect()
        }
        .boxed()
    }
}

/// A stored row with its key.
pub(super) struct Found {
    pub(super) table: TableName,
    pub(super) key: EntityKey,
    pub(super) stored: StoredRow,
}

impl Found {
    pub(super) fn read<F: ReadableAs<P>, P>(&self) -> Result<Versioned<P>> {
        request::read_from::<F, P>(&self.table, &self.key, &self.stored)
    }
}

async fn exists<E, S: TableStore, F: ReadableAs<E>>(
    table: &Table<E, S>,
    key: Selection<E, Point, F>,
) -> Result<bool> {
    let (name, key) = (request::table_of::<F>(table.name())?, key.into_key()?);
    Ok(request::get(&table.store, &name, &key, &F::select()).await?.is_some())
}
