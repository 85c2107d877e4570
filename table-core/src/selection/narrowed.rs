//! Values that a query accepts as its selection. They are complete selections, or builders of selections.

use table_store::Result;

use crate::query::KeyRange;
use crate::selection::{Class, Primary, Selection};

/// A value that selects entities of type `E`. It is a [`Selection`], or a builder such as `Employee::rows("Sales")`.
///
/// ```
/// use table_core::query::QueryClass;
/// use table_core::selection::{Class, IntoSelection};
/// # use table_core::Entity;
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32 }
///
/// fn class<C: Class>(selection: impl IntoSelection<Employee, C>) -> QueryClass {
///     selection.into_selection().class()
/// }
/// assert_eq!(class(Employee::partition("Sales")), QueryClass::PartitionScan);
/// assert_eq!(class(Employee::rows("Sales").id(100..=299)), QueryClass::Range);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T196] `{Self}` does not select entities `{E}`",
    label = "write `{E}::partition` or `{E}::rows`, with the fields of the PartitionKey as its arguments",
    note = "a selection of another entity is passed to a handle of that entity: `store.table::<Employee>()`",
    note = "to filter by properties, write `.filter(…)` after `query(…)`; to read the whole table, `scan(\"the reason\")`"
)]
pub trait IntoSelection<E, C, F = Primary> {
    /// Converts the value to a selection.
    fn into_selection(self) -> Selection<E, C, F>;
}

#[diagnostic::do_not_recommend]
impl<E, C, F> IntoSelection<E, C, F> for Selection<E, C, F> {
    fn into_selection(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<N: Narrowed> IntoSelection<N::Entity, N::Class, N::Source> for N {
    fn into_selection(self) -> Selection<N::Entity, N::Class, N::Source> {
        self.into()
    }
}

impl<N: Narrowed> From<N> for Selection<N::Entity, N::Class, N::Source> {
    fn from(narrowed: N) -> Self {
        Self::new(narrowed.ranges())
    }
}

/// A builder of a selection, such as `Employee::rows("Sales")`. Generated code implements this trait for each of its selection types. If it implemented `From`
/// for [`Selection`] instead, rustc would have to consider all these implementations in every conversion.
#[doc(hidden)]
pub trait Narrowed {
    /// The entity type of the selection.
    type Entity;
    /// The cost class of the selection.
    type Class: Class;
    /// The source of the selection.
    type Source;

    /// Returns the key ranges.
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    fn ranges(self) -> Result<Vec<KeyRange>>;
}
