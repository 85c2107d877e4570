//! Tests of application code that the engine calls: clocks and event subscribers that use the engine or panic.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once};
use std::thread::{self, JoinHandle};

use table_store::clock::Clock;
use table_store::ticks;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::room::fill;
use super::sim::SimDisk;
use super::*;
use crate::disk::Disk;
use crate::threads::Scheduler;

/// A log subscriber that calls a function for each event.
#[derive(Clone)]
pub(super) struct AtEvents(Arc<dyn Fn(&Event<'_>) + Send + Sync>);

impl AtEvents {
    pub(super) fn new(at_event: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(at_event))
    }
}

impl Subscriber for AtEvents {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        (self.0)(event);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A log subscriber that panics at each event, and when a span is entered, exited or closed. It panics only on threads for which `is_meant` returns `true`.
pub(super) struct Panics {
    is_meant: fn() -> bool,
    count: Arc<AtomicUsize>,
}

impl Panics {
    fn panic(&self) {
        if (self.is_meant)() {
            self.count.fetch_add(1, Ordering::Relaxed);
            // Unlike `panic!`, this call does not print a backtrace, which takes a long time in a debug build.
            std::panic::resume_unwind(Box::new("a subscriber panics"));
        }
    }
}

/// The identifier of a span created by the engine's own threads.
const OWN: u64 = 2;

impl Subscriber for Panics {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        Id::from_u64(if span.metadata().name() == "checkpoint" { OWN } else { 1 })
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.panic();
    }

    fn enter(&self, id: &Id) {
        // A caller's future may be dropped by an engine thread. A second panic in the spans of such a future would abort the process.
        if id.into_u64() == OWN {
            self.panic();
        }
    }

    fn exit(&self, _: &Id) {
        self.panic();
    }

    fn try_close(&self, id: Id) -> bool {
        if id.into_u64() == OWN {
            self.panic();
        }
        true
    }
}

/// Installs a subscriber for all tests. It panics on the engine's threads. No test may be affected by these panics.
pub(super) fn with_panics_at_events() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let is_meant = || thread::current().name().is_some_and(|name| name.starts_with("tables-"));
        tracing::subscriber::set_global_default(Panics { is_meant, count: Arc::default() }).unwrap();
    });
}

/// Returns options with a clock that calls a function at each reading.
fn clocked(at_reading: impl Fn() + Send + Sync + 'static) -> EngineOptions {
    EngineOptions::new().clock(Clock::new(move || {
        at_reading();
        ticks::UNIX_EPOCH
    }))
}

#[test]
fn a_clock_may_read_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    for is_on_disk in [false, true] {
        let engine: Arc<Mutex<Option<Engine>>> = Arc::default();
        let read = Arc::clone(&engine);
        let options = clocked(move || {
            let engine = read.lock().unwrap().clone();
            if let Some(engine) = engine {
                assert_eq!(number(&engine, "1"), Some(1));
            }
        });
        let written =
            with_table(if is_on_disk { options.open(folder.path()).unwrap() } else { options.in_memory() });
        write(&written, "1", insert(1)).unwrap();
        *engine.lock().unwrap() = Some(written.clone());
        write(&written, "2", insert(2)).unwrap();
        *engine.lock().unwrap() = None;
    }
}

#[test]
fn a_subscriber_of_the_error_that_ends_writes_may_read_the_engine() {
    let fails = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&fails);
    let engine =
        with_table(clocked(move || assert!(!seen.load(Ordering::Relaxed), "the clock panics")).in_memory());
    write(&engine, "1", insert(1)).unwrap();
    fails.store(true, Ordering::Relaxed);
    let (reader, reads) = (engine.clone(), Arc::new(AtomicBool::new(false)));
    let read = Arc::clone(&reads);
    let subscriber = AtEvents::new(move |_| read.store(number(&reader, "1") == Some(1), Ordering::Relaxed));
    // A second dispatcher is needed. With only one, a callsite that another test's thread reaches first would stay disabled.
    let _second = tracing::Dispatch::new(subscriber.clone());
    let refused = tracing::subscriber::with_default(subscriber, || write(&engine, "2", insert(2)));
    assert_eq!(refused.unwrap_err().code(), ErrorCode::EnginePoisoned);
    assert!(reads.load(Ordering::Relaxed));
}

