//! Protects sequences in the target of a transfer. A row that would set a sequence back is rejected, because the sequence would then issue numbers that
//! existing entities already have.

use table_core::{TableEntity, Value};

use crate::failure::{Failure, Result};

/// The `RowKey` prefix of a sequence's row. The sequence's name follows it.
pub(super) const PREFIX: &str = "\u{FFFC}sequence_";
/// The property that contains the next number of a sequence.
pub(super) const NEXT: &str = "Next";

/// A filter that selects only rows with the `RowKey` of a sequence.
pub(super) const IS_SEQUENCE: &str = "(RowKey ge '\u{FFFC}sequence_' and RowKey lt '\u{FFFC}sequence`')";

/// Returns the name and the next number of a sequence, or `None` if the row does not store a sequence.
fn sequence_of(row: &TableEntity) -> Option<(&str, i64)> {
    match (row.key().row_key.as_str().strip_prefix(PREFIX), row.get(NEXT)) {
        (Some(name), Some(Value::Int64(next))) => Some((name, *next)),
        _ => None,
    }
}

/// Returns `true` if a row stores a sequence.
pub(super) fn is_sequence(row: &TableEntity) -> bool {
    sequence_of(row).is_some()
}

/// Returns an error if a row would replace the row of a sequence and its next number is smaller.
///
/// # Errors
/// `Refused`, with the sequence and both numbers, if the next number is smaller.
pub(super) fn refuse_lowered(stored: &TableEntity, row: &TableEntity) -> Result<()> {
    match (sequence_of(stored), sequence_of(row)) {
        (Some((name, reached)), Some((_, next))) if next < reached => {
            let partition = stored.key().partition_key.as_str();
            let help = "omit this row, or pass `--bypass-derived`";
            Err(Failure::Refused(format!(
                "sequence `{name}` of partition '{partition}' has {reached} as its next number, and the row would set it back to {next}; {help}"
            )))
        }
        _ => Ok(()),
    }
}
