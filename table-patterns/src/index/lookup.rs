//! Lookups through lists. They return the keys in a list or its entities, all at once or by page (PAT-IX-3).

use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::entity::{Entity, Versioned};
use table_core::index::{Index, ReportedAtOnce, ReportedLater};
use table_core::key::EntityKey;
use table_core::query::Select;
use table_core::selection::{Lists, Point, Selection};
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result};

use crate::entities::{Entities, StepRecorder};
use crate::index::changes::{index_of, stored_entry};
use crate::index::fault::IndexFault;
use crate::index::list::ListForm;
use crate::requests::CONCURRENCY;

/// A page of entities found through a list.
///
/// ```
/// use table_patterns::index::ListPage;
///
/// /// Returns `true` if no page follows.
/// fn is_last<E>(page: &ListPage<E>) -> bool {
///     page.next.is_none()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage<E> {
    /// The entities, in key order.
    pub entities: Vec<Versioned<E>>,
    /// The key to pass as `after` for the next page. `None` at the end of the list.
    pub next: Option<EntityKey>,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Returns the keys in a list, in order. Sends one request, or two if the list is in a blob (PAT-IX-3). A list in another partition may be stale.
    ///
    /// # Errors
    /// - `IndexNotReady` while the index is building.
    /// - `EntityMismatch` if the stored row is not a list of this index.
    /// - `InvalidInput` if the list is in a blob and the table has no [`ListBlobs`](crate::index::ListBlobs).
    /// - `BlobNotFound` or `Corrupted` if the blob is missing or corrupted. A [repair](Self::check) of the index recreates it.
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
                // After the entity was read, the list may have moved to a new blob, and the old blob may have been removed.
                Err(error)
                    if error.code() == ErrorCode::BlobNotFound && missing.as_ref() != Some(&found.etag) =>
                {
                    missing = Some(found.etag);
                }
                Ok(members) if members.invalid_members() > 0 => {
                    return Err(here(form.invalid_members_fault()));
                }
                members => return Ok(members.map_err(here)?.owners().cloned().collect()),
            }
        }
    }

    /// Returns the entities in a list, in key order. First reads the list, and then the entities with concurrent point queries (PAT-IX-3).
    ///
    /// Each entity is current and has the requested value. Entities that no longer have the value are omitted.
    ///
    /// # Errors
    /// Any error from [`keys_of`](Self::keys_of).
    pub fn get_by_index<I: Index<Entity = E, Consistency: ReportedAtOnce<E>>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
    ) -> <I::Consistency as ReportedAtOnce<E>>::Then<impl Future<Output = Result<Vec<Versioned<E>>>>> {
        <I::Consistency as ReportedAtOnce<E>>::then(self.members(list))
    }

    /// Returns the entities in a list that is stored in another partition or table. Each entity is current. An entity that has only just received the value may
    /// be missing (PAT-INTER-3).
    ///
    /// # Errors
    /// Any error from [`keys_of`](Self::keys_of).
    pub fn get_by_index_eventual<I: Index<Entity = E, Consistency: ReportedLater<E>>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
    ) -> <I::Consistency as ReportedLater<E>>::Then<impl Future<Output = Result<Vec<Versioned<E>>>>> {
        <I::Consistency as ReportedLater<E>>::then(self.members(list))
    }

    /// Returns one page of the entities in a list, in key order. Reads the list, and then the entities with the next `top` keys after `after`, 16 at a time.
    /// The guarantees are those of [`get_by_index`](Self::get_by_index) or [`get_by_index_eventual`](Self::get_by_index_eventual). A page may contain fewer
    /// than `top` entities, or none, even if it is not the last one.
    ///
    /// ```
    /// # use table_patterns::{Engine, Entity, EntityStore};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index_entity(ByLastName, at_most = 1000, row_key("lastname_", last_name))]
    /// # struct Employee { department: String, #[digits(6)] id: u32, last_name: String }
    /// # pollster::block_on(async {
    /// # let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
    /// # for id in 0..5 {
    /// #     employees.insert(&Employee { department: "Sales".into(), id, last_name: "Jones".into() }).await?;
    /// # }
    /// let (mut after, mut found) = (None, 0);
    /// loop {
    ///     let page = employees.get_page_by_index(Employee::by_last_name("Sales", "Jones"), after.as_ref(), 2).await?;
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
    /// `InvalidInput` if `top` is 0; any error from [`keys_of`](Self::keys_of).
    pub async fn get_page_by_index<I: Index<Entity = E>>(
        &self,
        list: Selection<E, Point, Lists<I>>,
        after: Option<&EntityKey>,
        top: usize,
    ) -> Result<ListPage<E>> {
        if top == 0 {
            return Err(Error::of(IndexFault::EmptyPage));
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

    /// Reads the entities with the given keys. Returns those whose index entry belongs to the list.
    async fn owners_with<I: Index<Entity = E>>(
        &self,
        key: &EntityKey,
        owners: Vec<EntityKey>,
    ) -> Result<Vec<Versioned<E>>> {
        let reads = owners.into_iter().map(|owner| async move { self.primary(&owner).await });
        let found: Vec<_> = stream::iter(reads).buffered(CONCURRENCY).try_collect().await?;
        let mut entities = Vec::with_capacity(found.len());
        let Some(index) = index_of::<E>(I::SCHEMA) else { return Ok(entities) };
        for entity in found.into_iter().flatten() {
            // Another tool may have given the entity a value that no key of the index can contain.
            if stored_entry(index, &entity)?.is_some_and(|entry| entry.key == *key) {
                entities.push(entity);
            }
        }
        Ok(entities)
    }
}
