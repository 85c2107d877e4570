//! Types that name one entity by its whole key.

use crate::selection::{Point, Selection};

/// Names one entity of a table of `E`: a selection of which every part of both keys is given, or in a table without a design
/// a key.
///
/// ```
/// use table_core::selection::{Point, WholeKey};
/// use table_core::{EntityKey, Selection, TableEntity};
///
/// let key = EntityKey::new("Sales", "000223")?;
/// let selection: Selection<TableEntity, Point> = (&key).into_point();
/// assert_eq!(selection.into_point().key()?, key);
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T084] `{Self}` is not one whole key of `{E}`",
    label = "every part of both keys is needed here",
    note = "one entity is named by `{E}::key(…)`, or by a unique index",
    note = "what a part of a key selects is many entities: `query(…)`"
)]
pub trait WholeKey<E> {
    /// The source of the entity: a [`Source`](crate::selection::Source).
    type From;

    /// The key as a point.
    fn into_point(self) -> Selection<E, Point, Self::From>;
}

impl<E, F> WholeKey<E> for Selection<E, Point, F> {
    type From = F;

    fn into_point(self) -> Self {
        self
    }
}
