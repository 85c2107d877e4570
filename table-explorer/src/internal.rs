//! The library's internal rows, which pages show but do not change.

use table_inspect::kind::RESERVED;

/// Returns `true` for an internal row that only pattern code writes, such as pending work or a feed entry. Returns `false` for sequence rows, which are checked
/// separately.
pub(crate) fn is_internal(row_key: &str) -> bool {
    row_key.strip_prefix(RESERVED).is_some_and(|rest| !rest.starts_with("sequence_"))
}
