//! Protects sequences in the target of a transfer. A row that would rewind a sequence, or remove its next number, is rejected, because the sequence would then
//! issue numbers that existing entities already have.

use table_core::{TableEntity, Value};

use crate::failure::{Failure, Result};
use crate::transfer::change::Mode;

/// The `RowKey` prefix of a sequence's row. The sequence's name follows it.
const PREFIX: &str = "\u{FFFC}sequence_";
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

/// Returns `true` if `row_key` is the `RowKey` of a sequence's row.
pub(super) fn is_sequence(row_key: &str) -> bool {
    row_key.starts_with(PREFIX)
}

/// Returns an error if a row would lower or remove the next number of a stored sequence.
///
/// # Errors
/// `Refused`, with the sequence and its next number, if the row would lower or remove the number.
pub(super) fn refuse_lowered(stored: &TableEntity, row: &TableEntity, mode: Mode) -> Result<()> {
    let Some((name, reached)) = sequence_of(stored) else { return Ok(()) };
    let change = match (sequence_of(row), row.get(NEXT)) {
        (Some((_, next)), _) if next >= reached => return Ok(()),
        (Some((_, next)), _) => format!("set it back to {next}"),
        (None, None) if mode == Mode::Merge => return Ok(()),
        (None, _) => "remove it".to_owned(),
    };
    let partition = stored.key().partition_key.as_str();
    let help = "omit this row, or pass `--bypass-derived`";
    Err(Failure::Refused(format!(
        "sequence `{name}` of partition '{partition}' has {reached} as its next number, and the row would {change}; {help}"
    )))
}
