//! Typed selections: the keys to read, with their cost class as a type parameter (design promise 2).

mod argument;
pub(crate) mod fault;
mod narrowed;
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
pub use point_key::ReportedKey;
pub use point_key::{IntoPoints, PointKey};
pub use source::{Copies, Lists, Primary, ReadableAs, Source};
use table_store::Result;

use crate::entity::Entity;
use crate::key::EntityKey;
use crate::key::codec::{Alphabet, Form};
use crate::query::{KeyRange, QueryClass, TextRange};
use crate::schema::{self, EntitySchema, IndexSchema, KeyPiece};

/// A cost class as a type. Sealed: only the cost classes of the service exist (CLS-1).
pub trait Class: sealed::Sealed + 'static {
    /// Returns the class of a selection with `ranges` key ranges.
    fn class(ranges: usize) -> QueryClass;
}

/// A cost class whose result can span several pages: every class except [`Point`].
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

/// A cost class whose result can span several pages, for selections of `E`. Implemented for every [`Paged`] class; its message names the entity.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "[T086] `query` cannot read a selection of class `{Self}`",
    label = "the argument of `query` is a partition, such as `{E}::partition(…)`, or rows, such as `{E}::rows(…)`",
    note = "read a point with `get({E}::key(…))`, and the entities of a list of an `index_entity` with `get_by_index`",
    note = "read a whole table with `scan(\"the reason\")`, a separate method that prevents accidental table scans"
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
    /// The complete key: one lookup (DQ-2).
    Point, _ranges => QueryClass::Point;
    /// A range of rows in one partition (DQ-3).
    RowRange: Paged, _ranges => QueryClass::Range;
    /// All rows of one partition (DQ-4).
    Partition: Paged, _ranges => QueryClass::PartitionScan;
    /// A range of partitions, ordered by `PartitionKey`.
    PartitionRange: Paged, _ranges => QueryClass::PartitionRange;
    /// Several partitions, with at least one request for each. Example: all buckets of a `bucket(…)` key part.
    FanOut: Paged, ranges => QueryClass::FanOut(ranges);
    /// All rows of the table (DQ-5).
    Scan, _ranges => QueryClass::TableScan;
}

/// The keys to read of entities of type `E`. `C` is the cost class, and `F` is the source: [`Primary`] for the entity's own keys, [`Copies`] for an index.
///
/// If a value cannot be encoded in a key, the error is returned when the selection is used, not when it is created.
#[must_use = "a selection has no effect until it is passed to `get`, `query` or `scan`"]
pub struct Selection<E, C, F = Primary> {
    keys: Result<Keys>,
    reason: Option<String>,
    of: PhantomData<fn() -> (E, C)>,
    from: PhantomData<fn() -> F>,
}

/// The keys of a selection. A point stores its two keys as strings, because a lookup needs no range.
#[derive(Clone, Debug)]
enum Keys {
    Point(String, String),
    Ranges(Vec<KeyRange>),
}

impl<E, C: Class, F> Selection<E, C, F> {
    /// Creates a selection, for generated code and patterns. The keys must match the class.
    #[doc(hidden)]
    pub fn new(ranges: Result<Vec<KeyRange>>) -> Self {
        Self::of(ranges.map(Keys::Ranges), None)
    }

    /// Returns the key ranges, in key order. Only a fan-out has more than one.
    ///
    /// # Errors
    /// `KeyEncoding` if a given value cannot be encoded.
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

    /// Changes the selection's cost class and source to types that the caller knows to be correct. A conversion to a scan uses the given reason.
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
    /// Creates the selection of one entity, for generated code.
    #[doc(hidden)]
    pub fn of_texts(keys: Result<(String, String)>) -> Self {
        Self::of(keys.map(|(partition_key, row_key)| Keys::Point(partition_key, row_key)), None)
    }

    /// Returns the key of the entity.
    ///
    /// # Errors
    /// `KeyEncoding` if a given value cannot be encoded.
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
        EntityKey::new(partition_key, row_key)
    }
}

