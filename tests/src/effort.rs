//! The number of random cases that a test tries.

use std::sync::LazyLock;

/// Returns `count` times the number in the environment variable `TABLES_EFFORT`. `cargo test` tries few cases; a manual run can try more.
///
/// # Panics
/// Panics if `TABLES_EFFORT` is set and not a number.
#[must_use]
pub fn effort(count: u64) -> u64 {
    static TIMES: LazyLock<u64> = LazyLock::new(|| {
        std::env::var("TABLES_EFFORT").map_or(1, |text| match text.parse() {
            Ok(times) => times,
            Err(error) => panic!("TABLES_EFFORT={text}: {error}"),
        })
    });
    count.saturating_mul(*TIMES)
}
