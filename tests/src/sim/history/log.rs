//! What happened in a history: how often, and line by line.

use std::sync::{Arc, Mutex, PoisonError};

use crate::power::Call;

/// What happened, in words, and how often.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Writes that were acknowledged.
    pub acknowledged: u64,
    /// Pages and look-ups that were answered and right.
    pub reads: u64,
    /// Backups that were made.
    pub backups: u64,
    /// Times a folder was opened.
    pub opened: u64,
    /// Times an engine was seen at rest.
    pub rests: u64,
    /// Faults that showed themselves.
    pub faults: u64,
    /// Calls of the longest history.
    pub calls: u64,
}

impl Seen {
    /// Adds those of another history.
    pub fn add(&mut self, other: &Self) {
        self.acknowledged += other.acknowledged;
        self.reads += other.reads;
        self.backups += other.backups;
        self.opened += other.opened;
        self.rests += other.rests;
        self.faults += other.faults;
        self.calls = self.calls.max(other.calls);
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { acknowledged, reads, backups, opened, rests, faults, calls } = self;
        write!(
            f,
            "{acknowledged} writes acknowledged, {reads} reads right, {backups} backups, {opened} times opened, {rests} rests, {faults} faults, {calls} calls in the longest"
        )
    }
}

/// Everything that was done, for who looks at a history that went wrong.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    /// Whether it has the calls to the disk.
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
