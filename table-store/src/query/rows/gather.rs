//! A page builder that collects `RowKey`s as bytes and validates them together.

use crate::error::{Error, Result};
use crate::key::order;
use crate::query::{Rows, Select};
use crate::row::RowView;

/// A builder for pages whose keys are in the byte encoding of [`order`]. All keys are validated at once, because validating a hundred bytes of UTF-8 takes
/// barely longer than validating a few.
#[derive(Debug, Default)]
pub struct Gather {
    /// The rows without their `RowKey`s, which are in `row_keys`.
    rows: Rows,
    row_keys: Vec<u8>,
}

impl Gather {
    /// Returns the number of rows appended.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if no rows have been appended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reserves capacity for `rows` more rows of the average size so far. At most `most_bytes` bytes are reserved in each buffer.
    pub fn reserve(&mut self, rows: usize, most_bytes: usize) {
        // The capacity is an eighth larger than estimated, so rows slightly larger than the average do not force a reallocation.
        let most = |bytes: usize| (bytes + bytes / 8).div_ceil(self.rows.len().max(1)).saturating_mul(rows);
        let for_rows = |bytes: usize| most(bytes).min(most_bytes);
        self.row_keys.reserve(for_rows(self.row_keys.len()));
        self.rows.bodies.reserve(for_rows(self.rows.bodies.len()));
        self.rows.entries.reserve(rows);
    }

    /// Appends an entity with the requested properties. `is_alike` may be `true` only if the previous entity has the same partition and shape (property names
    /// and types).
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row, or the key is invalid.
    #[inline]
    pub fn push(
        &mut self,
        partition_key: &str,
        row_key: &[u8],
        row: RowView<'_>,
        select: &Select,
        is_alike: bool,
    ) -> Result<()> {
        let row_key = order::lower(row_key)?;
        // IMPORTANT: each key must start at a character boundary. Otherwise, two invalid keys could form a valid string when joined.
        if row_key.first().is_some_and(|byte| matches!(byte, 0x80..=0xBF)) {
            return Err(no_text(partition_key, &row_key));
        }
        self.row_keys.extend_from_slice(&row_key);
        let end = self.row_keys.len();
        match select.narrow(row)? {
            None if is_alike && !self.rows.is_empty() => self.rows.push_alike(end, row.parts().1),
            None => self.rows.push_row(partition_key, end, row),
            Some(mut narrowed) => self.rows.push_row(partition_key, end, narrowed.close(row.timestamp())),
        }
        Ok(())
    }

    /// Validates the keys and returns the page.
    ///
    /// # Errors
    /// `Corrupted` if a key is not UTF-8. The error contains the key, with invalid bytes replaced.
    pub fn finish(self) -> Result<Rows> {
        match String::from_utf8(self.row_keys) {
            Ok(row_keys) => Ok(Rows { row_keys, ..self.rows }),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let broken = self.rows.entries.iter().position(|entry| entry.row_key_end > at);
                let broken = broken.and_then(|index| self.rows.places(index));
                let row_key = broken.as_ref().and_then(|places| error.as_bytes().get(places.row_key.clone()));
                let partition_key =
                    broken.and_then(|places| self.rows.partition_keys.get(places.partition_key));
                Err(no_text(partition_key.unwrap_or_default(), row_key.unwrap_or_default())
                    .with_source(error))
            }
        }
    }
}

#[cold]
fn no_text(partition_key: &str, row_key: &[u8]) -> Error {
    order::corrupted().with_key(partition_key, String::from_utf8_lossy(row_key))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorCode;
    use crate::filter::arbitrary;
    use crate::query::EntityRef;
    use crate::row::RowWriter;

    fn encoded(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        order::encode(text, &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn gathered_rows_equal_pushed_rows(
            samples in prop::collection::vec((arbitrary::sample(), "[a~\u{A0}\u{D7FF}\u{E000}\u{FF21}\u{10000}]{0,4}"), 0..8),
            room in 0..9_usize,
        ) {
            let select = Select::names(["P", "X"]);
            for select in [&Select::All, &select] {
                let (mut gather, mut rows) = (Gather::default(), Rows::default());
                for (sample, row_key) in &samples {
                    let row = sample.row();
                    gather.push(&sample.partition_key, &encoded(row_key), row.view(), select, false).unwrap();
                    gather.reserve(room, 1 << 10);
                    rows.push_selected(EntityRef::new(&sample.partition_key, row_key, row.view()), select).unwrap();
                }
                prop_assert_eq!(gather.len(), rows.len());
                let gathered = gather.finish().unwrap();
                prop_assert_eq!(gathered.len(), rows.len());
                for (found, wanted) in gathered.iter().zip(rows.iter()) {
                    prop_assert_eq!(found.partition_key, wanted.partition_key);
                    prop_assert_eq!(found.row_key, wanted.row_key);
                    prop_assert_eq!(found.row.to_row(), wanted.row.to_row());
                }
            }
        }
    }

    #[test]
    fn halves_of_a_character_are_not_keys_even_if_together_they_are_text() {
        let (row, both) = (RowWriter::new().finish(), "\u{D7FF}".as_bytes());
        let lossy = |bytes| String::from_utf8_lossy(bytes).into_owned();
        for (first, second) in [both.split_at(1), both.split_at(2)] {
            let mut gather = Gather::default();
            gather.push("o", b"whole", row.view(), &Select::All, false).unwrap();
            gather.push("p", first, row.view(), &Select::All, false).unwrap();
            let refused = gather.push("p", second, row.view(), &Select::All, false).unwrap_err();
            assert_eq!((refused.code(), refused.key()), (ErrorCode::Corrupted, Some(("p", &*lossy(second)))));
            let refused = gather.finish().unwrap_err();
            assert_eq!((refused.code(), refused.key()), (ErrorCode::Corrupted, Some(("p", &*lossy(first)))));
        }
    }
}
