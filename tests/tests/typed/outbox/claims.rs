//! Tests how workers claim jobs (PAT-EC-4, PAT-EC-7). Each job is done once, whatever the number of workers is. It is poisoned (no longer retried) only after
//! all its attempts have failed.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use table_core::queue::QueueStore;
use table_core::{Error, ErrorCode, PartitionKey, Result, RowKey, TableStore, Transaction};
use table_patterns::outbox::{Intent, Message, Step};
use table_patterns::work::{Delivery, Handler, Sweep, Worker, WorkerOptions};
use tests::effort::effort;
use tests::faults::Control;
use tests::time::Skew;

use crate::outbox::company::{Company, Store, employees};

pub(super) type Tried = Arc<Mutex<BTreeMap<String, usize>>>;

pub(super) fn sales() -> PartitionKey {
    PartitionKey::new("Sales").unwrap()
}

/// A job, identified by its name.
#[derive(Serialize, Deserialize)]
pub(super) struct Named(pub(super) String);

impl Message for Named {
    const NAME: &'static str = "job";
    const VERSION: u32 = 1;
}

/// Records each job in a separate transaction, without sending a message to the workers.
pub(super) fn record(company: &Company, jobs: impl IntoIterator<Item = String>) {
    let outbox = company.outbox(&Control::default());
    block_on(outbox.register(&employees(), &sales())).unwrap();
    for job in jobs {
        let mut transaction = Transaction::new(sales(), outbox.store().capabilities().limits).unwrap();
        let intent = Intent::of(RowKey::new(job.as_str()).unwrap()).step(Step::call(&Named(job)).unwrap());
        outbox.record(&mut transaction, &intent).unwrap();
        let sealed = block_on(outbox.seal(&employees(), transaction)).unwrap();
        block_on(outbox.store().submit(&employees(), sealed)).unwrap();
    }
}

/// A handler whose jobs last several times as long as their leases. In the meantime, another worker receives and ignores every visible message.
struct Slow<'a> {
    company: &'a Arc<Company>,
    tried: Tried,
}

impl Slow<'_> {
    fn owned(&self) -> impl Handler<Named> + 'static {
        struct Owned(Arc<Company>, Tried);
        impl Handler<Named> for Owned {
            async fn handle(&self, Named(job): &Named, call: Delivery<'_>) -> Result<()> {
                *self.1.lock().unwrap().entry(job.clone()).or_default() += 1;
                let thief = self.0.outbox(&Control::default());
                for _ in 0..5 {
                    self.0.pass(Duration::from_secs(20));
                    call.keep().await?;
                    thief.queues().receive(thief.queue(), 32, Duration::from_secs(1)).await?;
                }
                Ok(())
            }
        }
        Owned(Arc::clone(self.company), Arc::clone(&self.tried))
    }
}

#[test]
fn pat_ec_4_work_behind_long_steps_is_delivered_often_and_never_poison() {
    let (company, tried) = (Arc::new(Company::new()), Tried::default());
    record(&company, (0..8).map(|job| job.to_string()));
    let outbox = company.outbox(&Control::default());
    // A sweep sends a message for each row, as it would after messages were lost.
    company.pass(Duration::from_secs(400));
    assert_eq!(block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap().prompted, 8);
    let slow = Slow { company: &company, tried: Arc::clone(&tried) };
    let options = WorkerOptions { messages_per_receive: 8, ..WorkerOptions::default() };
    let worker = Worker::with_options(outbox.clone(), options).handler(slow.owned());
    for _ in 0..12 {
        block_on(worker.run_until_idle()).unwrap();
        company.pass(Duration::from_secs(2 * 60));
    }
    assert_eq!(block_on(outbox.poison(32)).unwrap(), []);
    assert_eq!((worker.metrics().poisoned, company.pending()), (0, 0));
    assert_eq!(tried.lock().unwrap().values().copied().collect::<Vec<_>>(), [1; 8]);
}

#[test]
fn pat_ec_7_four_workers_on_one_partition_do_the_work_of_one() {
    let (company, tried) = (Company::new(), Tried::default());
    record(&company, (0..400).map(|job| format!("{job:03}")));
    let outbox = company.outbox(&Control::default());
    for _ in 0..8 {
        block_on(outbox.notify(&employees(), &sales())).unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let job = Job { tried: Arc::clone(&tried) };
            let worker = company.worker(&Control::default()).handler(job);
            scope.spawn(move || block_on(worker.run_until_idle()).unwrap());
        }
    });
    let tried = tried.lock().unwrap();
    assert_eq!((tried.len(), tried.values().sum::<usize>()), (400, 400));
    company.assert_settled();
}

/// A handler whose first calls fail.
#[derive(Clone)]
struct Down {
    left: Arc<AtomicUsize>,
}

impl Handler<Named> for Down {
    async fn handle(&self, _: &Named, _: Delivery<'_>) -> Result<()> {
        let is_down = |left: usize| left.checked_sub(1);
        match self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_down) {
            Ok(_) => Err(Error::new(ErrorCode::ServerBusy, "down")),
            Err(_) => Ok(()),
        }
    }
}

