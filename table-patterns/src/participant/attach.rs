//! A store with participants. Every handle and unit of work created from it calls them.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::mixed::{RowOwner, classify_row};
use table_core::name::TableName;
use table_core::query::{Continuation, EntityRef, Page, Query, Select};
use table_core::row::Row;
use table_core::runtime::Runtime;
use table_core::schema::EntitySchema;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;

use crate::entities::{Contribution, Contributor, EntityChange, WriteContext};
use crate::participant::{Changes, Participant};

/// The participants attached to a store, by entity type.
#[derive(Clone, Default)]
struct Attached(HashMap<TypeId, Arc<dyn OfType>>);

/// Type-erased participants for one entity type.
trait OfType: Send + Sync {
    /// Returns the entity type's schema.
    fn schema(&self) -> &'static EntitySchema;

    /// Adds the rows and steps for the deletion of a row. Returns `false` if the row is not an entity of this type.
    fn delete(
        &self,
        row: EntityRef<'_>,
        context: (&Runtime, &WriteContext),
        out: &mut Contribution,
    ) -> Result<bool>;

    /// Returns the participants as `Any`, so they can be downcast.
    fn as_any(&self) -> &dyn Any;
}

/// A store with attached participants. Created by [`with_participant`](crate::EntityStore::with_participant); cheap to clone.
///
/// Reads and writes go unchanged to the wrapped store. Handles and units on this store call the participants whenever they write an entity.
///
/// ```
/// use table_patterns::participant::{Changes, Participant, WithParticipants};
/// use table_patterns::{Engine, Entity, EntityStore, Result, TableStoreExt};
///
/// #[derive(Entity, Clone, Debug)]
/// #[entity(table = "Tickets")]
/// #[partition_key(tenant)]
/// #[row_key("ticket_", digits(6, number))]
/// struct Ticket { tenant: String, number: u32 }
///
/// /// A row that remains after its ticket has been deleted.
/// #[derive(Entity, Clone, Debug)]
/// #[entity(table = "Tickets")]
/// #[partition_key(tenant)]
/// #[row_key("deleted_", digits(6, number))]
/// struct Deleted { tenant: String, number: u32 }
///
/// struct Tombstones;
///
/// impl Participant<Ticket> for Tombstones {
///     fn name(&self) -> &'static str {
///         "tombstones"
///     }
///
///     fn changes(&self, old: Option<&Ticket>, new: Option<&Ticket>, out: &mut Changes) -> Result<()> {
///         match (old, new) {
///             (Some(Ticket { tenant, number }), None) => out.insert(&Deleted { tenant: tenant.clone(), number: *number }),
///             _ => Ok(()),
///         }
///     }
/// }
///
/// # pollster::block_on(async {
/// let store: WithParticipants<Engine> = Engine::in_memory().with_participant::<Ticket>(Tombstones);
/// let tickets = store.entities::<Ticket>().create_if_missing().await?;
/// tickets.insert(&Ticket { tenant: "contoso".into(), number: 1 }).await?;
/// tickets.delete(Ticket::key("contoso", 1), table_patterns::IfMatch::Any).await?;
/// assert!(store.table::<Deleted>().get(Deleted::key("contoso", 1)).await?.is_some());
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct WithParticipants<S> {
    store: S,
    attached: Arc<Attached>,
}

impl<S: TableStore> WithParticipants<S> {
    /// Wraps a store. Participants that are already attached to it remain attached.
    pub(crate) fn new(store: S) -> Self {
        // IMPORTANT: only the list of the outermost wrapper is read. It must therefore contain the participants of all inner wrappers.
        let attached = Arc::new(attached(&store).cloned().unwrap_or_default());
        Self { store, attached }
    }
}

impl<S> WithParticipants<S> {
    /// Attaches another participant to the store.
    #[must_use]
    pub fn with_participant<E: Entity>(mut self, participant: impl Participant<E> + 'static) -> Self {
        let known = self.attached.of::<E>();
        let mut participants = known.map(|known| known.0.clone()).unwrap_or_default();
        participants.push(Arc::new(participant));
        let attached = Arc::make_mut(&mut self.attached);
        attached.0.insert(TypeId::of::<E>(), Arc::new(Participants(participants)));
        self
    }

    /// Returns the wrapped store.
    #[must_use]
    pub const fn inner(&self) -> &S {
        &self.store
    }
}

/// Wraps a store. Participants can be attached later. Those that are already attached to the store remain attached.
impl<S: TableStore> From<S> for WithParticipants<S> {
    fn from(store: S) -> Self {
        Self::new(store)
    }
}

