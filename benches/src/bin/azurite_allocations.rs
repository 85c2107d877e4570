//! Prints the number of allocations made by `table-azure`. `ratios -- --azurite` runs this program.

use std::alloc::System;

use benches::Outcome;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Outcome<()> {
    let connection_string = std::env::args().nth(1).ok_or("the connection string is missing")?;
    benches::azurite::count(&connection_string, || COUNTING.stats().allocations)
}