/// Tests two workers. One or both of them have a wrong clock. After an outage, all work must be completed.
#[test]
fn pat_ec_7_workers_with_wrong_clocks_use_the_time_of_the_queue() {
    for one in Skew::ALL {
        for other in Skew::ALL {
            let company = Company::new();
            record(&company, ["a".to_owned(), "b".to_owned()]);
            block_on(company.outbox(&Control::default()).notify(&employees(), &sales())).unwrap();
            let down = Down { left: Arc::new(AtomicUsize::new(6)) };
            let options = WorkerOptions { step_attempts: 1, ..WorkerOptions::default() };
            let workers = [one, other]
                .map(|skew| Worker::with_options(company.outbox_by(skew), options).handler(down.clone()));
            for _ in 0..60 {
                for worker in &workers {
                    block_on(worker.run_once()).unwrap();
                }
                company.pass(Duration::from_secs(5 * 60));
            }
            assert_eq!(company.pending(), 0, "{one:?} and {other:?}");
            company.assert_settled();
        }
    }
}

/// A handler that fails for each job whose name starts with `bad`.
#[derive(Clone)]
struct Job {
    tried: Tried,
}

impl Handler<Named> for Job {
    async fn handle(&self, Named(job): &Named, call: Delivery<'_>) -> Result<()> {
        call.keep().await?;
        *self.tried.lock().unwrap().entry(job.clone()).or_default() += 1;
        let refused = Error::new(ErrorCode::Unsupported, "no");
        if job.starts_with("bad") { Err(refused) } else { Ok(()) }
    }
}

/// A worker that a test advances one store call at a time.
struct Process {
    control: Control,
    running: Pin<Box<dyn Future<Output = ()>>>,
}

impl Process {
    fn start(company: &Company, tried: &Tried) -> Self {
        let control = Control::default().stepped();
        let worker: Worker<Store, Store> = company.worker(&control).handler(Job { tried: Arc::clone(tried) });
        let running = Box::pin(async move {
            let _ = worker.run_once().await;
        });
        Self { control, running }
    }

    /// Runs the worker until its next call to a store. Returns `true` if the worker has ended.
    fn step(&mut self) -> bool {
        self.control.step(&mut self.running).is_some()
    }
}

fn run(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (company, tried) = (Company::new(), Tried::default());
    let jobs: Vec<String> =
        (0..40).map(|job| format!("{}{job:02}", if job % 8 == 5 { "bad" } else { "job" })).collect();
    let mut unrecorded = jobs.iter();
    let mut processes: Vec<_> = (0..3).map(|_| Process::start(&company, &tried)).collect();
    // If a process dies or is suspended, it uses up one attempt of a job. Four lost attempts are too few to poison a job.
    let (mut sleepers, mut accidents) = (Vec::new(), 4);
    let alive = company.outbox(&Control::default());
    let recover = || {
        let worker = company.worker(&Control::default()).handler(Job { tried: Arc::clone(&tried) });
        for _ in 0..12 {
            company.pass(Duration::from_secs(700));
            block_on(Sweep::new(alive.clone()).sweep_registered()).unwrap();
            block_on(worker.run_until_idle()).unwrap();
        }
    };
    for _ in 0..rng.random_range(100..600) {
        match rng.random_range(0..100) {
            0..=3 => {
                record(&company, unrecorded.by_ref().take(rng.random_range(1..12)).cloned());
                block_on(alive.notify(&employees(), &sales())).unwrap();
            }
            4..=6 => company.pass(Duration::from_secs(rng.random_range(1..40))),
            7 => drop(block_on(Sweep::new(alive.clone()).sweep_registered()).unwrap()),
            8 if accidents > 0 => {
                accidents -= 1;
                let at = rng.random_range(0..processes.len());
                let old = std::mem::replace(&mut processes[at], Process::start(&company, &tried));
                if rng.random_bool(0.5) {
                    sleepers.push(old);
                }
            }
            _ => {
                let at = rng.random_range(0..processes.len());
                if processes[at].step() {
                    processes[at] = Process::start(&company, &tried);
                }
            }
        }
    }
    record(&company, unrecorded.cloned());
    for process in &mut processes {
        while !process.step() {}
    }
    recover();
    for mut sleeper in sleepers {
        for _ in 0..rng.random_range(1..5) {
            if sleeper.step() {
                break;
            }
        }
    }
    recover();
    let tried = tried.lock().unwrap();
    let bad: BTreeSet<_> = jobs.iter().filter(|job| job.starts_with("bad")).collect();
    assert!(jobs.iter().all(|job| tried.contains_key(job)), "seed {seed}: {tried:?}");
    assert_eq!(company.pending(), bad.len(), "seed {seed}: what can be done is done, what cannot is kept");
    let mut poison = BTreeSet::new();
    while let Some(entry) = block_on(alive.discard_poison()).unwrap() {
        assert_eq!(
            entry.error.as_deref().map(|error| error.contains("no")),
            Some(true),
            "seed {seed}: {entry:?}"
        );
        poison.insert(entry.work);
    }
    assert_eq!(poison.len(), bad.len(), "seed {seed}: {poison:?}");
    assert_eq!(block_on(alive.backlog()).unwrap().waiting, 0, "seed {seed}");
}

#[test]
fn pat_ec_3_and_4_every_intent_is_done_or_set_aside_despite_crashes() {
    (0..effort(50)).for_each(run);
}
