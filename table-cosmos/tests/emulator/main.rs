//! Tests of the store on the Azure SDK's in-memory emulator: the behaviour suite on 1, 4 and 64 physical partitions, levels and routing, splits and merges, and
//! throttling.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod behaviour;
#[path = "../python/bridge.rs"]
mod bridge;
mod catalogue;
mod charges;
mod consistency;
mod deviations;
mod differential;
mod doubts;
mod empty_pages;
mod enlarged;
mod expiry;
mod feed_ranges;
mod foreign;
mod gateway;
mod histories;
mod leases;
mod levels;
mod lossy;
mod mapped;
mod moving;
mod odd;
mod odd_keys;
mod operation;
mod order;
mod partitioned;
mod partitions;
mod pattern_histories;
mod patterns;
mod placement;
mod policy;
mod recorded;
mod recreated;
mod replaced;
mod routing;
mod runtimes;
mod same_names;
mod second_writer;
mod served;
mod spellings;
mod sweep;
mod throttle;
mod too_large;
mod unique;
mod unrest;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use table_core::runtime::Backoff;
use table_cosmos::Options;
use table_cosmos::emulator::Emulator;

use partitioned::Partitioned;
use unrest::Unrest;

/// Creates a runtime with two threads, because the emulator runs splits and merges as tasks.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Opens a store whose tables have `partitions` physical partitions.
async fn store(partitions: u32, options: Options) -> Partitioned {
    let emulator = Emulator::new(false).unwrap();
    let store = emulator.open(options).await.unwrap();
    Partitioned { emulator, store, partitions, unrest: None, mapped: None }
}

/// Returns options that allow enough attempts for a slow machine.
fn patient() -> Options {
    Options::new().retry_during_splits(
        100_000,
        Backoff { initial: Duration::from_millis(1), max: Duration::from_millis(5) },
    )
}

/// Opens a store whose partitions are split and merged between and during requests.
async fn restless() -> Partitioned {
    Partitioned { unrest: Some(Arc::new(Unrest::moves())), ..store(1, patient()).await }
}

/// Opens a store whose tables are another program's containers.
async fn mapped() -> Partitioned {
    Partitioned { mapped: Some(Arc::default()), ..store(4, Options::new()).await }
}

/// Opens a store whose requests are sometimes throttled.
async fn throttled() -> Partitioned {
    let emulator = Emulator::new(false).unwrap();
    let rules = unrest::throttling();
    let store = emulator.open_with_faults(Options::new(), rules.clone()).await.unwrap();
    let unrest = Some(Arc::new(Unrest::Throttles { calls: AtomicU32::new(0), rules }));
    Partitioned { emulator, store, partitions: 1, unrest, mapped: None }
}
