//! Typed selections, which contain the keys to read. Their cost class is a type parameter (design promise 2).

mod argument;
pub(crate) mod fault;
mod narrowed;
mod not_a_key;
mod own;
mod point_key;
mod refused;
mod source;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Bound;

pub use argument::{KeyArg, KeyBounds, KeyPrefix, Ordered, SelfDelimiting};
pub use narrowed::IntoSelection;
#[doc(hidden)]
pub use narrowed::Narrowed;
#[doc(hidden)]
pub use not_a_key::{NotAKey, ShowsPoint};
#[doc(hidden)]
pub use own::{around_indexes, index_that_hides};
#[doc(hidden)]
pub use point_key::ReportedOwnKey;
pub use point_key::{IntoPoints, OwnSource, PointKey};
pub use source::{Copies, Lists, Primary, ReadableAs, Source};
use table_store::Result;

use crate::key::EntityKey;
use crate::query::{KeyRange, QueryClass, TextRange};

/// A type that represents a cost class. The trait is sealed, so only the cost classes of the service exist (CLS-1).
///
/// ```
/// use table_core::selection::{Class, Selection};
///
/// /// Returns the number of key ranges that a selection reads.
/// fn ranges<E, C: Class>(selection: &Selection<E, C>) -> table_core::Result<usize> {
///     selection.ranges().map(|ranges| ranges.len())
/// }
/// ```
pub trait Class: sealed::Sealed + 'static {
    /// Returns the class of a selection with `ranges` key ranges.
    fn class(ranges: usize) -> QueryClass;
}

/// A cost class whose result can span several pages. Every class except [`Point`] implements this trait.
///
/// ```
/// use table_core::selection::{Paged, Partition, RowRange};
///
/// /// Accepts the classes whose results are paged.
/// fn in_pages<C: Paged>() {}
/// in_pages::<RowRange>();
/// in_pages::<Partition>(); // `Point` does not compile: T086
/// ```
#[diagnostic::on_unimplemented(
    message = "[T086] `query` cannot read a selection of class `{Self}`",
    label = "expected a class of several entities, such as `Partition` or `RowRange`"
)]
pub trait Paged: Class {}

/// A cost class whose result can span several pages, for selections of `E`. Implemented for every [`Paged`] class. Its error message contains the entity's
/// name.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T086] `query` reads a partition or rows of `{E}`, and its argument is neither: it selects a `{Self}`",
    label = "the argument of `query` is a partition, such as `{E}::partition(…)`, or rows, such as `{E}::rows(…)`",
    note = "read a point with `get({E}::key(…))`, and the entities of a list of an `index_entity` with `get_by_index`",
    note = "a text is the reason of a scan, `table.scan(\"the reason\").max_rows(n)`; a condition is the argument of `filter`: \
            `table.query({E}::partition(…)).filter({E}::….eq(…))`"
)]
pub trait PagedOf<E>: Paged {}

#[diagnostic::do_not_recommend]
impl<E, C: Paged> PagedOf<E> for C {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! class {
    ($(#[doc = $doc:literal] $name:ident $(: $paged:ident)?, $ranges:ident => $class:expr;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {}
        impl sealed::Sealed for $name {}
        impl Class for $name {
            fn class($ranges: usize) -> QueryClass { $class }
        }
        $(#[diagnostic::do_not_recommend] impl $paged for $name {})?
    )*};
}

class! {
    /// The complete key, which is read with one lookup (DQ-2).
    Point, _ranges => QueryClass::Point;
    /// A range of rows in one partition (DQ-3).
    RowRange: Paged, _ranges => QueryClass::Range;
    /// All rows of one partition (DQ-4).
    Partition: Paged, _ranges => QueryClass::PartitionScan;
    /// A range of partitions, ordered by `PartitionKey`.
    PartitionRange: Paged, _ranges => QueryClass::PartitionRange;
    /// Several partitions, such as all buckets of a `bucket(…)` key part. Each partition requires at least one request.
    FanOut: Paged, ranges => QueryClass::FanOut(ranges);
    /// All rows of the table (DQ-5).
    Scan, _ranges => QueryClass::TableScan;
}

/// A selection of entities of type `E` by key.
///
/// `C` is the cost class. `F` is the source: [`Primary`] for the entity's own keys, or [`Copies`] for an index.
///
/// If a value cannot be encoded in a key, no error is returned when the selection is created. The error is returned when the selection is used.
#[must_use = "a selection has no effect until it is passed to `get`, `query` or `scan`"]
pub struct Selection<E, C, F = Primary> {
    keys: Result<Keys>,
    reason: Option<String>,
    of: PhantomData<fn() -> (E, C)>,
    from: PhantomData<fn() -> F>,
}

/// The keys in a selection. A point stores its two keys as strings, because a lookup needs no range.
#[derive(Clone, Debug)]
enum Keys {
    Point(String, String),
    Ranges(Vec<KeyRange>),
}

impl<E, C: Class, F> Selection<E, C, F> {
    /// Creates a selection. The key ranges must match the class. Called by generated code and patterns.
    #[doc(hidden)]
    pub fn new(ranges: Result<Vec<KeyRange>>) -> Self {
        Self::of(ranges.map(Keys::Ranges), None)
    }

