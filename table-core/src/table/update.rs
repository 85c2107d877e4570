//! Read-modify-write updates with optimistic concurrency and a bounded number of retries (CON-3).

mod change;
mod running;

use std::sync::Arc;

use futures_util::FutureExt;

pub use change::{ChangeResult, EntityChange, InPlace, MayFail};
pub use running::Update;
use table_store::{Error, Result};

use crate::entity::{FromEntity, ToEntity, Versioned};
use crate::etag::{ETag, IfMatch, IntoIfMatch};
use crate::key::EntityKey;
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::query::Select;
use crate::reported::reported_once;
use crate::row::{self, Row};
use crate::selection::{Point, Selection};
use crate::store::{TableStore, written};
use crate::table::fault::TableFault;
use crate::table::read::Found;
use crate::table::update::running::{Changed, Changes};
use crate::table::write::EntityWrite;
use crate::table::written_types::WrittenTypes;
use crate::table::{Table, request};

reported_once! {
    ReportedFrom<E>: IntoUpdateFrom, Checked;
    ReportedChange<E, Output>: EntityChange, Checked;
    ReportedIfMatch<>: IntoIfMatch, Checked;
}

/// The starting point of an update. It is an entity that the caller has already read, or the key of an entity to read first.
///
/// ```
/// use table_core::table::UpdateFrom;
/// use table_core::{Entity, Selection, selection::Point};
///
/// #[derive(Clone, Debug, Entity)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
///
/// let from: UpdateFrom<Employee> = Employee::key("Sales", 223).into();
/// assert!(matches!(from, UpdateFrom::Key(_))); // the update reads the entity first
/// ```
#[derive(Clone, Debug)]
pub enum UpdateFrom<E> {
    /// An entity the caller has already read. The first attempt uses its `ETag` and does not read the entity again. This saves a request, unless another writer
    /// has changed the entity in the meantime. If the change removes a property, the update must still read the row, and then replaces it.
    Read(Versioned<E>),
    /// The key of an entity to read.
    Key(Selection<E, Point>),
}

impl<E> From<Versioned<E>> for UpdateFrom<E> {
    fn from(versioned: Versioned<E>) -> Self {
        Self::Read(versioned)
    }
}

impl<E: Clone> From<&Versioned<E>> for UpdateFrom<E> {
    fn from(versioned: &Versioned<E>) -> Self {
        Self::Read(versioned.clone())
    }
}

impl<E> From<Selection<E, Point>> for UpdateFrom<E> {
    fn from(key: Selection<E, Point>) -> Self {
        Self::Key(key)
    }
}

/// A value that identifies the entity to update. It is the entity's key, or the entity already read.
///
/// ```
/// use table_core::table::{IntoUpdateFrom, UpdateFrom};
///
/// /// Returns `true` if the update reads the entity first.
/// fn reads<E>(from: impl IntoUpdateFrom<E>) -> bool {
///     matches!(from.into(), UpdateFrom::Key(_))
/// }
/// # use table_core::Entity;
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// assert!(reads::<Employee>(Employee::key("Sales", 223))); // `reads("Sales")` does not compile: T208
/// ```
#[diagnostic::on_unimplemented(
    message = "[T208] an update of `{E}` starts with its key or with the entity that was read, not with `{Self}`",
    label = "write `{E}::key(…)`",
    note = "`table.update({E}::key(…), |entity| …)` reads the entity; `table.update(&found, |entity| …)` uses the one that was read",
    note = "many entities are read by a query, and updated one by one"
)]
pub trait IntoUpdateFrom<E>: Into<UpdateFrom<E>> {
    /// Exists only if the argument implements this trait, so rustc reports a violated bound only once.
    #[doc(hidden)]
    type Checked;
}

#[diagnostic::do_not_recommend]
impl<E> IntoUpdateFrom<E> for UpdateFrom<E> {
    type Checked = ();
}

#[diagnostic::do_not_recommend]
impl<E> IntoUpdateFrom<E> for Versioned<E> {
    type Checked = ();
}

#[diagnostic::do_not_recommend]
impl<E: Clone> IntoUpdateFrom<E> for &Versioned<E> {
    type Checked = ();
}

#[diagnostic::do_not_recommend]
impl<E> IntoUpdateFrom<E> for Selection<E, Point> {
    type Checked = ();
}

