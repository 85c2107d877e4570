//! Result of an index elsewhere: a value that can be behind its entity (PAT-INTER-3, PAT-INTER-5).

use std::fmt;

use chrono::{DateTime, Utc};
use table_core::column::Condition;
use table_core::entity::{Entity, ProjectionOf, Versioned};
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::query::{EntityRef, Plan};
use table_core::schema::IndexSchema;
use table_core::selection::{ReadableAs, Source};
use table_core::store::TableStore;
use table_core::table::EntityQuery;
use table_core::ticks;

use crate::entities::{Entities, StepRecorder};
use crate::index::changes::index_of;

/// A copy read where it follows its entity: it was true once, and may not be now. It does not dereference to its value, so that
/// it is not taken for the entity by accident.
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
/// let employees = store.entities_through::<Employee, _>(outbox.clone()).create_if_missing().await?;
/// let jane = Employee { department: "Sales".into(), id: 223, email: "jane@contoso.com".into() };
/// employees.insert(&jane).await?;
/// Worker::new(outbox).with_index_handler(&employees).run_until_idle().await?;
///
/// let found = employees.query_eventual(Employee::by_email("jane@contoso.com")).limit(1).collect().await?;
/// assert_eq!(found[0].possibly_stale().id, 223); // it was so
/// assert!(found[0].verify(&employees).await?.is_some()); // it is so
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eventual<T> {
    value: T,
    timestamp: u64,
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
        Ok(Self { value: F::read(copy)?, timestamp: copy.row.timestamp(), index, key, owner })
    }

    /// The value as the copy has it, which may be behind the entity.
    #[must_use]
    pub const fn possibly_stale(&self) -> &T {
        &self.value
    }

    /// The value as the copy has it, taken out.
    #[must_use]
    pub fn into_possibly_stale(self) -> T {
        self.value
    }

    /// When the copy was written, by the store's clock.
    #[must_use]
    pub fn copied_at(&self) -> DateTime<Utc> {
        ticks::to_datetime(self.timestamp).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    /// The key of the entity that the copy is of.
    #[must_use]
    pub const fn owner(&self) -> &EntityKey {
        &self.owner
    }

    /// The index.
    pub(crate) const fn index(&self) -> &'static IndexSchema {
        self.index
    }

    /// The key of the copy.
    pub(crate) const fn key(&self) -> &EntityKey {
        &self.key
    }

    /// The entity, if it is there and still has the value it was found by: one request more (PAT-INTER-5).
    ///
    /// # Errors
    /// Those of [`Table::get`](table_core::Table::get).
    pub async fn verify<E: Entity, S: TableStore, O: StepRecorder>(
        &self,
        table: &Entities<E, S, O>,
    ) -> Result<Option<Versioned<E>>> {
        table.verify(self).await
    }

    /// The entity as it is now, whatever it was found by; `None` if it is gone.
    ///
    /// # Errors
    /// Those of [`Table::get`](table_core::Table::get).
    pub async fn primary<E: Entity, S: TableStore, O: StepRecorder>(
        &self,
        table: &Entities<E, S, O>,
    ) -> Result<Option<Versioned<E>>> {
        table.primary(&self.owner).await
    }
}

/// A query of an index that can be behind, under construction. Sends nothing before it is asked to [`collect`](Self::collect).
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
/// let employees = store.entities_through::<Employee, _>(outbox).create_if_missing().await?;
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

    /// Only copies that satisfy the condition, as [`EntityQuery::filter`].
    pub fn filter(self, condition: Condition<E>) -> Self {
        Self(self.0.filter(condition))
    }

    /// At most this many in all.
    pub fn limit(self, copies: usize) -> Self {
        Self(self.0.limit(copies))
    }

    /// Reads the copies as a projection of what they keep (PAT-INTER-4).
    pub fn project<P: ProjectionOf<E>>(self) -> EventualQuery<E, S, P, F>
    where
        F: ReadableAs<P>,
    {
        EventualQuery(self.0.project::<P>())
    }

    /// What the query will cost and ask for, without asking.
    ///
    /// # Errors
    /// Those of [`EntityQuery::plan`].
    pub fn plan(&self) -> Result<Plan> {
        self.0.plan()
    }

    /// All copies, each of which says that it can be behind.
    ///
    /// # Errors
    /// Those of [`EntityQuery::collect`].
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
