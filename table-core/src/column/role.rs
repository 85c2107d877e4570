//! Roles of a column: set by a patch, read by a projection.

use crate::column::{Column, KeyColumn};
use crate::error::Result;
use crate::property::Property;
use crate::query::EntityRef;

/// The marker of a [`Column`] that feeds no index and no key: a patch may set it.
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

/// The marker of a [`Column`] that feeds an index or the key, or is kept in copies: a patch, which does not know the old value, would
/// leave these behind.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # #[index(ByEmail, unique, row_key("email_", email), keep(age))]
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
/// let email: Column<Employee, String, Indexed> = Employee::EMAIL; // the index `ByEmail` is made of it
/// assert_eq!(email.name(), "Email");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexed {}

/// Markers of columns that can be set without knowing their old value.
///
/// ```
/// use table_core::column::{Plain, SetAlone};
///
/// /// Accepts the markers of columns that a patch may set.
/// fn may_be_patched<K: SetAlone>() {}
/// may_be_patched::<Plain>(); // `Indexed` does not compile: T131
/// ```
#[diagnostic::on_unimplemented(
    message = "[T131] an index or the key is made of this property: a patch would leave it behind",
    label = "this property is in an index, in its copies or in the key",
    note = "a patch does not know the old value, which tells the index row to be removed; a key never changes (UPD-6)",
    note = "read, change and write the entity: `update`, through the patterns crate's `Entities`, which keeps its indexes right"
)]
pub trait SetAlone {}

impl SetAlone for Plain {}

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
/// /// The property that a patch of this column changes.
/// fn patched<E, C: Settable<E>>(column: C) -> &'static str {
///     column.property()
/// }
/// assert_eq!(patched::<Employee, _>(Employee::AGE), "Age");
/// ```
#[diagnostic::on_unimplemented(
    message = "[T130] a patch of `{E}` cannot set this",
    label = "`{Self}` is not a property of `{E}` that a patch can set",
    note = "a field of the key never changes (UPD-6): insert the entity under its new key and delete the old one, in one transaction if the partition stays"
)]
pub trait Settable<E>: Copy {
    /// The type of its values.
    type Value: Property;

    /// The name of the property.
    fn property(&self) -> &'static str;
}

impl<E, T: Property, K: SetAlone> Settable<E> for Column<E, T, K> {
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
    /// The type of its values.
    type Value;

    /// The property to ask the store for; `None` if it is in the keys, which come back with every read.
    fn property(&self) -> Option<&'static str>;

    /// Reads the value; `hint` is that of [`RowView::find`](crate::row::RowView::find).
    ///
    /// # Errors
    /// `EntityMismatch` if it is absent or of another type, or the key is of another design.
    fn read(&self, entity: EntityRef<'_>, hint: &mut usize) -> Result<Self::Value>;
}

/// A type that is this one: what a field of a projection must be of its column's.
///
/// ```
/// use table_core::column::IsType;
///
/// /// The value of a column, as the field of a projection.
/// fn field<T>(of_column: impl IsType<T>) -> T {
///     of_column.into_value()
/// }
/// let age: i32 = field(34_i32); // `field::<i64>(34_i32)` does not compile: T121
/// assert_eq!(age, 34);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T121] a projection cannot read `{Self}` as `{T}`",
    label = "the entity's field is a `{Self}`",
    note = "a field of a projection has the type that the entity's field of this name has: a projection leaves out, and changes nothing"
)]
pub trait IsType<T> {
    /// The value.
    fn into_value(self) -> T;
}

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
