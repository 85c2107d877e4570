//! `torture` repeatedly kills a process that writes to a folder, and checks the folder each time. It can also compare the engine with `SQLite` for a given
//! time.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[cfg(feature = "services")]
use tests::crash::patterns::process as patterns;
use tests::crash::process::{CHILD, Outcome as Kills, Plan, run_child, torture};
#[cfg(feature = "services")]
use tests::crash::server::process as server;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [CHILD, folder, writers, rows] => child(folder, writers, rows, None),
        [CHILD, folder, writers, rows, seed] => child(folder, writers, rows, Some(seed)),
        #[cfg(feature = "services")]
        [patterns::CHILD, folder, round, seed] => patterns_child(folder, round, seed),
        #[cfg(feature = "services")]
        [server::CHILD, folder] => server::run_child(&PathBuf::from(folder)),
        words => parent(words),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("torture: {error}");
            ExitCode::FAILURE
        }
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Returns the path of a new folder for this run inside `parent`. A run deletes its folder repeatedly, so it never uses the caller's folder itself.
fn folder_in(parent: &Path) -> PathBuf {
    parent.join(format!("tables-torture-{}", std::process::id()))
}

fn child(folder: &str, writers: &str, rows: &str, seed: Option<&str>) -> Outcome {
    let seed = seed.map(str::parse).transpose()?;
    Ok(run_child(&PathBuf::from(folder), writers.parse()?, rows.parse()?, seed)?)
}

#[cfg(feature = "services")]
fn patterns_child(folder: &str, round: &str, seed: &str) -> Outcome {
    Ok(patterns::run_child(&PathBuf::from(folder), round.parse()?, seed.parse()?)?)
}

/// Parses a number of rows, such as `10M`, `200k` or `5000`.
fn rows(text: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'M') => (text.trim_end_matches('M'), 1_000_000),
        Some(b'k') => (text.trim_end_matches('k'), 1_000),
        _ => (text, 1),
    };
    Ok(digits.parse::<u64>()? * unit)
}

fn parent(words: &[&str]) -> Outcome {
    let mut plan =
        Plan { rounds: 50, seed: 1, folder: folder_in(&std::env::temp_dir()), rounds_a_folder: 25, rows: 0 };
    let (mut words, mut all_patterns, mut served, mut minutes) = (words.iter(), false, false, None);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` wants a value"));
        match *word {
            "--patterns" => all_patterns = true,
            "--server" => served = true,
            "--minutes" => minutes = Some(value()?.parse::<u64>()?),
            "--rounds" => plan.rounds = value()?.parse()?,
            "--seed" => plan.seed = value()?.parse()?,
            "--rows" => plan.rows = rows(value()?)?,
            "--folder" => plan.folder = folder_in(Path::new(&value()?)),
            other => {
                return Err(format!(
                    "unknown option `{other}`; there are --minutes N, --patterns, --server, --rounds N, --rows N, --seed N, --folder PATH"
                )
                .into());
            }
        }
    }
    if let Some(minutes) = minutes {
        return compare(minutes, plan.seed, plan.folder);
    }
    let rounds = plan.rounds;
    let progress = |done| {
        if done % 25 == 0 || done == rounds {
            println!("{done} of {rounds} kills");
        }
    };
    let program = std::env::current_exe()?;
    let outcome = if all_patterns || served {
        services(all_patterns, &program, &plan, progress)?
    } else {
        torture(&program, &plan, progress)?
    };
    println!(
        "{} kills ({} before the first acknowledgement), {} writes acknowledged, slowest reopen {:?}",
        outcome.kills, outcome.early, outcome.acknowledged, outcome.slowest_reopen
    );
    let mut longest = outcome.longest_writes;
    longest.sort_unstable();
    if let (Some(middle), Some(most)) = (longest.get(longest.len() / 2), longest.last()) {
        println!("the longest write of a round: {middle:?} in half of the rounds, {most:?} at most");
    }
    if outcome.wrong.is_empty() {
        println!("nothing acknowledged was lost, nothing half-applied was visible");
        return Ok(());
    }
    Err(outcome.wrong.join("\n").into())
}

/// Repeatedly kills a server, or a process that uses all patterns, and checks the stored data each time.
#[cfg(feature = "services")]
fn services(
    all_patterns: bool,
    program: &Path,
    plan: &Plan,
    progress: impl FnMut(usize),
) -> Result<Kills, Box<dyn std::error::Error>> {
    if all_patterns {
        patterns::torture(program, plan, progress)
    } else {
        server::torture(program, plan, progress)
    }
}

#[cfg(not(feature = "services"))]
fn services(_: bool, _: &Path, _: &Plan, _: impl FnMut(usize)) -> Result<Kills, Box<dyn std::error::Error>> {
    Err("`--patterns` and `--server` need the feature `services`".into())
}

/// Compares the engine with `SQLite` for the given number of minutes.
#[cfg(feature = "sqlite")]
fn compare(minutes: u64, seed: u64, folder: PathBuf) -> Outcome {
    let plan = tests::sqlite::Plan { time: std::time::Duration::from_secs(60 * minutes), seed, folder };
    let counts = tests::sqlite::run(&plan, |counts| println!("{counts:?}"))?;
    println!("{minutes} minutes, seed {seed}: {counts:?}\nengine and SQLite agree");
    Ok(())
}

#[cfg(not(feature = "sqlite"))]
fn compare(_: u64, _: u64, _: PathBuf) -> Outcome {
    Err("`--minutes` needs the feature `sqlite`".into())
}
