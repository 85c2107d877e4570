//! `torture`: kills a writing process again and again and checks what is left.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tests::crash::patterns::process as patterns;
use tests::crash::process::{CHILD, Plan, run_child, torture};
use tests::crash::server::process as server;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [CHILD, folder, writers, rows] => child(folder, writers, rows),
        [patterns::CHILD, folder, round, seed] => patterns_child(folder, round, seed),
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

/// Returns the folder of this run below `parent`. It is deleted again and again, so it is never one that the caller names.
fn folder_in(parent: &Path) -> PathBuf {
    parent.join(format!("tables-torture-{}", std::process::id()))
}

fn child(folder: &str, writers: &str, rows: &str) -> Outcome {
    Ok(run_child(&PathBuf::from(folder), writers.parse()?, rows.parse()?)?)
}

fn patterns_child(folder: &str, round: &str, seed: &str) -> Outcome {
    Ok(patterns::run_child(&PathBuf::from(folder), round.parse()?, seed.parse()?)?)
}

/// A number of rows: `10M`, `200k` or `5000`.
fn rows(text: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'M') => (text.trim_end_matches('M'), 1_000_000),
        Some(b'k') => (text.trim_end_matches('k'), 1_000),
        _ => (text, 1),
    };
    Ok(digits.parse::<u64>()? * unit)
}

fn parent(words: &[&str]) -> Outcome {
    let mut plan = Plan {
        rounds: 50,
        seed: 1,
        folder: folder_in(&std::env::temp_dir()),
        rounds_a_folder: 25,
        rows: 0,
    };
    let (mut words, mut all_patterns, mut served) = (words.iter(), false, false);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` wants a value"));
        match *word {
            "--patterns" => all_patterns = true,
            "--server" => served = true,
            "--rounds" => plan.rounds = value()?.parse()?,
            "--seed" => plan.seed = value()?.parse()?,
            "--rows" => plan.rows = rows(value()?)?,
            "--folder" => plan.folder = folder_in(Path::new(&value()?)),
            other => {
                return Err(format!(
                    "unknown option `{other}`; there are --patterns, --server, --rounds N, --rows N, --seed N, --folder PATH"
                )
                .into());
            }
        }
    }
    let rounds = plan.rounds;
    let progress = |done| {
        if done % 25 == 0 || done == rounds {
            println!("{done} of {rounds} kills");
        }
    };
    let program = std::env::current_exe()?;
    let outcome = if all_patterns {
        patterns::torture(&program, &plan, progress)?
    } else if served {
        server::torture(&program, &plan, progress)?
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
