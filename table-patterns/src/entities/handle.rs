//! The [`Entities`] handle.

use std::fmt;
use std::sync::Arc;

use table_core::entity::Entity;
use table_core::retry::Retry;
use table_core::runtime::Runtime;
use table_core::table::Table;

use crate::entities::contributor::{Contributor, WriteContext};
use crate::entities::outbox::NoOutbox;
use crate::entities::seen_versions::SeenPartitions;
use crate::entities::turns::Turns;

/// A handle to a table's entities of type `E`. Every write also writes the rows of all patterns that are declared on the struct or attached by the store.
///
/// Created by [`EntityStore::entities`](crate::EntityStore::entities); cheap to clone. The handle has the methods of [`Table`] for reading and writing
/// entities. It also creates [units of work](crate::unit), which are transactions over several entity types. [`table`](Self::table) returns the underlying
/// table, which can also plan queries and read groups and sets. Entities without declared patterns are written without a read, as with a [`Table`].
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
/// let found = employees.get_by_index(Employee::by_last_name("Sales", "Lovelace")).await?;
/// assert_eq!(*found[0], ada);
///
/// let error = employees.insert(&Employee { id: 224, ..ada.clone() }).await.unwrap_err();
/// assert_eq!(error.code(), table_core::ErrorCode::UniqueViolation); // the e-mail is taken (PAT-INTRA-5)
/// let moved = employees.update(Employee::key("Sales", 223), |ada| ada.email = "lovelace@contoso.com".into()).await?;
/// assert!(employees.get(Employee::by_email("Sales", "ada@contoso.com")).await?.is_none()); // the old index row is gone (PAT-INTRA-7)
/// employees.delete(Employee::key("Sales", 223), moved.etag()).await?;
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct Entities<E, S, O = NoOutbox> {
    pub(crate) table: Table<E, S>,
    pub(crate) contributors: Vec<Arc<dyn Contributor<E, Self>>>,
    pub(crate) retry: Retry,
    pub(crate) outbox: O,
    pub(crate) context: WriteContext,
    /// The queues of waiting writers, one per partition or entity.
    pub(crate) turns: Turns,
    /// The row versions that this handle's transactions last read or wrote.
    pub(crate) seen: SeenPartitions,
}

impl<E: Entity, S, O> Entities<E, S, O> {
    /// Creates a handle to a table's entities, without contributors.
    pub(crate) fn new(table: Table<E, S>, outbox: O) -> Self {
        let (retry, context) = (Retry::default(), WriteContext::default());
        let (turns, seen) = (Turns::default(), SeenPartitions::default());
        Self { table, contributors: Vec::new(), retry, outbox, context, turns, seen }
    }

    /// Attaches a contributor, and removes any attached contributor of the same type.
    pub(crate) fn with_contributor<C: Contributor<E, Self> + 'static>(mut self, contributor: C) -> Self {
        self.contributors.retain(|known| !known.as_any().is::<C>());
        self.contributors.push(Arc::new(contributor));
        self
    }

    /// Returns the attached contributor of type `C`.
    pub(crate) fn contributor<C: 'static>(&self) -> Option<&C> {
        self.contributors.iter().find_map(|contributor| contributor.as_any().downcast_ref())
    }

    /// Sets the clock and the sleep function. They are used for retry backoff and for the rate limit of backfills.
    #[must_use]
    pub fn with_runtime(self, pace: Runtime) -> Self {
        Self { retry: self.retry.with_runtime(pace), ..self }
    }

    /// Sets the retry policy for conflicts with other writers.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// Sets the person or program that makes the writes. [Participants](crate::participant::Changes::actor) can read this value.
    #[must_use]
    pub fn with_actor(mut self, actor: impl Into<Arc<str>>) -> Self {
        self.context.actor = Some(actor.into());
        self
    }

    /// Sets the identifier of the request that causes the writes. [Participants](crate::participant::Changes::correlation_id) can read this value.
    #[must_use]
    pub fn with_correlation_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.context.correlation_id = Some(id.into());
        self
    }

    /// Returns the retry policy for conflicts with other writers.
    pub(crate) const fn retry(&self) -> &Retry {
        &self.retry
    }

    /// Returns the plain table, without contributors. Use it for reads that need no index.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        &self.table
    }
}

clone_fields!([E, S: Clone, O: Clone] Entities[E, S, O] { table, contributors, retry, outbox, context, turns, seen });

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for Entities<E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities")
            .field("table", &self.table)
            .field("contributors", &self.contributors.len())
            .field("retry", &self.retry)
            .field("outbox", &self.outbox)
            .finish_non_exhaustive()
    }
}
