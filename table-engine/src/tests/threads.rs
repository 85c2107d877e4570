//! Tests of an engine whose threads cannot be started.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::*;
use crate::threads::Scheduler;

/// A scheduler that uses system threads, but can start only the given number of them.
#[derive(Debug)]
struct FewThreads(AtomicUsize);

impl Scheduler for FewThreads {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn spawn(&self, _: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map_err(|_| ErrorKind::WouldBlock)?;
        thread::Builder::new().spawn(work)
    }

    fn pass(&self) {
        thread::yield_now();
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn wait(&self, at_most: Option<Duration>, ready: &mut dyn FnMut() -> bool) {
        let began = Instant::now();
        while !ready() && at_most.is_none_or(|time| began.elapsed() < time) {
            thread::yield_now();
        }
    }
}

#[test]
fn an_open_without_a_thread_names_the_thread() {
    let folder = tempfile::tempdir().unwrap();
    for (threads, name) in [(0, "tables-checkpoint"), (1, "tables-commit")] {
        let few = Arc::new(FewThreads(AtomicUsize::new(threads)));
        let error = EngineOptions::new().scheduler(few).open(folder.path()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Io, "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    // The folder is no longer locked.
    drop(EngineOptions::new().open(folder.path()).unwrap());
}
