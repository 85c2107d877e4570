//! Runs an operation repeatedly on concurrent connections and measures the time of each run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::harness::Rate;

/// The results of a load: the rate, and the time of each operation.
#[derive(Debug)]
pub struct Done {
    /// The number of operations and the total elapsed time.
    pub rate: Rate,
    /// The time of each operation in microseconds, in ascending order.
    pub micros: Vec<u32>,
}

impl Done {
    /// Returns the latency within which `per_thousand` out of every thousand operations completed.
    #[must_use]
    pub fn quantile(micros: &[u32], per_thousand: usize) -> u32 {
        micros
            .get((micros.len() * per_thousand / 1_000).min(micros.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0)
    }
}

/// Repeats `operation` on the given number of concurrent connections for about the given time. `open` creates the worker for a connection.
pub fn run<W>(
    connections: usize,
    time: Duration,
    open: impl Fn(usize) -> Outcome<W> + Sync,
    operation: impl Fn(&mut W) -> Outcome<()> + Sync,
) -> Outcome<Done>
where
    W: Send,
{
    let mut workers = (0..connections).map(&open).collect::<Outcome<Vec<_>>>()?;
    let start = Instant::now();
    let parts = thread::scope(|scope| {
        let operation = &operation;
        let threads: Vec<_> = workers
            .iter_mut()
            .map(|worker| {
                scope.spawn(move || -> Outcome<Vec<u32>> {
                    let mut micros = Vec::with_capacity(1 << 14);
                    let mut last = start.elapsed();
                    while last < time {
                        operation(worker)?;
                        let now = start.elapsed();
                        micros.push(u32::try_from(now.saturating_sub(last).as_micros()).unwrap_or(u32::MAX));
                        last = now;
                    }
                    Ok(micros)
                })
            })
            .collect();
        let join =
            |thread: thread::ScopedJoinHandle<'_, _>| thread.join().map_err(|_| "a connection panicked")?;
        threads.into_iter().map(join).collect::<Outcome<Vec<Vec<u32>>>>()
    })?;
    let elapsed = start.elapsed();
    let mut micros = parts.concat();
    micros.sort_unstable();
    Ok(Done { rate: Rate { operations: micros.len() as u64, elapsed }, micros })
}

/// Distributes the items in `pieces` among connections and processes all of them.
pub fn share<P: Sync, W: Send>(
    connections: usize,
    pieces: &[P],
    operation: impl Fn(&mut W, &P) -> Outcome<()> + Sync,
    open: impl Fn() -> Outcome<W> + Sync,
) -> Outcome<()> {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let work = || -> Outcome<()> {
            let mut worker = open()?;
            while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                operation(&mut worker, piece)?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a connection panicked")?)
    })
}
