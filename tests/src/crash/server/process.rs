//! Runs the rounds of a crash test. Each round puts load on a server, kills it, and checks its folder.

use std::path::Path;
use std::time::Instant;

use pollster::FutureExt;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::child::{self, Served};
use super::load::{Ledger, run_and_kill};
use super::messages;
use crate::crash::check;
use crate::crash::process::{Outcome, Plan, open};

pub use super::child::CHILD;

/// Runs the child: a server for a folder, until it is killed.
///
/// # Errors
/// Any error from opening the folder or listening.
pub fn run_child(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    child::serve(folder)
}

/// Runs all rounds of a torture run, using `program` as the server.
///
/// # Errors
/// - An error if a process cannot be started, or ends by itself.
/// - An error if a connection fails before the kill.
/// - An error if a folder cannot be created, opened or read.
pub fn torture(
    program: &Path,
    plan: &Plan,
    mut progress: impl FnMut(usize),
) -> Result<Outcome, Box<dyn std::error::Error>> {
    let mut random = StdRng::seed_from_u64(plan.seed);
    let (mut outcome, mut ledger) = (Outcome::default(), Ledger::default());
    for round in 0..plan.rounds {
        if round % plan.rounds_a_folder == 0 {
            ledger = Ledger::default();
            if plan.folder.exists() {
                std::fs::remove_dir_all(&plan.folder)?;
            }
        }
        // The square makes early kills more likely. Late kills still occur.
        let kill_after = random.random_range(0_u64..60).pow(2);
        let mut served = Served::start(program, &plan.folder)?;
        let acknowledged = run_and_kill(&mut served, kill_after, &mut ledger)?;
        outcome.kills += 1;
        outcome.early += usize::from(acknowledged == 0);
        outcome.acknowledged += acknowledged;
        let begun = Instant::now();
        let engine = open(&plan.folder, 0, None)?;
        outcome.slowest_reopen = outcome.slowest_reopen.max(begun.elapsed());
        let mut wrong = check(&engine, &ledger.rows).block_on()?;
        for (hand, tally) in ledger.queues.iter().enumerate() {
            wrong.extend(messages::check(&engine, hand, tally).block_on()?);
        }
        let seed = plan.seed;
        outcome.wrong.extend(wrong.iter().map(|wrong| format!("round {round} (seed {seed}): {wrong}")));
        progress(round + 1);
    }
    std::fs::remove_dir_all(&plan.folder)?;
    Ok(outcome)
}