impl<E: FromEntity, S: TableStore> Table<E, S> {
    /// Changes an entity. The function reads the entity, calls `change`, and merges the result if the entity's version has not changed. After a conflict, the
    /// update is retried (CON-3). If `change` removes a property, the row is replaced.
    ///
    /// - `change` may run several times, each time on the current entity. It must not change the key (UPD-6).
    /// - Properties not declared by `E` are kept. A field set to `None` is removed.
    /// - The written entity is returned. If the backend's `ETag`s are not Timestamps, the returned [`timestamp`](Versioned::timestamp) is the one from before
    ///   the write.
    ///
    /// ```
    /// # use table_core::{Entity, Table, TableStoreExt, embedded::Engine};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
    /// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
    /// # pollster::block_on(async {
    /// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// employees.insert(&ada).await?;
    /// let ada = employees.update(Employee::key("Sales", 223), |employee| employee.age += 1).await?;
    /// let ada = employees.update(&ada, |employee| employee.age += 1).await?; // saves a read
    /// assert_eq!(ada.age, 38);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `InvalidInput` if `change` changed the key.
    /// - `UpdateConditionNotSatisfied` if all attempts allowed by the [policy](crate::retry::Retry) ended in conflicts.
    pub fn update<F: EntityChange<E, R>, R: InPlace<E>>(
        &self,
        from: impl IntoUpdateFrom<E>,
        change: F,
    ) -> Update<'_, E, F, R>
    where
        E: ToEntity,
    {
        self.start_update(from.into(), change)
    }

    /// Changes an entity like [`update`](Self::update), with a `change` that may fail. If it fails, its error is returned and nothing is written.
    ///
    /// # Errors
    /// Any error from [`update`](Self::update) or `change`.
    pub fn try_update<F: EntityChange<E, Result<()>>>(
        &self,
        from: impl IntoUpdateFrom<E>,
        change: F,
    ) -> Update<'_, E, F, Result<()>>
    where
        E: ToEntity,
    {
        self.start_update(from.into(), change)
    }

    fn start_update<F: FnMut(&mut E) -> R, R: ChangeResult>(
        &self,
        from: UpdateFrom<E>,
        change: F,
    ) -> Update<'_, E, F, R>
    where
        E: ToEntity,
    {
        let changes = Arc::<Changes>::default();
        let (from, entity) = match from {
            UpdateFrom::Key(key) => (key.into_key().map(|key| (key, None)), None),
            UpdateFrom::Read(read) => {
                let version = (read.etag().clone(), read.ticks());
                (read.entity_key().map(|key| (key, Some(version))), Some(read.into_value()))
            }
        };
        let writes = self.write_changes(from, Arc::clone(&changes)).boxed();
        Update::new(writes, changes, change, entity)
    }

    /// Runs the read-modify-write loop until a write succeeds. Returns the new version.
    async fn write_changes(
        &self,
        from: Result<(EntityKey, Option<(ETag, u64)>)>,
        changes: Arc<Changes>,
    ) -> Result<(ETag, u64)> {
        let (key, mut version) = from?;
        let table = self.name()?;
        let retry = self.retry.clone().unwrap_or_default();
        let mut race = retry.start("the entity");
        loop {
            let found = if let Some(version) = version.take() {
                (version, None)
            } else {
                let found = self.read_version(table, &key).await?;
                ((found.stored.etag.clone(), found.stored.row.view().timestamp()), Some(found))
            };
            match self.write_change(table, &key, found, &changes).await {
                Err(error) if error.is_precondition_failed() => race.retry(error).await?,
                done => return done,
            }
        }
    }

    async fn read_version(&self, table: &TableName, key: &EntityKey) -> Result<Found> {
        let found = request::get(&self.store, table, key, &Select::All).await?;
        let stored = found.ok_or_else(|| at(TableFault::NothingToUpdate, table, key))?;
        Ok(Found { table: table.clone(), key: key.clone(), stored })
    }

    /// Requests a change to one version of the entity, and writes the result. `found` is the row read by the update, or `None` if the caller passed the entity.
    async fn write_change(
        &self,
        table: &TableName,
        key: &EntityKey,
        ((etag, stamp), found): ((ETag, u64), Option<Found>),
        changes: &Changes,
    ) -> Result<(ETag, u64)> {
        let Changed { before, after, key: new_key, version, designs } = changes.of(found).await?;
        if new_key != *key {
            return Err(at(TableFault::KeyChanged(new_key), table, key));
        }
        let if_match = IfMatch::ETag(etag.clone());
        let kind = if row::removes(before.view(), after.view())? {
            // Only a replace removes properties (MRG-3). It would also remove the properties not declared by `E`, so the new row must include them.
            let stored = match version {
                Some(found) => found.stored.row,
                None => self.stored_at(table, key, &etag).await?,
            };
            OperationKind::Replace(row::rewrite(stored.view(), before.view(), after.view())?, if_match)
        } else {
            OperationKind::Merge(after, if_match)
        };
        let write = EntityWrite { key: key.clone(), kind, written: WrittenTypes::new(designs, false) };
        let etag = written(table, self.write_one(write).await?)?;
        let stamp = etag.ticks().unwrap_or(stamp);
        Ok((etag, stamp))
    }

    /// Reads all stored properties of an entity. Fails if the entity no longer has the version read by the caller.
    async fn stored_at(&self, table: &TableName, key: &EntityKey, etag: &ETag) -> Result<Row> {
        match request::get(&self.store, table, key, &Select::All).await? {
            Some(found) if found.etag == *etag => Ok(found.row),
            _ => Err(at(TableFault::Changed, table, key)),
        }
    }
}

pub(super) fn at(fault: TableFault, table: &TableName, key: &EntityKey) -> Error {
    Error::of(fault).with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
}
