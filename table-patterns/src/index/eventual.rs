//! Results of remote indexes, which may lag behind their entities (PAT-INTER-3, PAT-INTER-5).

use std::fmt;

use table_core::Result;
use table_core::column::Condition;
use table_core::entity::{Entity, ProjectionOf, Versioned};
use table_core::key::EntityKey;
use table_core::query::{EntityRef, Plan};
use table_core::schema::IndexSchema;
use table_core::selection::{ReadableAs, Source};
use table_core::store::TableStore;
use table_core::table::EntityQuery;

use crate::entities::{Entities, StepRecorder};
use crate::index::changes::index_of;

/// A value read from an index copy, which may be stale. It does not dereference to its value, so it cannot be mistaken for the current entity.
///
/// ```
/// use table_patterns::outbox::Outbox;
/// use table_patterns::work::Worker;
/// use table_patterns::{Engine, Entity, EntityStore, QueueName};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("empid_", digits(6, id))]
/// #[index(ByEmail, partition_key("email_", email), row_key(department, "_", digits(6, id)))]
/// struct Employee {
///     department: String,
///     id: u32,
///     email: String,
/// }
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("directory")?);
/// outbox.create_queues().await?;
/// let employees = store.entities_with_outbox::<Employee, _>(outbox.clone()).create_if_missing().await?;
/// let jane = Employee { department: "Sales".into(), id: 223, email: "jane@contoso.com".into() };
/// employees.insert(&jane).await?;
/// Worker::new(outbox).with_index_handler(&employees).run_until_idle().await?;
///
/// let found = employees.query_eventual(Employee::by_email("jane@contoso.com")).limit(1).collect().await?;
/// assert_eq!(found[0].possibly_stale().id, 223); // may be outdated
/// assert!(found[0].verify(&employees).await?.is_some()); // is current
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eventual<T> {
    value: T,
    index: &'static IndexSchema,
    key: EntityKey,
    owner: EntityKey,
}

impl<T> Eventual<T> {
    pub(crate) fn read<E: Entity, F: ReadableAs<T>>(
        index: &'static IndexSchema,
        copy: EntityRef<'_>,
    ) -> Result<Self> {
        let key = EntityKey::new(copy.partition_key, copy.row_key)?;
        let owner = match index_of::<E>(index) {
            Some(index) => index.owner(copy)?,
            None => key.clone(),
        };
        Ok(Self { value: F::read(copy)?, index, key, owner })
    }

    /// Returns the copy's value. It may be older than the entity.
    #[must_use]
    pub const fn possibly_stale(&self) -> &T {
        &self.value
    }

    /// Consumes the result and returns the value of the copy. It may be older than the entity.
    #[must_use]
    pub fn into_possibly_stale(self) -> T {
        self.value
    }

    /// Returns the key of the copied entity.
    #[must_use]
    pub const fn owner(&self) -> &EntityKey {
        &self.owner
    }

    /// Returns the index that contains the copy.
    pub(crate) const fn index(&self) -> &'static IndexSchema {
        self.index
    }

    /// Returns the key of the copy.
    pub(crate) const fn key(&self) -> &EntityKey {
        &self.key
    }

    /// Returns the current entity, provided that it still has the value that was looked up. Sends one more request (PAT-INTER-5).
    ///
    /// # Errors
    /// Any error from [`Table::get`](table_core::Table::get).
    pub async fn verify<E: Entity, S: TableStore, O: StepRecorder>(
        &self,
        table: &Entities<E, S, O>,
    ) -> Result<Option<Versioned<E>>> {
        table.verify(self).await
    }

    /// Returns the current entity, or `None` if it does not exist. The entity may no longer have the value that was looked up.
    ///
    /// # Errors
    /// Any error from [`Table::get`](table_core::Table::get).
    pub async fn primary<E: Entity, S: TableStore, O: StepRecorder>(
        &self,
        table: &Entities<E, S, O>,
    ) -> Result<Option<Versioned<E>>> {
        table.primary(&self.owner).await
    }
}

/// A query of an eventually consistent index. It sends no request until [`collect`](Self::collect) is called.
///
/// ```
/// use table_patterns::outbox::Outbox;
/// use table_patterns::{Engine, Entity, EntityStore, QueueName};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[partition_key(department)]
/// #[row_key("empid_", digits(6, id))]
/// #[index(ByEmail, partition_key("email_", email), row_key(department, "_", digits(6, id)))]
/// struct Employee {
///     department: String,
///     id: u32,
///     email: String,
/// }
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("directory")?);
/// let employees = store.entities_with_outbox::<Employee, _>(outbox).create_if_missing().await?;
/// let query = employees.query_eventual(Employee::by_email("jane@contoso.com")).limit(1);
/// println!("{}", query.plan()?); // the cost, before anything is sent
/// assert!(query.collect().await?.is_empty());
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a query reads nothing until it is asked for its collection"]
pub struct EventualQuery<E, S, T, F>(EntityQuery<E, S, T, F>);

impl<E: Entity, S: TableStore + Clone, T, F: Source> EventualQuery<E, S, T, F> {
    pub(crate) const fn new(query: EntityQuery<E, S, T, F>) -> Self {
        Self(query)
    }

    /// Restricts the query to copies that satisfy the condition, like [`EntityQuery::filter`].
    pub fn filter(self, condition: Condition<E>) -> Self {
        Self(self.0.filter(condition))
    }

    /// Limits the number of returned copies.
    pub fn limit(self, copies: usize) -> Self {
        Self(self.0.limit(copies))
    }

    /// Reads each copy as a projection of the properties that the index includes (PAT-INTER-4).
    pub fn project<P: ProjectionOf<E>>(self) -> EventualQuery<E, S, P, F>
    where
        F: ReadableAs<P>,
    {
        EventualQuery(self.0.project::<P>())
    }

    /// Returns the requests and the cost of the query, without sending it.
    ///
    /// # Errors
    /// Any error from [`EntityQuery::plan`].
    pub fn plan(&self) -> Result<Plan> {
        self.0.plan()
    }

    /// Runs the query and returns all matching copies. Each of them may be stale.
    ///
    /// # Errors
    /// Any error from [`EntityQuery::collect`].
    pub async fn collect(self) -> Result<Vec<Eventual<T>>>
    where
        F: ReadableAs<T>,
    {
        let Some(index) = F::INDEX else { return Ok(Vec::new()) };
        self.0.collect_with(|copy| Eventual::read::<E, F>(index, copy)).await
    }
}

impl<E, S: fmt::Debug, T, F> fmt::Debug for EventualQuery<E, S, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventualQuery").field(&self.0).finish()
    }
}
