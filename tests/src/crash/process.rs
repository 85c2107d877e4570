//! Kill -9 in a loop: a child process writes and reports each acknowledgement, the parent kills it at a random moment,
//! reopens the folder and checks.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::FutureExt;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::{Engine, EngineOptions};

use crate::crash::{Acknowledged, Evidence, Writer, check};

/// The word that makes the program a child: `torture child FOLDER WRITERS`.
pub const CHILD: &str = "child";

/// How much to torture.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many kills.
    pub rounds: usize,
    /// The seed of the moments to kill at.
    pub seed: u64,
    /// Where the folder under torture is made.
    pub folder: PathBuf,
    /// Rounds on one folder before a fresh one is taken.
    pub rounds_a_folder: usize,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Kills done.
    pub kills: usize,
    /// Kills before the first acknowledgement of their round.
    pub early: usize,
    /// Transactions acknowledged in all.
    pub acknowledged: u64,
    /// The longest recovery.
    pub slowest_reopen: Duration,
    /// What was wrong, if anything.
    pub wrong: Vec<String>,
}

/// An engine whose checkpoints and journal rotations come often enough to be hit by a kill.
///
/// # Errors
/// Those of opening.
pub fn open(folder: &Path) -> table_core::Result<Engine> {
    EngineOptions::new().checkpoint_bytes(256 * 1024).recent_bytes(1024 * 1024).open(folder)
}

/// The child: writes with so many concurrent writers and reports on standard output, until it is killed.
///
/// # Errors
/// Those of the store; none is expected before the kill.
pub fn run_child(folder: &Path, writers: usize) -> table_core::Result<()> {
    let engine = open(folder)?;
    Writer::create_table(&engine).block_on()?;
    let engine = Arc::new(engine);
    let threads: Vec<_> = (0..writers)
        .map(|number| {
            let engine = Arc::clone(&engine);
            std::thread::spawn(move || -> table_core::Result<()> {
                let mut writer = Writer::resume(&*engine, number).block_on()?;
                loop {
                    let acknowledged = writer.step(&*engine).block_on()?;
                    let mut out = std::io::stdout().lock();
                    // A closed pipe means that the parent is gone: nobody is left to report to.
                    if writeln!(out, "{acknowledged}").and_then(|()| out.flush()).is_err() {
                        return Ok(());
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        if let Ok(result) = thread.join() {
            result?;
        }
    }
    Ok(())
}

/// Runs the plan with `program` as the child.
///
/// # Errors
/// If a process cannot be started, or a folder cannot be made or opened.
pub fn torture(
    program: &Path,
    plan: &Plan,
    mut progress: impl FnMut(usize),
) -> Result<Outcome, Box<dyn std::error::Error>> {
    let mut random = StdRng::seed_from_u64(plan.seed);
    let (mut outcome, mut evidence) = (Outcome::default(), Evidence::default());
    for round in 0..plan.rounds {
        if round % plan.rounds_a_folder == 0 {
            evidence = Evidence::default();
            if plan.folder.exists() {
                std::fs::remove_dir_all(&plan.folder)?;
            }
        }
        let writers = [1, 8, 64][round % 3];
        // Squared, so that early and late moments both occur: during opening, and after several checkpoints.
        let kill_after = random.random_range(0_u64..60).pow(2);
        let mut command = Command::new(program);
        command.arg(CHILD).arg(&plan.folder).arg(writers.to_string());
        let acknowledged = run_and_kill(&mut command, kill_after, |line| {
            line.parse::<Acknowledged>().map(|acknowledged| evidence.record(acknowledged)).is_ok()
        })?;
        outcome.kills += 1;
        outcome.early += usize::from(acknowledged == 0);
        outcome.acknowledged += acknowledged;
        let begun = Instant::now();
        let engine = open(&plan.folder)?;
        outcome.slowest_reopen = outcome.slowest_reopen.max(begun.elapsed());
        if evidence.writers() > 0 {
            for wrong in check(&engine, &evidence).block_on()? {
                outcome.wrong.push(format!("round {round} (seed {}): {wrong}", plan.seed));
            }
        }
        drop(engine);
        progress(round + 1);
    }
    std::fs::remove_dir_all(&plan.folder)?;
    Ok(outcome)
}

/// Starts a child, kills it after so many acknowledgements, and gives how many there were. `record` takes each line, and says
/// whether it is one.
pub(super) fn run_and_kill(
    command: &mut Command,
    kill_after: u64,
    mut record: impl FnMut(&str) -> bool,
) -> Result<u64, Box<dyn std::error::Error>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("the child has no standard output")?).lines();
    let mut acknowledged = 0;
    while acknowledged < kill_after {
        let Some(line) = lines.next() else {
            return Err(format!("the child ended by itself: {}", child.wait()?).into());
        };
        acknowledged += u64::from(record(&line?));
    }
    child.kill()?;
    // What it had reported before it died is acknowledged as well.
    for line in lines {
        acknowledged += u64::from(record(&line?));
    }
    child.wait()?;
    Ok(acknowledged)
}
