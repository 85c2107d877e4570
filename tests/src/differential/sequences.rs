//! Runs many random programs on two stores, some of them concurrently.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use pollster::block_on;
use table_core::TableStore;

use super::program::{Step, program};
use super::{run, smallest};

const STEPS: usize = 14;
const THREADS: usize = 8;

/// Runs the programs with the given numbers on both stores. The stores must not be used for anything else in the meantime. Calls `done` with the number of
/// programs started so far.
///
/// Returns the differences. Each has the number of its program, and the smallest program that shows it. After the first difference, no further programs are
/// started.
///
/// ```
/// use table_core::Engine;
/// use tests::differential::sequences;
///
/// let found = sequences(&Engine::in_memory(), &Engine::in_memory(), 7..9, |_| ());
/// assert!(found.is_empty());
/// ```
pub fn sequences<A: TableStore, B: TableStore>(
    left: &A,
    right: &B,
    numbers: Range<u64>,
    done: impl Fn(u64) + Sync,
) -> Vec<String> {
    let differs = |steps: &[Step]| block_on(run(left, right, steps)).err();
    let next = AtomicU64::new(numbers.start);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if !numbers.contains(&number) {
                return None;
            }
            done(number - numbers.start);
            let steps = program(number, STEPS);
            if let Some(difference) = differs(&steps) {
                next.store(numbers.end, Ordering::Relaxed);
                let (steps, difference) = smallest(steps, difference, differs);
                return Some(format!("sequence {number}: {difference}\nof {steps:?}"));
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        // The message of the panic has already been printed.
        let ended = |worker: thread::ScopedJoinHandle<'_, Option<String>>| {
            worker.join().unwrap_or_else(|_| Some("a program made its thread panic, see above".to_owned()))
        };
        workers.into_iter().filter_map(ended).collect()
    })
}
