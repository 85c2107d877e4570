//! Tests a ticket type that declares every pattern. Each run uses two patterns, three, or almost all of them. The patterns include blobs and a program built
//! from an older release. Each process has its own clock, which may be wrong. Tables and the queue are unavailable for seconds to a day. Outsiders write
//! invalid rows and messages, and rows that the store cannot represent. Programs built from two releases write a second entity type in the table. Twenty workers share the queue. Some processes have a
//! grant, with which they can write without reading the stored schema.
//!
//! `copies/tests/combined.rs` combines entities that copy properties of other entities with other patterns.

mod bad;
mod desk;
mod odd;
mod patterns;
mod run;
mod visits;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use patterns::Parts;
use tests::effort::seeds;

/// Runs each combination with `count` seeds, and reports the combinations that failed.
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
