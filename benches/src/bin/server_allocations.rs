//! Serves tables and queues, and prints the number of allocations made by the server. `ratios -- --server` runs this program.

use std::alloc::System;

use benches::Outcome;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Outcome<()> {
    benches::served::allocations::serve(|| {
        let stats = COUNTING.stats();
        (stats.allocations + stats.reallocations, stats.bytes_allocated)
    })
}
