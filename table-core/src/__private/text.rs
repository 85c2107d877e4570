//! Support for the generated functions `key`, `partition` and `rows`, which build keys from their arguments.

use table_store::Result;

use crate::query::KeyRange;
use crate::selection::{KeyArg, Partition, Point, Selection};

use super::property::{Encode, of_field};

/// A key under construction. If a part cannot be encoded, the error is kept and returned when the selection is used.
#[derive(Clone, Debug)]
pub struct KeyText(pub(super) Result<String>);

impl KeyText {
    /// Creates an empty key with capacity for a typical length.
    #[must_use]
    pub fn new() -> Self {
        Self(Ok(String::with_capacity(32)))
    }

    /// Appends a literal to the key.
    #[must_use]
    pub fn literal(mut self, literal: &str) -> Self {
        if let Ok(text) = &mut self.0 {
            text.push_str(literal);
        }
        self
    }

    /// Appends the value of a field, or its bucket, using the codec's `encode`.
    #[must_use]
    pub fn part<T>(self, field: &'static str, value: &impl KeyArg<T>, encode: Encode<T>) -> Self {
        Self(self.0.and_then(|mut text| {
            of_field(field, value.with(|value| encode(value, &mut text)))?;
            Ok(text)
        }))
    }
}

impl Default for KeyText {
    fn default() -> Self {
        Self::new()
    }
}

/// Creates a selection of one entity.
pub fn point<E, F>(partition_key: KeyText, row_key: KeyText) -> Selection<E, Point, F> {
    Selection::of_texts(partition_key.0.and_then(|partition_key| Ok((partition_key, row_key.0?))))
}

/// Creates a selection of one partition.
pub fn partition<E>(partition_key: KeyText) -> Selection<E, Partition> {
    Selection::new(partition_key.0.map(|partition_key| vec![KeyRange::partition(partition_key)]))
}
