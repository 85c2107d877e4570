//! Timeouts for tasks that wait for their turn within one process. They are needed because the task with the turn may never be polled again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{Either, select};
use table_core::runtime::Runtime;

use crate::shared_sleep::SharedSleep;

/// Detects stalled queues. It counts the turns that a queue's tasks take, and limits the time between two turns.
#[derive(Debug, Default)]
pub(crate) struct StallDetector {
    turns: AtomicU64,
    alarm: Arc<Alarm>,
}

/// A timeout that the waiting tasks of several queues share. A waiting task then needs no timer of its own.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Mutex<Option<SharedSleep>>);

impl StallDetector {
    /// Creates the detector for a new queue. Short-lived queues can share one alarm.
    pub(crate) fn with(alarm: &Arc<Alarm>) -> Self {
        Self { turns: AtomicU64::default(), alarm: Arc::clone(alarm) }
    }

    /// Counts a turn taken by a task.
    pub(crate) fn count(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for the future `turn`. Returns `None` if no task in the queue has taken a turn within the timeout.
    pub(crate) async fn wait<T>(
        &self,
        mut turn: impl Future<Output = T> + Unpin,
        (pace, most): (&Runtime, Duration),
    ) -> Option<T> {
        let mut before = None;
        loop {
            turn = match select(turn, self.alarm.next(pace, most)).await {
                Either::Left((turn, _)) => return Some(turn),
                Either::Right((_, waiting)) => waiting,
            };
            let turns = self.turns.load(Ordering::Relaxed);
            // The first alarm may have been set long before this wait. The queue has stalled only if the count is the same at two consecutive alarms.
            if before.replace(turns) == Some(turns) {
                return None;
            }
        }
    }
}

impl Alarm {
    /// Returns the running timeout. If none is running, starts one.
    pub(crate) fn next(&self, pace: &Runtime, most: Duration) -> SharedSleep {
        let mut alarm = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = alarm.as_ref().filter(|alarm| !alarm.has_ended()) {
            return set.clone();
        }
        alarm.insert(SharedSleep::start(pace, most)).clone()
    }
}
