//! Measures the compile time of the derives. In one run, entities with indexes are compared with the same structs with serde's derives.
//!
//! Run it with `cargo run --profile bench -p benches --bin compile_cost -- [rounds]`. It fails if the check time or the expanded size is more than 1.7 times
//! that of serde's derives.

mod cargo;
mod source;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cargo::Crates;

/// The number of entities in each crate.
const ENTITIES: usize = 100;
/// The default number of checks per crate.
const ROUNDS: usize = 7;
/// The crate that uses this project's derive.
const OURS: &str = "tables";
/// The crate that uses serde's derives.
const THEIRS: &str = "serde_twin";
/// The maximum cost of this project's derive, as a multiple of the cost of serde's derives.
const LIMIT: f64 = 1.7;

fn main() -> ExitCode {
    match run() {
        Ok((time, size)) if time <= LIMIT && size <= LIMIT => ExitCode::SUCCESS,
        Ok((time, size)) => {
            eprintln!(
                "{time:.2} times serde's check time, {size:.2} times its size: one is above {LIMIT:.1}"
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and prints the costs. Returns the ratio of the check times and the ratio of the expanded sizes.
fn run() -> Result<(f64, f64), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(ROUNDS), |rounds| rounds.parse())?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("benches is in the workspace")?;
    let (tables, serde) = (source::tables(ENTITIES), source::serde(ENTITIES));
    let crates = Crates::write(root, &[(OURS, &tables), (THEIRS, &serde)])?;
    // The first check of each crate is not measured, because it compiles the dependencies and warms up the compiler.
    crates.check(OURS)?;
    crates.check(THEIRS)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(crates.check(OURS)?);
        theirs.push(crates.check(THEIRS)?);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let time = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{ENTITIES} entities of 10 fields, {rounds} checks each, median\n");
    println!("| | `Entity`, two indexes | `Serialize`, `Deserialize` | ratio |");
    println!("|---|---:|---:|---:|");
    println!("| `cargo check` | {} ms | {} ms | {time:.2} |", ours.as_millis(), theirs.as_millis());
    let (ours, theirs) = (crates.expanded(OURS)?, crates.expanded(THEIRS)?);
    let size = ratio(ours.bytes, theirs.bytes);
    println!("| expanded | {} KiB | {} KiB | {size:.2} |", ours.bytes / 1024, theirs.bytes / 1024);
    let lines = ratio(ours.lines, theirs.lines);
    println!("| expanded, lines as rustc prints them | {} | {} | {lines:.2} |", ours.lines, theirs.lines);
    Ok((time, size))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "sizes of source text are far below 2^52")]
fn ratio(ours: usize, theirs: usize) -> f64 {
    ours as f64 / theirs as f64
}
