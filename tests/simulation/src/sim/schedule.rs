//! The scheduler of a simulated history. It controls time, and runs one thread at a time. A random generator with a seed for the history chooses the thread.

mod shared;
mod turn;

use std::cell::Cell;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::testing::Scheduler;

pub(super) use shared::Shared;
use turn::Turn;

thread_local! {
    /// The number of the current thread within its history.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The maximum number of calls in a history. It is a hundred times the number in the longest known history. A history that exceeds it is probably in an endless
/// loop.
const CALLS: u64 = 1_000_000;

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// The thread can run.
    Ready,
    /// The thread waits for other threads. It has seen the given number of events, and continues at the given time at the latest.
    Waiting {
        seen: u64,
        until: Option<Duration>,
    },
    /// The thread continues at the given time.
    Sleeping(Duration),
    Ended,
}

struct Actor {
    name: String,
    doing: Doing,
    turn: Arc<Turn>,
    /// The weight of this thread when the scheduler chooses the next one.
    weight: u32,
}

struct Inner {
    random: StdRng,
    actors: Vec<Actor>,
    now: Duration,
    /// The number of events so far for which another thread may have been waiting.
    doings: u64,
    /// On average, one in `switch` calls lets another thread run first.
    switch: u32,
    trace: DefaultHasher,
    /// The total number of calls by all threads.
    calls: u64,
    /// `true` if every thread is waiting for another one.
    stalled: bool,
}

/// The scheduler of a history. The first thread of the history creates it.
pub(super) struct Schedule {
    began: Instant,
    inner: Mutex<Inner>,
    /// The callback that receives the reason why the history cannot continue.
    stall: Box<dyn Fn(&str) + Send + Sync>,
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schedule")
    }
}

impl Schedule {
    pub(super) fn new(seed: u64, stall: impl Fn(&str) + Send + Sync + 'static) -> Arc<Self> {
        let mut random = StdRng::seed_from_u64(seed);
        let switch = [2, 4, 16, 200][random.random_range(0..4)];
        let inner = Inner {
            random,
            actors: Vec::new(),
            now: Duration::ZERO,
            doings: 0,
            switch,
            trace: DefaultHasher::new(),
            calls: 0,
            stalled: false,
        };
        let schedule =
            Arc::new(Self { began: Instant::now(), inner: Mutex::new(inner), stall: Box::new(stall) });
        schedule.inner().add("callers");
        Self::become_thread(0);
        schedule
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the scheduler for a call by a thread. If too many calls have been made, reports this, and blocks the thread forever.
    fn call(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner();
        inner.calls += 1;
        if inner.calls > CALLS {
            let who = inner.actors.get(NUMBER.get()).map(|actor| actor.name.clone()).unwrap_or_default();
            drop(inner);
            self.leave_behind(&format!("{CALLS} calls have no end; the last one is of {who}"));
        }
        inner
    }

    /// Returns the total number of calls by all threads.
    pub(super) fn calls(&self) -> u64 {
        self.inner().calls
    }

    /// Reports why the history cannot continue, and blocks the calling thread forever.
    fn leave_behind(&self, why: &str) -> ! {
        (self.stall)(why);
        loop {
            thread::park();
        }
    }

    /// Records an event. Two histories are equal if they have recorded the same events.
    pub(super) fn note(&self, what: impl Hash) {
        let mut inner = self.inner();
        (NUMBER.get(), what).hash(&mut inner.trace);
    }

    /// Returns a hash of all recorded events.
    pub(super) fn trace(&self) -> u64 {
        self.inner().trace.finish()
    }

    /// Returns the time passed in the history.
    pub(super) fn elapsed(&self) -> Duration {
        self.inner().now
    }

    /// Records an event for which another thread may be waiting.
    pub(super) fn did(&self) {
        self.inner().doings += 1;
    }

    /// Lets time pass, and possibly lets other threads run first.
    pub(super) fn step(&self, time: Duration) {
        let mut inner = self.call();
        inner.now += time;
        // The engine never waits for a step of a caller. Only the steps of the engine's threads therefore count as events.
        inner.doings += u64::from(NUMBER.get() > 0);
        let switch = inner.switch;
        if inner.random.random_ratio(1, switch) {
            Self::give_turn(inner);
        }
    }

    /// Lets another thread run. Returns when it is the turn of the calling thread again.
    fn give_turn(mut inner: MutexGuard<'_, Inner>) {
        let (next, me) = (inner.choose(), NUMBER.get());
        if next != me {
            let (others, own) = (Arc::clone(&inner.actors[next].turn), Arc::clone(&inner.actors[me].turn));
            drop(inner);
            others.give();
            own.take();
        }
    }

    fn go_on_as(&self, doing: Doing) {
        let mut inner = self.inner();
        inner.actors[NUMBER.get()].doing = doing;
        Self::give_turn(inner);
        let mut inner = self.inner();
        inner.actors[NUMBER.get()].doing = Doing::Ready;
        if inner.stalled && NUMBER.get() == 0 {
            let all: Vec<_> =
                inner.actors.iter().map(|actor| format!("{}: {:?}", actor.name, actor.doing)).collect();
            drop(inner);
            self.leave_behind(&format!("everyone waits for another: {}", all.join(", ")));
        }
    }

    /// Waits for a future that sends requests. Other threads run in the meantime.
    pub(super) fn block_on<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> T {
        let (mut future, mut outcome) = (pin!(future), None);
        let mut poll = || {
            if let Poll::Ready(ready) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                outcome = Some(ready);
            }
            outcome.is_some()
        };
        let is_ready = poll();
        self.did();
        if !is_ready {
            Shared(Arc::clone(self)).wait(None, &mut poll);
        }
        outcome.unwrap_or_else(|| unreachable!("the future of this history has ended"))
    }

