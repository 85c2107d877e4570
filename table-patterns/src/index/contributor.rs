//! The contributor of indexes to the write path. Whenever an entity is written, it adds the index rows in the entity's partition, and the outbox steps for
//! remote indexes.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use table_core::entity::Entity;
use table_core::index::IndexOf;
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::row::{Row, entity_bytes};
use table_core::runtime::Runtime;
use table_core::schema::{IndexKind, IndexSchema};
use table_core::selection::index_that_hides;
use table_core::store::TableStore;
use table_core::table::{SchemaWatch, TableStoreExt};
use table_core::{Error, Result};

use crate::entities::{Author, Contribution, Contributor, Entities, EntityChange};
use crate::index::changes::{Change, ChangeKind, OwnerOf, holds_entry, owner_of, stored_changes};
use crate::index::copy::CopyChange;
use crate::index::fault::IndexFault;
use crate::index::list::{ListBlobs, ListChange, ListForm, Lists};
use crate::index::owners;
use crate::index::relay;
use crate::index::remote::{Derived, EntryFingerprint, RemoteChange};
use crate::index::state::{IndexState, NO_STATES, States, load, noted};

/// The contributor for the indexes of a handle's entity type. It contains the known states of the indexes, and the blob store for long lists.
pub(crate) struct Indexes {
    pub(crate) states: Arc<States>,
    pub(crate) blobs: Option<ListBlobs>,
}

impl Indexes {
    /// Creates the contributor for an entity type's indexes. At first, no index is known to be ready.
    pub(crate) fn of<E: Entity>() -> Self {
        Self { states: Arc::new(States::new::<E>()), blobs: None }
    }
}

impl<E: Entity, H> Contributor<E, H> for Indexes {
    fn needs_old(&self) -> bool {
        !E::INDEXES.is_empty()
    }

