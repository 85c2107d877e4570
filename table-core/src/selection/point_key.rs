//! Types that name one entity by its complete key.

use crate::selection::{Point, Selection};

/// The complete key of an entity `E`: a selection with every part of both keys, or an [`EntityKey`](crate::EntityKey) in a table without a schema.
///
/// ```
/// use table_core::selection::{Point, PointKey};
/// use table_core::{EntityKey, Selection, TableEntity};
///
/// let key = EntityKey::new("Sales", "000223")?;
/// let selection: Selection<TableEntity, Point> = (&key).into_point();
/// assert_eq!(selection.into_point().key()?, key);
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T084] `{Self}` is not a complete key of `{E}`",
    label = "every part of both keys is required",
    note = "name one entity by `{E}::key(…)`, or by a unique index",
    note = "part of a key selects many entities; use `query(…)`"
)]
pub trait PointKey<E> {
    /// The source of the entity: a [`Source`](crate::selection::Source).
    type From;

    /// Returns the key as a point.
    fn into_point(self) -> Selection<E, Point, Self::From>;
}

#[diagnostic::do_not_recommend]
impl<E, F> PointKey<E> for &Selection<E, Point, F> {
    type From = F;

    fn into_point(self) -> Selection<E, Point, F> {
        self.clone()
    }
}

#[diagnostic::do_not_recommend]
impl<E, F> PointKey<E> for Selection<E, Point, F> {
    type From = F;

    fn into_point(self) -> Self {
        self
    }
}
