//! Tests combined features on an example entity, a support ticket. A separate ticket type exists for each pair of index
//! kinds. Each ticket type also has a feed, a view, a participant (extra code that runs with each write) and comments,
//! which are part of their ticket.
//!
//! In each random history, writers interleave their changes, requests are rejected, and writers die before or after a
//! request. Meanwhile, workers do the work that is recorded in the outbox. In the end, all derived data must match the tickets,
//! and each ticket must match the results that its writers received.

mod case;
mod check;
mod model;
mod world;
mod writer;

use std::fmt::Write as _;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use case::Case;
use world::{Process, World};

/// The number of random histories per case.
const RUNS: u64 = 20;

/// Runs the history with the given seed. Returns a description of the defect if the history ends with one.
fn run<T: Case>(seed: u64) -> Option<String> {
    let mut random = StdRng::seed_from_u64(seed);
    let world = World::<T>::new();
    let mut writers: Vec<_> = (0..3).map(|owner| Process::writer(&world, owner, &mut random)).collect();
    let mut worker = Process::worker(&world, &mut random);
    for _ in 0..random.random_range(150..500) {
        match random.random_range(0..40) {
            0 => world.pass(random.random_range(1..60)),
            1 => world.sweep(),
            2..=9 => {
                if worker.step() {
                    worker = Process::worker(&world, &mut random);
                }
            }
            _ => {
                let owner = random.random_range(0..writers.len());
                if writers[owner].step() {
                    writers[owner] = Process::writer(&world, owner, &mut random);
                }
            }
        }
    }
    // The worker and the writers stop at their current calls, as if they died there.
    drop((writers, worker));
    world.recover();
    let wrong = check::wrong(&world);
    (!wrong.is_empty()).then(|| format!("seed {seed}: {}", wrong.join("; ")))
}

/// Runs all histories for one case.
fn runs<T: Case>() {
    let mut report = String::new();
    let wrong: Vec<_> = (0..RUNS).filter_map(run::<T>).collect();
    for line in wrong.iter().take(3) {
        let _ = write!(report, "\n{line}");
    }
    assert!(wrong.is_empty(), "{} of {RUNS} histories end wrong:{report}", wrong.len());
}