    fn become_thread(number: usize) {
        NUMBER.set(number);
    }

    fn begin(&self, number: usize) {
        Self::become_thread(number);
        let turn = Arc::clone(&self.inner().actors[number].turn);
        turn.take();
    }

    fn end(&self) {
        let mut inner = self.inner();
        inner.actors[NUMBER.get()].doing = Doing::Ended;
        inner.doings += 1;
        let next = inner.choose();
        let turn = Arc::clone(&inner.actors[next].turn);
        drop(inner);
        turn.give();
    }
}

impl Inner {
    fn add(&mut self, name: &str) -> usize {
        let weight = [1, 4, 16][self.random.random_range(0..3)];
        let (name, turn) = (name.to_owned(), Arc::default());
        self.actors.push(Actor { name, doing: Doing::Ready, turn, weight });
        self.actors.len() - 1
    }

    /// Chooses the next thread. If all threads are waiting, advances the time until one can continue. If no thread ever can, the callers receive an error.
    fn choose(&mut self) -> usize {
        loop {
            let (now, doings) = (self.now, self.doings);
            let can = |actor: &Actor| match actor.doing {
                Doing::Ready => true,
                Doing::Waiting { seen, until } => seen < doings || until.is_some_and(|until| until <= now),
                Doing::Sleeping(until) => until <= now,
                Doing::Ended => false,
            };
            let weight = |actor: &Actor| if can(actor) { actor.weight } else { 0 };
            let all: u32 = self.actors.iter().map(weight).sum();
            if all > 0 {
                let mut drawn = self.random.random_range(0..all);
                for (number, actor) in self.actors.iter().enumerate() {
                    let weight = weight(actor);
                    if drawn < weight {
                        return number;
                    }
                    drawn -= weight;
                }
            }
            let until = self.actors.iter().filter_map(|actor| match actor.doing {
                Doing::Waiting { until, .. } => until,
                Doing::Sleeping(until) => Some(until),
                _ => None,
            });
            let Some(until) = until.min() else {
                self.stalled = true;
                return 0;
            };
            self.now = self.now.max(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn an_endless_loop_is_reported() {
        let (report, heard) = mpsc::channel();
        thread::spawn(move || {
            let schedule = Schedule::new(1, move |why| report.send(why.to_owned()).unwrap());
            loop {
                schedule.step(Duration::from_micros(1));
            }
        });
        assert!(heard.recv().unwrap().contains("calls have no end; the last one is of callers"));
    }
}