    fn contribute(&self, change: &EntityChange<'_, E>, out: &mut Contribution) -> Result<()> {
        // Only inserts are checked, because no other write is known to create an entity. For any other write, the entity may exist even if `old` is `None`: the
        // size of a bulk write is estimated before the entity is read.
        if matches!(change.kind, OperationKind::Insert(_)) {
            check_partition::<E>(change.key)?;
        }
        if E::INDEXES.is_empty() {
            return Ok(());
        }
        let mut remote: Vec<RemoteChange> = Vec::new();
        let stored = change.stored.map(Row::view);
        let is_merge = matches!(change.kind, OperationKind::Merge(..) | OperationKind::InsertOrMerge(_));
        let after = [change.kind.row().map(Row::view), stored.filter(|_| is_merge)];
        for one in stored_changes((change.old, [stored, None]), (change.new, after))? {
            if one.index.is_same_partition() {
                self.add_row::<E>(one, (change.key, change.pace, change.watch), out);
            } else {
                check_entry(&one, change.limits)?;
                add_remote(one, change.key, &mut remote);
            }
        }
        out.derived_steps.extend(remote.iter().map(|change| relay::step_of(E::SCHEMA, change)));
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Indexes {
    /// Adds the operation that writes an index row in the entity's partition.
    pub(crate) fn add_row<E: Entity>(
        &self,
        one: Change,
        (owner, pace, watch): (&EntityKey, &Runtime, &SchemaWatch),
        out: &mut Contribution,
    ) {
        let Change { index, key, kind } = one;
        let owner = owner.clone();
        let is_there = matches!(kind, ChangeKind::Remove | ChangeKind::Rewrite(_));
        let row = match kind {
            ChangeKind::Add(row) | ChangeKind::Rewrite(row) | ChangeKind::Join(row) => Some(row),
            ChangeKind::Remove | ChangeKind::Leave(_) => None,
        };
        if index.kind == IndexKind::List {
            let (form, blobs) = (ListForm::new(E::SCHEMA, index), self.blobs.clone());
            let (owner_of, pace) = (owner_of::<E> as OwnerOf, pace.clone());
            let list = ListChange { form, owner_of, owner, entry: row, blobs, pace };
            out.derive(index.name, key.row_key, Arc::new(list));
            return;
        }
        let copy = CopyChange {
            entity: E::SCHEMA,
            index,
            owner_of: owner_of::<E>,
            holds_entry: holds_entry::<E>,
            before: is_there.then(|| owner.clone()),
            after: row.map(|row| (owner, row)),
            is_complete: self.states.is_ready::<E>(index),
            watch: watch.clone(),
        };
        out.derive(index.name, key.row_key, Arc::new(copy));
    }
}

/// Checks that a new entity is not in a partition of an index. There, scans and backfills would mistake it for an index row.
fn check_partition<E: Entity>(key: &EntityKey) -> Result<()> {
    match index_that_hides(E::SCHEMA, key.partition_key.as_str()) {
        Some(index) => Err(Error::of(IndexFault::Hidden { index: index.name })),
        None => Ok(()),
    }
}

/// Checks that the store will accept a remote index entry, which a worker writes later. The entry also stores parts of the entity's key. It can therefore
/// exceed a limit even if the entity does not.
fn check_entry(one: &Change, limits: &Limits) -> Result<()> {
    let (ChangeKind::Add(row) | ChangeKind::Rewrite(row)) = &one.kind else { return Ok(()) };
    let bytes = entity_bytes(one.key.partition_key.as_str(), one.key.row_key.as_str(), Some(row));
    let fits = limits.check_row(row.view()).and_then(|()| limits.check_entity_bytes(bytes));
    fits.map_err(|error| error.with_context(&Author::Index(one.index.name).to_string()))
}

/// Adds a change to a remote index. All changes to one index are combined into one record, which lists their keys.
fn add_remote(one: Change, owner: &EntityKey, remote: &mut Vec<RemoteChange>) {
    let Change { index, key, kind } = one;
    let left = match &kind {
        ChangeKind::Add(row) | ChangeKind::Rewrite(row) | ChangeKind::Join(row) => {
            EntryFingerprint::entry(&key, row)
        }
        ChangeKind::Remove | ChangeKind::Leave(_) => EntryFingerprint::Nothing,
    };
    if let Some(known) = remote.iter_mut().find(|known| known.of == Derived::Index(index)) {
        if !known.keys.contains(&key) {
            known.keys.push(key);
        }
        if left != EntryFingerprint::Nothing {
            known.fingerprint = left;
        }
        return;
    }
    remote
        .push(RemoteChange { fingerprint: left, ..RemoteChange::of_index(index, owner.clone(), vec![key]) });
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Returns the index states that the handle knows.
    pub(crate) fn index_states(&self) -> &States {
        self.contributor::<Indexes>().map_or(&NO_STATES, |indexes| &*indexes.states)
    }

    /// Returns the blob store for long lists, if configured.
    pub(crate) fn list_blobs(&self) -> Option<&ListBlobs> {
        self.contributor::<Indexes>().and_then(|indexes| indexes.blobs.as_ref())
    }

    /// Returns the context for reading and writing the lists of one table.
    pub(crate) fn lists<'a>(&'a self, table: &'a TableName) -> Lists<'a> {
        let limits = self.table.store().capabilities().limits;
        Lists { table, blobs: self.list_blobs(), pace: self.retry.runtime(), limits }
    }

    /// Returns the name of the table that contains an index.
    pub(crate) fn table_of(&self, index: &IndexSchema) -> Result<TableName> {
        match index.table {
            Some(table) => TableName::new(table),
            None => self.table.name().cloned(),
        }
    }
}

impl<E: Entity, S: TableStore + 'static, O> Entities<E, S, O> {
    /// Creates the table and the tables of its indexes if they do not exist. Compares the schema with the stored schema, and reads the states of the indexes. A
    /// new index on a table with rows is *building*.
    ///
    /// # Errors
    /// `SchemaMismatch` if another entity type has reserved the keys of a remote index; any error from
    /// [`Table::create_if_missing`](table_core::Table::create_if_missing).
    pub async fn create_if_missing(self) -> Result<Self> {
        self.create_or_open().await.map(|(entities, _)| entities)
    }

    /// Creates or opens the table, like [`create_if_missing`](Self::create_if_missing). Also returns `true` if this call has created the table.
    pub(crate) async fn create_or_open(mut self) -> Result<(Self, bool)> {
        let remote = || E::INDEXES.iter().map(IndexOf::schema).filter(|index| !index.is_same_partition());
        let mut tables: BTreeMap<String, (TableName, Vec<&IndexSchema>)> = BTreeMap::new();
        for index in remote() {
            let table = self.table_of(index)?;
            let (_, indexes) = tables.entry(table.folded().to_owned()).or_insert_with(|| (table, Vec::new()));
            indexes.push(index);
        }
        for (table, indexes) in tables.values() {
            let (store, own) = (self.table.store(), self.table.name()?);
            owners::check::<E>((store, &self.retry), (own, table), indexes).await?;
        }
        let (table, is_new) = self.table.with_retry(self.retry.clone()).create_or_open().await?;
        self.table = table;
        let (store, own) = (self.table.store(), self.table.name()?);
        for (table, indexes) in tables.values() {
            if table.folded() != own.folded() {
                store.create_table_if_missing(table).await?;
            }
            owners::claim::<E>((store, &self.retry), (own, table), indexes).await?;
        }
        load(&self.table, self.index_states()).await?;
        Ok((self, is_new))
    }
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Reads the states of all indexes, in declaration order.
    ///
    /// # Errors
    /// `IndexNotReady` if the table was never opened with `create_if_missing`.
    pub async fn states(&self) -> Result<Vec<(&'static str, IndexState)>> {
        let layout = load(&self.table, self.index_states()).await?;
        let names = E::INDEXES.iter().map(|index| index.schema().name);
        Ok(names.map(|name| (name, noted::<E>(&layout, name))).collect())
    }
}

impl<E: Entity, S, O> Entities<E, S, O> {
    /// Treats the indexes as ready without reading their states. Use this to rewrite a table under a schema that is not yet stored. If a SAS cannot read
    /// [`LAYOUTS`](table_core::table::LAYOUTS), use a [grant](crate::grant) instead: backfills do not begin until a grant has expired.
    ///
    /// ```
    /// use table_patterns::{Engine, Entity, EntityStore};
    ///
    /// #[derive(Entity, Clone, Debug, PartialEq)]
    /// #[partition_key(tenant)]
    /// #[row_key("ticket_", number)]
    /// #[index(ByMail, unique, row_key("mail_", mail))]
    /// struct Ticket { tenant: String, #[digits(6)] number: u32, mail: String }
    ///
    /// # pollster::block_on(async {
    /// let store = Engine::in_memory();
    /// let tickets = store.entities::<Ticket>().create_if_missing().await?;
    /// tickets.insert(&Ticket { tenant: "contoso".into(), number: 1, mail: "ada".into() }).await?;
    ///
    /// let unopened = store.entities::<Ticket>().assume_indexes_ready();
    /// assert!(unopened.get(Ticket::by_mail("contoso", "ada")).await?.is_some());
    /// # Ok::<(), table_patterns::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn assume_indexes_ready(self) -> Self {
        let blobs = self.contributor::<Indexes>().and_then(|indexes| indexes.blobs.clone());
        self.with_contributor(Indexes { states: Arc::new(States::of_ready::<E>(|_| true)), blobs })
    }
}

#[cfg(feature = "blobs")]
impl<E: Entity, S, O> Entities<E, S, O> {
    /// Sets the blob store for lists that do not fit into an entity (PAT-IX-4). The handles of workers that settle the indexes also need it.
    #[must_use]
    pub fn with_list_blobs(self, blobs: ListBlobs) -> Self {
        let states = self.contributor::<Indexes>().map(|indexes| Arc::clone(&indexes.states));
        let states = states.unwrap_or_else(|| Indexes::of::<E>().states);
        self.with_contributor(Indexes { states, blobs: Some(blobs) })
    }
}
