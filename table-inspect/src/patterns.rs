//! Classifies the rows of a table by the patterns of their keys.

use std::cmp::Reverse;

use table_core::ValueRef;
use table_core::query::EntityRef;
use table_core::schema::{ENTITY_TYPE, StoredPiece};

use crate::error::Result;
use crate::keys;
use crate::reserved::RESERVED;

/// The patterns of a table's keys, each with a value of type `T` that describes the rows with such keys. [`kind::patterns`](crate::kind::patterns) creates them.
///
/// If a pattern has an `EntityType`, a row must have the same `EntityType` to match it. If several patterns match a key, the pattern with the most literal
/// characters is chosen. Internal rows match no pattern.
///
/// ```
/// use table_core::query::EntityRef;
/// use table_core::row::RowWriter;
/// use table_core::schema::StoredSchema;
/// use table_inspect::kind;
///
/// let schema: StoredSchema = "schema 1\nentity Person\ntable People\nPartitionKey team text 0..512 ordered legal\n\
///     RowKey name text 0..512 ordered legal\n"
///     .parse()?;
/// let schemas = [("people".to_owned(), schema)];
/// let patterns = kind::patterns("People", &schemas, |kind| kind.name().to_owned());
/// let row = RowWriter::new().finish();
/// assert_eq!(patterns.of(EntityRef::new("red", "ada", row.view()))?.map(String::as_str), Some("Person"));
/// assert_eq!(patterns.of(EntityRef::new("red", "\u{FFFC}feed_0001", row.view()))?, None);
/// # Ok::<(), table_inspect::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Patterns<T> {
    /// The patterns, in descending order of the number of literal characters.
    all: Vec<Pattern<T>>,
}

/// The keys of one kind of row.
#[derive(Clone, Debug)]
pub(crate) struct Pattern<T> {
    pub(crate) partition_key: Vec<StoredPiece>,
    pub(crate) row_key: Vec<StoredPiece>,
    /// The `EntityType` that the rows must have, or `None` if they need not have one.
    pub(crate) entity_type: Option<String>,
    pub(crate) value: T,
}

impl<T> Patterns<T> {
    /// Creates a classifier. Of two patterns with the same number of literal characters, the first one is chosen.
    pub(crate) fn new(mut all: Vec<Pattern<T>>) -> Self {
        all.sort_by_key(|pattern| Reverse(pattern.literal_length()));
        Self { all }
    }

    /// Returns the value of the pattern that a row matches, or `None` if the row matches no pattern. If
    /// [`need_entity_type`](Self::need_entity_type) returns `true`, `row` must contain the `EntityType` that it has in the store, if any.
    ///
    /// # Errors
    /// `Corrupted` if the row cannot be read.
    pub fn of(&self, row: EntityRef<'_>) -> Result<Option<&T>> {
        Ok(self.of_keys(row.partition_key, row.row_key, entity_type(row)?))
    }

    /// Returns the value of the pattern that a row with these keys and this `EntityType` matches.
    pub(crate) fn of_keys(
        &self,
        partition_key: &str,
        row_key: &str,
        entity_type: Option<&str>,
    ) -> Option<&T> {
        if row_key.starts_with(RESERVED) {
            return None;
        }
        let matches = |pattern: &&Pattern<T>| {
            (pattern.entity_type.is_none() || pattern.entity_type.as_deref() == entity_type)
                && keys::fits(&pattern.partition_key, partition_key)
                && keys::fits(&pattern.row_key, row_key)
        };
        self.all.iter().find(matches).map(|pattern| &pattern.value)
    }

    /// Returns `true` if the pattern of a row can depend on its `EntityType`.
    #[must_use]
    pub fn need_entity_type(&self) -> bool {
        self.all.iter().any(|pattern| pattern.entity_type.is_some())
    }
}

impl<T> Pattern<T> {
    fn literal_length(&self) -> usize {
        let length = |piece: &StoredPiece| match piece {
            StoredPiece::Literal(literal) => literal.len(),
            StoredPiece::Part { .. } => 0,
        };
        self.partition_key.iter().chain(&self.row_key).map(length).sum()
    }
}

/// Returns the `EntityType` of a row, or `None` if it has none.
///
/// # Errors
/// `Corrupted` if the row cannot be read.
pub(crate) fn entity_type(row: EntityRef<'_>) -> Result<Option<&str>> {
    Ok(match row.row.find(ENTITY_TYPE, &mut 0)? {
        Some(ValueRef::String(found)) => Some(found),
        _ => None,
    })
}
