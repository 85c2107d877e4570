//! Handle on a table with indexes.

use std::fmt;
use std::sync::Arc;

use table_core::entity::Entity;
use table_core::error::Result;
use table_core::name::TableName;
use table_core::retry::Retry;
use table_core::runtime::Runtime;
use table_core::schema::IndexSchema;
use table_core::store::TableStore;
use table_core::table::{Table, TableStoreExt};

use crate::feed::Feed;
use crate::index::kept::Keeper;
use crate::index::list::{ListBlobs, Lists};
use crate::index::outbox::{IndexOutbox, NoOutbox};
use crate::index::state::{IndexState, States, load, noted};
use crate::participant::Participant;

/// The handle on entities of type `E`: every verb keeps what their struct declares, indexes and a feed, and what takes part in their writes.
///
/// Made by [`EntityStore::entities`](crate::EntityStore::entities); cheap to clone, and its clones know the same states. The verbs are those of [`Table`], and a
/// [unit of work](crate::unit) over several types. An entity that declares nothing is written as by a [`Table`], without being read first.
///
/// ```
/// use table_core::{Engine, Entity};
/// use table_patterns::EntityStore;
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", id)]
/// #[index(ByEmail, unique, row_key("email_", email))]
/// #[index_entity(ByLastName, at_most = 1000, row_key("lastname_", last_name))]
/// struct Employee { department: String, #[digits(6)] id: u32, last_name: String, age: i32, email: String }
///
/// # pollster::block_on(async {
/// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
/// let ada = Employee {
///     department: "Sales".into(), id: 223, last_name: "Lovelace".into(), age: 36, email: "ada@contoso.com".into(),
/// };
/// employees.insert(&ada).await?; // the entity, its copy and its list, in one transaction
/// let found = employees.get(Employee::by_email("Sales", "ada@contoso.com")).await?;
/// assert_eq!(found.as_deref(), Some(&ada));
/// let found = employees.look_up(Employee::by_last_name("Sales", "Lovelace")).await?;
/// assert_eq!(*found[0], ada);
///
/// let error = employees.insert(&Employee { id: 224, ..ada.clone() }).await.unwrap_err();
/// assert_eq!(error.code(), table_core::ErrorCode::UniqueViolation); // PAT-INTRA-5
/// let moved = employees.update(Employee::key("Sales", 223), |ada| ada.email = "lovelace@contoso.com".into()).await?;
/// assert!(employees.get(Employee::by_email("Sales", "ada@contoso.com")).await?.is_none()); // PAT-INTRA-7
/// employees.delete(Employee::key("Sales", 223), moved.etag()).await?;
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct Entities<E, S, O = NoOutbox> {
    pub(crate) table: Table<E, S>,
    pub(crate) states: Arc<States>,
    pub(crate) retry: Retry,
    pub(crate) outbox: O,
    pub(crate) blobs: Option<ListBlobs>,
    pub(crate) feed: Feed<S>,
    /// Whether changes are recorded in it.
    pub(crate) records: bool,
    pub(crate) participants: Vec<Arc<dyn Participant<E>>>,
    /// What keeps its copies in each write, if it has any.
    pub(crate) keeper: Option<Arc<dyn Keeper<E, Self>>>,
}

impl<E, S: Clone, O: Clone> Clone for Entities<E, S, O> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            states: Arc::clone(&self.states),
            retry: self.retry.clone(),
            outbox: self.outbox.clone(),
            blobs: self.blobs.clone(),
            feed: self.feed.clone(),
            records: self.records,
            participants: self.participants.clone(),
            keeper: self.keeper.clone(),
        }
    }
}

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for Entities<E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities")
            .field("table", &self.table)
            .field("states", &self.states)
            .field("retry", &self.retry)
            .field("outbox", &self.outbox)
            .field("blobs", &self.blobs)
            .field("records", &self.records)
            .field("participants", &self.participants.iter().map(|one| one.name()).collect::<Vec<_>>())
            .field("keeps_copies", &self.keeper.is_some())
            .finish_non_exhaustive()
    }
}

