//! Repeatedly kills a process.
//!
//! A child process writes rows, and reports each acknowledgement. At a random time, the parent kills it, reopens the folder with different options, and checks
//! the contents.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::FutureExt;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::{Durability, Engine, EngineOptions};

use crate::crash::{Acknowledged, Evidence, Writer, bulk, check, options};

/// The argument that makes the program a child: `torture child FOLDER WRITERS ROWS [SEED OF OPTIONS]`.
pub const CHILD: &str = "child";

/// The parameters of a torture run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of kills.
    pub rounds: usize,
    /// The seed that determines the times of the kills.
    pub seed: u64,
    /// The path of the folder to which the child writes.
    pub folder: PathBuf,
    /// The number of rounds per folder.
    pub rounds_a_folder: usize,
    /// The number of bulk rows, in addition to the rows of the writers. If it is not 0, all rounds use the same folder.
    pub rows: u64,
}

/// The result of a torture run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The number of times the child was killed.
    pub kills: usize,
    /// The number of rounds whose child was killed before its first acknowledgement.
    pub early: usize,
    /// The total number of acknowledged transactions.
    pub acknowledged: u64,
    /// The longest time needed to reopen a folder.
    pub slowest_reopen: Duration,
    /// The duration of the slowest write in each round.
    pub longest_writes: Vec<Duration>,
    /// A description of each defect.
    pub wrong: Vec<String>,
}

/// The number of threads that update bulk rows.
const UPDATERS: u64 = 8;

/// Returns options with frequent checkpoints and journal rotations.
pub(super) fn frequent() -> EngineOptions {
    EngineOptions::new().checkpoint_bytes(256 * 1024).memtable_bytes(1024 * 1024)
}

/// Opens an engine with such frequent checkpoints and journal rotations that kills interrupt some of them. Depending on the arguments, their cause is small
/// thresholds, options derived from `seed`, or many rows.
///
/// # Errors
/// Any error from [`EngineOptions::open`].
pub fn open(folder: &Path, rows: u64, seed: Option<u64>) -> table_core::Result<Engine> {
    let options = EngineOptions::new();
    match (seed, rows) {
        (Some(seed), _) => options::drawn(seed).open(folder),
        (None, 0) => frequent().open(folder),
        (None, _) => options.open(folder),
    }
}

/// Inserts the given number of bulk rows into a new folder.
fn fill(folder: &Path, rows: u64) -> table_core::Result<()> {
    let engine = EngineOptions::new().durability(Durability::Relaxed).open(folder)?;
    async {
        Writer::create_table(&engine).await?;
        bulk::fill(&engine, rows).await?;
        engine.close().await
    }
    .block_on()
}

/// Sends a line to the parent. Returns `false` if the parent has already ended.
fn tell(line: &impl Display) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
}

/// The duration of the slowest write of a thread so far.
#[derive(Debug, Default)]
struct Longest(Duration);

impl Longest {
    const WORD: &str = "waited";

    /// Returns a line for the parent if this write was the slowest write of the thread so far.
    fn note(&mut self, begun: Instant) -> Option<String> {
        let took = begun.elapsed();
        (took > self.0).then(|| {
            self.0 = took;
            format!("{} {}", Self::WORD, took.as_micros())
        })
    }

    fn read(line: &str) -> Option<Duration> {
        Some(Duration::from_micros(line.strip_prefix(Self::WORD)?.trim().parse().ok()?))
    }
}

