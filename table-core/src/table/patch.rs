//! Patches change individual properties of a stored entity through typed columns (MRG rules).

mod refused;

use std::fmt;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_store::{Error, Result, Value, ValueRef};

use crate::column::Settable;
use crate::etag::{ETag, IfMatch, IntoIfMatch};
use crate::key::EntityKey;
use crate::operation::OperationKind;
use crate::property::{self, Property};
use crate::query::Select;
use crate::row::{self, Row, RowView, RowWriter};
use crate::selection::{OwnSource, Point, PointKey, Selection};
use crate::store::{TableStore, written};
use crate::table::fault::TableFault;
use crate::table::update::at;
use crate::table::write::EntityWrite;
use crate::table::written_types::WrittenTypes;
use crate::table::{Table, request};

/// A change to some properties of one stored entity. All other properties are kept (MRG-1).
///
/// On a [`Table`], a patch is sent as a single merge, without reading the entity. A merge cannot remove properties (MRG-3), so a patch that sets a property to
/// `None` reads the entity and replaces it.
///
/// Two mistakes do not compile. A patch cannot set a field of the key, because a key never changes (UPD-6). It cannot set a property that an index contains,
/// because the index update would need the old value.
///
/// An `Entities` handle of `table-patterns` reads the entity first, so it can set any property outside the key. To compute a new value from the old one, use
/// [`Table::update`].
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
/// let etag = employees.insert(&ada).await?;
/// employees.patch(Employee::key("Sales", 223)).set(Employee::AGE, 37).if_match(etag).send().await?;
/// assert_eq!(employees.get(Employee::key("Sales", 223)).await?.map(|found| found.age), Some(37));
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a patch does nothing until it is sent; write `.send().await?` after the last `set`"]
pub struct Patch<'a, T: PatchTarget> {
    target: &'a T,
    key: Selection<T::Entity, Point>,
    /// The properties to change, each with its new value. The value `None` removes the property.
    values: Result<Vec<(&'static str, Option<Value>)>>,
    if_match: IfMatch,
}

/// A handle that can send a [`Patch`].
///
/// ```
/// use table_core::table::{Patch, PatchTarget};
///
/// /// Makes a patch conditional on a version of the entity.
/// fn only<'a, T: PatchTarget>(patch: Patch<'a, T>, etag: &table_core::ETag) -> Patch<'a, T> {
///     patch.if_match(etag)
/// }
/// ```
pub trait PatchTarget: Sync {
    /// The type of the entities.
    type Entity;

    /// Changes properties of the stored entity, and returns its new version.
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist; `UpdateConditionNotSatisfied` if its version differs (MRG-2); any error from the handle.
    fn change_properties(
        &self,
        key: EntityKey,
        change: PatchChange,
        if_match: IfMatch,
    ) -> impl Future<Output = Result<ETag>> + Send;

    /// Adds the table's name to an error.
    fn in_table(&self, error: Error) -> Error;
}

