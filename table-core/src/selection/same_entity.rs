//! The check that a key is of the entity of its handle.

use crate::selection::Selection;

/// The entity `E` itself. No other type implements this trait, so a key of another entity is a compile error that names both.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T265] this is a key of `{Self}`, but the handle reads and writes `{E}`",
    label = "pass the key to a handle of `{Self}`, `store.table::<{Self}>()`; or write `{E}::key` in place of `{Self}::key`",
    note = "a handle has one type of entities, also in a table with several types; `read_as` of a query reads all of them as a set"
)]
pub trait SameEntity<E>: Sized {
    /// Returns the selection.
    fn selection<C, F>(selection: Selection<Self, C, F>) -> Selection<E, C, F>;
}

#[diagnostic::do_not_recommend]
impl<E> SameEntity<E> for E {
    fn selection<C, F>(selection: Selection<E, C, F>) -> Selection<E, C, F> {
        selection
    }
}
