//! The number of random cases in a test, and their seeds.

use std::ops::Range;
use std::sync::LazyLock;

/// Returns `count` multiplied by the environment variable `TABLES_EFFORT`. By default, the factor is 1, so `cargo test` runs only a few cases.
///
/// # Panics
/// Panics if `TABLES_EFFORT` is set but is not a number.
#[must_use]
pub fn effort(count: u64) -> u64 {
    static TIMES: LazyLock<u64> = LazyLock::new(|| number("TABLES_EFFORT", 1));
    count.saturating_mul(*TIMES)
}

/// Returns the seeds for [`effort(count)`](effort) cases. To split a long run into parts, set the first seed with the environment variable `TABLES_FIRST_SEED`.
///
/// # Panics
/// Panics if `TABLES_FIRST_SEED` or `TABLES_EFFORT` is set but is not a number.
#[must_use]
pub fn seeds(count: u64) -> Range<u64> {
    static FIRST: LazyLock<u64> = LazyLock::new(|| number("TABLES_FIRST_SEED", 0));
    *FIRST..FIRST.saturating_add(effort(count))
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| match text.parse() {
        Ok(number) => number,
        Err(error) => panic!("{variable}={text}: {error}"),
    })
}