impl<E: Entity, C: Class> Selection<E, C> {
    /// Excludes `E`'s index rows, which are copies and lists, from the ranges, as far as their keys differ from all keys of `E`: by the literal at the start
    /// of the `RowKey`, or, if the index has separate partitions in the same table, of the `PartitionKey`. If the `RowKey`s of the two may be equal, the
    /// partitions of the index are excluded. `Entities` refuses to insert an entity into one of them.
    ///
    /// ```
    /// # use table_core::{Entity, Selection, selection::Scan};
    /// # #[derive(Entity)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index(ByEmail, unique, row_key("email_", email))]
    /// # #[index(ByName, partition_key("name_", name), row_key(department, "_", id))]
    /// # struct Employee { #[without('_')] department: String, #[digits(6)] id: u32, email: String, name: String }
    /// let sales = Employee::partition("Sales").own_rows();
    /// let range = &sales.ranges()?[0];
    /// assert!(range.contains("Sales", "empid_000223") && !range.contains("Sales", "email_ada@contoso.com"));
    ///
    /// let all = Selection::<Employee, Scan>::scan("to count").own_rows();
    /// let reads = |partition| all.ranges().is_ok_and(|all| all.iter().any(|range| range.partition_key.contains(partition)));
    /// assert!(reads("Sales") && !reads("name_Jones"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn own_rows(mut self) -> Self {
        let Ok(Keys::Ranges(ranges)) = &mut self.keys else { return self };
        let own = TextRange::prefix(first_literal(E::SCHEMA.row_key));
        for range in ranges.iter_mut() {
            range.row_key.intersect(&own);
        }
        let excluded = E::SCHEMA.indexes.iter().filter_map(|index| excluded_partitions(E::SCHEMA, index));
        *ranges = without(std::mem::take(ranges), excluded);
        self
    }
}

/// Removes the partitions of `E`'s indexes whose rows could be mistaken for entities from the ranges (`AROUND`). A range of a single partition remains.
#[doc(hidden)]
#[must_use]
pub fn around_indexes<E: Entity>(ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    let alike = |index: &&IndexSchema| looks_alike(E::SCHEMA, index);
    without(
        ranges,
        E::SCHEMA.indexes.iter().filter(alike).filter_map(|index| excluded_partitions(E::SCHEMA, index)),
    )
}

/// Removes the partitions that start with one of the literals from ranges of several partitions.
fn without(mut ranges: Vec<KeyRange>, literals: impl Iterator<Item = &'static str>) -> Vec<KeyRange> {
    if ranges.iter().all(|range| range.partition_key.single().is_some()) {
        return ranges;
    }
    for literal in literals {
        ranges = ranges.into_iter().flat_map(|range| around(range, literal)).collect();
    }
    ranges
}

/// Returns the index whose partitions [scans](Selection::own_rows) exclude, if an entity with this PartitionKey would be in one of them.
#[doc(hidden)]
#[must_use]
pub fn index_that_hides(schema: &'static EntitySchema, partition_key: &str) -> Option<&'static IndexSchema> {
    schema.indexes.iter().find(|index| {
        // The PartitionKey is compared first, because it is a cheap test that rarely succeeds.
        partition_key.starts_with(partition_literal(index)) && excluded_partitions(schema, index).is_some()
    })
}

/// Returns the literal at the start of an index's partitions, if scans of the entities exclude these partitions.
fn excluded_partitions(schema: &EntitySchema, index: &IndexSchema) -> Option<&'static str> {
    let literal = partition_literal(index);
    let same_table = index.table.is_none_or(|table| table.eq_ignore_ascii_case(schema.table));
    let is_apart = never_starts_with(schema.partition_key, literal)
        || looks_alike(schema, index) && !first_literal(schema.partition_key).starts_with(literal);
    (same_table && !literal.is_empty() && is_apart).then_some(literal)
}

/// Returns `true` if the `RowKey`s of the index and of the entities may be equal. Rows of such an index can only be told apart by their partitions.
fn looks_alike(schema: &EntitySchema, index: &IndexSchema) -> bool {
    !schema::disjoint(schema.row_key, index.row_key)
}

fn partition_literal(index: &IndexSchema) -> &'static str {
    index.partition_key.map(first_literal).unwrap_or_default()
}

/// Returns `true` if it is proved that no key with these pieces starts with `literal`.
fn never_starts_with(pieces: &[KeyPiece], literal: &'static str) -> bool {
    const ANY: Form = Form { min: 0, max: usize::MAX, ordered: false, alphabet: Alphabet::LEGAL };
    schema::disjoint(
        pieces,
        &[KeyPiece::Literal(literal), KeyPiece::Field { field: "", codec: "", form: ANY }],
    )
}

fn first_literal(pieces: &'static [KeyPiece]) -> &'static str {
    match pieces {
        [KeyPiece::Literal(literal), ..] => literal,
        _ => "",
    }
}

/// Returns the parts of a range before and after the partitions that start with a literal.
fn around(range: KeyRange, literal: &str) -> impl Iterator<Item = KeyRange> {
    let (before, after) = match TextRange::prefix(literal) {
        TextRange { lower: Bound::Included(lower), upper: Bound::Excluded(upper) }
            if range.partition_key.single().is_none() =>
        {
            let before = TextRange { lower: Bound::Unbounded, upper: Bound::Excluded(lower) };
            (before, Some(TextRange { lower: Bound::Included(upper), upper: Bound::Unbounded }))
        }
        _ => (TextRange::ALL, None),
    };
    let part = move |partitions: TextRange| {
        let mut part = range.clone();
        part.partition_key.intersect(&partitions);
        part
    };
    [Some(before), after].into_iter().flatten().map(part).filter(|part| !part.is_empty())
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