/// A value for a property of type `T`. It is any value that converts into `T`.
///
/// ```
/// use table_core::table::PatchValue;
///
/// /// Returns the value of a property.
/// fn value<T>(value: impl PatchValue<T>) -> T {
///     value.into_value()
/// }
/// assert_eq!(value::<String>("Ada"), "Ada");
/// assert_eq!(value::<Option<i32>>(7), Some(7)); // `value::<i32>("7")` does not compile: T199
/// ```
#[diagnostic::on_unimplemented(
    message = "[T199] a property of type `{T}` cannot be set to `{Self}`",
    label = "write a value of type `{T}`, or one that converts into it",
    note = "an optional property is set to a value of the type in the `Option`, such as `\"new\".to_owned()` for an `Option<String>`, and removed by `None`",
    note = "a text is parsed, `text.parse::<i32>()?`, and a number of another type converted, `i32::try_from(number)?`",
    note = "a value that depends on the stored one, such as a sum, is computed by a closure: for an entity `Employee`, \
            `table.update(Employee::key(…), |employee| employee.age += 1)`"
)]
pub trait PatchValue<T> {
    /// Converts the value into the type of the property.
    fn into_value(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T, V: Into<T>> PatchValue<T> for V {
    fn into_value(self) -> T {
        self.into()
    }
}

/// The properties that a [`Patch`] sets, and those that it removes.
///
/// ```
/// use table_core::table::PatchChange;
/// use table_core::{IfMatch, OperationKind, Result, store::StoredRow};
///
/// /// Returns the operation that writes a change.
/// fn write(change: &PatchChange, stored: StoredRow) -> Result<OperationKind> {
///     Ok(match change.as_merge() {
///         Some(row) => OperationKind::Merge(row.clone(), IfMatch::Any),
///         None => OperationKind::Replace(change.apply(stored.row.view())?, stored.etag.into()),
///     })
/// }
/// ```
#[derive(Clone, Debug)]
pub struct PatchChange {
    set: Row,
    /// The properties to remove, as a row. Their values are ignored.
    removed: Row,
}

impl PatchChange {
    fn new(values: &[(&'static str, Option<Value>)]) -> Self {
        let (mut set, mut removed) = (RowWriter::with_capacity(values.len()), RowWriter::new());
        for (name, value) in values {
            match value {
                Some(value) => set.property(name, value.as_ref()),
                None => removed.property(name, ValueRef::Boolean(false)),
            }
        }
        Self { set: set.finish(), removed: removed.finish() }
    }

    /// Returns the properties to merge, or `None` if the patch removes properties. A merge cannot remove properties (MRG-3).
    #[must_use]
    pub fn as_merge(&self) -> Option<&Row> {
        self.removed.view().is_empty().then_some(&self.set)
    }

    /// Applies the patch to `stored` and returns the complete row, which can then be written with a replace.
    ///
    /// # Errors
    /// `Corrupted` if the argument is not a row.
    pub fn apply(&self, stored: RowView<'_>) -> Result<Row> {
        let kept = row::rewrite(stored, self.removed.view(), RowWriter::new().finish().view())?;
        row::merge(kept.view(), self.set.view())
    }
}

/// A column that a [`Patch`] on a handle of type `T` can set.
///
/// On a [`Table`], these are the columns that implement [`Settable`].
///
/// ```
/// use table_core::table::{PatchTarget, SetBy};
///
/// /// Returns the name of the property that a patch changes.
/// fn patched<T: PatchTarget, C: SetBy<T>>(column: C) -> &'static str {
///     column.property()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "[T130] a patch cannot set `{Self}`",
    label = "write a column: a constant of the entity with the name of the field in capitals",
    note = "the key of an entity cannot change (UPD-6); insert it under the new key and delete the old one, in one transaction if they are in one partition"
)]
pub trait SetBy<T>: Copy {
    /// The type of the column's values.
    type Value: Property;

    /// Returns the name of the property.
    fn property(&self) -> &'static str;
}

impl<E, S: TableStore, C: Settable<E>> SetBy<Table<E, S>> for C {
    type Value = C::Value;

    fn property(&self) -> &'static str {
        Settable::property(self)
    }
}

impl<E, S: TableStore> Table<E, S> {
    /// Creates a patch of one entity. The patch is sent as a merge, without reading the entity. A patch that removes a property reads and replaces the entity
    /// instead.
    pub fn patch(&self, key: impl PointKey<E, From: OwnSource<E>>) -> Patch<'_, Self> {
        Patch::new(self, OwnSource::into_own(key.into_point()))
    }
}

impl<E, S: TableStore> PatchTarget for Table<E, S> {
    type Entity = E;

