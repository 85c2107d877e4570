//! Runs all scenarios of the queue suite on the backends that do not need a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::queue::DynQueueStore;

type Pass<'a> = &'a (dyn Fn(Duration) + Sync);

/// Declares a module with the tests of one family of scenarios. `super::store` opens the backend under test.
macro_rules! family {
    ($family:ident, [$($scenario:ident,)*]) => {
        mod $family {
            $(#[test]
            fn $scenario() {
                super::store(|store, pass| {
                    pollster::block_on(tests::suite::queues::$family::$scenario(store, pass));
                });
            })*
        }
    };
}

/// Returns engine options with a clock that the test controls, and a function that advances this clock.
fn clocked() -> (EngineOptions, impl Fn(Duration) + Sync) {
    let time = Arc::new(AtomicU64::new(639_307_584_000_000_000));
    let clock = Arc::clone(&time);
    let options = EngineOptions::new().clock(Clock::new(move || clock.load(Ordering::SeqCst)));
    let pass = move |duration: Duration| {
        time.fetch_add(u64::try_from(duration.as_nanos() / 100).unwrap(), Ordering::SeqCst);
    };
    (options, pass)
}

mod engine_in_memory {
    use super::*;

    fn store(scenario: impl FnOnce(&Engine, Pass<'_>)) {
        let (options, pass) = clocked();
        scenario(&options.in_memory(), &pass);
    }

    tests::for_each_queue_scenario!(family);
}

/// Tests that the boxed adapter forwards every call unchanged.
mod boxed {
    use super::*;

    fn store(scenario: impl FnOnce(&DynQueueStore, Pass<'_>)) {
        let (options, pass) = clocked();
        let store = DynQueueStore::new(options.in_memory());
        assert_eq!(store.to_string(), "embedded engine in memory");
        scenario(&store, &pass);
    }

    tests::for_each_queue_scenario!(family);
}

mod engine_on_disk {
    use super::*;

    fn store(scenario: impl FnOnce(&Engine, Pass<'_>)) {
        let folder = tempfile::tempdir().unwrap();
        let (options, pass) = clocked();
        let engine = options.open(folder.path()).unwrap();
        scenario(&engine, &pass);
        pollster::block_on(engine.close()).unwrap();
    }

    tests::for_each_queue_scenario!(family);
}
