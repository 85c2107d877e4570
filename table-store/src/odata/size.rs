//! The size of an operation, for a transaction's size limit (EGT-3).

use std::io::{self, Write};

use crate::limits::{Limits, TransactionMeasure};
use crate::odata::link::entity_link;
use crate::odata::writer::write_body_to;
use crate::operation::OperationKind;
use crate::row::entity_bytes;

impl Limits {
    /// Returns the number of bytes that an operation adds to its transaction. [`measure`](Self::measure) defines how the bytes are counted.
    ///
    /// If the measure is the request body, the result may be too large, but by less than the fixed overhead per operation.
    ///
    /// ```
    /// use table_core::limits::{Limits, TransactionMeasure};
    /// use table_core::row::RowWriter;
    /// use table_core::{OperationKind, ValueRef};
    ///
    /// let mut row = RowWriter::new();
    /// row.property("Text", ValueRef::String(&"x".repeat(25_000)));
    /// let insert = OperationKind::Insert(row.finish());
    ///
    /// let mut limits = Limits::PORTABLE;
    /// assert_eq!(limits.operation_bytes("p", "r", &insert), 50_028); // UTF-16, by the published formula
    /// limits.measure = TransactionMeasure::Body { per_operation: 500, ascii: false };
    /// assert_eq!(limits.operation_bytes("p", "r", &insert), 25_543); // JSON, in UTF-8
    /// ```
    #[must_use]
    pub fn operation_bytes(&self, partition_key: &str, row_key: &str, kind: &OperationKind) -> usize {
        let TransactionMeasure::Body { per_operation, ascii } = self.measure else {
            return entity_bytes(partition_key, row_key, kind.row());
        };
        let (key, link, condition) = match kind {
            OperationKind::Insert(_) => (Some((partition_key, row_key)), String::new(), String::new()),
            OperationKind::Replace(_, condition)
            | OperationKind::Merge(_, condition)
            | OperationKind::Delete(condition) => {
                (None, entity_link("", partition_key, row_key), condition.to_string())
            }
            // Checks are never sent in a request body, because stores that measure the body reject them.
            OperationKind::InsertOrReplace(_) | OperationKind::InsertOrMerge(_) | OperationKind::Check(_) => {
                (None, entity_link("", partition_key, row_key), String::new())
            }
        };
        let mut body = Counter { bytes: 0, ascii };
        if let Some(row) = kind.row() {
            // Counting bytes cannot fail, so an error means that the row is corrupted. The store rejects it later.
            let _ = write_body_to(&mut body, key, row.view());
        }
        per_operation + link.len() + condition.len() + body.bytes
    }
}

/// A writer that counts bytes.
struct Counter {
    bytes: usize,
    /// `true` if non-ASCII characters are counted as `\u` escapes.
    ascii: bool,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A character's first UTF-8 byte determines whether the character has one or two UTF-16 code units. Each code unit becomes a six-byte escape.
        let escaped = |byte: &u8| match byte {
            0x00..=0x7F => 1,
            0x80..=0xBF => 0,
            0xC0..=0xEF => 6,
            0xF0..=0xFF => 12,
        };
        self.bytes += if self.ascii { bytes.iter().map(escaped).sum() } else { bytes.len() };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::etag::IfMatch;
    use crate::odata::write_body;
    use crate::row::RowWriter;
    use crate::value::ValueRef;

    proptest! {
        #[test]
        fn egt_3_the_size_equals_that_of_the_written_body(text: String, bytes: Vec<u8>, pk in "[a-z' é]{0,8}") {
            let mut row = RowWriter::new();
            row.property("Text", ValueRef::String(&text));
            row.property("Bytes", ValueRef::Binary(&bytes));
            let row = row.finish();
            let size = |ascii, kind: &OperationKind| {
                let measure = TransactionMeasure::Body { per_operation: 0, ascii };
                Limits { measure, ..Limits::PORTABLE }.operation_bytes(&pk, "r", kind)
            };
            let written = write_body(Some((&pk, "r")), row.view()).unwrap();
            let insert = OperationKind::Insert(row.clone());
            prop_assert_eq!(size(false, &insert), written.len());
            let units: usize = written.chars().map(|c| if c.is_ascii() { 1 } else { 6 * c.len_utf16() }).sum();
            prop_assert_eq!(size(true, &insert), units);
            let merge = OperationKind::Merge(row.clone(), IfMatch::Any);
            let link = entity_link("", &pk, "r");
            prop_assert_eq!(size(false, &merge), write_body(None, row.view()).unwrap().len() + link.len() + 1);
        }
    }
}
