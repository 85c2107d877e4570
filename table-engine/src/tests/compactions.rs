//! Tests that each compaction reports its own result instead of the result of an earlier compaction.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread::{self, JoinHandle};

use super::*;
use crate::failpoint::{Action, Hook, Step};
use crate::threads::Scheduler;

/// A scheduler that uses system threads, and counts how often the checkpoint thread has waited for a job.
#[derive(Debug, Default)]
struct CountsIdle(AtomicUsize);

impl Scheduler for CountsIdle {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().name(name.to_owned()).spawn(work)
    }

    fn pass(&self) {
        thread::yield_now();
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn wait(&self, _: Option<Duration>, ready: &mut dyn FnMut() -> bool) {
        if thread::current().name() == Some("tables-checkpoint") {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        while !ready() {
            thread::yield_now();
        }
    }
}

/// A gate at a step of the engine. While the gate is shut, the engine blocks at this step.
#[derive(Default)]
struct Door {
    is_shut: AtomicBool,
    is_reached: AtomicBool,
}

impl Door {
    fn shut(&self) {
        self.is_shut.store(true, Ordering::SeqCst);
    }

    fn open(&self) {
        self.is_shut.store(false, Ordering::SeqCst);
    }

    fn pass(&self) {
        while self.is_shut.load(Ordering::SeqCst) {
            self.is_reached.store(true, Ordering::SeqCst);
            thread::yield_now();
        }
    }

    fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::SeqCst)
    }
}

#[test]
fn a_compaction_is_not_answered_by_the_end_of_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let doors =
        Arc::new([Step::Freeze, Step::CheckpointWrite, Step::MergeCommit].map(|at| (at, Door::default())));
    let [(_, freeze), (_, flush), (_, merge)] = &*doors;
    let of_hook = doors.clone();
    let hook = Hook::new(move |step| {
        for (_, door) in of_hook.iter().filter(|(at, _)| *at == step) {
            door.pass();
        }
        Action::Continue
    });
    let threads = Arc::new(CountsIdle::default());
    let options = options().failpoints(hook).scheduler(threads.clone());
    let engine = with_table(options.open(folder.path()).unwrap());
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    write(&engine, "1", upsert(2)).unwrap();

    merge.shut();
    let mut first = pin!(engine.compact());
    let mut second = pin!(engine.compact());
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(cx).is_pending());
    eventually("the first compaction merges", || merge.is_reached());
    write(&engine, "1", delete()).unwrap();
    freeze.shut();
    flush.shut();
    assert!(second.as_mut().poll(cx).is_pending());
    eventually("the second checkpoint is about to begin", || freeze.is_reached());
    // The first compaction ends before the checkpoint thread receives the request for the second one.
    let idle = threads.0.load(Ordering::SeqCst);
    merge.open();
    eventually("the first compaction has ended", || threads.0.load(Ordering::SeqCst) > idle);
    freeze.open();
    wait(first).unwrap();
    write(&engine, "2", insert(2)).unwrap();
    let is_early = second.as_mut().poll(cx).is_ready();
    flush.open();
    assert!(!is_early, "the deletion is not in the base");
    wait(second).unwrap();
    let statistics = engine.statistics().unwrap();
    assert_eq!((statistics.deletions, statistics.runs), (0, 0), "{statistics:?}");
}
