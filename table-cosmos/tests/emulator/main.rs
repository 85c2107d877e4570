//! The store on the vendor's in-memory emulator: the behaviour suite on 1, 4 and 64 physical partitions, levels and routing, splits and
//! merges, throttling.

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

mod behaviour;
mod catalogue;
mod deviations;
mod doubts;
mod foreign;
mod levels;
mod moving;
mod order;
mod partitioned;
mod patterns;
mod recorded;
mod routing;

use table_cosmos::Options;
use table_cosmos::emulator::Emulator;

use partitioned::Partitioned;

/// A runtime of two threads: the emulator's splits and merges are tasks of their own.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A store whose tables have so many physical partitions.
async fn store(partitions: u32, options: Options) -> Partitioned {
    let emulator = Emulator::new(false).unwrap();
    let store = emulator.open(options).await.unwrap();
    Partitioned { emulator, store, partitions }
}
