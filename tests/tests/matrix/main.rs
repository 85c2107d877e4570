//! Do patterns combine on one entity that declares all of them? Every pair, some triples and almost all at once, with blobs and an older program
//! beside what `combine` has: random writers and workers that die before or after any call, and a model that says what there must be in the
//! end.
//!
//! What is not here, because it does not combine: copies given and held (`denormal`) and values of a series are of entities that declare
//! nothing else; reads of one type over rows of its parts (`Ticket::rows`) refuse the first part, with its key.

#![expect(unreachable_pub, dead_code, reason = "the modules of a test are reached from it alone")]
#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

mod desk;
mod patterns;
mod run;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use patterns::Parts;

/// Runs all, and says which do not combine.
fn combine(all: &[Parts], seeds: u64, steps: usize) {
    let mut wrong = Vec::new();
    for parts in all {
        for seed in 0..seeds {
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
    combine(&Parts::pairs(), 4, 60);
}

#[test]
fn triples_of_patterns_combine() {
    combine(&Parts::triples(), 4, 60);
}

#[test]
fn all_patterns_combine_at_once_and_without_any_one() {
    combine(&Parts::most(), 6, 120);
}
