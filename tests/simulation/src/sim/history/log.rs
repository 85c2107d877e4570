//! Counts of the events in a history, and a log of them.

use std::sync::{Arc, Mutex, PoisonError};

use crate::power::Call;

/// The number of events of each kind.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The number of acknowledged writes.
    pub acknowledged: u64,
    /// The number of correct pages and lookups.
    pub reads: u64,
    /// The number of successful backups.
    pub backups: u64,
    /// The number of restores and of backup readers with correct results.
    pub restores: u64,
    /// The number of times a folder was opened.
    pub opened: u64,
    /// The number of times that the engine finished all its work and was then checked while idle.
    pub rests: u64,
    /// The number of faults that occurred.
    pub faults: u64,
    /// The number of calls in the longest history so far.
    pub calls: u64,
}

impl Seen {
    /// Adds the counts of another history.
    pub fn add(&mut self, other: &Self) {
        self.acknowledged += other.acknowledged;
        self.reads += other.reads;
        self.backups += other.backups;
        self.restores += other.restores;
        self.opened += other.opened;
        self.rests += other.rests;
        self.faults += other.faults;
        self.calls = self.calls.max(other.calls);
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { acknowledged, reads, backups, restores, opened, rests, faults, calls } = self;
        write!(
            f,
            "{acknowledged} writes acknowledged, {reads} reads right, {backups} backups, {restores} restores, {opened} times opened, {rests} rests, {faults} faults, {calls} calls in the longest"
        )
    }
}

/// A log of everything that happened, for the analysis of a failed history.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    /// `true` if the log includes the calls to the disk.
    calls: bool,
}

impl Log {
    pub(in super::super) fn in_detail() -> Self {
        Self { calls: true, ..Self::default() }
    }

    pub(super) fn call(&self, call: &Call) {
        if self.calls {
            let thread = std::thread::current();
            self.add(format!("    {} {call:?}", thread.name().unwrap_or_default()));
        }
    }

    pub(in super::super) fn add(&self, line: String) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    pub(in super::super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
