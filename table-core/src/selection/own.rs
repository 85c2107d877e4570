//! Excludes index rows from the key ranges of selections.

use std::ops::Bound;

use crate::entity::Entity;
use crate::key::codec::{Alphabet, Form};
use crate::query::{KeyRange, TextRange};
use crate::schema::{self, EntitySchema, IndexSchema, KeyPiece};
use crate::selection::{Class, Keys, Selection};

impl<E: Entity, C: Class> Selection<E, C> {
    /// Excludes the index rows of `E` (copies and lists) from the ranges, if a leading literal distinguishes their keys from entity keys.
    ///
    /// The literal is at the start of the `RowKey`. If the index has separate partitions in the same table, it may also be at the start of the `PartitionKey`.
    /// Such partitions are excluded if no entity can be in them. They are also excluded if the `RowKey` of an index row may equal that of an entity, unless the
    /// entities' own `PartitionKey`s start with the literal. `Entities` does not insert an entity into an excluded partition.
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

/// Excludes partitions of indexes whose rows could be mistaken for entities of type `E` (`AROUND`). Ranges within a single partition are not changed.
#[must_use]
pub fn around_indexes<E: Entity>(ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    let alike = |index: &&IndexSchema| looks_alike(E::SCHEMA, index);
    without(
        ranges,
        E::SCHEMA.indexes.iter().filter(alike).filter_map(|index| excluded_partitions(E::SCHEMA, index)),
    )
}

/// Excludes the partitions whose keys start with one of the literals. Ranges within a single partition are not changed.
fn without(mut ranges: Vec<KeyRange>, literals: impl Iterator<Item = &'static str>) -> Vec<KeyRange> {
    if ranges.iter().all(|range| range.partition_key.single().is_some()) {
        return ranges;
    }
    for literal in literals {
        ranges = ranges.into_iter().flat_map(|range| around(range, literal)).collect();
    }
    ranges
}

/// Returns the index that hides entities with this PartitionKey. [Scans](Selection::own_rows) exclude the partition with this key because of the index.
#[must_use]
pub fn index_that_hides(schema: &'static EntitySchema, partition_key: &str) -> Option<&'static IndexSchema> {
    schema.indexes.iter().find(|index| {
        // The PartitionKey is compared first, because this comparison is cheap and rarely finds a match.
        partition_key.starts_with(partition_literal(index)) && excluded_partitions(schema, index).is_some()
    })
}

/// Returns the literal at the start of the index's `PartitionKey`s. Returns `None` unless scans for entities exclude the partitions with this literal.
fn excluded_partitions(schema: &EntitySchema, index: &IndexSchema) -> Option<&'static str> {
    let literal = partition_literal(index);
    let same_table = index.table.is_none_or(|table| table.eq_ignore_ascii_case(schema.table));
    let is_apart = never_starts_with(schema.partition_key, literal)
        || looks_alike(schema, index) && !first_literal(schema.partition_key).starts_with(literal);
    (same_table && !literal.is_empty() && is_apart).then_some(literal)
}

/// Returns `true` if a `RowKey` of the index may equal one of the entities. In that case, only the partition distinguishes an index row from an entity.
fn looks_alike(schema: &EntitySchema, index: &IndexSchema) -> bool {
    !schema::disjoint(schema.row_key, index.row_key)
}

fn partition_literal(index: &IndexSchema) -> &'static str {
    index.partition_key.map(first_literal).unwrap_or_default()
}

/// Returns `true` if it can be proven that no key with these pieces starts with `literal`.
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

/// Excludes from a range the partitions whose keys start with a literal. Returns the parts before and after these partitions.
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