    async fn change_properties(
        &self,
        key: EntityKey,
        change: PatchChange,
        if_match: IfMatch,
    ) -> Result<ETag> {
        let table = self.name()?;
        let write = |kind| {
            self.write_one(EntityWrite { key: key.clone(), kind, written: WrittenTypes::new(&[], false) })
        };
        if let Some(row) = change.as_merge() {
            return written(table, write(OperationKind::Merge(row.clone(), if_match)).await?);
        }
        let retry = self.retry.clone().unwrap_or_default();
        let mut race = retry.start("the entity");
        loop {
            let stored = request::get(&self.store, table, &key, &Select::All).await?;
            let stored = stored.ok_or_else(|| at(TableFault::NothingToUpdate, table, &key))?;
            if !if_match.accepts(&stored.etag) {
                return Err(at(TableFault::Changed, table, &key));
            }
            let kind = OperationKind::Replace(change.apply(stored.row.view())?, stored.etag.into());
            match write(kind).await {
                Err(error) if error.is_precondition_failed() => race.retry(error).await?,
                etag => return written(table, etag?),
            }
        }
    }

    fn in_table(&self, error: Error) -> Error {
        Self::in_table(self, error)
    }
}

impl<'a, T: PatchTarget> Patch<'a, T> {
    /// Creates a patch of one entity.
    pub const fn new(target: &'a T, key: Selection<T::Entity, Point>) -> Self {
        Self { target, key, values: Ok(Vec::new()), if_match: IfMatch::Any }
    }

    /// Sets a property. If the property is set twice, the last value is used.
    ///
    /// `None` removes the property. On a [`Table`], a patch that removes a property reads the entity and replaces it if its version is unchanged. After a
    /// conflict, it retries.
    ///
    /// If a value cannot be stored, [`send`](Self::send) returns the error.
    ///
    /// ```
    /// # use table_core::{Entity, TableStoreExt, embedded::Engine};
    /// # #[derive(Entity, Clone, Debug, PartialEq)]
    /// # #[partition_key(department)]
    /// # #[row_key(id)]
    /// # struct Employee { department: String, #[digits(6)] id: u32, room: Option<i32> }
    /// # pollster::block_on(async {
    /// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
    /// # employees.insert(&Employee { department: "Sales".into(), id: 223, room: Some(7) }).await?;
    /// employees.patch(Employee::key("Sales", 223)).set(Employee::ROOM, None).send().await?;
    /// assert_eq!(employees.get(Employee::key("Sales", 223)).await?.map(|found| found.room), Some(None));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn set<C: SetBy<T>>(mut self, column: C, value: impl PatchValue<C::Value>) -> Self {
        let (name, value) = (column.property(), value.into_value());
        self.values = self.values.and_then(|mut values| {
            let value = property::to_value_named(&value, name)?;
            values.retain(|(earlier, _)| *earlier != name);
            values.push((name, value));
            Ok(values)
        });
        self
    }

    /// Sets the required version of the stored entity. By default, any version is accepted.
    pub fn if_match(self, if_match: impl IntoIfMatch) -> Self {
        Self { if_match: if_match.into(), ..self }
    }

    /// Sends the patch and returns the new version.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity does not exist.
    /// - `UpdateConditionNotSatisfied` if its version differs (MRG-2).
    /// - `EntityTooLarge` if the resulting entity is too large (SIZE-6).
    /// - On an `Entities` handle of `table-patterns`, any error from its write functions.
    pub async fn send(self) -> Result<ETag> {
        let key = self.key.into_key()?;
        let values = self.values.map_err(|error| self.target.in_table(error))?;
        self.target.change_properties(key, PatchChange::new(&values), self.if_match).await
    }
}

/// Sends the patch when it is awaited, like [`send`](Patch::send).
impl<'a, T: PatchTarget> IntoFuture for Patch<'a, T>
where
    T::Entity: 'a,
{
    type Output = Result<ETag>;
    type IntoFuture = BoxFuture<'a, Result<ETag>>;

    fn into_future(self) -> Self::IntoFuture {
        self.send().boxed()
    }
}

impl<T: PatchTarget + fmt::Debug> fmt::Debug for Patch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patch")
            .field("target", &self.target)
            .field("values", &self.values)
            .field("if_match", &self.if_match)
            .finish_non_exhaustive()
    }
}
