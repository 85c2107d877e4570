//! Patches: individual properties of a stored entity, set through typed columns (MRG rules).

use std::fmt;

use crate::column::Settable;
use crate::error::{Error, Result};
use crate::etag::{ETag, IfMatch};
use crate::key::EntityKey;
use crate::operation::OperationKind;
use crate::property::Property;
use crate::row::{Row, RowWriter};
use crate::selection::{Point, PointKey, Primary, Selection};
use crate::store::{TableStore, written};
use crate::table::fault::TableFault;
use crate::table::{Table, request};
use crate::value::Value;

/// New values for some properties of one stored entity; all others are kept (MRG-1).
///
/// On a [`Table`], a patch is one merge, without a read of the entity. Two mistakes do not compile: setting a field of the key, which never changes
/// (UPD-6), and setting a property that an index contains, whose old value is unknown. The handle of the patterns crate reads the entity first, and
/// can set any property. [`Table::update`] removes properties, which a merge cannot (MRG-3), and computes a new value from the old one.
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
#[must_use = "a patch does nothing until it is sent"]
pub struct Patch<'a, T: PatchTarget> {
    target: &'a T,
    key: Selection<T::Entity, Point>,
    values: Result<Vec<(&'static str, Value)>>,
    if_match: IfMatch,
}

/// A handle through which a [`Patch`] is sent.
///
/// ```
/// use table_core::table::{Patch, PatchTarget};
///
/// /// Limits a patch to a version.
/// fn only<'a, T: PatchTarget>(patch: Patch<'a, T>, etag: &table_core::ETag) -> Patch<'a, T> {
///     patch.if_match(etag)
/// }
/// ```
pub trait PatchTarget: Sync {
    /// The type of the entities.
    type Entity;

    /// Merges properties into the stored entity, and returns its new version.
    ///
    /// # Errors
    /// `ResourceNotFound`, `UpdateConditionNotSatisfied` (MRG-2); any error of the handle.
    fn merge_properties(
        &self,
        key: EntityKey,
        row: Row,
        if_match: IfMatch,
    ) -> impl Future<Output = Result<ETag>> + Send;

    /// Adds the table to an error.
    fn in_table(&self, error: Error) -> Error;
}

/// A column that a [`Patch`] on the handle `T` can set.
///
/// On a [`Table`], these are the [`Settable`] columns.
///
/// ```
/// use table_core::table::{PatchTarget, SetBy};
///
/// /// The property that a patch changes.
/// fn patched<T: PatchTarget, C: SetBy<T>>(column: C) -> &'static str {
///     column.property()
/// }
/// ```
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
    /// Begins a patch of one entity: a merge without a read.
    pub fn patch(&self, key: impl PointKey<E, From = Primary>) -> Patch<'_, Self> {
        Patch::new(self, key.into_point())
    }
}

impl<E, S: TableStore> PatchTarget for Table<E, S> {
    type Entity = E;

    async fn merge_properties(&self, key: EntityKey, row: Row, if_match: IfMatch) -> Result<ETag> {
        let table = self.name()?;
        self.admit(self.now()).await?;
        let etag = request::write(&self.store, table, key, OperationKind::Merge(row, if_match)).await?;
        written(table, etag)
    }

    fn in_table(&self, error: Error) -> Error {
        Self::in_table(self, error)
    }
}

impl<'a, T: PatchTarget> Patch<'a, T> {
    /// Begins a patch of one entity.
    pub const fn new(target: &'a T, key: Selection<T::Entity, Point>) -> Self {
        Self { target, key, values: Ok(Vec::new()), if_match: IfMatch::Any }
    }

    /// Sets a property. If it is set twice, the last value is used.
    ///
    /// [`send`](Self::send) fails for a value that cannot be stored, and for `None`, because a merge cannot remove a property (MRG-3); use
    /// [`Table::update`] to remove one.
    pub fn set<C: SetBy<T>>(mut self, column: C, value: impl Into<C::Value>) -> Self {
        let (name, value) = (column.property(), value.into());
        self.values = self.values.and_then(|mut values| {
            let value = value.to_value()?.ok_or_else(|| Error::of(TableFault::MergeRemoves(name)))?;
            values.retain(|(earlier, _)| *earlier != name);
            values.push((name, value));
            Ok(values)
        });
        self
    }

    /// Requires that the entity has this version; by default, any version is accepted.
    pub fn if_match(self, if_match: impl Into<IfMatch>) -> Self {
        Self { if_match: if_match.into(), ..self }
    }

    /// Sends the patch and returns the new version.
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist; `UpdateConditionNotSatisfied` if its version differs (MRG-2); `EntityTooLarge` if the
    /// resulting entity is too large (SIZE-6); on the handle of the patterns crate, also the errors of its write functions.
    pub async fn send(self) -> Result<ETag> {
        let key = self.key.into_key()?;
        let values = self.values.map_err(|error| self.target.in_table(error))?;
        let mut row = RowWriter::with_capacity(values.len());
        for (name, value) in &values {
            row.property(name, value.as_ref());
        }
        self.target.merge_properties(key, row.finish(), self.if_match).await
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