    /// Returns the key ranges, in key order. Only a fan-out has more than one.
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    pub fn ranges(&self) -> Result<Cow<'_, [KeyRange]>> {
        Ok(match self.keys.as_ref().map_err(Clone::clone)? {
            Keys::Point(partition_key, row_key) => Cow::Owned(vec![KeyRange::point(partition_key, row_key)]),
            Keys::Ranges(ranges) => Cow::Borrowed(ranges),
        })
    }

    /// Converts the selection into its key ranges.
    ///
    /// # Errors
    /// Any error from [`ranges`](Self::ranges).
    pub fn into_ranges(self) -> Result<Vec<KeyRange>> {
        Ok(match self.keys? {
            Keys::Point(partition_key, row_key) => vec![KeyRange::point(partition_key, row_key)],
            Keys::Ranges(ranges) => ranges,
        })
    }

    /// Changes the selection's cost class and source to types that the caller knows to be correct. `reason` is the reason for the scan if the new class is a
    /// scan.
    pub(crate) fn widen<K, G>(self, reason: &str) -> Selection<E, K, G> {
        let reason = self.reason.or_else(|| Some(reason.to_owned()));
        Selection::of(self.keys, reason)
    }

    /// Returns the cost class of a query with this selection.
    #[must_use]
    pub fn class(&self) -> QueryClass {
        C::class(match &self.keys {
            Ok(Keys::Ranges(ranges)) => ranges.len(),
            Ok(Keys::Point(..)) | Err(_) => 1,
        })
    }
}

impl<E, C, F> Selection<E, C, F> {
    fn of(keys: Result<Keys>, reason: Option<String>) -> Self {
        Self { keys, reason, of: PhantomData, from: PhantomData }
    }
}

impl<E, F> Selection<E, Point, F> {
    /// Creates a selection of one entity from its two encoded keys. Called by generated code.
    #[doc(hidden)]
    pub fn of_texts(keys: Result<(String, String)>) -> Self {
        Self::of(keys.map(|(partition_key, row_key)| Keys::Point(partition_key, row_key)), None)
    }

    /// Returns the key of the entity.
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key; `OutOfRangeInput` if the key is reserved for pattern rows
    /// ([`RESERVED`](crate::key::text::RESERVED)).
    pub fn key(&self) -> Result<EntityKey> {
        self.clone().into_key()
    }

    /// Converts the selection into the key of the entity.
    ///
    /// # Errors
    /// Any error from [`key`](Self::key).
    pub fn into_key(self) -> Result<EntityKey> {
        let (partition_key, row_key) = match self.keys? {
            Keys::Point(partition_key, row_key) => (partition_key, row_key),
            Keys::Ranges(mut ranges) => {
                match ranges.pop().map(|range| (range.partition_key.lower, range.row_key.lower)) {
                    Some((Bound::Included(partition_key), Bound::Included(row_key))) => {
                        (partition_key, row_key)
                    }
                    _ => Default::default(),
                }
            }
        };
        EntityKey::new(partition_key, row_key)?.of_entity()
    }
}

impl<E> Selection<E, Scan> {
    /// Selects every entity of the table. The reason appears in plans and spans (design promise 2).
    pub fn scan(reason: impl Into<String>) -> Self {
        let all = KeyRange { partition_key: TextRange::ALL, row_key: TextRange::ALL };
        Self::of(Ok(Keys::Ranges(vec![all])), Some(reason.into()))
    }

    /// Returns the reason for the table scan.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }
}

#[diagnostic::do_not_recommend]
impl<E> IntoSelection<E, Scan> for &str {
    fn into_selection(self) -> Selection<E, Scan> {
        Selection::scan(self)
    }
}

impl<E, C, F> Clone for Selection<E, C, F> {
    fn clone(&self) -> Self {
        Self::of(self.keys.clone(), self.reason.clone())
    }
}

impl<E, C, F> fmt::Debug for Selection<E, C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection").field("keys", &self.keys).field("reason", &self.reason).finish()
    }
}
