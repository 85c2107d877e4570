//! Simulated time, which passes only when a test advances it or when the code under test waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use table_patterns::embedded::EngineOptions;
use table_patterns::runtime::{Runtime, ticks_of};
use table_patterns::{Clock, Engine};

/// The simulated time in ticks. All clones share it.
#[derive(Clone)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(639_307_584_000_000_000)))
    }

    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.0.fetch_add(ticks_of(time), Ordering::SeqCst);
    }

    /// Returns a clock that is ahead of the simulated time by the given duration.
    pub(crate) fn ahead(&self, by: Duration) -> Clock {
        let time = self.clone();
        Clock::new(move || time.now() + ticks_of(by))
    }

    pub(crate) fn runtime(&self) -> Runtime {
        let time = self.clone();
        Runtime::new().seed(7).clock(self.ahead(Duration::ZERO)).sleep_by(move |length| {
            time.pass(length);
            Box::pin(async {})
        })
    }

    pub(crate) fn engine(&self) -> Engine {
        EngineOptions::new().clock(self.ahead(Duration::ZERO)).in_memory()
    }
}
