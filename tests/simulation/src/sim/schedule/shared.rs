//! Adapts the scheduler to the interface of the engine.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use table_core::embedded::testing::Scheduler;

use super::{Doing, Schedule};

/// The scheduler as seen by the engine.
#[derive(Debug)]
pub(in crate::sim) struct Shared(pub(in crate::sim) Arc<Schedule>);

impl Scheduler for Shared {
    fn now(&self) -> Instant {
        self.0.began + self.0.elapsed()
    }

    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        let number = self.0.inner().add(name);
        self.0.note(("spawn", name));
        let schedule = Arc::clone(&self.0);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            schedule.begin(number);
            // The engine itself detects that its thread has panicked. The panic is caught here, because the next thread must still get its turn.
            let _ = catch_unwind(AssertUnwindSafe(work));
            schedule.end();
        })
    }

    fn pass(&self) {
        let mut inner = self.0.call();
        inner.now += Duration::from_micros(1);
        inner.doings += 1;
        Schedule::give_turn(inner);
    }

    fn sleep(&self, time: Duration) {
        let mut inner = self.0.call();
        inner.doings += 1;
        let until = inner.now + time;
        drop(inner);
        self.0.go_on_as(Doing::Sleeping(until));
    }

    fn wait(&self, at_most: Option<Duration>, ready: &mut dyn FnMut() -> bool) {
        let until = {
            let mut inner = self.0.inner();
            inner.doings += 1;
            at_most.map(|time| inner.now + time)
        };
        loop {
            // Other threads may make progress while `ready` runs.
            let seen = self.0.call().doings;
            if ready() || until.is_some_and(|until| until <= self.0.elapsed()) {
                return;
            }
            self.0.go_on_as(Doing::Waiting { seen, until });
        }
    }
}
