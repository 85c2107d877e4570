//! Support for generated row selections such as `EmployeeRows`.

use std::fmt;

use table_store::Result;

use crate::query::{KeyRange, TextRange};
use crate::selection::{Class, KeyArg, KeyBounds, Selection};

use super::bucket::KeyTexts;
use super::part::{self, Place};
use super::property::Encode;
use super::text::KeyText;

/// A builder for a row selection. It contains the partitions, and the prefix of the selected `RowKey`s.
#[derive(Clone, Debug)]
pub struct RowsOf {
    partitions: KeyTexts,
    row_key: KeyText,
}

impl RowsOf {
    /// Implements `Clone` for a generated type. Generated code compiles faster if it calls an inherent function instead of a trait method.
    #[must_use]
    pub fn copy(&self) -> Self {
        self.clone()
    }

    /// Implements `Debug` for a generated type with this name.
    ///
    /// # Errors
    /// Any error from the formatter.
    pub fn debug(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        f.debug_tuple(name).field(self).finish()
    }

    /// Creates a selection of all rows in the given partitions.
    #[must_use]
    pub fn new(partitions: impl Into<KeyTexts>) -> Self {
        Self { partitions: partitions.into(), row_key: KeyText::new() }
    }

    /// Appends a literal to the prefix.
    #[must_use]
    pub fn literal(self, literal: &str) -> Self {
        Self { row_key: self.row_key.literal(literal), ..self }
    }

    /// Appends a field to the prefix, using the codec's `encode`.
    #[must_use]
    pub fn part<T>(self, field: &'static str, value: &impl KeyArg<T>, encode: Encode<T>) -> Self {
        Self { row_key: self.row_key.part(field, value, encode), ..self }
    }

    /// Selects the rows whose `RowKey` starts with the prefix.
    pub fn select<E, C: Class, F>(self) -> Selection<E, C, F> {
        Selection::new(self.ranges())
    }

    /// Returns the key ranges of the rows whose `RowKey` starts with the prefix.
    ///
    /// # Errors
    /// `KeyEncoding` if a value cannot be encoded in the key.
    pub fn ranges(self) -> Result<Vec<KeyRange>> {
        self.finish(|begin| Ok(TextRange::prefix(&begin)))
    }

    /// Selects the rows whose `RowKey` equals the prefix. Called if every key part is given.
    pub fn select_points<E, C: Class, F>(self) -> Selection<E, C, F> {
        Selection::new(self.finish(|row_key| Ok(TextRange::exactly(row_key))))
    }

    /// Selects the rows whose next key part starts with the given string. The next part is the one after the parts in the prefix.
    pub fn prefix<E, P, C: Class, F>(
        self,
        field: &'static str,
        prefix: &P,
        encode: Encode<P>,
    ) -> Selection<E, C, F> {
        Selection::new(self.finish(|begin| part::prefix(begin, field, |text| encode(prefix, text))))
    }

    /// Selects the rows whose next key part is in a range of values. The next part is the one after the parts in the prefix. The compiler checks that encoded
    /// parts sort like their values (K3).
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
