//! Time controlled by a test: it passes when the test requests it, or when something waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use table_core::Engine;
use table_core::embedded::{Clock, EngineOptions};
use table_patterns::work::Runtime;

/// An instant that all clones share, in ticks.
#[derive(Clone, Debug)]
pub struct Time(Arc<AtomicU64>);

impl Default for Time {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(639_307_584_000_000_000)))
    }
}

impl Time {
    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        let ticks = u64::try_from(time.as_nanos() / 100).unwrap_or(u64::MAX);
        self.0.fetch_add(ticks, Ordering::SeqCst);
    }

    /// Returns a clock that shows this time.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let time = Arc::clone(&self.0);
        Clock::new(move || time.load(Ordering::SeqCst))
    }

    /// Returns a runtime with this clock, for which time passes whenever it would wait.
    #[must_use]
    pub fn runtime(&self) -> Runtime {
        let time = self.clone();
        Runtime::new().seed(7).clock(self.clock()).sleep_by(move |length| {
            time.pass(length);
            Box::pin(async {})
        })
    }

    /// Returns an engine in memory with this clock.
    #[must_use]
    pub fn engine(&self) -> Engine {
        EngineOptions::new().clock(self.clock()).in_memory()
    }
}
