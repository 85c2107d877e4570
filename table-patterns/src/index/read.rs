//! Reads through indexes: only those that are whole answer, and what can be behind says so in its type.

use table_core::entity::{Entity, ProjectionOf, Versioned};
use table_core::error::{Error, Result};
use table_core::index::{Behind, InStep};
use table_core::key::EntityKey;
use table_core::query::{EntityRef, Select};
use table_core::selection::{Class, Paged, Point, PointKey, ReadableAs, Scan, Selection, Source};
use table_core::store::{StoredRow, TableStore};
use table_core::table::{EntityQuery, TableScan};

use crate::entities::{Entities, StepRecorder};
use crate::index::changes::index_of;
use crate::index::eventual::{Eventual, EventualQuery};
use crate::index::state::{IndexState, load, not_known, not_ready, noted};

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// One entity by its key, or by a unique index of its partition, which holds all of it: one request (PAT-INTRA-1).
    ///
    /// By an index the version is that of the copy: a conditional write with it fails, an [`update`](Self::update) from it
    /// costs one request more.
    ///
    /// # Errors
    /// `IndexNotReady` while the index is building; those of [`Table::get`](table_core::Table::get).
    pub async fn get<F>(&self, key: impl PointKey<E, From = F>) -> Result<Option<Versioned<E>>>
    where
        F: Source<Consistency = InStep> + ReadableAs<E>,
    {
        self.require_ready::<F>().await?;
        self.table.get(key).await
    }

    /// One entity read as a projection, for copies that keep a part (PAT-INTRA-6).
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub async fn get_as<P: ProjectionOf<E>, F>(
        &self,
        key: impl PointKey<E, From = F>,
    ) -> Result<Option<Versioned<P>>>
    where
        F: Source<Consistency = InStep> + ReadableAs<P>,
    {
        self.require_ready::<F>().await?;
        self.table.get_as::<P>(key).await
    }

    /// The copy in an index of another partition or table, which can be behind its entity (PAT-INTER-3): one request.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub async fn get_eventual<F>(&self, key: impl PointKey<E, From = F>) -> Result<Option<Eventual<E>>>
    where
        F: Source<Consistency = Behind> + ReadableAs<E>,
    {
        self.copy::<E, F>(key.into_point()).await
    }

    /// The same as a projection, for copies that keep a part (PAT-INTER-4).
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub async fn get_eventual_as<P: ProjectionOf<E>, F>(
        &self,
        key: impl PointKey<E, From = F>,
    ) -> Result<Option<Eventual<P>>>
    where
        F: Source<Consistency = Behind> + ReadableAs<P>,
    {
        self.copy::<P, F>(key.into_point()).await
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

    /// Begins a query of entities or of an index in their partition. A partition gives the entities alone, not the copies that
    /// lie beside them.
    ///
    /// An index that the handle does not know to be ready gives `IndexNotReady` when the query is sent: a handle that was not
    /// opened by [`create_if_missing`](Self::create_if_missing), or before a backfill was done, asks [`states`](Self::states).
    pub fn query<C: Paged, F>(&self, selection: impl Into<Selection<E, C, F>>) -> EntityQuery<E, S, E, F>
    where
        S: Clone,
        F: Source<Consistency = InStep>,
    {
        self.table.query(self.guarded(selection.into()))
    }

    /// Begins a query of an index in another partition or table. What it gives can be behind (PAT-INTER-3).
    pub fn query_eventual<C: Paged, F>(
        &self,
        selection: impl Into<Selection<E, C, F>>,
    ) -> EventualQuery<E, S, E, F>
    where
        S: Clone,
        F: Source<Consistency = Behind>,
    {
        EventualQuery::new(self.table.query(self.guarded(selection.into())))
    }

    /// Begins a scan of the entities of the table, without the copies that lie beside them.
    pub fn scan(&self, reason: impl Into<Selection<E, Scan>>) -> TableScan<E, S>
    where
        S: Clone,
    {
        self.table.scan(reason.into().own_rows())
    }

    fn guarded<C: Class, F: Source>(&self, selection: Selection<E, C, F>) -> Selection<E, C, F> {
        match F::INDEX {
            None => own_rows(selection),
            Some(index) if self.index_states().is_ready::<E>(index) => selection,
            Some(index) => Selection::new(Err(not_known(index.name))),
        }
    }

    /// The entity itself, by its key.
    pub(crate) async fn primary(&self, key: &EntityKey) -> Result<Option<Versioned<E>>> {
        let texts = (key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned());
        self.table.get(Selection::<E, Point>::of_texts(Ok(texts))).await
    }

    /// The entity of what an index gave, if it still has the value it was found by: one request more (PAT-INTER-5).
    ///
    /// # Errors
    /// Those of [`Table::get`](table_core::Table::get).
    pub async fn verify<T>(&self, found: &Eventual<T>) -> Result<Option<Versioned<E>>> {
        let Some(entity) = self.primary(found.owner()).await? else { return Ok(None) };
        let Some(index) = index_of::<E>(found.index()) else { return Ok(None) };
        let is_there = index.entry(&entity)?.is_some_and(|entry| entry.key == *found.key());
        Ok(is_there.then_some(entity))
    }

    pub(crate) async fn require_ready<F: Source>(&self) -> Result<()> {
        let Some(index) = F::INDEX else { return Ok(()) };
        if self.index_states().is_ready::<E>(index) {
            return Ok(());
        }
        match noted(&load(&self.table, self.index_states()).await?, index.name) {
            IndexState::Ready => Ok(()),
            state => Err(not_ready(index.name, state).with_table(self.table.name()?.as_str())),
        }
    }
}

/// A selection of the entities themselves, without what lies beside them.
fn own_rows<E: Entity, C: Class, F>(selection: Selection<E, C, F>) -> Selection<E, C, F> {
    match selection.into_ranges() {
        Ok(ranges) => {
            let own = Selection::<E, C>::new(Ok(ranges)).own_rows();
            Selection::new(own.into_ranges())
        }
        Err(error) => Selection::new(Err(error)),
    }
}
