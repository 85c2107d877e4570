//! Repeatedly kills a process that uses all patterns, and checks the stored data after each kill.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use pollster::FutureExt;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::Result;
use table_core::embedded::Engine;
use table_patterns::view::{View, ViewTable};
use table_patterns::work::{Sweep, WorkerOptions};

use super::check::{Recovery, check};
use super::ledger::{Ledger, Line};
use super::stores::{Queues, Stores};
use super::workload::{HANDS, Hand};
use crate::crash::process::{Outcome, Plan, run_and_kill};

/// The argument that makes the program a child: `torture patterns-child FOLDER ROUND SEED`.
pub const CHILD: &str = "patterns-child";

/// The number of worker threads that process outbox messages.
const WORKERS: usize = 2;

/// Runs the child until it is killed or its parent has ended. It runs the workload threads ([`Hand`]), workers and sweeps.
///
/// # Errors
/// Any error from opening the stores. An unexpected error in a workload thread ends the process.
pub fn run_child(folder: &Path, round: u32, seed: u64) -> Result<()> {
    let stores = Stores::open(folder, Queues::of_round(round)).block_on()?;
    let tell = |line: Line| {
        let mut out = std::io::stdout().lock();
        // Each line is written with one call, so a kill never truncates it. If the pipe is closed, the parent has ended.
        let text = format!("{line}\n");
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    };
    std::thread::scope(|scope| {
        for number in 0..HANDS.len() {
            let mut hand = Hand::new(&stores, number, round, seed, &tell);
            scope.spawn(move || {
                loop {
                    if let Err(error) = hand.step().block_on() {
                        eprintln!("{hand:?}: {error:?}");
                        std::process::exit(1);
                    }
                }
            });
        }
        for _ in 0..WORKERS {
            let options =
                WorkerOptions { poll_interval: Duration::from_millis(5), ..WorkerOptions::default() };
            let worker = stores.worker_with(options);
            scope.spawn(move || worker.run(|| false).block_on());
        }
        // Two followers read the same feeds, as if in two processes.
        for _ in 0..2 {
            scope.spawn(|| follow(&stores.view));
            scope.spawn(|| follow(&stores.desk.sums));
        }
        scope.spawn(|| follow(&stores.desk.hours));
        // Sweeps run so often that some kills interrupt a sweep.
        let sweep = Sweep::new(stores.outbox.clone()).min_age(Duration::from_millis(100));
        scope.spawn(move || {
            loop {
                if let Err(error) = sweep.sweep_registered().block_on() {
                    eprintln!("sweep: {error:?}");
                    std::process::exit(1);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    });
    Ok(())
}

/// Keeps a view up to date until the process ends.
fn follow<V: View>(view: &ViewTable<V, Engine>) {
    loop {
        match view.catch_up(10).block_on() {
            Ok(caught) if caught.changes > 0 => {}
            Ok(_) => std::thread::sleep(Duration::from_millis(5)),
            // A concurrent follower won every attempt.
            Err(error) if error.is_precondition_failed() => {}
            Err(error) => {
                eprintln!("view: {error:?}");
                std::process::exit(1);
            }
        }
    }
}

/// Runs all rounds of a torture run, using `program` as the child process.
///
/// # Errors
/// An error if a process cannot be started or ends by itself, or if a folder cannot be created, opened or read.
pub fn torture(
    program: &Path,
    plan: &Plan,
    mut progress: impl FnMut(usize),
) -> std::result::Result<Outcome, Box<dyn std::error::Error>> {
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
        let kill_after = random.random_range(0_u64..50).pow(2);
        let mut command = Command::new(program);
        command.arg(CHILD).arg(&plan.folder).arg(round.to_string()).arg(plan.seed.to_string());
        let acknowledged = run_and_kill(&mut command, kill_after, |line| {
            line.parse::<Line>().is_ok_and(|line| ledger.record(line))
        })?;
        outcome.kills += 1;
        outcome.early += usize::from(acknowledged == 0);
        outcome.acknowledged += acknowledged;
        let begun = Instant::now();
        let stores = Stores::open(&plan.folder, Queues::of_round(u32::try_from(round)?)).block_on()?;
        outcome.slowest_reopen = outcome.slowest_reopen.max(begun.elapsed());
        let wrong = check(&stores, &mut ledger, Recovery::Whole).block_on();
        let wrong = wrong.map_err(|error| format!("round {round} (seed {}): {error:?}", plan.seed))?;
        for wrong in wrong {
            outcome.wrong.push(format!("round {round} (seed {}): {wrong}", plan.seed));
        }
        drop(stores);
        progress(round + 1);
    }
    std::fs::remove_dir_all(&plan.folder)?;
    Ok(outcome)
}
