//! Interleaves processes at random. Each process is a future that yields at each request.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A random number generator (`SplitMix64`) shared by all processes of a run.
#[derive(Clone)]
pub(crate) struct Random(Rc<RefCell<u64>>);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rc::new(RefCell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))))
    }

    fn next(&self) -> u64 {
        let mut state = self.0.borrow_mut();
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = *state;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        number ^ (number >> 31)
    }

    /// Returns a random number below `bound`, or 0 if `bound` is 0.
    pub(crate) fn below(&self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    /// Returns `true` with a probability of 1 in `times`.
    pub(crate) fn one_in(&self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// A process. Each poll runs it up to its next request.
pub(crate) type Process = Pin<Box<dyn Future<Output = ()>>>;

/// Ends the current request. Other processes can then run before the next request.
pub(crate) async fn give_way() {
    let mut is_first = true;
    poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
}

/// Runs a process up to its next request. Returns `true` if the process has ended.
pub(crate) fn step(process: &mut Process) -> bool {
    process.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Runs a process to its end.
pub(crate) fn finish(mut process: Process) {
    while !step(&mut process) {}
}

/// The processes of a run. Some of them run concurrently, and the others are paused.
pub(crate) struct Processes {
    pub(crate) random: Random,
    awake: Vec<Process>,
    asleep: Vec<Process>,
    /// Before each request, a running process pauses with a probability of 1 in this value. If it is `None`, running processes never pause.
    pauses: Option<usize>,
}

impl Processes {
    pub(crate) fn new(random: Random) -> Self {
        Self { random, awake: Vec::new(), asleep: Vec::new(), pauses: None }
    }

    /// Creates processes that pause before each request with a probability of 1 in `times`.
    pub(crate) fn pausing(random: Random, times: usize) -> Self {
        Self { pauses: Some(times), ..Self::new(random) }
    }

    /// Resumes a paused process.
    pub(crate) fn resume(&mut self, process: Process) {
        self.awake.push(process);
    }

    /// Starts a process. One in four processes pauses after a few requests.
    pub(crate) fn start(&mut self, mut process: Process) {
        if !self.random.one_in(4) {
            self.awake.push(process);
            return;
        }
        for _ in 0..=self.random.below(6) {
            if step(&mut process) {
                return;
            }
        }
        self.asleep.push(process);
    }

    /// Makes the given number of requests, each by a random running process.
    pub(crate) fn run(&mut self, requests: usize) {
        for _ in 0..requests {
            if self.awake.is_empty() {
                return;
            }
            let at = self.random.below(self.awake.len());
            if self.pauses.is_some_and(|times| self.random.one_in(times)) {
                self.asleep.push(self.awake.swap_remove(at));
                continue;
            }
            if self.awake.get_mut(at).is_some_and(step) {
                drop(self.awake.swap_remove(at));
            }
        }
    }

    /// Runs all running processes until they end. Paused processes stay paused.
    pub(crate) fn run_to_end(&mut self) {
        while !self.awake.is_empty() {
            self.run(1);
        }
    }

    /// Returns some of the paused processes, in random order. The caller resumes them. The others are never resumed.
    pub(crate) fn sleepers(&mut self) -> Vec<Process> {
        let mut asleep = std::mem::take(&mut self.asleep);
        let mut woken = Vec::new();
        while !asleep.is_empty() {
            let process = asleep.swap_remove(self.random.below(asleep.len()));
            if !self.random.one_in(4) {
                woken.push(process);
            }
        }
        woken
    }
}