impl<E: Entity, S: TableStore + Clone, O> Entities<E, S, O> {
    pub(crate) fn new(table: Table<E, S>, outbox: O) -> Self {
        Self {
            feed: Feed::new(table.store().clone()),
            records: E::FEED,
            table,
            states: Arc::new(States::new::<E>()),
            retry: Retry::default(),
            outbox,
            blobs: None,
            participants: Vec::new(),
            keeper: None,
        }
    }
}

impl<E: Entity, S, O> Entities<E, S, O> {
    /// The same with a pattern that takes part in each write. Every program that writes these entities is to name it.
    #[must_use]
    pub fn taking_part(mut self, participant: impl Participant<E> + 'static) -> Self {
        self.participants.push(Arc::new(participant));
        self
    }

    /// The same with other feeds, with another clock for example. Each change of an entity is recorded in its transaction: `inserted`, `updated`,
    /// `deleted`. An entity that is declared with `#[entity(feed)]` has one in every program.
    #[must_use]
    pub fn with_feed(self, feed: Feed<S>) -> Self {
        Self { feed, records: true, ..self }
    }

    /// The feeds of its partitions.
    #[must_use]
    pub const fn feed(&self) -> &Feed<S> {
        &self.feed
    }

    /// Returns `true` if changes are recorded in the feed.
    pub(crate) const fn records_changes(&self) -> bool {
        self.records
    }

    /// Whether a write needs to know nothing of what is there: no index and no participant asks for it.
    pub(crate) fn is_blind(&self) -> bool {
        E::INDEXES.is_empty() && self.participants.is_empty() && !self.keeps_copies()
    }

    /// Whether a write is to know all that is stored, and reads others: entities that give or hold copies.
    pub(crate) const fn keeps_copies(&self) -> bool {
        self.keeper.is_some()
    }

    /// The same with another clock, and another way to wait in back-offs and at the rate of a backfill.
    #[must_use]
    pub fn with_runtime(self, pace: Runtime) -> Self {
        Self { retry: self.retry.with_runtime(pace), ..self }
    }

    /// The same with another policy for writes that lose races.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// The same with a place for lists that no entity is to hold (PAT-IX-4). Workers that settle its indexes need it, too.
    #[cfg(feature = "blobs")]
    #[must_use]
    pub fn with_list_blobs(self, blobs: ListBlobs) -> Self {
        Self { blobs: Some(blobs), ..self }
    }

    /// The policy for writes that lose races.
    pub(crate) const fn retry(&self) -> &Retry {
        &self.retry
    }

    /// The table without its indexes: to read what needs none of them, and to plan.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        &self.table
    }

    /// The table that an index lives in.
    pub(crate) fn table_of(&self, index: &IndexSchema) -> Result<TableName> {
        match index.table {
            Some(table) => TableName::new(table),
            None => self.table.name().cloned(),
        }
    }
}

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// The lists of one table.
    pub(crate) fn lists<'a>(&'a self, table: &'a TableName) -> Lists<'a> {
        let limits = self.table.store().capabilities().limits;
        Lists { table, blobs: self.blobs.as_ref(), pace: self.retry.runtime(), limits }
    }

    /// Creates the table and those of its indexes unless they are there, compares the design with the one stored, and learns
    /// the states of the indexes. One that is new over old rows is *building*.
    ///
    /// # Errors
    /// Those of [`Table::create_if_missing`].
    pub async fn create_if_missing(mut self) -> Result<Self> {
        self.table = self.table.with_retry(self.retry.clone()).create_if_missing().await?;
        for index in E::INDEXES.iter().filter(|index| index.schema().table.is_some()) {
            let table = self.table_of(index.schema())?;
            self.table.store().create_table_if_missing(&table).await?;
        }
        load(&self.table, &self.states).await?;
        self.keeper = self.keeper.as_ref().map(|keeper| keeper.opened(&self));
        Ok(self)
    }

    /// The states of all indexes, in the order of their declaration, looked up anew.
    ///
    /// # Errors
    /// `IndexNotReady` if the table was never opened.
    pub async fn states(&self) -> Result<Vec<(&'static str, IndexState)>> {
        let layout = load(&self.table, &self.states).await?;
        let names = E::INDEXES.iter().map(|index| index.schema().name);
        Ok(names.map(|name| (name, noted(&layout, name))).collect())
    }
}
