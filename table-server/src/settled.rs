//! Connections that wake themselves.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Polls in a row, before other tasks have their turn.
const TURNS: usize = 4;

/// The same future, polled again at once when it woke itself in its poll.
///
/// hyper hands a body from one part of a connection to another, and each wakes the task in which both run. For such a wake the runtime
/// wakes another of its threads as well, which finds nothing to do: that costs as much as a fifth of an insert.
pub(crate) async fn settled<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let own = Arc::new(Wakes(Mutex::new(State::Woken)));
    let waker = Waker::from(Arc::clone(&own));
    std::future::poll_fn(|context| own.poll(&waker, future.as_mut(), context)).await
}

/// What wakes the future, and the task that it is part of.
struct Wakes(Mutex<State>);

enum State {
    /// A wake goes on to the task.
    Asleep(Waker),
    Running,
    /// The task is awake, or the future is polled again.
    Woken,
}

impl Wakes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll<F: Future>(
        &self,
        waker: &Waker,
        mut future: Pin<&mut F>,
        task: &mut Context<'_>,
    ) -> Poll<F::Output> {
        for _ in 0..TURNS {
            *self.state() = State::Running;
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(output);
            }
            let mut state = self.state();
            if matches!(*state, State::Running) {
                *state = State::Asleep(task.waker().clone());
                return Poll::Pending;
            }
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        let before = std::mem::replace(&mut *self.state(), State::Woken);
        if let State::Asleep(task) = before {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls once, and gives what came of it and how often the task was woken so far.
    fn poll<F: Future>(future: Pin<&mut F>, task: &Arc<Task>) -> (Poll<F::Output>, usize) {
        let waker = Waker::from(Arc::clone(task));
        (future.poll(&mut Context::from_waker(&waker)), task.0.load(Ordering::Relaxed))
    }

    /// Ready at a poll, and before it awake again within each.
    fn ready_at(last: usize) -> impl Future<Output = usize> {
        let mut polls = 0;
        poll_fn(move |context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls == last { Poll::Ready(polls) } else { Poll::Pending }
        })
    }

    #[test]
    fn a_future_that_wakes_itself_goes_on_without_its_task() {
        let task = Arc::default();
        assert_eq!(poll(pin!(settled(ready_at(TURNS))), &task), (Poll::Ready(TURNS), 0));
    }

    #[test]
    fn a_future_that_wakes_itself_for_ever_lets_others_run() {
        let (task, mut future) = (Arc::default(), pin!(settled(ready_at(2 * TURNS + 1))));
        for woken in 1..=2 {
            assert_eq!(poll(future.as_mut(), &task), (Poll::Pending, woken));
        }
        assert_eq!(poll(future, &task), (Poll::Ready(2 * TURNS + 1), 2));
    }

    #[test]
    fn a_wake_from_elsewhere_wakes_the_task_once() {
        let (task, kept) = (Arc::default(), Mutex::new(None::<Waker>));
        let mut future = pin!(settled(poll_fn(|context| {
            let first = kept.lock().unwrap().replace(context.waker().clone()).is_none();
            if first { Poll::Pending } else { Poll::Ready(()) }
        })));
        assert_eq!(poll(future.as_mut(), &task), (Poll::Pending, 0));
        for _ in 0..2 {
            kept.lock().unwrap().as_ref().unwrap().wake_by_ref();
        }
        assert_eq!(poll(future, &task), (Poll::Ready(()), 1));
    }
}
