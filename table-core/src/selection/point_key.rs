//! Types that identify one entity by its complete key.

use crate::selection::{Point, Primary, Selection, Source};

/// The complete key of an entity of type `E`. It is a selection that contains every part of both keys. In a table without a schema, it can also be an
/// [`EntityKey`](crate::EntityKey).
///
/// A generic function takes `impl PointKey<E, From: Source>`. Without the bound on the source, it would accept a text or a number, which only the messages
/// about wrong arguments need, and could not call [`into_point`](Self::into_point).
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
    label = "write `{E}::key`, with the fields of the PartitionKey and of the RowKey as its arguments; or pass a part of a key to `query`",
    note = "a part of a key or an index that is not unique selects many entities: `table.query(…).collect().await?` with this argument reads them",
    note = "a unique index also names one entity; a key of another entity is passed to a handle of that entity: `store.table::<Employee>()`",
    note = "the key of an entity that was read contains its fields: `{E}::key(&found.…, found.…)`"
)]
pub trait PointKey<E> {
    /// The source of the entity, which is a [`Source`](crate::selection::Source).
    type From;

    /// Returns the key as a selection of one entity.
    fn into_point(self) -> Selection<E, Point, Self::From>
    where
        Self::From: Source;
}

/// The source of an entity's own keys, as opposed to the keys of its copies in an index. Only [`Primary`] implements it. Writes require keys from this source.
///
/// ```
/// use table_core::selection::{OwnSource, PointKey};
///
/// /// A key under which an entity can be written.
/// fn is_written_under<E, K: PointKey<E, From: OwnSource<E>>>(_: &K) -> bool {
///     true
/// }
/// # use table_core::Entity;
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32 }
/// assert!(is_written_under(&Employee::key("Sales", 7))); // the key of an index does not compile: T248
/// ```
#[diagnostic::on_unimplemented(
    message = "[T248] an index of `{E}` does not name an entity here: writes, and reads of a unit, take its key",
    label = "write `{E}::key(…)`, with the fields of the key",
    note = "`let found = entities.get({E}::by_…(…)).await?` reads an entity by a unique index; its fields are those of the key: \
            `{E}::key(&found.…, found.…)`"
)]
pub trait OwnSource<E>: Source + Sized {
    /// Exists only if the source implements this trait, so rustc reports a violated bound only once.
    #[doc(hidden)]
    type Checked;

    /// Returns the key with [`Primary`] as its source.
    fn into_own(key: Selection<E, Point, Self>) -> Selection<E, Point>;
}

impl<E> OwnSource<E> for Primary {
    type Checked = ();

    fn into_own(key: Selection<E, Point>) -> Selection<E, Point> {
        key
    }
}

/// The bound on the key of a write. rustc reports a violation only once.
#[doc(hidden)]
pub trait ReportedOwnKey<E>: PointKey<E> {
    /// The type `R`, if the argument's type is correct.
    type Then<R>;

    /// Returns `result`, which has the type `R` only for a correct argument.
    fn then<R>(result: R) -> Self::Then<R>;

    /// Returns the key.
    fn into_own(self) -> Selection<E, Point>;
}

impl<E, A: PointKey<E, From = F>, F: OwnSource<E, Checked = C>, C> ReportedOwnKey<E> for A {
    type Then<R> = <C as crate::reported::Itself>::Result<R>;

    fn then<R>(result: R) -> Self::Then<R> {
        result
    }

    fn into_own(self) -> Selection<E, Point> {
        F::into_own(self.into_point())
    }
}

/// The keys of several entities of type `E`, as a list or an iterator of complete keys.
///
/// ```
/// use table_core::selection::{IntoPoints, Source};
///
/// /// Returns the number of keys.
/// fn count<E>(keys: impl IntoPoints<E, From: Source>) -> usize {
///     keys.into_points().len()
/// }
/// # use table_core::Entity;
/// # #[derive(Entity)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32 }
/// assert_eq!(count([7, 8].map(|id| Employee::key("Sales", id))), 2); // `count(Employee::key("Sales", 7))` does not compile: T219
/// ```
#[diagnostic::on_unimplemented(
    message = "[T219] `{Self}` is not a list or an iterator of complete keys of `{E}`",
    label = "write `[{E}::key(…)]`, or an iterator of such keys",
    note = "`get({E}::key(…))` reads one entity; `query({E}::partition(…))` reads the entities of a partition"
)]
pub trait IntoPoints<E> {
    /// The source of the entities, which is a [`Source`](crate::selection::Source).
    type From;

    /// Returns the keys in the given order.
    fn into_points(self) -> Vec<Selection<E, Point, Self::From>>
    where
        Self::From: Source;
}

#[diagnostic::do_not_recommend]
impl<E, K: PointKey<E>, I: IntoIterator<Item = K>> IntoPoints<E> for I {
    type From = K::From;

    fn into_points(self) -> Vec<Selection<E, Point, K::From>>
    where
        K::From: Source,
    {
        self.into_iter().map(K::into_point).collect()
    }
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
