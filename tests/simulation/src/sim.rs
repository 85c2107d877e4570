//! Deterministic simulation. A single seed determines a history (one simulated run) of the engine.
//!
//! The seed determines the disk, the clock and the order of the threads. Callers write, read, wait and disappear. The disk fails, fills up, loses power and
//! corrupts data. Threads panic, and the clock jumps.
//!
//! Every result is compared with a simple model. An acknowledged write must never be lost, and a refused write must never be visible. Every result must be
//! correct, or must be an error that the history explains. No caller may wait forever.

mod history;
mod model;
mod plan;
mod rows;
mod schedule;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

pub use history::Seen;
use history::{History, Log};

/// The outcome of a history.
#[derive(Clone, Debug)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// The number of events of each kind in the history.
    pub seen: Seen,
    /// A hash of everything that happened. Two runs with the same seed have the same hash.
    pub trace: u64,
    /// The defect detected by the history, if any.
    pub wrong: Option<String>,
    /// The requests, results and faults, in order.
    pub log: Vec<String>,
}

/// Runs the history determined by a seed, and returns its report.
#[must_use]
pub fn run(seed: u64) -> Report {
    report(seed, &Log::default())
}

/// Runs the history determined by a seed, and logs every call to the disk as well.
#[must_use]
pub fn run_in_detail(seed: u64) -> Report {
    report(seed, &Log::in_detail())
}

fn report(seed: u64, log: &Log) -> Report {
    let (reports, done) = mpsc::channel();
    let own = log.clone();
    let stalled = reports.clone();
    let stall = move |why: &str| {
        let _ = stalled.send((Seen::default(), 0, Some(why.to_owned())));
    };
    let history = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| History::new(seed, own, stall).run()));
        let _ = reports.send(match outcome {
            Ok((counts, trace, outcome)) => (counts, trace, outcome.err().map(|wrong| wrong.to_string())),
            Err(panic) => {
                (Seen::default(), 0, Some(format!("a panic reached the callers: {}", text(&*panic))))
            }
        });
    };
    // The threads of a history that hangs are leaked.
    let wrong = |text: &str| (Seen::default(), 0, Some(text.to_owned()));
    let (counts, trace, wrong) = match thread::Builder::new().name("callers".to_owned()).spawn(history) {
        Ok(_) => done.recv().unwrap_or_else(|_| wrong("the history ended without a word")),
        Err(error) => wrong(&format!("no thread: {error}")),
    };
    Report { seed, seen: counts, trace, wrong, log: log.lines() }
}

/// Suppresses the output of intentional panics.
pub fn without_words_of_expected_panics() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !text(info.payload()).contains("of this history") {
            others(info);
        }
    }));
}

fn text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default()
}
