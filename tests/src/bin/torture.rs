//! `torture`: kills a writing process again and again and checks what is left.

use std::path::PathBuf;
use std::process::ExitCode;

use tests::crash::patterns::process as patterns;
use tests::crash::process::{CHILD, Plan, run_child, torture};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [CHILD, folder, writers] => child(folder, writers),
        [patterns::CHILD, folder, round, seed] => patterns_child(folder, round, seed),
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

fn child(folder: &str, writers: &str) -> Outcome {
    Ok(run_child(&PathBuf::from(folder), writers.parse()?)?)
}

fn patterns_child(folder: &str, round: &str, seed: &str) -> Outcome {
    Ok(patterns::run_child(&PathBuf::from(folder), round.parse()?, seed.parse()?)?)
}

fn parent(words: &[&str]) -> Outcome {
    let mut plan = Plan {
        rounds: 50,
        seed: 1,
        folder: std::env::temp_dir().join(format!("tables-torture-{}", std::process::id())),
        rounds_a_folder: 25,
    };
    let (mut words, mut all_patterns) = (words.iter(), false);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` wants a value"));
        match *word {
            "--patterns" => all_patterns = true,
            "--rounds" => plan.rounds = value()?.parse()?,
            "--seed" => plan.seed = value()?.parse()?,
            "--folder" => plan.folder = PathBuf::from(value()?),
            other => {
                return Err(format!(
                    "unknown option `{other}`; there are --patterns, --rounds N, --seed N, --folder PATH"
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
    } else {
        torture(&program, &plan, progress)?
    };
    println!(
        "{} kills ({} before the first acknowledgement), {} writes acknowledged, slowest reopen {:?}",
        outcome.kills, outcome.early, outcome.acknowledged, outcome.slowest_reopen
    );
    if outcome.wrong.is_empty() {
        println!("nothing acknowledged was lost, nothing half-applied was visible");
        return Ok(());
    }
    Err(outcome.wrong.join("\n").into())
}
