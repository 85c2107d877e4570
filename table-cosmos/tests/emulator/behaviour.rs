//! Tests that run every scenario of the behaviour suite: on 1, 4 and 64 physical partitions, during splits and merges, with throttling, and on another
//! program's containers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use table_core::TableStore;
use table_cosmos::Options;
use tests::suite;

use crate::deviations::DEVIATIONS;
use crate::partitioned::Partitioned;

/// The environment of a scenario.
#[derive(Clone, Copy, Debug)]
enum On {
    /// Containers with the given number of physical partitions.
    Partitions(u32),
    /// Containers whose partitions are split and merged between and during requests.
    Restless,
    /// Containers that respond to some requests with 429.
    Throttled,
    /// Another program's containers, accessed through a mapping.
    Mapped,
}

impl On {
    async fn store(self) -> Partitioned {
        match self {
            Self::Partitions(partitions) => crate::store(partitions, Options::new()).await,
            Self::Restless => crate::restless().await,
            Self::Throttled => crate::throttled().await,
            Self::Mapped => crate::mapped().await,
        }
    }
}

/// Runs a scenario. If the scenario is listed as a deviation, it must fail.
fn run<F: Future<Output = ()>>(name: &str, on: On, scenario: impl FnOnce(&'static Partitioned) -> F) {
    let deviation = DEVIATIONS.iter().find(|(deviant, ..)| *deviant == name);
    let runtime = crate::runtime();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let store = Box::leak(Box::new(on.store().await));
            scenario(store).await;
        });
    }));
    match (ran, deviation) {
        (Ok(()), None) | (Err(_), Some(_)) => {}
        (Ok(()), Some((_, rules, why))) => {
            panic!("{name} passes despite {rules} ({why}); remove it from the deviations")
        }
        (Err(panic), None) => std::panic::resume_unwind(panic),
    }
}

macro_rules! one { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        use super::super::{On, run, suite};
        run(concat!(stringify!($family), "::", stringify!($scenario)), On::Partitions(1), suite::$family::$scenario);
    }
)* } } }
macro_rules! four { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        use super::super::{On, run, suite};
        run(concat!(stringify!($family), "::", stringify!($scenario)), On::Partitions(4), suite::$family::$scenario);
    }
)* } } }
macro_rules! many { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        use super::super::{On, run, suite};
        run(concat!(stringify!($family), "::", stringify!($scenario)), On::Partitions(64), suite::$family::$scenario);
    }
)* } } }
macro_rules! restless { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        use super::super::{On, run, suite};
        run(concat!(stringify!($family), "::", stringify!($scenario)), On::Restless, suite::$family::$scenario);
    }
)* } } }
macro_rules! throttled { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        use super::super::{On, run, suite};
        run(concat!(stringify!($family), "::", stringify!($scenario)), On::Throttled, suite::$family::$scenario);
    }
)* } } }

macro_rules! mapped { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        use super::super::{On, run, suite};
        run(concat!(stringify!($family), "::", stringify!($scenario)), On::Mapped, suite::$family::$scenario);
    }
)* } } }

mod one_partition {
    tests::for_each_scenario!(one);
}

mod four_partitions {
    tests::for_each_scenario!(four);
}

mod sixty_four_partitions {
    tests::for_each_scenario!(many);
}

mod splits_and_merges {
    tests::for_each_scenario!(restless);
}

mod throttled {
    tests::for_each_scenario!(throttled);
}

mod mapped_containers {
    tests::for_each_scenario!(mapped);
}

/// Tests that the suite's requests actually encounter splits, merges and throttling.
#[test]
fn map_12_and_rty_1_the_scenarios_are_disturbed() {
    for on in [On::Restless, On::Throttled] {
        crate::runtime().block_on(async {
            let store = Box::leak(Box::new(on.store().await));
            suite::paging::page_3_and_4_pages_of_every_size_give_the_whole_answer_once(store).await;
            let unrest = store.unrest.as_ref().unwrap();
            assert!(unrest.count() >= 8, "{on:?}: {}", unrest.count());
            if let On::Restless = on {
                // When all splits and merges have completed, the container must no longer have its initial partitions.
                store.emulator.settled().await;
                let table = store.list_tables("", None, 10).await.unwrap().names.remove(0);
                let map = store.store.partitions(&table).await.unwrap();
                let live: Vec<_> = map.partitions().iter().map(|partition| partition.range.clone()).collect();
                assert!(live.len() > 1 && live == unrest.ranges(&table).await, "{live:?}");
            }
        });
    }
}
