//! Sources of a selection: the entities themselves, or an index.

use std::fmt;
use std::marker::PhantomData;

use crate::entity::{FromEntity, Versioned, put, read_own_again};
use crate::error::Result;
use crate::index::consistency::{Consistency, InStep};
use crate::index::{FromCopy, Index};
use crate::query::{EntityRef, Select};
use crate::schema::IndexSchema;

/// The source of a selection, as a type. Sealed: [`Primary`], or an index of the design.
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
/// use table_core::selection::{Copies, Primary, Source};
///
/// /// The table that a source is read from, where it has one of its own.
/// fn table_of<S: Source>() -> Option<&'static str> {
///     S::INDEX.and_then(|index| index.table)
/// }
/// assert_eq!(table_of::<Primary>(), None);
/// assert_eq!(table_of::<Copies<EmployeeByEmail>>(), None);
/// assert_eq!(table_of::<table_core::selection::Lists<EmployeeByLastName>>(), Some("LastNames"));
/// ```
pub trait Source: sealed::Sealed + 'static {
    /// The index; `None` for the entities themselves.
    const INDEX: Option<&'static IndexSchema>;
    /// Whether its rows are in step with the entities.
    type Consistency: Consistency;
}

/// The entities themselves, by their own keys.
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
/// use table_core::selection::{Point, Primary, Selection};
///
/// let of_the_entities: Selection<Employee, Point, Primary> = Employee::key("Sales", 223);
/// assert!(of_the_entities.ranges().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primary {}

/// The copies of the index `I`. Those in another partition can be behind the entities for a while (PAT-INTER-3).
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
/// use table_core::selection::{Copies, Point, Selection};
///
/// let by_email: Selection<Employee, Point, Copies<EmployeeByEmail>> = Employee::by_email("Sales", "jonesj@contoso.com");
/// assert!(by_email.ranges().is_ok());
/// ```
pub struct Copies<I>(PhantomData<fn() -> I>);

/// The lists of the index `I` (PAT-IX). No entity can be read from a list: it names those that are to be read.
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
/// use table_core::selection::{Lists, Point, Selection};
///
/// let named_jones: Selection<Employee, Point, Lists<EmployeeByLastName>> = Employee::by_last_name("Sales", "Jones");
/// assert!(named_jones.ranges().is_ok());
/// ```
pub struct Lists<I>(PhantomData<fn() -> I>);

/// Common traits of a source of any index: by hand, as the types of indexes have none of them.
macro_rules! common_traits {
    ($($source:ident),+) => {$(
        impl<I> Clone for $source<I> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<I> Copy for $source<I> {}

        impl<I> PartialEq for $source<I> {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }

        impl<I> Eq for $source<I> {}

        impl<I> fmt::Debug for $source<I> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($source))
            }
        }
    )+};
}

common_traits!(Copies, Lists);

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Primary {}
impl<I> sealed::Sealed for Copies<I> {}
impl<I> sealed::Sealed for Lists<I> {}

impl Source for Primary {
    const INDEX: Option<&'static IndexSchema> = None;
    type Consistency = InStep;
}

impl<I: Index> Source for Copies<I> {
    const INDEX: Option<&'static IndexSchema> = Some(I::SCHEMA);
    type Consistency = I::Consistency;
}

impl<I: Index> Source for Lists<I> {
    const INDEX: Option<&'static IndexSchema> = Some(I::SCHEMA);
    type Consistency = I::Consistency;
}

/// A source that what it holds can be read from as `T`: the entities as anything, copies as what they keep.
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
/// use table_core::Projection;
/// use table_core::selection::{Copies, Primary, Reads};
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Age {
///     age: i32,
/// }
///
/// /// Accepts a source that gives whole employees.
/// fn whole<S: Reads<Employee>>() {}
/// /// Accepts a source that gives ages.
/// fn ages<S: Reads<Age>>() {}
/// whole::<Primary>();
/// ages::<Copies<EmployeeByEmail>>(); // which keeps the age, and not all of an employee
/// ```
#[diagnostic::on_unimplemented(
    message = "[T071] `{T}` cannot be read from `{Self}`",
    label = "what is stored there is not enough for a `{T}`",
    note = "copies of an index with `keep(…)` are read as a projection of what they keep: `get_as::<P>`, `query(…).project::<P>()`",
    note = "an `index_entity` holds keys: no entity is read from it"
)]
pub trait Reads<T>: Source {
    /// The properties that are asked for (DQ-13).
    #[must_use]
    fn select() -> Select {
        Select::All
    }

    /// Reads it, straight from the encoded row.
    ///
    /// # Errors
    /// Those of [`FromEntity::from_entity`].
    fn read(entity: EntityRef<'_>) -> Result<T>;

    /// Whether rows of declared others may lie among its own.
    const IS_MIXED: bool = false;

    /// The same for a row that may be of a type declared beside it, which gives `None`.
    ///
    /// # Errors
    /// Those of [`FromEntity::read_own`].
    fn read_own(entity: EntityRef<'_>) -> Result<Option<Versioned<T>>> {
        Versioned::read_with(entity, Self::read).map(Some)
    }

    /// The same over the one read before it, if there is one; `false` for a row that is passed over. The place is not shown then, nor
    /// after an error: it holds parts of two entities.
    #[doc(hidden)]
    #[inline]
    fn read_own_again(
        place: &mut Option<Versioned<T>>,
        entity: EntityRef<'_>,
        _is_same_partition: bool,
    ) -> Result<bool> {
        put(place, Self::read_own(entity))
    }
}

impl<I: Index, T: FromCopy<I>> Reads<T> for Copies<I> {
    fn select() -> Select {
        T::select_copy()
    }

    fn read(entity: EntityRef<'_>) -> Result<T> {
        T::from_copy(entity)
    }
}

impl<T: FromEntity> Reads<T> for Primary {
    fn select() -> Select {
        T::select()
    }

    fn read(entity: EntityRef<'_>) -> Result<T> {
        T::from_entity(entity)
    }

    const IS_MIXED: bool = T::IS_MIXED;

    #[inline]
    fn read_own(entity: EntityRef<'_>) -> Result<Option<Versioned<T>>> {
        T::read_own(entity)
    }

    #[inline]
    fn read_own_again(
        place: &mut Option<Versioned<T>>,
        entity: EntityRef<'_>,
        is_same_partition: bool,
    ) -> Result<bool> {
        read_own_again(place, entity, is_same_partition)
    }
}
