//! Circuit breakers: while a target is down, it is tried only rarely, regardless of how much work waits for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use table_core::Error;
use table_core::runtime::ticks_of;

/// The maximum number of remembered targets.
const TARGETS: usize = 1_000;

/// A failed step, and the earliest time at which its target is tried again.
#[derive(Debug)]
pub(super) struct StepError {
    pub(super) error: Error,
    pub(super) until: Option<u64>,
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        Self { error, until: None }
    }
}

/// The targets that were down when last tried: tables and handlers.
#[derive(Debug, Default)]
pub(super) struct Circuits(Mutex<HashMap<String, Circuit>>);

#[derive(Clone, Debug)]
struct Circuit {
    failures: u32,
    until: u64,
    error: Error,
}

impl Circuits {
    /// Returns an error if the target must not be tried yet.
    /// A delay that exceeds `most` results from a clock that was set back, and is treated as expired.
    pub(super) fn check(&self, target: &str, now: u64, most: Duration) -> Result<(), StepError> {
        let circuits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match circuits.get(target) {
            Some(Circuit { until, error, .. }) if *until > now && until - now <= ticks_of(most) => {
                Err(StepError { error: error.clone(), until: Some(*until) })
            }
            _ => Ok(()),
        }
    }

    /// Records that a target is down. Returns the time at which it is tried again.
    pub(super) fn failed(
        &self,
        target: &str,
        now: u64,
        (error, delay): (&Error, impl FnOnce(u32) -> Duration),
    ) -> u64 {
        let mut circuits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if circuits.len() >= TARGETS && !circuits.contains_key(target) {
            circuits.clear();
        }
        let failures = circuits.get(target).map_or(0, |known| known.failures);
        let until = now.saturating_add(ticks_of(delay(failures)));
        let circuit = Circuit { failures: failures.saturating_add(1), until, error: error.clone() };
        circuits.insert(target.to_owned(), circuit);
        until
    }

    /// Records that a target responded.
    pub(super) fn answered(&self, target: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(target);
    }
}
