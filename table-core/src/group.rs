//! Entity groups contain related entities of several types. One range query reads a group into one struct (PAT-CK-1).

mod fault;
mod field;

use std::ops::Bound;

pub use field::{GroupField, Many, One};
use table_store::key::text::RESERVED;
use table_store::{Error, Result};

use crate::entity::Entity;
use crate::group::fault::GroupFault;
use crate::mixed;
use crate::query::{EntityRef, KeyRange, TextRange};
use crate::schema::EntitySchema;
use crate::selection::{Class, Partition, Point};

/// A struct of [`One`] and [`Many`] fields, which is filled from adjacent entities in one partition.
///
/// [`#[derive(EntityGroup)]`](derive@crate::EntityGroup) implements this trait, and [`Table::read_group`](crate::Table::read_group) reads a group.
///
/// ```
/// use table_core::group::{Many, One};
/// use table_core::{BlockOn, Entity, EntityGroup, TableStoreExt, embedded::Engine};
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("emp_", digits(6, id))]
/// struct Employee {
///     department: String,
///     id: u32,
///     age: i32,
/// }
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key("emp_", digits(6, id), "_review_", digits(4, year))]
/// struct Review {
///     department: String,
///     id: u32,
///     year: u16,
/// }
///
/// #[derive(EntityGroup)]
/// #[entity_group(under = Employee)]
/// struct File {
///     employee: One<Employee>,
///     reviews: Many<Review>,
/// }
///
/// # async {
/// let store = Engine::in_memory();
/// let employees = store.table::<Employee>().create_if_missing().await?;
/// let sales = || "Sales".to_owned();
/// employees.insert(&Employee { department: sales(), id: 7, age: 36 }).await?;
/// store.table::<Review>().insert(&Review { department: sales(), id: 7, year: 2024 }).await?;
/// let file: File = employees.read_group(Employee::key("Sales", 7)).await?; // one request
/// assert_eq!((file.employee.age, file.reviews.len()), (36, 1));
/// # Ok::<(), table_core::Error>(())
/// # }.block_on().unwrap();
/// ```
pub trait EntityGroup: Sized {
    /// The class of the selection that identifies a group. [`Point`] selects a key that is a prefix of each key in the group, and [`Partition`] selects the
    /// group's partition.
    type Named: GroupScope;

    /// Sorts the rows of one range into the fields of the group.
    ///
    /// # Errors
    /// - `ResourceNotFound` if the entity of a [`One`] is missing.
    /// - `EntityMismatch` if several entities belong to a [`One`].
    /// - `EntityMismatch` if a row belongs to no member and the group has no `#[other]` field, or if a row does not match its key.
    fn from_rows<'a>(rows: impl Iterator<Item = EntityRef<'a>>) -> Result<Self>;
}

/// A group that can be identified by a selection of `E`.
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
/// use table_core::group::{Many, GroupOf};
/// use table_core::EntityGroup;
///
/// #[derive(EntityGroup)]
/// struct Department {
///     employees: Many<Employee>,
/// }
///
/// /// Accepts groups that a selection of employees reads in one request.
/// fn of_employees<G: GroupOf<Employee>>() {}
/// of_employees::<Department>();
/// ```
#[diagnostic::on_unimplemented(
    message = "[T110] a selection of `{E}` does not read the group `{Self}`",
    label = "a group of `{E}` is expected here",
    note = "a group with `#[entity_group(under = Owner)]` is read by the owner's key, any other group by the partition of a member"
)]
pub trait GroupOf<E: Entity>: EntityGroup {}

/// A class of selections that can identify a group.
///
/// The trait is sealed. [`Point`] identifies all rows whose keys start with the selected key, and [`Partition`] identifies all rows of a partition.
///
/// ```
/// use table_core::group::GroupScope;
/// use table_core::selection::{Partition, Point};
///
/// /// Accepts the classes of selections that can identify a group.
/// fn names_one<C: GroupScope>() {}
/// names_one::<Point>(); // the key of the group's owner
/// names_one::<Partition>();
/// ```
pub trait GroupScope: Class + sealed::Sealed {
    /// Returns the key range that contains the group.
    #[must_use]
    fn range(named: KeyRange) -> KeyRange;
}

pub(crate) mod sealed {
    use super::{GroupScope, KeyRange, Partition, Point, unreserved};

    pub trait Sealed {
        /// Returns the key ranges to query for a group.
        fn ranges(named: KeyRange) -> Vec<KeyRange>;
    }

    impl Sealed for Point {
        fn ranges(named: KeyRange) -> Vec<KeyRange> {
            unreserved(Self::range(named))
        }
    }

    impl Sealed for Partition {
        fn ranges(named: KeyRange) -> Vec<KeyRange> {
            vec![Self::range(named)]
        }
    }
}

impl GroupScope for Point {
    fn range(named: KeyRange) -> KeyRange {
        match named.row_key.single().map(TextRange::prefix) {
            Some(row_key) => KeyRange { row_key, ..named },
            None => named,
        }
    }
}

impl GroupScope for Partition {
    fn range(named: KeyRange) -> KeyRange {
        named
    }
}

/// Excludes rows reserved for patterns from a range.
///
/// A range of a whole partition, such as that of an owner with an empty RowKey, is split into the ranges before and after these rows. Any other range is
/// returned unchanged.
///
/// IMPORTANT: a pattern that deletes a group must not read the reserved rows, such as pending intents. Such rows may also far outnumber the other rows of a
/// partition.
#[doc(hidden)]
#[must_use]
pub fn unreserved(range: KeyRange) -> Vec<KeyRange> {
    if !range.row_key.is_all() {
        return vec![range];
    }
    let reserved = TextRange::prefix(&RESERVED.to_string());
    let beyond = |bound: Bound<String>| match bound {
        Bound::Included(text) => Bound::Excluded(text),
        Bound::Excluded(text) => Bound::Included(text),
        Bound::Unbounded => Bound::Unbounded,
    };
    let before = TextRange { upper: beyond(reserved.lower), ..TextRange::ALL };
    let after = TextRange { lower: beyond(reserved.upper), ..TextRange::ALL };
    [before, after].map(|row_key| KeyRange { row_key, ..range.clone() }).into()
}

/// Skips an index row of a member, as a query for the member does. If the group has no `#[other]` field, every row that belongs to no member is passed to this
/// function.
///
/// # Errors
/// `EntityMismatch` if the row is not an index row of a member (PAT-HET-6).
#[doc(hidden)]
pub fn skip(group: &str, members: &[&EntitySchema], entity: EntityRef<'_>) -> Result<()> {
    let is_index_row = |member: &&EntitySchema| {
        mixed::is_index_row(member, member.table, entity.partition_key, entity.row_key)
    };
    if members.iter().any(is_index_row) {
        return Ok(());
    }
    Err(Error::of(GroupFault::Unknown(group.to_owned())).with_key(entity.partition_key, entity.row_key))
}