impl Attached {
    fn of<E: 'static>(&self) -> Option<&Participants<E>> {
        self.0.get(&TypeId::of::<E>())?.as_any().downcast_ref()
    }

    /// Returns the participants of every entity type declared in the table of `schema`.
    fn in_table_of(&self, schema: &EntitySchema) -> impl Iterator<Item = &dyn OfType> {
        let table = schema.table;
        self.0
            .values()
            .map(|known| &**known)
            .filter(move |known| known.schema().table.eq_ignore_ascii_case(table))
    }
}

/// The participants for one entity type.
pub(crate) struct Participants<E>(Vec<Arc<dyn Participant<E>>>);

impl<E: Entity> Participants<E> {
    /// Returns the participants for `E` that are attached to `store`.
    pub(crate) fn of<S: TableStore>(store: &S) -> Option<Self> {
        Self::attached_to(store.attached())
    }

    /// Returns the participants for `E` among a store's attachments.
    pub(crate) fn attached_to(attached: Option<&(dyn Any + Send + Sync)>) -> Option<Self> {
        let attached: &Attached = attached?.downcast_ref()?;
        attached.of::<E>().map(|known| Self(known.0.clone()))
    }
}

impl<E: Entity> Participants<E> {
    fn add(
        &self,
        key: &EntityKey,
        (old, new): (Option<&E>, Option<&E>),
        (pace, context): (&Runtime, &WriteContext),
        out: &mut Contribution,
    ) -> Result<()> {
        let source = (E::SCHEMA.table, key.clone());
        let mut changes = Changes::new(source, pace.clone(), context.clone());
        for participant in &self.0 {
            let name = participant.name();
            participant
                .changes(old, new, changes.by(name))
                .map_err(|error| error.with_context(&format!("`{name}`")))?;
        }
        let Changes { rows, steps, records, .. } = changes;
        out.records.extend(records);
        for (by, operation) in rows {
            out.write(by, operation);
        }
        out.steps.extend(steps);
        Ok(())
    }
}

impl<E: Entity> OfType for Participants<E> {
    fn schema(&self) -> &'static EntitySchema {
        E::SCHEMA
    }

    fn delete(
        &self,
        row: EntityRef<'_>,
        context: (&Runtime, &WriteContext),
        out: &mut Contribution,
    ) -> Result<bool> {
        if !matches!(classify_row::<E>(row), Ok(RowOwner::Own)) {
            return Ok(false);
        }
        let key = EntityKey::new(row.partition_key, row.row_key)?;
        let old = E::from_entity(row)?;
        self.add(&key, (Some(&old), None), context, out).map(|()| true)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<E: Entity, H> Contributor<E, H> for Participants<E> {
    fn contribute(&self, change: &EntityChange<'_, E>, out: &mut Contribution) -> Result<()> {
        self.add(change.key, (change.old, change.new), (change.pace, change.context), out)
    }

    fn is_estimated(&self) -> bool {
        false
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns `true` if a store has a participant for any entity type that is declared in the table of `schema`.
pub(crate) fn is_attached<S: TableStore>(store: &S, schema: &EntitySchema) -> bool {
    attached(store).is_some_and(|attached| attached.in_table_of(schema).next().is_some())
}

/// Returns the rows and steps that participants add when a row is deleted. Returns `None` if no participant is attached for the row's type.
pub(crate) fn deletion<S: TableStore>(
    store: &S,
    (schema, key, row): (&EntitySchema, &EntityKey, &Row),
    context: (&Runtime, &WriteContext),
) -> Result<Option<Contribution>> {
    let Some(attached) = attached(store) else { return Ok(None) };
    let (mut out, mut is_of_type) = (Contribution::default(), false);
    let row = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
    for participants in attached.in_table_of(schema) {
        let added = participants.delete(row, context, &mut out);
        is_of_type |= added.map_err(|error| error.with_key(row.partition_key, row.row_key))?;
    }
    Ok(is_of_type.then_some(out))
}

fn attached<S: TableStore>(store: &S) -> Option<&Attached> {
    store.attached()?.downcast_ref()
}

impl<S: TableStore> TableStore for WithParticipants<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(&*self.attached)
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.store.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.store.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.store.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.store.submit(table, transaction).await
    }
}

debug_fields!([S: fmt::Debug] WithParticipants[S] { store, .. });

impl<S: fmt::Display> fmt::Display for WithParticipants<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}
