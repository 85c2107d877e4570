use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

use futures_util::FutureExt;
use futures_util::future::{join, join_all};
use pollster::block_on;

use super::*;
use crate::runtime::Runtime;

const MOMENT: Duration = Duration::from_millis(100);
const HOUR: Duration = Duration::from_secs(3_600);

/// Creates a timer for a single test.
fn timer(start: fn(&'static Timer) -> io::Result<()>, idle: Duration) -> &'static Timer {
    Box::leak(Box::new(Timer::new(start, idle)))
}

/// A waker that records its number when it is woken, and then panics if `panics` is `true`. Like the waker of a task, it owns a future.
struct Recorder {
    number: usize,
    woken: Arc<Mutex<Vec<usize>>>,
    panics: bool,
    _task: Mutex<Option<Sleep>>,
}

impl Recorder {
    fn new(number: usize, woken: &Arc<Mutex<Vec<usize>>>, panics: bool) -> Self {
        Self { number, woken: Arc::clone(woken), panics, _task: Mutex::default() }
    }
}

impl Wake for Recorder {
    fn wake(self: Arc<Self>) {
        self.woken.lock().unwrap().push(self.number);
        if self.panics {
            resume_unwind(Box::new("a waker panics"));
        }
    }
}

fn poll_by(sleep: &mut Sleep, recorder: Recorder) -> bool {
    let waker = Waker::from(Arc::new(recorder));
    sleep.poll_unpin(&mut Context::from_waker(&waker)).is_ready()
}

#[test]
fn all_sleeps_share_one_thread() {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    let counting = |timer| {
        STARTED.fetch_add(1, Ordering::SeqCst);
        start(timer)
    };
    let timer = timer(counting, HOUR);
    let sleeps = (0..100).map(|at| timer.sleep(MOMENT + Duration::from_micros(at * 100)));
    block_on(join_all(sleeps));
    block_on(timer.sleep(MOMENT));
    assert_eq!(STARTED.load(Ordering::SeqCst), 1);
    assert!(timer.lock().wakers.is_empty());
}

#[test]
fn a_dropped_sleep_leaves_nothing() {
    let timer = timer(start, HOUR);
    let mut sleeps: Vec<_> = (0..100).map(|_| timer.sleep(HOUR)).collect();
    assert!(sleeps.iter_mut().all(|sleep| sleep.now_or_never().is_none()));
    assert_eq!(timer.lock().wakers.len(), 100);
    drop(sleeps);
    assert!(timer.lock().wakers.is_empty());
    block_on(timer.sleep(Duration::from_millis(1)));
}

#[test]
fn tasks_wake_in_the_order_of_their_sleeps_in_spite_of_wakers_that_panic() {
    let timer = timer(start, HOUR);
    let woken = Arc::default();
    let lengths = [30, 10, 50, 20, 40];
    let mut sleeps: Vec<_> =
        lengths.iter().map(|length| timer.sleep(MOMENT + Duration::from_millis(*length))).collect();
    for (number, sleep) in sleeps.iter_mut().enumerate() {
        assert!(!poll_by(sleep, Recorder::new(number, &woken, number % 2 == 1)));
    }
    block_on(timer.sleep(MOMENT * 2));
    assert_eq!(*woken.lock().unwrap(), [1, 3, 0, 4, 2]);
}

/// Tests that dropping a waker may drop further sleeps, because the waker may own the last reference to a task that contains one.
#[test]
fn a_waker_may_drop_further_sleeps() {
    let timer = timer(start, HOUR);
    let woken = Arc::default();
    let owner = |number| {
        let mut inner = timer.sleep(HOUR);
        assert!(!poll_by(&mut inner, Recorder::new(9, &woken, false)));
        Recorder { _task: Mutex::new(Some(inner)), ..Recorder::new(number, &woken, false) }
    };
    let (mut replaced, mut dropped, mut ended) = (timer.sleep(HOUR), timer.sleep(HOUR), timer.sleep(MOMENT));
    for _ in 0..2 {
        assert!(!poll_by(&mut replaced, owner(0)));
    }
    assert!(!poll_by(&mut dropped, owner(1)));
    drop(dropped);
    assert!(!poll_by(&mut ended, owner(2)));
    block_on(timer.sleep(MOMENT * 2));
    assert_eq!(*woken.lock().unwrap(), [2]);
    assert_eq!(timer.lock().wakers.len(), 2, "the replaced one, with the sleep that its waker owns");
}

#[test]
fn the_thread_ends_when_no_task_sleeps_and_is_started_again() {
    let timer = timer(start, Duration::from_millis(1));
    for _ in 0..3 {
        block_on(timer.sleep(MOMENT));
        while timer.lock().thread_of.is_some() {
            thread::yield_now();
        }
    }
}

#[test]
fn sleeps_without_a_thread_end_in_time_and_do_not_block_other_tasks() {
    static FAILURES: AtomicUsize = AtomicUsize::new(0);
    let failing = |_: &'static Timer| {
        FAILURES.fetch_add(1, Ordering::SeqCst);
        Err(io::Error::other("no thread"))
    };
    let timer = timer(failing, HOUR);
    let (begun, mut rounds) = (Instant::now(), 0);
    let sleeps = join_all((0..500).map(|_| timer.sleep(MOMENT * 2)));
    // The naps of sleeping tasks use some of the thread's time, but not all of it.
    let other = async {
        while begun.elapsed() < MOMENT * 2 {
            rounds += 1;
            let mut waited = false;
            std::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                if mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    };
    block_on(join(sleeps, other));
    assert!(begun.elapsed() >= MOMENT * 2);
    assert!(rounds > 2, "{rounds}");
    assert!(FAILURES.load(Ordering::SeqCst) > 1, "each nap begins with another attempt to start the thread");
}

#[test]
fn the_thread_is_started_as_soon_as_the_process_may_start_one() {
    static ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
    let recovering = |timer| match ATTEMPTS.fetch_add(1, Ordering::SeqCst) {
        0..3 => Err(io::Error::other("no thread")),
        _ => start(timer),
    };
    let timer = timer(recovering, HOUR);
    block_on(join_all((0..50).map(|_| timer.sleep(MOMENT))));
    assert_eq!(ATTEMPTS.load(Ordering::SeqCst), 4);
    assert!(timer.lock().thread_of.is_some());
}

#[test]
fn a_sleep_that_ends_after_the_last_instant_never_ends() {
    assert!(Sleep::new(Duration::MAX).now_or_never().is_none());
}

/// Tests random sleeps on several threads, some of which are dropped or polled by several tasks.
#[test]
fn every_sleep_ends_once_its_time_has_passed_and_not_before() {
    let timer = timer(start, Duration::from_millis(1));
    let ended = Mutex::new(BTreeSet::new());
    thread::scope(|scope| {
        for thread in 0..4_u64 {
            let ended = &ended;
            scope.spawn(move || {
                let random = Runtime::new().seed(thread);
                for round in 0..20 {
                    let sleeps = (0..20).map(|at| {
                        let length = Duration::from_micros(random.random() % 5_000);
                        let (polls, is_dropped) = (random.random() % 3, random.random().is_multiple_of(4));
                        async move {
                            let (begun, mut sleep) = (Instant::now(), timer.sleep(length));
                            for _ in 0..polls {
                                let _ = sleep.poll_unpin(&mut Context::from_waker(Waker::noop()));
                            }
                            if is_dropped {
                                drop(sleep);
                            } else {
                                sleep.await;
                                assert!(begun.elapsed() >= length);
                            }
                            ended.lock().unwrap().insert((thread, round, at));
                        }
                    });
                    block_on(join_all(sleeps));
                }
            });
        }
    });
    assert_eq!(ended.into_inner().unwrap().len(), 4 * 20 * 20);
    assert!(timer.lock().wakers.is_empty());
}
