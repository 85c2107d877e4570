//! The timer behind the default sleep function. One thread per process wakes all sleeping tasks.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use std::{io, mem, process, thread};

/// The thread exits once its queue has been empty for this long.
const IDLE: Duration = Duration::from_secs(10);

/// The longest time that a poll blocks its thread. A poll blocks only if the timer's thread cannot be started.
const NAP: Duration = Duration::from_millis(1);

/// The timer of the process.
static TIMER: Timer = Timer::new(start, IDLE);

/// A queue of sleeping tasks, and the thread that wakes them.
pub(super) struct Timer {
    queue: Mutex<Queue>,
    /// Notified when the timer's thread must wake earlier, because a new sleep ends before all other sleeps.
    changed: Condvar,
    /// The number of sleeps created so far.
    sleeps: AtomicU64,
    start: fn(&'static Self) -> io::Result<()>,
    idle: Duration,
}

/// The key of a sleep in the queue. It contains the end of the sleep, and a number that distinguishes sleeps with the same end.
type Place = (Instant, u64);

struct Queue {
    wakers: BTreeMap<Place, Waker>,
    /// The ID of the process whose thread wakes the tasks, or `None` if no thread is running. A forked process has a copy of this value, but not of the thread.
    thread_of: Option<u32>,
    /// The number of the sleep that last blocked its thread, and the end of that nap.
    nap: Option<(u64, Instant)>,
}

/// Starts a timer's thread.
fn start(timer: &'static Timer) -> io::Result<()> {
    thread::Builder::new().name("tables-timer".to_owned()).spawn(|| timer.run()).map(drop)
}

impl Timer {
    const fn new(start: fn(&'static Self) -> io::Result<()>, idle: Duration) -> Self {
        let queue = Queue { wakers: BTreeMap::new(), thread_of: None, nap: None };
        Self { queue: Mutex::new(queue), changed: Condvar::new(), sleeps: AtomicU64::new(0), start, idle }
    }

    /// Creates a sleep that ends after the given time.
    fn sleep(&'static self, time: Duration) -> Sleep {
        let number = self.sleeps.fetch_add(1, Ordering::Relaxed);
        let place = Instant::now().checked_add(time).map(|end| (end, number));
        Sleep { timer: self, place, is_queued: false }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a sleep to the queue, or replaces its waker. If no timer thread is running and none can be started, the waker is returned.
    fn enter(&'static self, place: Place, waker: Waker) -> Result<(), Waker> {
        let mut queue = self.lock();
        if queue.thread_of.is_none_or(|id| id != process::id()) {
            if !queue.may_nap(place.1) {
                return Err(waker);
            }
            // IMPORTANT: the lock is held until the thread is known to run. Otherwise, other sleeps would rely on a thread that never starts.
            if (self.start)(self).is_err() {
                let nap = NAP.min(place.0.saturating_duration_since(Instant::now()));
                queue.nap = Some((place.1, Instant::now() + nap));
                drop(queue);
                thread::sleep(nap);
                return Err(waker);
            }
            queue.thread_of = Some(process::id());
        }
        let replaced = queue.wakers.insert(place, waker);
        let is_next = queue.wakers.first_key_value().is_some_and(|(first, _)| *first == place);
        drop(queue);
        if replaced.is_none() && is_next {
            self.changed.notify_one();
        }
        // IMPORTANT: wakers are dropped after the lock is released, because dropping one may drop a task that contains further sleeps.
        drop(replaced);
        Ok(())
    }

    /// Removes a sleep from the queue.
    fn leave(&self, place: Place) {
        let waker = self.lock().wakers.remove(&place);
        drop(waker);
    }

    /// Wakes the tasks whose sleeps have ended. Returns once the queue has been empty for the idle time.
    fn run(&self) {
        while let Some(due) = self.due() {
            for waker in due {
                // The tasks are independent of each other, so even if one waker panics, the others must still be called.
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                    // Dropping the payload could cause a second panic.
                    mem::forget(payload);
                }
            }
        }
    }

    /// Waits for the next sleep to end, and returns the wakers of all ended sleeps, with the earliest end first. Returns `None` once the queue has been empty
    /// for the idle time.
    fn due(&self) -> Option<Vec<Waker>> {
        let mut queue = self.lock();
        let mut was_idle = false;
        loop {
            let now = Instant::now();
            let mut due = Vec::new();
            while let Some(first) = queue.wakers.first_entry().filter(|first| first.key().0 <= now) {
                due.push(first.remove());
            }
            if !due.is_empty() {
                return Some(due);
            }
            let next = queue.wakers.first_key_value().map(|((end, _), _)| end.saturating_duration_since(now));
            if next.is_none() && was_idle {
                queue.thread_of = None;
                return None;
            }
            let waited = self.changed.wait_timeout(queue, next.unwrap_or(self.idle));
            let (locked, end) = waited.unwrap_or_else(PoisonError::into_inner);
            (queue, was_idle) = (locked, next.is_none() && end.timed_out());
        }
    }
}

impl Queue {
    /// Returns `true` if the sleep with the given number may block its thread for a nap.
    ///
    /// In each round of polls, only one of an executor's sleeps naps. The other tasks are therefore polled about once per nap, regardless of the number of
    /// sleeping tasks.
    fn may_nap(&self, number: u64) -> bool {
        self.nap.is_none_or(|(last, end)| last == number || end.elapsed() >= NAP)
    }
}

/// A future that completes after a given time. The timer's thread wakes its task.
///
/// If no thread can be started, for example in a container with a limit on processes, the task wakes itself and is polled repeatedly. Each poll tries to start
/// the thread again. If this fails, the poll blocks for at most [`NAP`], so the executor's other tasks can proceed.
pub(super) struct Sleep {
    timer: &'static Timer,
    /// The key in the queue. It is `None` if the end cannot be represented. The sleep then never ends.
    place: Option<Place>,
    is_queued: bool,
}

impl Sleep {
    /// Creates a sleep that begins now.
    pub(super) fn new(time: Duration) -> Self {
        TIMER.sleep(time)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(place) = self.place else { return Poll::Pending };
        if Instant::now() >= place.0 {
            return Poll::Ready(());
        }
        self.is_queued = true;
        if let Err(waker) = self.timer.enter(place, context.waker().clone()) {
            waker.wake();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(place) = self.place.filter(|_| self.is_queued) {
            self.timer.leave(place);
        }
    }
}

#[cfg(test)]
mod tests;