#[test]
fn an_engine_whose_clock_panics_can_be_closed() {
    let folder = tempfile::tempdir().unwrap();
    for is_on_disk in [false, true] {
        let fails = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&fails);
        let options = clocked(move || assert!(!seen.load(Ordering::Relaxed), "the clock panics"));
        let engine =
            with_table(if is_on_disk { options.open(folder.path()).unwrap() } else { options.in_memory() });
        fails.store(true, Ordering::Relaxed);
        assert_eq!(write(&engine, "1", insert(1)).unwrap_err().code(), ErrorCode::EnginePoisoned);
        let created = wait(engine.create_table(&name("Other")));
        assert_eq!(created.unwrap_err().code(), ErrorCode::EnginePoisoned);
        assert_eq!(wait(engine.close()).unwrap_err().code(), ErrorCode::EnginePoisoned);
    }
}

/// A scheduler that uses system threads. A thread panics if it yields during the removal of a dropped table's rows.
#[derive(Debug)]
pub(crate) struct PanicsAtPass {
    /// `true` if the thread also panics in the event that reports the first panic.
    pub(crate) at_events: bool,
}

impl Scheduler for PanicsAtPass {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn spawn(&self, _: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        if !self.at_events {
            return thread::Builder::new().spawn(work);
        }
        let subscriber = AtEvents::new(|_| panic!("a subscriber panics"));
        thread::Builder::new().spawn(move || tracing::subscriber::with_default(subscriber, work))
    }

    fn pass(&self) {
        panic!("a thread panics as it passes");
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn wait(&self, _: Option<Duration>, ready: &mut dyn FnMut() -> bool) {
        while !ready() {
            thread::yield_now();
        }
    }
}

#[test]
fn a_thread_that_panics_twice_answers_all_requests() {
    let engine =
        with_table(EngineOptions::new().scheduler(Arc::new(PanicsAtPass { at_events: true })).in_memory());
    // The thread panics while it removes the rows, and again when it reports the panic.
    wait(engine.delete_table(&employees())).unwrap();
    drop(wait(engine.create_table(&employees())));
    // Reads still work.
    assert!(wait(engine.list_tables("", None, 10)).is_ok());
    assert_eq!(wait(engine.close()).unwrap_err().code(), ErrorCode::EnginePoisoned);
}

/// A scheduler that uses system threads with a log subscriber. The subscriber panics, and the panics are counted.
#[derive(Debug, Default)]
struct PanicsAtEvents(Arc<AtomicUsize>);

impl Scheduler for PanicsAtEvents {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn spawn(&self, _: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        let subscriber = Panics { is_meant: || true, count: Arc::clone(&self.0) };
        thread::Builder::new().spawn(move || tracing::subscriber::with_default(subscriber, work))
    }

    fn pass(&self) {
        thread::yield_now();
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }

    fn wait(&self, at_most: Option<Duration>, ready: &mut dyn FnMut() -> bool) {
        let until = at_most.map(|time| Instant::now() + time);
        while !ready() && until.is_none_or(|until| Instant::now() < until) {
            thread::yield_now();
        }
    }
}

/// Tests a log file that is on the engine's disk. If the disk is full, the log subscriber cannot write the events that report this, so it panics.
#[test]
fn a_subscriber_that_panics_on_the_engines_threads_fails_no_write() {
    let (scheduler, disk) = (Arc::new(PanicsAtEvents::default()), Arc::new(SimDisk::default()));
    let on: Arc<dyn Disk> = disk.clone();
    let options = EngineOptions::new().disk(on).scheduler(scheduler.clone()).checkpoint_bytes(1 << 20);
    let engine = with_table(options.memtable_bytes(2 << 20).open("/sim").unwrap());
    disk.set_room(12 << 20);
    let (last, error) = fill(&engine, 1);
    assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
    for n in 1..=last {
        write(&engine, &format!("{n:04}"), delete()).unwrap();
    }
    eventually("space is free again", || write(&engine, "new", upsert(1)).is_ok());
    wait(engine.checkpoint()).unwrap();
    wait(engine.close()).unwrap();
    assert!(scheduler.0.load(Ordering::Relaxed) > 1);
}
