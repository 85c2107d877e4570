//! The check that a selection or a condition is of the entity of its handle.

use crate::column::Condition;
use crate::selection::Selection;

/// The entity `E` itself. No other type implements this trait, so a selection or a condition of another entity is a compile error that names both.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T265] this is of `{Self}`, but the handle reads and writes `{E}`",
    label = "of `{Self}`: pass it to a handle of `{Self}`, `store.table::<{Self}>()`; or write `{E}` in place of `{Self}`",
    note = "a handle has one type of entities, also in a table with several types; `read_as` of a query reads all of them as a set"
)]
pub trait SameEntity<E>: Sized {
    /// Returns the selection.
    fn selection<C, F>(selection: Selection<Self, C, F>) -> Selection<E, C, F>;

    /// Returns the condition.
    fn condition(condition: Condition<Self>) -> Condition<E>;
}

#[diagnostic::do_not_recommend]
impl<E> SameEntity<E> for E {
    fn selection<C, F>(selection: Selection<E, C, F>) -> Selection<E, C, F> {
        selection
    }

    fn condition(condition: Condition<E>) -> Condition<E> {
        condition
    }
}
