//! Tests a ticket type that declares every pattern. Each run uses two patterns, three, or almost all of them, including
//! blobs and a program built from an older release. Each process has its own clock, which may be wrong; tables and the
//! queue are unavailable for seconds to a day; and outsiders write invalid rows and messages. A second entity type in
//! the table is written by programs built from two releases. Twenty workers share the queue. Some processes have a
//! grant, with which they can write without reading the stored schema.
//!
//! Entities that copy properties of other entities are combined with other patterns in `copies/tests/combined.rs`.

mod desk;
mod odd;
mod patterns;
mod run;
mod visits;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use patterns::Parts;
use tests::effort::seeds;

/// Runs each combination with `count` seeds, and reports which combinations failed.
fn combine(all: &[Parts], count: u64, steps: usize) {
    let mut wrong = Vec::new();
    for parts in all {
        for seed in seeds(count) {
            if catch_unwind(AssertUnwindSafe(|| run::run(parts, seed, steps))).is_err() {
                wrong.push(format!("{parts:?} by seed {seed}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} do not combine: {}", wrong.len(), all.len(), wrong.join("; "));
}

#[test]
fn each_pair_of_patterns_combines() {
    combine(&Parts::pairs(), 2, 60);
}

#[test]
fn triples_of_patterns_combine() {
    combine(&Parts::triples(), 2, 60);
}

#[test]
fn all_patterns_combine_together_and_without_any_single_one() {
    combine(&Parts::most(), 3, 120);
}
