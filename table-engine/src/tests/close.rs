//! Tests that a read during a close returns either the correct result or `EngineClosed`, and that every close waits until the engine has stopped.

use std::collections::HashSet;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::task::{Context, Waker};
use std::thread::{self, JoinHandle, ThreadId};

use super::*;
use crate::failpoint::{Action, Hook, Step};
use crate::threads::Scheduler;

/// Reads until the engine is closed. Returns a description of each wrong result.
fn read_until_closed(engine: &Engine, begun: &AtomicBool) -> Vec<String> {
    let (key, mut wrong) = (EntityKey::new("Sales", "1").unwrap(), Vec::new());
    // The engine may already be closed, because the test closes it as soon as one of the readers has started.
    let Ok(snapshot) = engine.snapshot() else { return wrong };
    let query = Query::new(KeyRange::ALL);
    loop {
        begun.store(true, Ordering::Relaxed);
        let found = [
            wait(engine.list_tables("", None, 10)).map(|page| page.names.len()),
            wait(engine.get(&employees(), &key, &Select::All)).map(|found| found.iter().len()),
            wait(engine.query(&employees(), &query, None)).map(|page| page.rows.len()),
            snapshot.get(&employees(), &key, &Select::All).map(|found| found.iter().len()),
            engine.statistics().map(|statistics| statistics.tables),
            engine.table_statistics(&employees()).map(|statistics| usize::try_from(statistics.rows).unwrap()),
        ];
        for (read, found) in found.into_iter().enumerate() {
            match found {
                Ok(1) => {}
                Err(error) if error.code() == ErrorCode::EngineClosed => return wrong,
                other => wrong.push(format!("read {read}: {other:?}")),
            }
        }
    }
}

#[test]
fn a_read_during_a_close_is_correct_or_refused() {
    for round in 0..200 {
        let folder = tempfile::tempdir().unwrap();
        let engine = if round % 20 == 0 {
            on_disk(folder.path())
        } else {
            with_table(EngineOptions::new().in_memory())
        };
        write(&engine, "1", insert(1)).unwrap();
        let begun = AtomicBool::new(false);
        thread::scope(|scope| {
            let readers: Vec<_> =
                (0..2).map(|_| scope.spawn(|| read_until_closed(&engine, &begun))).collect();
            while !begun.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            wait(engine.clone().close()).unwrap();
            for reader in readers {
                assert_eq!(reader.join().unwrap(), Vec::<String>::new());
            }
        });
    }
}

/// A scheduler that uses system threads, and counts the callers that wait for a close.
#[derive(Debug, Default)]
struct CountsClosers(Mutex<HashSet<ThreadId>>);

const CLOSER: &str = "closer";

impl Scheduler for CountsClosers {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn spawn(&self, _: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().spawn(work)
    }

    fn pass(&self) {
        thread::yield_now();
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn wait(&self, at_most: Option<Duration>, ready: &mut dyn FnMut() -> bool) {
        if thread::current().name() == Some(CLOSER) {
            self.0.lock().unwrap().insert(thread::current().id());
        }
        let began = Instant::now();
        while !ready() && at_most.is_none_or(|time| began.elapsed() < time) {
            thread::yield_now();
        }
    }
}

#[test]
fn each_close_of_a_poisoned_engine_waits_until_the_folder_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let (fails, closers) = (Arc::new(AtomicBool::new(false)), Arc::new(CountsClosers::default()));
    let (stopped, has_stopped) = mpsc::channel();
    let (release, signal) = mpsc::channel::<()>();
    let (signal, sync_fails) = (Mutex::new(signal), fails.clone());
    let hook = Hook::new(move |step| match step {
        // The flush continues when the test drops the sender.
        Step::CheckpointWrite => {
            stopped.send(()).unwrap();
            let _ = signal.lock().unwrap().recv();
            Action::Continue
        }
        Step::JournalSync if sync_fails.load(Ordering::SeqCst) => Action::Fail,
        _ => Action::Continue,
    });
    let engine = options().failpoints(hook).scheduler(closers.clone()).open(folder.path()).unwrap();
    let engine = with_table(engine);
    let mut checkpoint = pin!(engine.checkpoint());
    assert!(checkpoint.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    has_stopped.recv().unwrap();
    fails.store(true, Ordering::SeqCst);
    assert_eq!(write(&engine, "1", insert(1)).unwrap_err().code(), ErrorCode::EnginePoisoned);

    let (returned, opens) = (AtomicUsize::new(0), Mutex::new(()));
    let close = || {
        let closed = wait(engine.clone().close()).unwrap_err().code();
        returned.fetch_add(1, Ordering::SeqCst);
        let _one_at_a_time = opens.lock().unwrap();
        (closed, options().open(folder.path()).err().map(|error| error.to_string()))
    };
    thread::scope(|scope| {
        let spawn = || thread::Builder::new().name(CLOSER.to_owned()).spawn_scoped(scope, close).unwrap();
        let first = spawn();
        eventually("the engine is closed, but waits for the flush", || engine.statistics().is_err());
        let second = spawn();
        eventually("both wait, or one has returned", || {
            closers.0.lock().unwrap().len() == 2 || returned.load(Ordering::SeqCst) > 0
        });
        let early = returned.load(Ordering::SeqCst);
        drop(release);
        assert_eq!(first.join().unwrap(), (ErrorCode::EnginePoisoned, None));
        assert_eq!(second.join().unwrap(), (ErrorCode::EngineClosed, None));
        assert_eq!(early, 0);
    });
}
