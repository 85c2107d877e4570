//! Models of the protocols in `table-patterns`. They run random interleavings of processes that pause, resume and die at any request.
//!
//! Each protocol runs in its complete form, and once without each of its conditions. The complete protocol must never fail. Without a condition, at least one
//! run must fail. This proves that the condition is needed.
//!
//! `cargo run --release -p models -- --runs 1000000` runs all models.
//! - `--only` selects one of `feed`, `convergence`, `places`, `backfill`, `copies`, `fairness` and `settling`.
//! - `--seed N` prints one run of the complete protocol.
//! - `--without N` prints the first run that fails without condition number N, even if random runs rarely need this condition.

mod backfill;
mod convergence;
mod copies;
mod fairness;
mod feed;
mod interleave;
mod places;
mod settling;

use std::process::ExitCode;

/// A model of a protocol. It has the names of the conditions, and a function that runs the protocol with a seed. The function can omit one condition.
struct Model {
    name: &'static str,
    conditions: &'static [&'static str],
    run: fn(seed: u64, removed: Option<usize>) -> Result<(), String>,
}

const MODELS: [Model; 7] = [
    feed::MODEL,
    convergence::MODEL,
    places::MODEL,
    backfill::MODEL,
    copies::MODEL,
    fairness::MODEL,
    settling::MODEL,
];

/// The number of runs without a condition that must succeed before the condition counts as unnecessary.
const WITHOUT: u64 = 200_000;

impl Model {
    /// Runs the complete protocol with seeds from 0 to `runs` (exclusive). Returns the first failure as an error.
    fn whole(&self, runs: u64) -> Result<(), String> {
        (0..runs).try_for_each(|seed| {
            (self.run)(seed, None).map_err(|wrong| format!("{}: seed {seed}: {wrong}", self.name))
        })
    }

    /// Runs the protocol without the given condition until a run fails. Returns the seed and the message of the failure, or `None` if no run fails.
    fn without(&self, condition: usize, runs: u64) -> Option<(u64, String)> {
        (0..runs).find_map(|seed| (self.run)(seed, Some(condition)).err().map(|wrong| (seed, wrong)))
    }

    fn check(&self, runs: u64) -> Result<(), String> {
        self.whole(runs)?;
        println!("{}: {runs} runs, none wrong", self.name);
        for (at, condition) in self.conditions.iter().enumerate() {
            let Some((seed, wrong)) = self.without(at, WITHOUT) else {
                return Err(format!("{}: {WITHOUT} runs without \"{condition}\" are right, too", self.name));
            };
            println!("  without \"{condition}\": seed {seed}: {wrong}");
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    let (mut runs, mut only, mut seed, mut without) = (20_000, None, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next();
        match (argument.as_str(), value.as_deref()) {
            ("--runs", Some(text)) => runs = text.parse().unwrap_or(runs),
            ("--seed", Some(text)) => seed = text.parse().ok(),
            ("--without", Some(text)) => without = text.parse().ok(),
            ("--only", Some(name)) => only = Some(name.to_owned()),
            _ => {
                eprintln!(
                    "usage: models [--runs N] [--only feed|convergence|places|backfill|copies|fairness|settling] [--seed N] [--without N]"
                );
                return ExitCode::FAILURE;
            }
        }
    }
    for model in MODELS.iter().filter(|model| only.as_deref().is_none_or(|only| only == model.name)) {
        let outcome = match (seed, without) {
            (Some(seed), without) => (model.run)(seed, without),
            (None, Some(condition)) => model.without(condition, runs).map_or(Ok(()), |(seed, wrong)| {
                Err(format!("{}: seed {seed} without condition {condition}: {wrong}", model.name))
            }),
            (None, None) => model.check(runs),
        };
        if let Err(wrong) = outcome {
            eprintln!("{wrong}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_protocols_have_no_wrong_run_and_need_each_condition() {
        for model in MODELS {
            assert_eq!(model.check(3_000), Ok(()));
        }
    }
}
