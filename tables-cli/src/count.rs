//! Counts, as shown in reports and stored in files.

/// Returns a number with its noun, such as `1 row` and `2 rows`.
pub(crate) fn count_of(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Returns `true` for a count of zero, which is not stored.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that `serde` needs")]
pub(crate) const fn is_zero(count: &u64) -> bool {
    *count == 0
}
