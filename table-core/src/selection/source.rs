//! The source of a selection. A selection reads either the entities themselves or an index.

use std::marker::PhantomData;

use table_store::Result;

use crate::entity::{Around, FromEntity, Versioned, put, read_own_again};
use crate::index::{Consistency, StronglyConsistent};
use crate::index::{FromCopy, Index};
use crate::query::{EntityRef, Select};
use crate::schema::IndexSchema;

/// A type that represents the source of a selection.
///
/// The trait is sealed. Only [`Primary`] and the two kinds of index sources, [`Copies`] and [`Lists`], implement it.
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
/// use table_core::selection::{Copies, Primary, Source};
///
/// /// Returns the table of a source, if it differs from the entity's.
/// fn table_of<S: Source>() -> Option<&'static str> {
///     S::INDEX.and_then(|index| index.table)
/// }
/// assert_eq!(table_of::<Primary>(), None);
/// assert_eq!(table_of::<Copies<EmployeeByEmail>>(), None);
/// assert_eq!(table_of::<table_core::selection::Lists<EmployeeByLastName>>(), Some("LastNames"));
/// ```
#[diagnostic::on_unimplemented(
    message = "[T271] `{Self}` may be the source of an argument that is not a key",
    label = "a key is read only from a known source",
    note = "write the bound in the generic function: `impl PointKey<E, From: Source>`, or `impl IntoPoints<E, From: Source>` for several keys; \
            a call with a text or a number is then refused"
)]
pub trait Source: sealed::Sealed + 'static {
    /// The index, or `None` for the entities themselves.
    const INDEX: Option<&'static IndexSchema>;
    /// The consistency of the source's rows with the entities.
    type Consistency: Consistency;
}

/// The entities, selected by their own keys.
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

/// The copies in the index `I`. Copies in a different partition from their entity may be stale (PAT-INTER-3).
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
/// use table_core::selection::{Copies, Point, Selection};
///
/// let by_email: Selection<Employee, Point, Copies<EmployeeByEmail>> = Employee::by_email("Sales", "jonesj@contoso.com");
/// assert!(by_email.ranges().is_ok());
/// ```
#[derive(Debug)]
pub struct Copies<I>(PhantomData<fn() -> I>);

/// The lists in the index `I` (PAT-IX). A list contains the keys of entities, not the entities themselves.
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
/// use table_core::selection::{Lists, Point, Selection};
///
/// let named_jones: Selection<Employee, Point, Lists<EmployeeByLastName>> = Employee::by_last_name("Sales", "Jones");
/// assert!(named_jones.ranges().is_ok());
/// ```
#[derive(Debug)]
pub struct Lists<I>(PhantomData<fn() -> I>);

pub(super) mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Primary {}
impl<I> sealed::Sealed for Copies<I> {}
impl<I> sealed::Sealed for Lists<I> {}

impl Source for Primary {
    const INDEX: Option<&'static IndexSchema> = None;
    type Consistency = StronglyConsistent;
}

impl<I: Index> Source for Copies<I> {
    const INDEX: Option<&'static IndexSchema> = Some(I::SCHEMA);
    type Consistency = I::Consistency;
}

impl<I: Index> Source for Lists<I> {
    const INDEX: Option<&'static IndexSchema> = Some(I::SCHEMA);
    type Consistency = I::Consistency;
}

/// A source whose rows can be read as `T`.
///
/// Entities can be read as any type that implements `FromEntity`. Copies can be read as projections of their included fields, or as the entity if they include
/// all fields.
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
/// use table_core::Projection;
/// use table_core::selection::{Copies, Primary, ReadableAs};
///
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Age {
///     age: i32,
/// }
///
/// /// Accepts a source of complete employees.
/// fn whole<S: ReadableAs<Employee>>() {}
/// /// Accepts a source of ages.
/// fn ages<S: ReadableAs<Age>>() {}
/// whole::<Primary>();
/// ages::<Copies<EmployeeByEmail>>(); // which includes only the age
/// ```
#[diagnostic::on_unimplemented(
    message = "[T071] `{T}` cannot be read from `{Self}`",
    label = "the rows do not contain everything that `{T}` needs",
    note = "read copies of an index with `include(…)` as a projection of the included fields: `get_as::<P>`, `query(…).project::<P>()`",
    note = "an `index_entity` stores keys only: `get_by_index(…)` of `table_patterns::Entities` reads the entities with these keys"
)]
pub trait ReadableAs<T>: Source {
    /// Returns the properties requested by a read (DQ-13).
    #[must_use]
    fn select() -> Select {
        Select::All
    }

    /// Reads a value from a stored row.
    ///
    /// # Errors
    /// Any error from [`FromEntity::from_entity`].
    fn read(entity: EntityRef<'_>) -> Result<T>;

    /// `true` if the source may contain rows of other declared types.
    const IS_MIXED: bool = false;

    /// A function that excludes index partitions from key ranges, or `None` if this is not necessary. Rows in these partitions could be mistaken for a `T`.
    #[doc(hidden)]
    const AROUND: Option<Around> = None;

    /// Reads a row. Returns `None` for a row of another declared type.
    ///
    /// # Errors
    /// Any error from [`FromEntity::read_own`].
    fn read_own(entity: EntityRef<'_>) -> Result<Option<Versioned<T>>> {
        Versioned::read_with(entity, Self::read).map(Some)
    }

    /// Reads a row. If a previous value exists, its memory is reused. Returns `false` if the row was skipped.
    ///
    /// After a skipped row or an error, the value may contain fields of two entities and must not be used.
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

impl<I: Index, T: FromCopy<I>> ReadableAs<T> for Copies<I> {
    fn select() -> Select {
        T::select_copy()
    }

    fn read(entity: EntityRef<'_>) -> Result<T> {
        T::from_copy(entity)
    }
}

impl<T: FromEntity> ReadableAs<T> for Primary {
    fn select() -> Select {
        T::select()
    }

    fn read(entity: EntityRef<'_>) -> Result<T> {
        T::from_entity(entity)
    }

    const IS_MIXED: bool = T::IS_MIXED;
    const AROUND: Option<Around> = T::AROUND;

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
