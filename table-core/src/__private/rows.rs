//! Runtime of generated row selections, such as `EmployeeRows`.

use crate::error::Result;
use crate::query::{KeyRange, TextRange};
use crate::selection::{Class, KeyArg, KeyBounds, Selection};

use super::bucket::KeyTexts;
use super::part::{self, Place};
use super::property::Encode;
use super::text::KeyText;

/// Partitions, and the text that the `RowKey`s wanted begin with.
#[derive(Clone, Debug)]
pub struct RowsOf {
    partitions: KeyTexts,
    row_key: KeyText,
}

impl RowsOf {
    /// All rows.
    #[must_use]
    pub fn new(partitions: impl Into<KeyTexts>) -> Self {
        Self { partitions: partitions.into(), row_key: KeyText::new() }
    }

    /// Pins a literal.
    #[must_use]
    pub fn literal(self, literal: &str) -> Self {
        Self { row_key: self.row_key.literal(literal), ..self }
    }

    /// Pins a field, by the codec's `encode`.
    #[must_use]
    pub fn part<T>(self, field: &'static str, value: &impl KeyArg<T>, encode: Encode<T>) -> Self {
        Self { row_key: self.row_key.part(field, value, encode), ..self }
    }

    /// The rows that begin so.
    pub fn select<E, C: Class, F>(self) -> Selection<E, C, F> {
        Selection::new(self.ranges())
    }

    /// The same, as what is read.
    ///
    /// # Errors
    /// Those of the values given.
    pub fn ranges(self) -> Result<Vec<KeyRange>> {
        self.finish(|begin| Ok(TextRange::prefix(&begin)))
    }

    /// The rows that are just so: every part is pinned.
    pub fn select_points<E, C: Class, F>(self) -> Selection<E, C, F> {
        Selection::new(self.finish(|row_key| Ok(TextRange::exactly(row_key))))
    }

    /// The rows whose next part begins with a prefix.
    pub fn prefix<E, P, C: Class, F>(
        self,
        field: &'static str,
        prefix: &P,
        encode: Encode<P>,
    ) -> Selection<E, C, F> {
        Selection::new(self.finish(|begin| part::prefix(begin, field, |text| encode(prefix, text))))
    }

    /// The rows whose next part lies in a range. Its order is checked to be kept before this compiles (K3).
    pub fn range<E, T, C: Class, F>(
        self,
        field: &'static str,
        range: &impl KeyBounds<T>,
        encode: Encode<T>,
        place: Place,
    ) -> Selection<E, C, F> {
        Selection::new(self.finish(|begin| part::range(&begin, field, range, encode, place)))
    }

    fn finish(self, rows: impl FnOnce(String) -> Result<TextRange>) -> Result<Vec<KeyRange>> {
        let rows = self.row_key.0.and_then(rows)?;
        let partitions = self.partitions.0?.into_iter();
        Ok(partitions.map(|partition_key| KeyRange::rows(partition_key, rows.clone())).collect())
    }
}
