//! Runs random programs on the engine and on the reference model, and compares the results.

use std::num::{NonZeroU32, NonZeroUsize};

use proptest::prelude::*;
use table_core::embedded::{Engine, EngineOptions, FaultInjection};
use tempfile::TempDir;
use tests::ModelStore;
use tests::compare::{InMemory, Subject, run};
use tests::effort::effort;
use tests::random::program;

/// Returns the number of random programs to run.
fn cases(count: u64) -> u32 {
    u32::try_from(effort(count)).unwrap_or(u32::MAX)
}

/// An engine on disk that makes a checkpoint every few kilobytes.
struct OnDisk {
    engine: Option<Engine>,
    folder: TempDir,
}

impl OnDisk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { engine: Some(Self::open(&folder)), folder }
    }

    fn open(folder: &TempDir) -> Engine {
        Engine::builder().checkpoint_bytes(2_048).memtable_bytes(8_192).open(folder.path()).unwrap()
    }
}

impl Subject for OnDisk {
    type Store = Engine;

    fn store(&self) -> &Engine {
        self.engine.as_ref().expect("open")
    }

    fn reopen(&mut self, orderly: bool) {
        let engine = self.engine.take().expect("open");
        if orderly {
            pollster::block_on(engine.close()).unwrap();
        } else {
            drop(engine);
        }
        self.engine = Some(Self::open(&self.folder));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_000), max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_in_memory_agrees_with_the_model(program in program(60)) {
        run(&mut InMemory(Engine::in_memory()), &program);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(250), ..ProptestConfig::default() })]

    #[test]
    fn page_4_and_13_empty_and_short_pages_agree_with_the_model(program in program(60)) {
        let faults = FaultInjection {
            empty_page_every: NonZeroU32::new(3),
            page_entities: NonZeroUsize::new(2),
            partition_pages: true,
            ..FaultInjection::default()
        };
        run(&mut InMemory(EngineOptions::new().faults(faults).in_memory()), &program);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn con_1_the_engine_on_disk_agrees_with_the_model_across_restarts(program in program(80)) {
        run(&mut OnDisk::new(), &program);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    /// Tests that two instances of the model return equal results.
    #[test]
    fn the_model_agrees_with_itself(program in program(60)) {
        run(&mut InMemory(ModelStore::new()), &program);
    }
}
