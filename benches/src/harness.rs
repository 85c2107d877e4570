//! Measures contenders in turn, and records their rates in every round. A contender is a storage library or a client, with a workload.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::Outcome;

/// A function that runs a contender's workload for about the given time. It returns the number of operations and the elapsed time.
pub type Round<'a> = Box<dyn FnMut(Duration) -> Outcome<Rate> + 'a>;

/// A number of operations and the time they took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The number of operations.
    pub operations: u64,
    /// The time the operations took.
    pub elapsed: Duration,
}

impl Rate {
    /// Returns the number of operations per second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown with three digits")]
    pub fn per_second(self) -> f64 {
        self.operations as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// A contender: the name of a storage library and the work it performs in a round.
pub struct Contender<'a> {
    name: &'static str,
    round: Round<'a>,
}

impl<'a> Contender<'a> {
    /// Creates a contender from a name and the work of one round.
    pub fn new(name: &'static str, round: impl FnMut(Duration) -> Outcome<Rate> + 'a) -> Self {
        Self { name, round: Box::new(round) }
    }
}

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contender").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The results of one contender, with its rate in each round.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of the contender.
    pub name: &'static str,
    /// The number of operations per second in each round.
    rates: Vec<f64>,
}

impl Figure {
    /// Creates a figure from the name of a contender and its rate in each round.
    #[must_use]
    pub const fn new(name: &'static str, rates: Vec<f64>) -> Self {
        Self { name, rates }
    }

    /// Returns the median rate of all rounds.
    #[must_use]
    pub fn median(&self) -> f64 {
        median(self.rates.clone())
    }

    /// Returns the ratio to another figure: the median of the ratios in all rounds. The median is used because other load on the machine affects all contenders
    /// of a round.
    ///
    /// If the figures have different numbers of rounds, returns the ratio of their medians.
    ///
    /// ```
    /// use benches::harness::Figure;
    ///
    /// // The machine got slower in the third round, between the two: the ratio of the medians would be four.
    /// let (ours, peer) = (Figure::new("ours", vec![8., 8., 8., 4., 4.]), Figure::new("peer", vec![4., 4., 2., 2., 2.]));
    /// assert!((ours.times(&peer) - 2.).abs() < 1e-9);
    /// ```
    #[must_use]
    pub fn times(&self, other: &Self) -> f64 {
        if self.rates.len() == other.rates.len() {
            median(self.rates.iter().zip(&other.rates).map(|(ours, others)| ours / others).collect())
        } else {
            self.median() / other.median()
        }
    }

    /// Returns the rate of the slowest round.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.rates.iter().copied().reduce(f64::min).unwrap_or(f64::NAN)
    }

    /// Returns the rate of the fastest round.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.rates.iter().copied().reduce(f64::max).unwrap_or(f64::NAN)
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let at = |index: usize| numbers.get(index).copied().unwrap_or(f64::NAN);
    if numbers.len().is_multiple_of(2) {
        f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
    } else {
        at(middle)
    }
}

/// Measures contenders in turn. Runs one short warm-up round for each of them, and then the given number of rounds. Each round starts with a different
/// contender.
pub fn alternate(mut contenders: Vec<Contender<'_>>, rounds: usize, time: Duration) -> Outcome<Vec<Figure>> {
    for contender in &mut contenders {
        (contender.round)(time / 4)?;
    }
    let mut rates = vec![Vec::new(); contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let index = (round + turn) % contenders.len();
            if let (Some(contender), Some(rates)) = (contenders.get_mut(index), rates.get_mut(index)) {
                rates.push((contender.round)(time)?.per_second());
            }
        }
    }
    Ok(contenders.iter().zip(rates).map(|(contender, rates)| Figure::new(contender.name, rates)).collect())
}

/// Repeats an operation for about the given time. The clock is read after every `batch` operations.
pub fn repeat<T>(time: Duration, batch: u32, mut operation: impl FnMut() -> Outcome<T>) -> Outcome<Rate> {
    let start = Instant::now();
    let mut operations = 0;
    loop {
        for _ in 0..batch {
            black_box(operation()?);
        }
        operations += u64::from(batch);
        let elapsed = start.elapsed();
        if elapsed >= time {
            return Ok(Rate { operations, elapsed });
        }
    }
}

/// Repeats an operation like [`repeat`], but counts only the CPU time of the thread. Other load on the machine then slows all contenders equally.
///
/// The operation must never block, because the time for which the thread is blocked does not count.
pub fn repeat_busy<T>(time: Duration, batch: u32, operation: impl FnMut() -> Outcome<T>) -> Outcome<Rate> {
    let before = busy();
    let rate = repeat(time, batch, operation)?;
    let elapsed = before.zip(busy()).and_then(|(before, after)| after.checked_sub(before));
    Ok(Rate { elapsed: elapsed.filter(|elapsed| !elapsed.is_zero()).unwrap_or(rate.elapsed), ..rate })
}

/// Returns the CPU time that this thread has used since it started. Returns `None` if the system does not report it.
fn busy() -> Option<Duration> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    line.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Repeats `operation` concurrently on the given number of threads for about the given time.
pub fn crowd(threads: usize, time: Duration, operation: impl Fn() -> Outcome<()> + Sync) -> Outcome<Rate> {
    let (over, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> Outcome<()> {
            while !over.load(Ordering::Relaxed) {
                operation()?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        std::thread::sleep(time);
        // Operations are counted before the threads end. The last operation of each thread is therefore neither counted nor timed.
        let rate = Rate { operations: done.load(Ordering::Relaxed), elapsed: start.elapsed() };
        over.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().map_err(|_| "a writer panicked")??;
        }
        Ok(rate)
    })
}

/// Repeats `operation` concurrently in the given number of tasks for about the given time. The runtime has one thread per core, as in an application.
pub fn crowd_of_tasks<F>(
    tasks: usize,
    time: Duration,
    operation: impl Fn() -> F + Clone + Send + 'static,
) -> Outcome<Rate>
where
    F: Future<Output = Outcome<()>> + Send,
{
    let counts = Arc::new((AtomicBool::new(false), AtomicU64::new(0)));
    let runtime = Runtime::new()?;
    let start = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..tasks {
        let (operation, counts) = (operation.clone(), Arc::clone(&counts));
        let work = async move {
            while !counts.0.load(Ordering::Relaxed) {
                operation().await?;
                counts.1.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        running.spawn_on(work, runtime.handle());
    }
    std::thread::sleep(time);
    let rate = Rate { operations: counts.1.load(Ordering::Relaxed), elapsed: start.elapsed() };
    counts.0.store(true, Ordering::Relaxed);
    let ended = runtime.block_on(running.join_all());
    ended.into_iter().collect::<Outcome<()>>()?;
    Ok(rate)
}
