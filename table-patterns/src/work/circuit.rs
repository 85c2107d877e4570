//! Circuit breakers. While a target (a table or a handler) is down, workers try it only rarely, no matter how much work is pending for it.
//!
//! A failed step opens its target's circuit, provided that the circuit was closed or its delay had passed when the step started. Several concurrent failures
//! therefore open the circuit only once, and the delay grows only if a later try also fails.
//!
//! A handler may have several destinations, of which only one is down. Steps of one source (the changed entity) may then fail while steps of other sources
//! would succeed. Therefore, once the delay has passed, sources whose steps were refused without a try come before sources whose steps have failed. In this
//! way, work that can succeed is found no matter how much other work fails.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use table_core::Error;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::runtime::ticks_of;

use crate::outbox::keys::hash;

/// The maximum number of targets with open circuits.
const TARGETS: usize = 1_000;
/// The maximum number of sources remembered for a target. Sources beyond this limit are tried in any order.
const SOURCES: usize = 10_000;

/// The error of a failed or refused step, and the delay before steps of the same source are tried again.
#[derive(Debug)]
pub(super) struct StepError {
    pub(super) error: Error,
    /// The delay in ticks, or `None` if the number of attempts determines the delay.
    pub(super) delay: Option<u64>,
    /// `true` if the step was not tried, because its target is down.
    pub(super) is_refused: bool,
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self { error, delay: None, is_refused: false }
    }
}

/// The target of a step. The type distinguishes tables from handlers, because a handler may have the name of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// The table with the given name in lower case.
    Table(String),
    /// The handler for the messages with the given name.
    Handler(String),
}

/// The circuits of the targets (tables and handlers) that were down when they were last tried.
#[derive(Debug, Default)]
pub(super) struct Circuits(Mutex<HashMap<Target, Circuit>>);

#[derive(Clone, Debug)]
struct Circuit {
    failures: u32,
    /// The time, in ticks, after which the target is tried again.
    until: u64,
    /// The sources (changed entities) whose steps have failed in this round. A round ends when all refused sources have been tried.
    failed: HashSet<u64>,
    /// The refused sources that have not yet been tried in this round.
    waiting: HashSet<u64>,
    error: Error,
}

/// The current time and a worker's delays, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) now: u64,
    /// The delay after a target's first failure.
    pub(super) first: u64,
    /// A duration that exceeds any delay.
    pub(super) longest: u64,
}

impl Times {
    /// Returns how much longer a circuit with the end time `until` stays open. Returns `None` if its delay has passed. If the remaining time exceeds any delay,
    /// the clock was set back, and the delay counts as passed.
    fn left(self, until: u64) -> Option<u64> {
        until.checked_sub(self.now).filter(|left| (1..=self.longest).contains(left))
    }
}

/// The permission for a step to try its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    source: u64,
    /// The circuit's end time when the step started, or `None` if the circuit was closed.
    seen: Option<u64>,
}

/// Returns a hash that identifies a step's source, the changed entity.
pub(super) fn source(table: &TableName, partition_key: &PartitionKey, source: &RowKey) -> u64 {
    let parts = [table.folded(), partition_key.as_str(), source.as_str()];
    hash(parts.into_iter().flat_map(|part| part.bytes().chain([0])))
}

impl Circuits {
    fn all(&self) -> MutexGuard<'_, HashMap<Target, Circuit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Permits a step to try its target. Returns an error if the steps of this source (the changed entity) must wait.
    pub(super) fn check(&self, target: &Target, source: u64, times: Times) -> Result<Pass, StepError> {
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
            // A waiting source may never be tried, for example because another worker has done its work. After a while, it no longer blocks other sources.
            if !circuit.waiting.is_empty() && now.abs_diff(circuit.until) <= longest {
                return Err(circuit.refuse(first));
            }
            circuit.failed.clear();
            circuit.waiting.clear();
        }
        circuit.waiting.remove(&source);
        Ok(Pass { source, seen: Some(circuit.until) })
    }

    /// Records that a step failed because its target is down. Returns the delay until the target is tried again.
    pub(super) fn failed(
        &self,
        target: &Target,
        (pass, times): (Pass, Times),
        (error, delay): (&Error, impl Fn(u32) -> Duration),
    ) -> u64 {
        let mut circuits = self.all();
        let after = |failures| times.now.saturating_add(ticks_of(delay(failures)));
        if let Some(circuit) = circuits.get_mut(target) {
            insert(&mut circuit.failed, pass.source);
            // If the end times differ, the failure of another step has reopened the circuit in the meantime.
            if pass.seen == Some(circuit.until) {
                circuit.until = after(circuit.failures);
                circuit.failures = circuit.failures.saturating_add(1);
                circuit.error = error.clone();
            }
            return times.left(circuit.until).unwrap_or(0);
        }
        let until = after(0);
        // If the circuit was open when the step started, the target has since responded to another step, which closed the circuit. The circuit then stays
        // closed.
        if pass.seen.is_none() {
            if circuits.len() >= TARGETS {
                circuits.clear();
            }
            let (failed, waiting) = (HashSet::from([pass.source]), HashSet::new());
            let circuit = Circuit { failures: 1, until, failed, waiting, error: error.clone() };
            circuits.insert(target.clone(), circuit);
        }
        until.saturating_sub(times.now)
    }

    /// Closes a target's circuit, because the target has responded.
    pub(super) fn answered(&self, target: &Target) {
        self.all().remove(target);
    }
}

impl Circuit {
    /// Returns the error for a refused step. `delay` is the time until the step may be tried.
    fn refuse(&self, delay: u64) -> StepError {
        StepError { error: self.error.clone(), delay: Some(delay), is_refused: true }
    }
}

/// Adds a source. Does nothing once the limit is reached.
fn insert(sources: &mut HashSet<u64>, source: u64) {
    if sources.len() < SOURCES {
        sources.insert(source);
    }
}