/// Runs the child: `writers` concurrent writers, and threads that update bulk rows. It prints its reports on standard output until it is killed.
///
/// # Errors
/// Any error from the store. None is expected before the kill.
pub fn run_child(folder: &Path, writers: usize, rows: u64, seed: Option<u64>) -> table_core::Result<()> {
    let engine = open(folder, rows, seed)?;
    Writer::create_table(&engine).block_on()?;
    let engine = Arc::new(engine);
    let write = |number: usize| {
        let engine = Arc::clone(&engine);
        std::thread::spawn(move || -> table_core::Result<()> {
            let (mut writer, mut longest) =
                (Writer::resume(&*engine, number).block_on()?, Longest::default());
            loop {
                let begun = Instant::now();
                let acknowledged = writer.step(&*engine).block_on()?;
                let waited = longest.note(begun);
                if !tell(&acknowledged) || waited.is_some_and(|line| !tell(&line)) {
                    return Ok(());
                }
            }
        })
    };
    let update = |seed: u64| {
        let engine = Arc::clone(&engine);
        std::thread::spawn(move || -> table_core::Result<()> {
            let seed = seed ^ u64::from(std::process::id());
            let (mut random, mut longest) = (StdRng::seed_from_u64(seed), Longest::default());
            loop {
                let begun = Instant::now();
                bulk::update(&*engine, rows, &mut random).block_on()?;
                if longest.note(begun).is_some_and(|line| !tell(&line)) {
                    return Ok(());
                }
            }
        })
    };
    let updaters = if rows == 0 { 0 } else { UPDATERS };
    let threads: Vec<_> = (0..writers).map(write).chain((0..updaters).map(update)).collect();
    for thread in threads {
        if let Ok(result) = thread.join() {
            result?;
        }
    }
    Ok(())
}

/// Runs all rounds of a torture run, using `program` as the child process.
///
/// # Errors
/// An error if a process cannot be started, or a folder cannot be created or opened.
pub fn torture(
    program: &Path,
    plan: &Plan,
    mut progress: impl FnMut(usize),
) -> Result<Outcome, Box<dyn std::error::Error>> {
    let mut random = StdRng::seed_from_u64(plan.seed);
    let (mut outcome, mut evidence) = (Outcome::default(), Evidence::default());
    for round in 0..plan.rounds {
        if round == 0 || (plan.rows == 0 && round % plan.rounds_a_folder == 0) {
            evidence = Evidence::default();
            if plan.folder.exists() {
                std::fs::remove_dir_all(&plan.folder)?;
            }
            if plan.rows > 0 {
                fill(&plan.folder, plan.rows)?;
            }
        }
        let writers = [1, 8, 64][round % 3];
        // The square makes early kills, while the folder is being opened, more likely. Kills after several checkpoints still occur.
        let kill_after = random.random_range(0_u64..60).pow(2) * if plan.rows > 0 { 10 } else { 1 };
        let mut command = Command::new(program);
        command.arg(CHILD).arg(&plan.folder).arg(writers.to_string()).arg(plan.rows.to_string());
        // The folder is opened with different options each time, unless the run measures the longest write.
        if plan.rows == 0 {
            command.arg(random.random::<u64>().to_string());
        }
        let mut longest = Duration::ZERO;
        let acknowledged = run_and_kill(&mut command, kill_after, |line| {
            longest = longest.max(Longest::read(line).unwrap_or_default());
            line.parse::<Acknowledged>().map(|acknowledged| evidence.record(acknowledged)).is_ok()
        })?;
        outcome.longest_writes.push(longest);
        outcome.kills += 1;
        outcome.early += usize::from(acknowledged == 0);
        outcome.acknowledged += acknowledged;
        let begun = Instant::now();
        let engine = open(&plan.folder, plan.rows, Some(random.random()))?;
        outcome.slowest_reopen = outcome.slowest_reopen.max(begun.elapsed());
        if evidence.writers() > 0 {
            for wrong in check(&engine, &evidence).block_on()? {
                outcome.wrong.push(format!("round {round} (seed {}): {wrong}", plan.seed));
            }
        }
        if plan.rows > 0 {
            for wrong in bulk::check(&engine, plan.rows, &mut random).block_on()? {
                outcome.wrong.push(format!("round {round} (seed {}): {wrong}", plan.seed));
            }
        }
        drop(engine);
        progress(round + 1);
    }
    std::fs::remove_dir_all(&plan.folder)?;
    Ok(outcome)
}

/// Starts a child, and kills it after `kill_after` acknowledgements. Returns the number of acknowledgements received.
///
/// `record` is called with each line. It returns `true` if the line is an acknowledgement.
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
    // The lines left in the pipe report acknowledged writes as well.
    for line in lines {
        acknowledged += u64::from(record(&line?));
    }
    child.wait()?;
    Ok(acknowledged)
}
