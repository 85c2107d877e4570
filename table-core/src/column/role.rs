//! Roles of columns: the columns that a patch can set, and those that a projection can read.

use table_store::Result;

use crate::column::{Column, KeyColumn};
use crate::property::Property;
use crate::query::EntityRef;

/// Marks a [`Column`] that neither the key nor an index depends on. A patch can set it.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::Column;
/// use table_core::column::Plain;
///
/// let age: Column<Employee, i32, Plain> = Employee::AGE; // in no index and no key
/// assert_eq!(age.name(), "Age");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {}

/// Marks a [`Column`] that an index may depend on or copies may include. If an index has a function in `when`, all columns of the entity have this marker.
///
/// A patch of a [`Table`](crate::Table) cannot set such a column. The patch does not read the old value, so it could not update the index.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email), include(age))]
/// # #[index_entity(ByLastName, at_most = 100, table = "LastNames", row_key(last_name))]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     last_name: String,
/// #     email: String,
/// #     age: i32,
/// # }
/// use table_core::Column;
/// use table_core::column::Indexed;
///
/// let email: Column<Employee, String, Indexed> = Employee::EMAIL; // the key of index `ByEmail`
/// assert_eq!(email.name(), "Email");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexed {}

/// Marks a [`Column`] of a property that the key depends on, such as a timestamp whose hour is in the key. No patch can set such a column, because the key of
/// an entity cannot change.
///
/// ```
/// # use chrono::{DateTime, Utc};
/// # use table_core::Entity;
/// # #[derive(Entity)]
/// # #[partition_key(device)]
/// # #[row_key(truncate(hour(at)))]
/// # struct Sample { device: String, at: DateTime<Utc>, value: f64 }
/// use table_core::Column;
/// use table_core::column::OfKey;
///
/// let at: Column<Sample, DateTime<Utc>, OfKey> = Sample::AT; // its hour is the `RowKey`
/// assert_eq!(at.name(), "At");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfKey {}

/// A marker for columns that a patch can set without knowing their old values.
///
/// ```
/// use table_core::column::{Plain, Patchable};
///
/// /// Accepts the markers of columns that a patch can set.
/// fn may_be_patched<K: Patchable>() {}
/// may_be_patched::<Plain>(); // `Indexed` and `OfKey` do not compile: T131
/// ```
#[diagnostic::on_unimplemented(
    message = "[T131] a patch cannot set this property: an index or the key depends on it",
    label = "this property is in the key, in an index or in its copies, or an index has a function in `when`",
    note = "a patch does not know the old value, which identifies the index row to remove; a key never changes (UPD-6)",
    note = "read, change and write the whole entity with `update` of `table_patterns::Entities`, which maintains its indexes; \
            for another key, insert the changed entity and delete the old one"
)]
pub trait Patchable {}

#[diagnostic::do_not_recommend]
impl Patchable for Plain {}

/// A marker for columns that the key does not depend on. A patch that maintains the entity's indexes can set these columns.
///
/// ```
/// use table_core::column::{Indexed, OutsideKey};
///
/// /// Accepts the markers of columns whose change keeps the key.
/// fn is_outside_key<K: OutsideKey>() {}
/// is_outside_key::<Indexed>(); // `OfKey` does not compile: T131
/// ```
#[diagnostic::on_unimplemented(
    message = "[T131] a patch cannot set this property: the key depends on it",
    label = "the key contains this property, or a part that is computed from it",
    note = "a key never changes (UPD-6): the entity would no longer match its key, and reads of it would fail",
    note = "a change that keeps the key is made with `update`; for another key, insert the changed entity and delete the old one, \
            in one transaction if they are in one partition"
)]
pub trait OutsideKey {}

#[diagnostic::do_not_recommend]
impl OutsideKey for Plain {}

#[diagnostic::do_not_recommend]
impl OutsideKey for Indexed {}

/// A column of `E` that a patch can set.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::column::Settable;
///
/// /// Returns the property that a patch of this column changes.
/// fn patched<E, C: Settable<E>>(column: C) -> &'static str {
///     column.property()
/// }
/// assert_eq!(patched::<Employee, _>(Employee::AGE), "Age");
/// ```
#[diagnostic::on_unimplemented(
    message = "[T130] a patch of `{E}` cannot set this",
    label = "`{Self}` is not a property of `{E}` that a patch can set: write `set({E}::…, value)`, with a column of `{E}`, the name of a field in capitals, and its value",
    note = "the key of an entity cannot change (UPD-6); insert it under the new key and delete the old one, in one transaction if they are in one partition"
)]
pub trait Settable<E>: Copy {
    /// The type of the column's values.
    type Value: Property;

    /// Returns the name of the column's property.
    fn property(&self) -> &'static str;
}

impl<E, T: Property, K: Patchable> Settable<E> for Column<E, T, K> {
    type Value = T;

    fn property(&self) -> &'static str {
        self.name()
    }
}

/// A column or key field that a projection can read.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::column::Projected;
///
/// assert_eq!(Projected::property(&Employee::AGE), Some("Age"));
/// assert_eq!(Projected::property(&Employee::ID), None); // in the key, which comes with every row
/// ```
pub trait Projected {
    /// The type of the values of the column or key field.
    type Value;

    /// Returns the property to request from the store, or `None` for a key field. Keys need not be requested, because every read returns them.
    fn property(&self) -> Option<&'static str>;

    /// Reads the value from a stored entity. For `hint`, see [`RowView::find`](crate::row::RowView::find).
    ///
    /// # Errors
    /// `EntityMismatch` if the property is absent or has a different type, or the key does not match the schema.
    fn read(&self, entity: EntityRef<'_>, hint: &mut usize) -> Result<Self::Value>;
}

/// A type that equals `T`. A field of a projection must have the same type as its column.
///
/// ```
/// use table_core::column::IsType;
///
/// /// Converts the value of a column to the field of a projection.
/// fn field<T>(of_column: impl IsType<T>) -> T {
///     of_column.into_value()
/// }
/// let age: i32 = field(34_i32); // `field::<i64>(34_i32)` does not compile: T121
/// assert_eq!(age, 34);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T121] a projection cannot read `{Self}` as `{T}`",
    label = "write `{Self}`, the type of the entity's field",
    note = "a field of a projection has the type of the entity's field with the same name"
)]
pub trait IsType<T> {
    /// Returns the value unchanged.
    fn into_value(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> IsType<T> for T {
    fn into_value(self) -> T {
        self
    }
}

impl<E, T: Property, K> Projected for Column<E, T, K> {
    type Value = T;

    fn property(&self) -> Option<&'static str> {
        Some(self.name())
    }

    fn read(&self, entity: EntityRef<'_>, hint: &mut usize) -> Result<T> {
        crate::property::read(entity.row, self.name(), hint)
    }
}

impl<E, T> Projected for KeyColumn<E, T> {
    type Value = T;

    fn property(&self) -> Option<&'static str> {
        None
    }

    fn read(&self, entity: EntityRef<'_>, _: &mut usize) -> Result<T> {
        KeyColumn::read(self, entity)
    }
}
