//! Reads through indexes. Only complete indexes are used. The result types show which values may be stale.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::entity::{Entity, ProjectionOf, Versioned};
use table_core::index::{ReadAtOnce, ReadLater};
use table_core::key::EntityKey;
use table_core::query::{EntityRef, Select};
use table_core::selection::{
    Class, IntoPoints, IntoSelection, PagedOf, Point, PointKey, ReadableAs, Scan, Selection, Source,
};
use table_core::store::{StoredRow, TableStore};
use table_core::table::{EntityQuery, SchemaRecord, TableScan};
use table_core::{Error, Result};

use crate::entities::{Entities, StepRecorder};
use crate::index::changes::{index_of, stored_entry};
use crate::index::contributor::Indexes;
use crate::index::eventual::{Eventual, EventualQuery};
use crate::index::fault::IndexFault;
use crate::index::state::{load, not_ready};

// The functions return a boxed future and are not `async`, because rustc would otherwise check the bounds of their arguments again at the `.await`, and report
// one mistake three times.
impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Returns one entity by its key, or by a unique index in its partition that includes all properties. Sends one request (PAT-INTRA-1).
    ///
    /// If the entity is read through an index, the returned version is the version of the copy. A conditional write of the entity with this version fails, and
    /// an [`update`](Self::update) that starts from it needs one more request.
    ///
    /// # Errors
    /// `IndexNotReady` while the index is building; any error from [`Table::get`](table_core::Table::get).
    pub fn get<F>(&self, key: impl PointKey<E, From = F>) -> BoxFuture<'_, Result<Option<Versioned<E>>>>
    where
        F: Source<Consistency: ReadAtOnce<E>> + ReadableAs<E>,
    {
        self.entity(key.into_point()).boxed()
    }

    /// Returns one entity as a projection, for indexes that include only some properties (PAT-INTRA-6).
    ///
    /// # Errors
    /// Any error from [`get`](Self::get).
    pub fn get_as<'a, P: ProjectionOf<E> + 'a, F>(
        &'a self,
        key: impl PointKey<E, From = F>,
    ) -> BoxFuture<'a, Result<Option<Versioned<P>>>>
    where
        F: Source<Consistency: ReadAtOnce<E>> + ReadableAs<P>,
    {
        self.entity(key.into_point()).boxed()
    }

    /// Returns many entities, in the order of the given keys. Sends up to 16 point queries at a time; see [`Table::get_many`](table_core::Table::get_many).
    /// Keys of a unique index in the partition are also accepted.
    ///
    /// ```
    /// # use table_core::{Engine, Entity};
    /// # use table_patterns::EntityStore;
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", feed)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
    /// employees.insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await?;
    /// let found = employees.get_many([121, 223].map(|id| Employee::key("Sales", id))).await?;
    /// assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `IndexNotReady` while the index is building; otherwise the first error from a lookup.
    pub fn get_many<K>(&self, keys: K) -> BoxFuture<'_, Result<Vec<Option<Versioned<E>>>>>
    where
        K: IntoPoints<E, From: Source<Consistency: ReadAtOnce<E>> + ReadableAs<E>>,
    {
        let reads = self.table.get_many(keys);
        async move {
            self.require_ready::<K::From>().await?;
            reads.await
        }
        .boxed()
    }

    /// Returns `true` if an entity with the key exists. Sends one request.
    ///
    /// # Errors
    /// Any error from [`get`](Self::get).
    pub fn exists<F>(&self, key: impl PointKey<E, From = F>) -> BoxFuture<'_, Result<bool>>
    where
        F: Source<Consistency: ReadAtOnce<E>> + ReadableAs<E>,
    {
        let read = self.table.exists(key.into_point());
        async move {
            self.require_ready::<F>().await?;
            read.await
        }
        .boxed()
    }

    /// Returns an entity's copy in an index of another partition or table. The copy may be stale (PAT-INTER-3). Sends one request.
    ///
    /// # Errors
    /// Any error from [`get`](Self::get).
    pub fn get_eventual<F>(
        &self,
        key: impl PointKey<E, From = F>,
    ) -> BoxFuture<'_, Result<Option<Eventual<E>>>>
    where
        F: Source<Consistency: ReadLater<E>> + ReadableAs<E>,
    {
        self.copy::<E, F>(key.into_point()).boxed()
    }

    /// Returns an entity's copy in a remote index as a projection, for indexes that include only some properties (PAT-INTER-4).
    ///
    /// # Errors
    /// Any error from [`get`](Self::get).
    pub fn get_eventual_as<'a, P: ProjectionOf<E> + 'a, F>(
        &'a self,
        key: impl PointKey<E, From = F>,
    ) -> BoxFuture<'a, Result<Option<Eventual<P>>>>
    where
        F: Source<Consistency: ReadLater<E>> + ReadableAs<P>,
    {
        self.copy::<P, F>(key.into_point()).boxed()
    }

    async fn entity<P: ProjectionOf<E>, F: ReadableAs<P>>(
        &self,
        key: Selection<E, Point, F>,
    ) -> Result<Option<Versioned<P>>> {
        self.require_ready::<F>().await?;
        self.table.get_as::<P>(key).await
    }

    async fn copy<P, F: ReadableAs<P>>(&self, key: Selection<E, Point, F>) -> Result<Option<Eventual<P>>> {
        self.require_ready::<F>().await?;
        let Some(index) = F::INDEX else { return Ok(None) };
        let (key, table) = (key.into_key()?, self.table_of(index)?);
        let found = self.table.store().get(&table, &key, &Select::All).await?;
        let Some(StoredRow { row, etag }) = found else { return Ok(None) };
        let copy =
            EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view()).with_etag(&etag);
        let read = |error: Error| {
            error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
        };
        Eventual::read::<E, F>(index, copy).map(Some).map_err(read)
    }

    /// Creates a query of entities, or of an index in their partition. A query of a partition returns only the entities, without their index copies.
    ///
    /// If the handle does not know whether the index is ready, the query first reads the stored schema. If the index is not ready, the query fails with
    /// `IndexNotReady`.
    pub fn query<C: PagedOf<E>, F>(
        &self,
        partition_or_rows: impl IntoSelection<E, C, F>,
    ) -> EntityQuery<E, S, E, F>
    where
        S: Clone,
        F: Source<Consistency: ReadAtOnce<E>>,
    {
        self.checked(self.table.query(own_rows(partition_or_rows.into_selection())))
    }

    /// Creates a query of an index in another partition or table. Its results may be stale (PAT-INTER-3).
    pub fn query_eventual<C: PagedOf<E>, F>(
        &self,
        selection: impl IntoSelection<E, C, F>,
    ) -> EventualQuery<E, S, E, F>
    where
        S: Clone,
        F: Source<Consistency: ReadLater<E>>,
    {
        EventualQuery::new(self.checked(self.table.query(selection.into_selection())))
    }

    /// Creates a scan of the table's entities, without their index copies.
    pub fn scan(&self, reason: impl IntoSelection<E, Scan>) -> TableScan<E, S>
    where
        S: Clone,
    {
        self.table.scan(reason.into_selection().own_rows())
    }

    /// Makes an index query check that the index is ready. Does nothing if the handle already knows this.
    fn checked<F: Source>(&self, query: EntityQuery<E, S, E, F>) -> EntityQuery<E, S, E, F>
    where
        S: Clone,
    {
        let Some(index) = F::INDEX.filter(|index| !self.index_states().is_ready::<E>(index)) else {
            return query;
        };
        // If the name is invalid, the query itself returns the error.
        let Ok(table) = self.table.name() else { return query };
        let states = self.contributor::<Indexes>().map(|indexes| Arc::clone(&indexes.states));
        let check = move |stored: Option<&SchemaRecord>| {
            let stored = stored.ok_or_else(|| Error::of(IndexFault::NoDesign))?;
            if let Some(states) = &states {
                states.learn::<E>(stored);
            }
            not_ready::<E>(stored, index.name).map_or(Ok(()), Err)
        };
        query.with_schema_check((table.clone(), E::SCHEMA.entity), Arc::new(check))
    }

    /// Returns the entity with the given key, without using an index.
    pub(crate) async fn primary(&self, key: &EntityKey) -> Result<Option<Versioned<E>>> {
        let texts = (key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned());
        self.table.get(Selection::<E, Point>::of_texts(Ok(texts))).await
    }

    /// Returns the current entity of an index query's result, provided that the entity still has the value that was looked up. Sends one request (PAT-INTER-5).
    ///
    /// # Errors
    /// Any error from [`Table::get`](table_core::Table::get).
    pub async fn verify<T>(&self, found: &Eventual<T>) -> Result<Option<Versioned<E>>> {
        let Some(entity) = self.primary(found.owner()).await? else { return Ok(None) };
        let Some(index) = index_of::<E>(found.index()) else { return Ok(None) };
        let is_there = stored_entry(index, &entity)?.is_some_and(|entry| entry.key == *found.key());
        Ok(is_there.then_some(entity))
    }

    pub(crate) async fn require_ready<F: Source>(&self) -> Result<()> {
        let Some(index) = F::INDEX else { return Ok(()) };
        if self.index_states().is_ready::<E>(index) {
            return Ok(());
        }
        match not_ready::<E>(&load(&self.table, self.index_states()).await?, index.name) {
            None => Ok(()),
            Some(error) => Err(error.with_table(self.table.name()?.as_str())),
        }
    }
}

/// Restricts a selection of rows to entities of type `E`. Their index copies are excluded.
fn own_rows<E: Entity, C: Class, F: Source>(selection: Selection<E, C, F>) -> Selection<E, C, F> {
    if F::INDEX.is_some() {
        return selection;
    }
    match selection.into_ranges() {
        Ok(ranges) => {
            let own = Selection::<E, C>::new(Ok(ranges)).own_rows();
            Selection::new(own.into_ranges())
        }
        Err(error) => Selection::new(Err(error)),
    }
}
