//! Reads through indexes: only those that are whole answer, and what can be behind says so in its type.

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::{Entity, ProjectionOf, Versioned};
use table_core::error::{Error, ErrorCode, Result};
use table_core::index::{Behind, InStep, Index};
use table_core::key::EntityKey;
use table_core::query::{EntityRef, Select};
use table_core::selection::{Class, Lists, Paged, Point, Reads, Scan, Selection, Source, WholeKey};
use table_core::store::{StoredRow, TableStore};
use table_core::table::{EntityQuery, TableScan};

use crate::index::changes::index_of;
use crate::index::commit::CONCURRENCY;
use crate::index::eventual::{Eventual, EventualQuery};
use crate::index::list::ListForm;
use crate::index::outbox::IndexOutbox;
use crate::index::state::{IndexState, load, not_known, not_ready, noted};
use crate::index::table::IndexedTable;

impl<E: Entity, S: TableStore, O: IndexOutbox> IndexedTable<E, S, O> {
    /// One entity by its key, or by a unique index of its partition, which holds all of it: one request (PAT-INTRA-1).
    ///
    /// By an index the version is that of the copy: a conditional write with it fails, an [`update`](Self::update) from it
    /// costs one request more.
    ///
    /// # Errors
    /// `IndexNotReady` while the index is building; those of [`Table::get`](table_core::Table::get).
    pub async fn get<F>(&self, key: impl WholeKey<E, From = F>) -> Result<Option<Versioned<E>>>
    where
        F: Source<Consistency = InStep> + Reads<E>,
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
        key: impl WholeKey<E, From = F>,
    ) -> Result<Option<Versioned<P>>>
    where
        F: Source<Consistency = InStep> + Reads<P>,
    {
        self.require_ready::<F>().await?;
        self.table.get_as::<P>(key).await
    }

    /// The copy in an index of another partition or table, which can be behind its entity (PAT-INTER-3): one request.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub async fn get_eventual<F>(&self, key: impl WholeKey<E, From = F>) -> Result<Option<Eventual<E>>>
    where
        F: Source<Consistency = Behind> + Reads<E>,
    {
        self.copy::<E, F>(key.into_point()).await
    }

    /// The same as a projection, for copies that keep a part (PAT-INTER-4).
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub async fn get_eventual_as<P: ProjectionOf<E>, F>(
        &self,
        key: impl WholeKey<E, From = F>,
    ) -> Result<Option<Eventual<P>>>
    where
        F: Source<Consistency = Behind> + Reads<P>,
    {
        self.copy::<P, F>(key.into_point()).await
    }

    async fn copy<P, F: Reads<P>>(&self, key: Selection<E, Point, F>) -> Result<Option<Eventual<P>>> {
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
            Some(index) if self.states.is_ready::<E>(index) => selection,
            Some(index) => Selection::new(Err(not_known(index.name))),
        }
    }

    /// The keys that a list names, in order: one request, two if it is in a blob (PAT-IX-3). Those of a list in another partition
    /// can be behind.
    ///
    /// # Errors
    /// `IndexNotReady`; `EntityMismatch` if what is stored is no list; `InvalidInput` if it is in a blob and the table was given
    /// no [`ListBlobs`](crate::index::ListBlobs); `BlobNotFound` or `Corrupted` if the blob is not what was written: the
    /// [repair](Self::check) of the index makes it anew.
    pub async fn keys_of<I: Index<Entity = E>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
    ) -> Result<Vec<EntityKey>> {
        self.require_ready::<Lists<I>>().await?;
        let (key, table) = (list.into_key()?, self.table_of(I::SCHEMA)?);
        let form = ListForm::new(E::SCHEMA, I::SCHEMA);
        let here = |error: Error| {
            error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
        };
        let mut missing = None;
        loop {
            let Some(found) = self.table.store().get(&table, &key, &Select::All).await? else {
                return Ok(Vec::new());
            };
            match self.lists(&table).read::<E>(&form, &key, Some(&found.row)).await {
                // It was named so long ago that it is gone by now, and another in its place.
                Err(error)
                    if error.code() == ErrorCode::BlobNotFound && missing.as_ref() != Some(&found.etag) =>
                {
                    missing = Some(found.etag);
                }
                Ok(members) if members.strays() > 0 => return Err(here(form.astray())),
                members => return Ok(members.map_err(here)?.owners().cloned().collect()),
            }
        }
    }

    /// The entities that a list names, in key order: the list, then parallel point queries, at least two requests (PAT-IX-3).
    ///
    /// Each is as it is stored, and has the value that was asked for: one that lost it since the list was read is left out.
    ///
    /// # Errors
    /// Those of [`keys_of`](Self::keys_of).
    pub async fn look_up<I: Index<Entity = E, Consistency = InStep>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
    ) -> Result<Vec<Versioned<E>>> {
        self.members(list).await
    }

    /// The same by a list in another partition or table: the entities are as they are stored, but one that got the value a
    /// moment ago can be missing (PAT-INTER-3).
    ///
    /// # Errors
    /// Those of [`keys_of`](Self::keys_of).
    pub async fn look_up_eventual<I: Index<Entity = E, Consistency = Behind>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
    ) -> Result<Vec<Versioned<E>>> {
        self.members(list).await
    }

    /// Some of the entities that a list names, for lists that are too long to be fetched at once: the list, then the entities of
    /// at most `top` of its keys, 16 at a time, those after `after` in key order. Which ones are given, and what the list can
    /// lack, is as in [`look_up`](Self::look_up) and [`look_up_eventual`](Self::look_up_eventual). A page can hold fewer than
    /// `top`, none at all included, and not be the last.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, index::IndexedStore};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index_entity(ByLastName, at_most = 1000, row_key("lastname_", last_name))]
    /// # struct Employee { department: String, #[digits(6)] id: u32, last_name: String }
    /// # pollster::block_on(async {
    /// # let employees = Engine::in_memory().indexed::<Employee>().create_if_missing().await?;
    /// # for id in 0..5 {
    /// #     employees.insert(&Employee { department: "Sales".into(), id, last_name: "Jones".into() }).await?;
    /// # }
    /// let (mut after, mut found) = (None, 0);
    /// loop {
    ///     let page = employees.look_up_page(Employee::by_last_name("Sales", "Jones"), after.as_ref(), 2).await?;
    ///     found += page.entities.len();
    ///     after = page.next;
    ///     if after.is_none() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(found, 5);
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of [`keys_of`](Self::keys_of); `InvalidInput` for pages of nothing.
    pub async fn look_up_page<I: Index<Entity = E>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
        after: Option<&EntityKey>,
        top: usize,
    ) -> Result<ListPage<E>> {
        if top == 0 {
            let message = "a page of a list has at least one key: `top` is 0";
            return Err(Error::new(ErrorCode::InvalidInput, message));
        }
        let key = list.key()?;
        let mut owners = self.keys_of(list).await?;
        owners.retain(|owner| after.is_none_or(|after| owner > after));
        let next = if owners.len() > top { owners.get(top - 1).cloned() } else { None };
        owners.truncate(top);
        Ok(ListPage { entities: self.owners_with::<I>(&key, owners).await?, next })
    }

    async fn members<I: Index<Entity = E>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
    ) -> Result<Vec<Versioned<E>>> {
        let key = list.key()?;
        let owners = self.keys_of(list).await?;
        self.owners_with::<I>(&key, owners).await
    }

    /// Those of these entities that have their entry in a list.
    async fn owners_with<I: Index<Entity = E>>(
        &self,
        key: &EntityKey,
        owners: Vec<EntityKey>,
    ) -> Result<Vec<Versioned<E>>> {
        let reads = owners.into_iter().map(|owner| async move { self.primary(&owner).await });
        let found: Vec<_> = stream::iter(reads).buffered(CONCURRENCY).try_collect().await?;
        let mut entities = Vec::with_capacity(found.len());
        for entity in found.into_iter().flatten() {
            if I::entry(&entity)?.is_some_and(|entry| entry.key == *key) {
                entities.push(entity);
            }
        }
        Ok(entities)
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

    async fn require_ready<F: Source>(&self) -> Result<()> {
        let Some(index) = F::INDEX else { return Ok(()) };
        if self.states.is_ready::<E>(index) {
            return Ok(());
        }
        match noted(&load(&self.table, &self.states).await?, index.name) {
            IndexState::Ready => Ok(()),
            state => Err(not_ready(index.name, state).with_table(self.table.name()?.as_str())),
        }
    }
}

/// A page of the entities that a list names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage<E> {
    /// The entities, in key order.
    pub entities: Vec<Versioned<E>>,
    /// What the next page begins after; `None` at the end of the list.
    pub next: Option<EntityKey>,
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
