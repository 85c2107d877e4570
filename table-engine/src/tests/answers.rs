//! Tests that every request receives a response, even if the committer or the callers fail.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Wake, Waker};

use super::*;
use crate::failpoint::{Action, Hook, Step};

/// Returns the result of a future. Only the engine may be needed for its progress.
fn answered<T>(what: &str, future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    let began = Instant::now();
    loop {
        if let Poll::Ready(outcome) = poll(&mut future, Waker::noop()) {
            return outcome;
        }
        assert!(began.elapsed() < Duration::from_secs(10 * 60), "no answer to {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn poll<F: Future>(future: &mut Pin<Box<F>>, waker: &Waker) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(waker))
}

/// Returns a hook, with the flag and the channels that control it. The hook waits at a step until it is released, and then calls `then`.
fn stopping_at(
    step: Step,
    then: fn() -> Action,
) -> (Hook, Arc<AtomicBool>, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let armed = Arc::new(AtomicBool::new(false));
    let (stopped, has_stopped) = mpsc::channel();
    let (release, signal) = mpsc::channel();
    let signal = Mutex::new(signal);
    let hook = {
        let armed = armed.clone();
        Hook::new(move |at| {
            if at == step && armed.load(Ordering::SeqCst) {
                stopped.send(()).unwrap();
                // The step continues when the test sends a message or drops the sender.
                let _ = signal.lock().unwrap().recv();
                return then();
            }
            Action::Continue
        })
    };
    (hook, armed, has_stopped, release)
}

#[test]
fn requests_queued_behind_a_close_fail_with_engine_closed() {
    let folder = tempfile::tempdir().unwrap();
    let (hook, armed, has_stopped, release) = stopping_at(Step::JournalSync, || Action::Continue);
    let engine = with_table(options().failpoints(hook).open(folder.path()).unwrap());
    armed.store(true, Ordering::SeqCst);
    let table = employees();
    let submit = |key| Box::pin(engine.submit(&table, transaction("Sales", vec![(key, insert(1))])));
    let mut before = submit("before");
    assert!(poll(&mut before, Waker::noop()).is_pending());
    has_stopped.recv().unwrap();
    let mut close = Box::pin(engine.clone().close());
    assert!(poll(&mut close, Waker::noop()).is_pending());
    let mut behind: Vec<_> = ["1", "2", "3"].map(submit).into();
    assert!(behind.iter_mut().all(|submit| poll(submit, Waker::noop()).is_pending()));
    let mut second = Box::pin(engine.clone().close());
    assert!(poll(&mut second, Waker::noop()).is_pending());
    armed.store(false, Ordering::SeqCst);
    drop(release);
    assert!(answered("the write before the close", before).is_ok());
    assert!(answered("the close", close).is_ok());
    for submit in behind {
        let error = answered("a write behind the close", submit).unwrap_err();
        assert_eq!(error.code(), ErrorCode::EngineClosed);
    }
    assert_eq!(answered("the second close", second).unwrap_err().code(), ErrorCode::EngineClosed);
}

#[test]
fn a_write_whose_answer_is_lost_in_a_panic_fails_with_engine_poisoned_even_after_a_close() {
    let folder = tempfile::tempdir().unwrap();
    let (hook, armed, has_stopped, release) =
        stopping_at(Step::Acknowledge, || panic!("a panic after the write"));
    let engine = with_table(options().failpoints(hook).open(folder.path()).unwrap());
    armed.store(true, Ordering::SeqCst);
    let table = employees();
    let mut lost = Box::pin(engine.submit(&table, transaction("Sales", vec![("lost", insert(1))])));
    assert!(poll(&mut lost, Waker::noop()).is_pending());
    has_stopped.recv().unwrap();
    let mut close = Box::pin(engine.clone().close());
    assert!(poll(&mut close, Waker::noop()).is_pending());
    armed.store(false, Ordering::SeqCst);
    drop(release);
    assert_eq!(answered("the close", close).unwrap_err().code(), ErrorCode::EnginePoisoned);
    assert_eq!(answered("the lost write", lost).unwrap_err().code(), ErrorCode::EnginePoisoned);
    assert_eq!(number(&on_disk(folder.path()), "lost"), Some(1));
}

#[test]
fn a_committer_panic_fails_every_writer_and_keeps_published_rows_readable() {
    for step in [Step::JournalWrite, Step::JournalSync, Step::Publish, Step::Acknowledge, Step::Freeze] {
        let folder = tempfile::tempdir().unwrap();
        let armed = Arc::new(AtomicBool::new(false));
        let hook = {
            let armed = armed.clone();
            Hook::new(move |at| {
                assert!(at != step || !armed.load(Ordering::SeqCst), "a panic at {step:?}");
                Action::Continue
            })
        };
        let engine = with_table(options().failpoints(hook).open(folder.path()).unwrap());
        write(&engine, "1", insert(1)).unwrap();
        armed.store(true, Ordering::SeqCst);
        if step == Step::Freeze {
            let error = answered("the checkpoint", engine.checkpoint()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::EnginePoisoned);
        }
        for key in ["2", "3"] {
            let submit = transaction("Sales", vec![(key, insert(2))]);
            let error = answered("the write", engine.submit(&employees(), submit)).unwrap_err();
            assert_eq!(error.code(), ErrorCode::EnginePoisoned, "{step:?}");
        }
        assert_eq!(number(&engine, "1"), Some(1));
        assert_eq!(
            answered("a checkpoint", engine.checkpoint()).unwrap_err().code(),
            ErrorCode::EnginePoisoned
        );
        assert!(answered("the close", engine.close()).is_err());
        assert_eq!(number(&on_disk(folder.path()), "1"), Some(1));
    }
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker panics");
    }
}

#[test]
fn a_panicking_waker_does_not_affect_other_callers() {
    let engine = in_memory();
    let table = employees();
    let waker = Waker::from(Arc::new(Panics));
    for _ in 0..3 {
        let mut submit = Box::pin(engine.submit(&table, transaction("Sales", vec![("1", upsert(1))])));
        // The response may have arrived before the caller began to wait for it.
        let _ = poll(&mut submit, &waker);
        let other = engine.submit(&table, transaction("Sales", vec![("2", upsert(2))]));
        assert!(answered("the next write", other).is_ok());
    }
}

/// A task like those of an executor. The task's waker owns the task, and the task owns the engine.
#[derive(Default)]
struct Task(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn the_last_handle_may_be_dropped_on_the_committer_thread() {
    let folder = tempfile::tempdir().unwrap();
    let (hook, armed, has_stopped, release) = stopping_at(Step::JournalSync, || Action::Continue);
    let engine = with_table(options().failpoints(hook).open(folder.path()).unwrap());
    armed.store(true, Ordering::SeqCst);
    let task = Arc::new(Task::default());
    let submit = async move {
        let _ = engine.submit(&employees(), transaction("Sales", vec![("1", insert(1))])).await;
    };
    *task.0.lock().unwrap() = Some(Box::pin(submit));
    let waker = Waker::from(task.clone());
    assert!(
        task.0.lock().unwrap().as_mut().unwrap().as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
    );
    has_stopped.recv().unwrap();
    // From here on, only the committer keeps the task alive, through its waker. The task in turn keeps the engine alive.
    drop((waker, task));
    armed.store(false, Ordering::SeqCst);
    drop(release);
    eventually("the folder is free", || options().open(folder.path()).is_ok());
    assert_eq!(number(&on_disk(folder.path()), "1"), Some(1));
}

#[test]
fn writes_dropped_behind_a_full_queue_stop_no_other_and_are_atomic() {
    const WRITES: usize = 3_000;
    let folder = tempfile::tempdir().unwrap();
    let (hook, armed, has_stopped, release) = stopping_at(Step::JournalSync, || Action::Continue);
    let engine = with_table(options().failpoints(hook).open(folder.path()).unwrap());
    armed.store(true, Ordering::SeqCst);
    let table = employees();
    let keys: Vec<_> = (0..WRITES).map(|n| (format!("{n:05}a"), format!("{n:05}b"))).collect();
    let submit = |(first, second): &(String, String)| {
        let both = vec![(first.as_str(), insert(1)), (second.as_str(), insert(1))];
        Box::pin(engine.submit(&table, transaction("Sales", both)))
    };
    let mut writes: Vec<_> = keys.iter().map(submit).collect();
    assert!(writes.iter_mut().all(|write| poll(write, Waker::noop()).is_pending()));
    has_stopped.recv().unwrap();
    // A large prime stride removes the writes in scattered order.
    while !writes.is_empty() {
        drop(writes.swap_remove(7_919 % writes.len()));
    }
    armed.store(false, Ordering::SeqCst);
    drop(release);
    let next = transaction("Support", vec![("1", insert(1))]);
    assert!(answered("the next write", engine.submit(&table, next)).is_ok());
    let rows = all(&engine);
    let there: HashSet<&str> = rows.iter().map(|(_, row_key, _)| row_key.as_str()).collect();
    for (first, second) in &keys {
        let has = |key: &String| there.contains(key.as_str());
        assert_eq!(has(first), has(second), "{first}");
    }
    wait(engine.clone().close()).unwrap();
    assert_eq!(all(&on_disk(folder.path())), rows);
}
