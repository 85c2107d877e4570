//! Tests two versions of a program that run concurrently. The newer version adds an index in another table. Writers and
//! workers of both versions run call by call, die, or are suspended, while the newer version starts and backfills its
//! index (EVO-20, EVO-21, PAT-INTER-3).

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::{Engine, EngineOptions};
use table_core::{Entity, ErrorCode, QueueName};
use table_patterns::Entities;
use table_patterns::index::IndexState;
use table_patterns::outbox::Outbox;
use table_patterns::work::{Runtime, Sweep, Worker, WorkerOptions};
use tests::effort::effort;
use tests::faults::{Control, Controlled};
use tests::time::{Skew, Time};

macro_rules! program {
    ($version:ident, $(#[$index:meta])+) => {
        mod $version {
            #[derive(table_core::Entity, Clone, Debug)]
            #[entity(table = "Company")]
            #[partition_key(department)]
            #[row_key("empid_", id)]
            $(#[$index])+
            pub(super) struct Employee {
                department: String,
                #[digits(3)]
                id: u32,
                email: String,
                badge: Option<u32>,
            }

            pub(super) fn employee(id: u32, email: &str, badge: Option<u32>) -> Employee {
                Employee { department: "Sales".into(), id, email: email.into(), badge }
            }
        }
    };
}

program!(older, #[index(Badges, unique, table = "Badges", partition_key("badge"), row_key(badge))]);
program!(
    newer,
    #[index(Badges, unique, table = "Badges", partition_key("badge"), row_key(badge))]
    #[index(Mail, table = "Mail", partition_key("mail_", department), row_key(id, "_", email))]
);

type Store = Controlled<Engine>;
type Handle<E> = Entities<E, Store, Outbox<Store, Store>>;

/// Determines when the backfill starts, relative to the older version's requests.
#[derive(Clone, Copy, PartialEq)]
enum Backfill {
    /// The backfill waits until no request of the older version can still take effect.
    Waits,
    /// The backfill starts immediately, although requests of the older version may still take effect.
    Hastens,
}

struct World {
    engine: Engine,
    /// The queue store, which is a service with its own clock.
    queues: Engine,
    time: Time,
    backfill: Backfill,
    /// `true` once the newer version has opened its table.
    is_open: Arc<AtomicBool>,
}

/// A process: the control of its calls, and its clock.
struct Process {
    control: Control,
    skew: Skew,
}

impl Process {
    /// Creates a process that never dies and has a correct clock.
    fn alive() -> Self {
        Self { control: Control::default(), skew: Skew::None }
    }
}

/// A process advanced by a test one call at a time.
struct Running {
    control: Control,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

impl Running {
    fn new(control: Control, future: impl Future<Output = ()> + 'static) -> Self {
        Self { control, future: Box::pin(future) }
    }

    /// Runs the process until its next call to a store. Returns `true` if the process has ended.
    fn step(&mut self) -> bool {
        self.control.step(&mut self.future).is_some()
    }
}

impl World {
    /// Creates the queues. Their clock differs from the clock of the tables by `queue`.
    fn new(backfill: Backfill, queue: Skew) -> Self {
        let time = Time::default();
        let queues = EngineOptions::new().clock(time.skewed(queue)).in_memory();
        let world = Self { engine: time.engine(), queues, time, backfill, is_open: Arc::default() };
        block_on(world.outbox(&Process::alive()).create_queues()).unwrap();
        world
    }

    fn pass(&self, seconds: u64) {
        self.time.pass(Duration::from_secs(seconds));
    }

    fn runtime(&self, process: &Process) -> Runtime {
        self.time.runtime_of(process.skew)
    }

    fn outbox(&self, process: &Process) -> Outbox<Store, Store> {
        let [store, queues] = [&self.engine, &self.queues].map(|engine| process.control.over(engine.clone()));
        Outbox::with_runtime(store, queues, QueueName::new("work").unwrap(), self.runtime(process))
    }

    fn handle<E: Entity + Send + Sync + 'static>(&self, process: &Process) -> Handle<E> {
        Entities::from(self.outbox(process)).with_runtime(self.runtime(process))
    }

    /// Creates a process in which a worker of this version runs once.
    fn worker<E: Entity + Send + Sync + 'static>(&self, skew: Skew) -> Running {
        let process = Process { control: Control::default().stepped(), skew };
        let worker = self.settling::<E>(&process);
        Running::new(process.control, async move { drop(worker.run_once().await) })
    }

    fn settling<E: Entity + Send + Sync + 'static>(&self, process: &Process) -> Worker<Store, Store> {
        let options =
            WorkerOptions { messages_per_receive: 3, poison_after: 1_000, ..WorkerOptions::default() };
        Worker::with_options(self.outbox(process), options).with_index_handler(&self.handle::<E>(process))
    }

    /// Creates a process that starts the newer version. The process opens the table and backfills the new index.
    fn upgrade(&self, skew: Skew) -> Running {
        let process = Process { control: Control::default().stepped(), skew };
        let (handle, is_open) = (self.handle::<newer::Employee>(&process), Arc::clone(&self.is_open));
        let backfill = self.backfill;
        Running::new(process.control, async move {
            let Ok(handle) = handle.create_if_missing().await else { return };
            is_open.store(true, Ordering::SeqCst);
            let _ = fill(&handle, backfill).await;
        })
    }

    fn sweep(&self, skew: Skew) -> u64 {
        let process = Process { skew, ..Process::alive() };
        block_on(Sweep::new(self.outbox(&process)).sweep_registered()).unwrap().pending
    }

    /// Completes the upgrade and all pending work. Then describes the defects that remain, if any.
    fn wrong(&self, old: &Handle<older::Employee>) -> Option<String> {
        let alive = Process::alive();
        self.pass(60);
        let new = block_on(self.handle::<newer::Employee>(&alive).create_if_missing()).unwrap();
        while let Some(rest) = block_on(fill(&new, self.backfill)).unwrap() {
            self.time.pass(rest);
        }
        let mut pending = 1;
        for _ in 0..10 {
            self.pass(800);
            self.sweep(Skew::None);
            block_on(self.settling::<newer::Employee>(&alive).run_until_idle()).unwrap();
            pending = self.sweep(Skew::None);
        }
        let states = block_on(new.states()).unwrap();
        let report = block_on(new.check().run()).unwrap();
        let refused = block_on(old.insert_or_replace(&older::employee(9, "late", None)));
        let is_refused = refused.is_err_and(|error| error.code() == ErrorCode::SchemaMismatch);
        let is_right = pending == 0
            && is_refused
            && report.is_clean()
            && states.iter().all(|(_, state)| *state == IndexState::Ready);
        (!is_right)
            .then(|| format!("{pending} pending, refused: {is_refused}, {states:?}, {:?}", report.findings))
    }
}

/// Runs the backfill once. Returns the delay before it must run again, or `None` if it is complete.
async fn fill(handle: &Handle<newer::Employee>, backfill: Backfill) -> table_core::Result<Option<Duration>> {
    let filling = handle.backfill::<newer::EmployeeMail>().page(2);
    let filling = if backfill == Backfill::Waits { filling } else { filling.assume_no_older_programs() };
    filling.run().await.map(|report| report.retry_after)
}

fn run(seed: u64, backfill: Backfill) -> Option<String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let days = [0, 0, 9, -9][rng.random_range(0..4)];
    let world = World::new(backfill, Skew::Days(days));
    let alive = Process::alive();
    let old = block_on(world.handle::<older::Employee>(&alive).create_if_missing()).unwrap();
    let new = world.handle::<newer::Employee>(&alive);
    let mut running: Vec<_> =
        (0..2).map(|_| world.worker::<older::Employee>(Skew::random(&mut rng))).collect();
    let (mut sleepers, mut upgrade) = (Vec::new(), None);
    let begin = rng.random_range(10..80);
    for step in 0..rng.random_range(150..400) {
        // The clock of the process that this step may start.
        let skew = Skew::random(&mut rng);
        if step == begin {
            upgrade = Some(world.upgrade(skew));
        }
        let id = rng.random_range(0..6);
        let email = ["ada", "bob", "cy"][rng.random_range(0..3)];
        let badge = rng.random_bool(0.6).then(|| 10 * id + rng.random_range(0..2));
        let is_open = world.is_open.load(Ordering::SeqCst);
        match rng.random_range(0..100) {
            // The write is rejected once a pass of the backfill has begun.
            0..=14 => drop(block_on(old.insert_or_replace(&older::employee(id, email, badge)))),
            15..=22 if is_open => drop(block_on(new.insert_or_replace(&newer::employee(id, email, badge)))),
            23..=25 => world.pass(if rng.random_bool(0.1) { 3_600 } else { rng.random_range(1..4) }),
            26..=27 => drop(world.sweep(skew)),
            28..=31 => {
                let at = rng.random_range(0..running.len());
                let is_new = is_open && rng.random_bool(0.5);
                let next = if is_new {
                    world.worker::<newer::Employee>(skew)
                } else {
                    world.worker::<older::Employee>(skew)
                };
                sleepers.push(std::mem::replace(&mut running[at], next));
            }
            // The newer version is restarted, either while it starts or after its backfill.
            32 if upgrade.is_some() => upgrade = Some(world.upgrade(skew)),
            33..=60 => {
                upgrade.take_if(Running::step);
            }
            _ => {
                let at = rng.random_range(0..running.len());
                if running[at].step() {
                    running[at] = if is_open {
                        world.worker::<newer::Employee>(skew)
                    } else {
                        world.worker::<older::Employee>(skew)
                    };
                }
            }
        }
    }
    let wrong = world.wrong(&old);
    // All work is complete. The suspended processes now resume, make a few calls, and die.
    for mut sleeper in sleepers {
        for _ in 0..rng.random_range(1..5) {
            if sleeper.step() {
                break;
            }
        }
    }
    wrong.or_else(|| world.wrong(&old)).map(|wrong| format!("seed {seed}: {wrong}"))
}

#[test]
fn evo_20_an_older_program_removes_nothing_from_the_index_of_a_newer_one() {
    let wrong: Vec<_> = (0..effort(40)).filter_map(|seed| run(seed, Backfill::Waits)).collect();
    assert!(wrong.is_empty(), "{} runs: {:#?}", wrong.len(), &wrong[..wrong.len().min(4)]);
}

#[test]
fn evo_20_without_the_wait_an_older_program_removes_rows_of_the_index() {
    assert!((0..400).any(|seed| run(seed, Backfill::Hastens).is_some()));
}
