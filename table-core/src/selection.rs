//! Typed selections: the keys to read, with the cost class in the type (design promise 2).

mod argument;
mod narrowed;
mod source;
mod whole_key;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Bound;

pub use argument::{InOrder, KeyArg, KeyBounds, KeyPrefix, Told};
#[doc(hidden)]
pub use narrowed::Narrowed;
pub use source::{Copies, Lists, Primary, Reads, Source};
pub use whole_key::WholeKey;

use crate::entity::Entity;
use crate::error::Result;
use crate::key::EntityKey;
use crate::query::{KeyRange, QueryClass, TextRange};
use crate::schema::KeyPiece;

/// A cost class as a type. Sealed: the classes are those of the service (CLS-1).
pub trait Class: sealed::Sealed + 'static {
    /// The class of a selection that reads `ranges` ranges of keys.
    fn class(ranges: usize) -> QueryClass;
}

/// A class that is answered in pages: every one but the point.
///
/// ```
/// use table_core::selection::{Paged, Partition, RowRange};
///
/// /// Accepts the classes that are answered page by page.
/// fn in_pages<C: Paged>() {}
/// in_pages::<RowRange>();
/// in_pages::<Partition>(); // `Point` does not compile: T086
/// ```
#[diagnostic::on_unimplemented(
    message = "[T086] a selection of class `{Self}` is not read by `query`",
    label = "`query` takes a range, a partition or a fan-out",
    note = "a point is read with `get`",
    note = "a table scan has a verb of its own, so that none is made by accident: `scan(\"why, in words\")`"
)]
pub trait Paged: Class {}

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
        $(impl $paged for $name {})?
    )*};
}

class! {
    /// Both keys are known: one look-up (DQ-2).
    Point, _ranges => QueryClass::Point;
    /// One partition and a range of rows (DQ-3).
    RowRange: Paged, _ranges => QueryClass::Range;
    /// One whole partition (DQ-4).
    Partition: Paged, _ranges => QueryClass::PartitionScan;
    /// A range of partitions.
    PartitionRange: Paged, _ranges => QueryClass::PartitionRange;
    /// Several partitions, each asked for itself, as `bucket(…)` makes them.
    FanOut: Paged, ranges => QueryClass::FanOut(ranges);
    /// Every partition (DQ-5).
    Scan, _ranges => QueryClass::TableScan;
}

/// Which keys of the entity `E` to read; `C` says what that costs, `F` where they are: [`Primary`] are its own keys, and
/// [`Copies`] those of an index.
///
/// A value that has no text in a key is not an error here but where the selection is used.
#[must_use = "a selection reads nothing until it is given to `get`, `query` or `scan`"]
pub struct Selection<E, C, F = Primary> {
    keys: Result<Keys>,
    reason: Option<String>,
    of: PhantomData<fn() -> (E, C)>,
    from: PhantomData<fn() -> F>,
}

/// A point stays two texts: a look-up needs no range.
#[derive(Clone, Debug)]
enum Keys {
    Point(String, String),
    Ranges(Vec<KeyRange>),
}

impl<E, C: Class, F> Selection<E, C, F> {
    /// For generated code and for patterns: the keys must be of the class.
    #[doc(hidden)]
    pub fn new(ranges: Result<Vec<KeyRange>>) -> Self {
        Self::of(ranges.map(Keys::Ranges), None)
    }

    /// The ranges of keys, in key order: one, but for a fan-out.
    ///
    /// # Errors
    /// `KeyEncoding` if a value given has no text in its place.
    pub fn ranges(&self) -> Result<Cow<'_, [KeyRange]>> {
        Ok(match self.keys.as_ref().map_err(Clone::clone)? {
            Keys::Point(partition_key, row_key) => Cow::Owned(vec![KeyRange::point(partition_key, row_key)]),
            Keys::Ranges(ranges) => Cow::Borrowed(ranges),
        })
    }

    /// The ranges of keys, taken out.
    ///
    /// # Errors
    /// Those of [`ranges`](Self::ranges).
    pub fn into_ranges(self) -> Result<Vec<KeyRange>> {
        Ok(match self.keys? {
            Keys::Point(partition_key, row_key) => vec![KeyRange::point(partition_key, row_key)],
            Keys::Ranges(ranges) => ranges,
        })
    }

    /// The same keys, of a class and a source that are known to fit; what becomes a scan by it is one for this reason.
    pub(crate) fn widen<K, G>(self, reason: &str) -> Selection<E, K, G> {
        let reason = self.reason.or_else(|| Some(reason.to_owned()));
        Selection::of(self.keys, reason)
    }

    /// The class.
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
    /// For generated code: the keys of one entity.
    #[doc(hidden)]
    pub fn of_texts(keys: Result<(String, String)>) -> Self {
        Self::of(keys.map(|(partition_key, row_key)| Keys::Point(partition_key, row_key)), None)
    }

    /// The key.
    ///
    /// # Errors
    /// `KeyEncoding` if a value given has no text in its place.
    pub fn key(&self) -> Result<EntityKey> {
        self.clone().into_key()
    }

    /// The key, taken out.
    ///
    /// # Errors
    /// Those of [`key`](Self::key).
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
    /// The same without rows that are none of `E`'s own: copies and lists of its indexes, whose `RowKey`s, or in the same table
    /// whose `PartitionKey`s, begin with other literals than those of `E` (T066).
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
        for index in E::SCHEMA.indexes {
            let literal = index.partition_key.map(first_literal).unwrap_or_default();
            let same_table = index.table.is_none_or(|table| table.eq_ignore_ascii_case(E::SCHEMA.table));
            let is_apart =
                !literal.is_empty() && !first_literal(E::SCHEMA.partition_key).starts_with(literal);
            if same_table && is_apart {
                *ranges = ranges.drain(..).flat_map(|range| around(range, literal)).collect();
            }
        }
        self
    }
}

fn first_literal(pieces: &'static [KeyPiece]) -> &'static str {
    match pieces {
        [KeyPiece::Literal(literal), ..] => literal,
        _ => "",
    }
}

/// The rows of a range before and after the partitions that begin with a text.
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
    /// Every entity of the table, for a reason that is in plans and spans (design promise 2).
    pub fn scan(reason: impl Into<String>) -> Self {
        let all = KeyRange { partition_key: TextRange::ALL, row_key: TextRange::ALL };
        Self::of(Ok(Keys::Ranges(vec![all])), Some(reason.into()))
    }

    /// Why the whole table is read.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }
}

impl<E> From<&str> for Selection<E, Scan> {
    fn from(reason: &str) -> Self {
        Self::scan(reason)
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
