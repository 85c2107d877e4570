//! The engine in memory against Azurite: random programs, every answer compared.
//!
//! `SEQUENCES` says how many (2,000), `FIRST_SEQUENCE` from which number on (0). A program is made of its number alone.

use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use pollster::block_on;
use table_azure::{AzureTables, Options, RetryPolicy};
use table_core::Engine;
use tests::differential::program::{Step, program};
use tests::differential::{run, smallest};

const STEPS: usize = 14;
const THREADS: usize = 8;

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect(name))
}

#[test]
fn the_engine_answers_as_azurite_does() {
    let Some(connection) = crate::azurite() else { return };
    // One attempt: what Azurite answers by 500 is to be seen. Its time is a bound that no slow machine meets.
    let retry = RetryPolicy { attempt: Duration::from_hours(1), ..RetryPolicy::NONE };
    let options = Options::new().retry(retry);
    let azurite = AzureTables::from_connection_string_with(&connection, options).unwrap();
    let engine = Engine::in_memory();
    let differs = |steps: &[Step]| block_on(run(&engine, &azurite, steps)).err();
    let (first, count) = (number("FIRST_SEQUENCE", 0), number("SEQUENCES", 2_000));
    let next = AtomicU64::new(first);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= first + count {
                return None;
            }
            let steps = program(number, STEPS);
            if let Some(difference) = differs(&steps) {
                next.store(u64::MAX / 2, Ordering::Relaxed);
                let (steps, difference) = smallest(steps, difference, differs);
                return Some(format!("sequence {number}: {difference}\nof {steps:?}"));
            }
        }
    };
    let found: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(found.is_empty(), "the engine on the left, Azurite on the right\n{}", found.join("\n\n"));
}
