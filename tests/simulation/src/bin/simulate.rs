//! `simulate` runs simulated histories of the engine until one of them fails. Each history is generated from a seed.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use simulation::sim::{self, Report};

struct Plan {
    first: u64,
    seeds: u64,
    log: bool,
}

fn main() -> ExitCode {
    match plan().and_then(|plan| simulate(&plan)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn plan() -> Result<Plan, String> {
    let mut plan = Plan { first: 1, seeds: 100, log: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().ok_or(format!("`{word}` wants a number"))?;
            value.parse().map_err(|error| format!("`{value}` after `{word}`: {error}"))
        };
        match word.as_str() {
            "--seeds" => plan.seeds = number()?,
            "--seed" => plan.first = number()?,
            "--log" => plan.log = true,
            _ => {
                return Err(format!(
                    "unknown option `{word}`; the options are --seeds N, --seed FIRST, --log"
                ));
            }
        }
    }
    Ok(plan)
}

fn simulate(plan: &Plan) -> Result<(), String> {
    sim::without_words_of_expected_panics();
    let next = AtomicU64::new(plan.first);
    let (end, stop) = (plan.first.saturating_add(plan.seeds), AtomicBool::new(false));
    let total = Mutex::new((sim::Seen::default(), Vec::<Report>::new()));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let report = if plan.log { sim::run_in_detail(seed) } else { sim::run(seed) };
            let mut total = total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            total.0.add(&report.seen);
            if report.wrong.is_some() || plan.log {
                stop.store(report.wrong.is_some(), Ordering::Relaxed);
                total.1.push(report);
            }
        }
    };
    side_by_side(work);
    let (counts, reports) = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for report in &reports {
        println!("seed {}\n  {}", report.seed, report.log.join("\n  "));
    }
    println!("{} histories: {counts}", next.load(Ordering::Relaxed).min(end) - plan.first);
    match reports.iter().find_map(|report| Some((report.seed, report.wrong.as_ref()?))) {
        Some((seed, wrong)) => Err(format!("seed {seed}: {wrong}")),
        None => Ok(()),
    }
}

/// Runs the work on more threads than the machine has cores. The threads of a history take turns. While one waits, another history can use its core.
fn side_by_side(work: impl Fn() + Sync) {
    let threads = 4 * std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(&work))));
}
