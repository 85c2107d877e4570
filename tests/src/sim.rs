//! Deterministic simulation: one seed, one history of the whole engine.
//!
//! Disk, clock and the order in which threads go on are all made from the seed. Callers write, read, wait and go away; the disk fails, fills,
//! loses power and rots; threads panic; the clock jumps. Every answer is held against a plain model: what was acknowledged is never lost, what
//! was refused is never seen, every answer is right or an error that the history gave a reason for, and no caller waits for ever.

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
use table_core::embedded::mend::Mend;

/// What became of a history.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its seed.
    pub seed: u64,
    /// What happened in it.
    pub seen: Seen,
    /// All that was done in it, as a number: histories of one seed have the same.
    pub trace: u64,
    /// What is wrong.
    pub wrong: Option<String>,
    /// What was asked for, answered and damaged, in order.
    pub log: Vec<String>,
}

/// Lives the history of a seed.
#[must_use]
pub fn run(seed: u64) -> Report {
    report(seed, &Log::default(), None)
}

/// Lives the history of a seed with an engine that lacks a mend.
#[cfg(feature = "mutations")]
#[must_use]
pub fn run_without(mend: Mend, seed: u64) -> Report {
    report(seed, &Log::default(), Some(mend))
}

/// Lives it with every call to the disk in its log.
#[must_use]
pub fn run_in_detail(seed: u64) -> Report {
    report(seed, &Log::in_detail(), None)
}

fn report(seed: u64, log: &Log, without: Option<Mend>) -> Report {
    let (reports, done) = mpsc::channel();
    let own = log.clone();
    let stalled = reports.clone();
    let stall = move |why: &str| {
        let _ = stalled.send((Seen::default(), 0, Some(why.to_owned())));
    };
    let history = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| History::new(seed, own, without, stall).run()));
        let _ = reports.send(match outcome {
            Ok((counts, trace, outcome)) => (counts, trace, outcome.err().map(|wrong| wrong.to_string())),
            Err(panic) => {
                (Seen::default(), 0, Some(format!("a panic reached the callers: {}", text(&*panic))))
            }
        });
    };
    // A history that hangs leaves its threads behind.
    let wrong = |text: &str| (Seen::default(), 0, Some(text.to_owned()));
    let (counts, trace, wrong) = match thread::Builder::new().name("callers".to_owned()).spawn(history) {
        Ok(_) => done.recv().unwrap_or_else(|_| wrong("the history ended without a word")),
        Err(error) => wrong(&format!("no thread: {error}")),
    };
    Report { seed, seen: counts, trace, wrong, log: log.lines() }
}

/// Panics that histories bring about are not printed.
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
