//! Internal rows of the library, which pages show but do not change.

use table_inspect::kind::RESERVED;

/// Returns `true` for an internal row that only patterns write, such as recorded work or an entry of a feed. Rows of sequences are checked separately.
pub(crate) fn is_internal(row_key: &str) -> bool {
    row_key.strip_prefix(RESERVED).is_some_and(|rest| !rest.starts_with("sequence_"))
}
