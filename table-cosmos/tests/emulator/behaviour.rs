//! Every scenario of the behaviour suite, on 1, 4 and 64 physical partitions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use table_cosmos::Options;
use tests::suite;

use crate::deviations::DEVIATIONS;
use crate::partitioned::Partitioned;

/// Runs a scenario, and holds it to failing where it is said to.
fn run<F: Future<Output = ()>>(
    name: &str,
    partitions: u32,
    scenario: impl FnOnce(&'static Partitioned) -> F,
) {
    let deviation = DEVIATIONS.iter().find(|(deviant, ..)| *deviant == name);
    let runtime = crate::runtime();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let store = Box::leak(Box::new(crate::store(partitions, Options::new()).await));
            scenario(store).await;
        });
    }));
    match (ran, deviation) {
        (Ok(()), None) | (Err(_), Some(_)) => {}
        (Ok(()), Some((_, rules, why))) => {
            panic!("{name} holds by now, in spite of {rules}: {why}: strike it")
        }
        (Err(panic), None) => std::panic::resume_unwind(panic),
    }
}

macro_rules! one { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        super::super::run(concat!(stringify!($family), "::", stringify!($scenario)), 1, crate::behaviour::suite::$family::$scenario);
    }
)* } } }
macro_rules! four { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        super::super::run(concat!(stringify!($family), "::", stringify!($scenario)), 4, crate::behaviour::suite::$family::$scenario);
    }
)* } } }
macro_rules! many { ($family:ident, [$($scenario:ident,)*]) => { mod $family { $(
    #[test]
    fn $scenario() {
        super::super::run(concat!(stringify!($family), "::", stringify!($scenario)), 64, crate::behaviour::suite::$family::$scenario);
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
