//! Arguments of bulk writes, which are entities to write and keys to delete.

use std::borrow::Borrow;

use crate::reported::reported_once;
use crate::selection::{Point, PointKey, Primary, Selection};

reported_once! {
    ReportedEntities<E>: IntoEntities, Entities;
    ReportedDeletions<E>: IntoDeletions, Checked;
}

/// The entities of a bulk write, as a list or an iterator of `E` or `&E`.
///
/// ```
/// use std::borrow::Borrow;
/// use table_core::table::IntoEntities;
///
/// /// Returns the number of entities.
/// fn count<E>(entities: impl IntoEntities<E>) -> usize {
///     entities.into_entities().map(|entity| _ = entity.borrow()).count()
/// }
/// # struct Employee;
/// assert_eq!(count::<Employee>([Employee, Employee]), 2);
/// assert_eq!(count::<Employee>(&[Employee]), 1); // `count::<Employee>(&Employee)` does not compile: T217
/// ```
#[diagnostic::on_unimplemented(
    message = "[T217] a bulk write of `{E}` takes a list or an iterator of entities, not `{Self}`",
    label = "expected a list or an iterator of `{E}` or `&{E}`",
    note = "for one entity, write it in brackets, `[&entity]`, or use `insert(&entity)` of the table",
    note = "entities of several types are written by the handle of each type: `store.table::<{E}>().bulk().insert_all(entities)`; \
            those of one partition also in one transaction: `table.transaction({E}::partition(…))?`"
)]
pub trait IntoEntities<E> {
    /// The type of the iterator over the entities.
    type Entities: Iterator<Item: Borrow<E>>;

    /// Returns the entities in the given order.
    fn into_entities(self) -> Self::Entities;
}

#[diagnostic::do_not_recommend]
impl<E, I: IntoIterator<Item: Borrow<E>>> IntoEntities<E> for I {
    type Entities = I::IntoIter;

    fn into_entities(self) -> I::IntoIter {
        self.into_iter()
    }
}

/// The keys of the entities to delete in a bulk write, as a list or an iterator of complete keys.
///
/// ```
/// use table_core::table::IntoDeletions;
///
/// /// Returns the number of keys.
/// fn count<E>(keys: impl IntoDeletions<E>) -> usize {
///     keys.into_deletions().count()
/// }
/// # use table_core::Entity;
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32 }
/// assert_eq!(count::<Employee>([Employee::key("Sales", 7)]), 1); // `count::<Employee>(["7"])` does not compile: T218
/// ```
#[diagnostic::on_unimplemented(
    message = "[T218] a bulk delete of `{E}` takes a list or an iterator of complete keys, not `{Self}`",
    label = "expected a list or an iterator of `{E}::key(…)`",
    note = "the keys of entities: `entities.iter().map(|entity| {E}::key(…))`, with the fields of the entity",
    note = "the rows of a partition are read by `query({E}::partition(…))`, and deleted by their keys"
)]
pub trait IntoDeletions<E> {
    /// Exists only if the argument implements this trait, so rustc reports a violated bound only once.
    #[doc(hidden)]
    type Checked;

    /// Returns the keys in the given order.
    fn into_deletions(self) -> impl Iterator<Item = Selection<E, Point>>;
}

#[diagnostic::do_not_recommend]
impl<E, I: IntoIterator<Item: PointKey<E, From = Primary>>> IntoDeletions<E> for I {
    type Checked = <I::Item as PointKey<E>>::From;

    fn into_deletions(self) -> impl Iterator<Item = Selection<E, Point>> {
        self.into_iter().map(PointKey::into_point)
    }
}
