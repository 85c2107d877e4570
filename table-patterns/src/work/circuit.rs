//! Circuit breakers: while a target is down, it is tried only rarely, regardless of how much work waits for it.
//!
//! A circuit is opened by a failed step that started while it was closed, or after its delay. Steps that were in progress together
//! therefore open it once, and the delay grows only if a later try fails as well.
//!
//! Targets are tables and handlers. A handler may have several destinations, of which only one is down. After the delay, sources whose steps have failed
//! give way to sources that were refused without a try, so work that can be done is found however much other work fails.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use table_core::Error;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::runtime::ticks_of;

use crate::outbox::keys::hash;

/// The maximum number of remembered targets.
const TARGETS: usize = 1_000;
/// The maximum number of remembered sources of a target. Further sources are tried in any order.
const SOURCES: usize = 10_000;

/// A failed step, and the delay after which its source is tried again.
#[derive(Debug)]
pub(super) struct StepError {
    pub(super) error: Error,
    /// The delay in ticks; `None` if the number of attempts determines it.
    pub(super) delay: Option<u64>,
    /// `true` if the step was not tried, because other steps for its target have failed.
    pub(super) is_refused: bool,
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self { error, delay: None, is_refused: false }
    }
}

/// Tracks the targets (tables and handlers) that were down when they were last tried.
#[derive(Debug, Default)]
pub(super) struct Circuits(Mutex<HashMap<String, Circuit>>);

#[derive(Clone, Debug)]
struct Circuit {
    failures: u32,
    /// The time from which the target is tried again.
    until: u64,
    /// The sources whose steps have failed in this round. A round ends when each waiting source was tried.
    failed: HashSet<u64>,
    /// The sources that were refused, and not tried in this round.
    waiting: HashSet<u64>,
    error: Error,
}

/// The current time and the delays of a worker, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: u64,
    /// The delay after the first failure.
    pub(super) first: u64,
    /// A time that exceeds every delay.
    pub(super) longest: u64,
}

impl Times {
    /// Returns the time that is left until a circuit is closed. A time that is further ahead than every delay results from a clock that was set back,
    /// and is treated as past.
    fn left(self, until: u64) -> Option<u64> {
        until.checked_sub(self.now).filter(|left| (1..=self.longest).contains(left))
    }
}

/// The permission of a step to try its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    source: u64,
    /// The time `until` of the circuit when the step started; `None` if the circuit was closed.
    seen: Option<u64>,
}

/// Returns the number that identifies the source of a change.
pub(super) fn source(table: &TableName, partition_key: &PartitionKey, source: &RowKey) -> u64 {
    let parts = [table.folded(), partition_key.as_str(), source.as_str()];
    hash(parts.into_iter().flat_map(|part| part.bytes().chain([0])))
}

impl Circuits {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Circuit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an error if the target must not be tried for a source yet.
    pub(super) fn check(&self, target: &str, source: u64, times: Times) -> Result<Pass, StepError> {
        let Times { now, first, longest } = times;
        let mut circuits = self.all();
        let Some(circuit) = circuits.get_mut(target) else { return Ok(Pass { source, seen: None }) };
        let has_failed = circuit.failed.contains(&source);
        if let Some(left) = times.left(circuit.until) {
            if !has_failed {
                insert(&mut circuit.waiting, source);
            }
            return Err(circuit.refuse(left));
        }
        if has_failed {
            // A waiting source may be gone, for example because another worker has done its work. It then no longer blocks other sources.
            if !circuit.waiting.is_empty() && now.abs_diff(circuit.until) <= longest {
                return Err(circuit.refuse(first));
            }
            circuit.failed.clear();
            circuit.waiting.clear();
        }
        circuit.waiting.remove(&source);
        Ok(Pass { source, seen: Some(circuit.until) })
    }

    /// Records that a target is down. Returns the delay after which it is tried again.
    pub(super) fn failed(
        &self,
        target: &str,
        (pass, times): (Pass, Times),
        (error, delay): (&Error, impl Fn(u32) -> Duration),
    ) -> u64 {
        let mut circuits = self.all();
        let after = |failures| times.now.saturating_add(ticks_of(delay(failures)));
        if let Some(circuit) = circuits.get_mut(target) {
            insert(&mut circuit.failed, pass.source);
            // Otherwise, another step has opened the circuit in the meantime.
            if pass.seen == Some(circuit.until) {
                circuit.until = after(circuit.failures);
                circuit.failures = circuit.failures.saturating_add(1);
                circuit.error = error.clone();
            }
            return times.left(circuit.until).unwrap_or(0);
        }
        let until = after(0);
        // Otherwise, the target has responded to another step in the meantime.
        if pass.seen.is_none() {
            if circuits.len() >= TARGETS {
                circuits.clear();
            }
            let (failed, waiting) = (HashSet::from([pass.source]), HashSet::new());
            let circuit = Circuit { failures: 1, until, failed, waiting, error: error.clone() };
            circuits.insert(target.to_owned(), circuit);
        }
        until.saturating_sub(times.now)
    }

    /// Records that a target has responded.
    pub(super) fn answered(&self, target: &str) {
        self.all().remove(target);
    }
}

impl Circuit {
    /// Returns the error of a step that is not tried before the delay has passed.
    fn refuse(&self, delay: u64) -> StepError {
        StepError { error: self.error.clone(), delay: Some(delay), is_refused: true }
    }
}

/// Adds a source, unless too many are remembered.
fn insert(sources: &mut HashSet<u64>, source: u64) {
    if sources.len() < SOURCES {
        sources.insert(source);
    }
}
