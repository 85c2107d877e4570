//! Convergence of indexes elsewhere while workers sleep, die, or receive old answers, also after a sleep. The proof is
//! `docs/convergence.md`; each of its two guards is taken out here, and the runs must then find the difference.

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::query::{Continuation, Page, Query, Select};
use table_core::row::RowWriter;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    Entity, EntityKey, IfMatch, Operation, OperationKind, QueueName, Result, TableName, TableStore,
    Transaction,
};
use table_patterns::index::{Entities, EntityStore};
use table_patterns::outbox::Outbox;
use table_patterns::outbox::guard::GUARD_PREFIX;
use table_patterns::work::{Pace, Sweep, Worker, WorkerOptions};
use tests::faults::{Control, Controlled};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(Badges, unique, table = "Badges", partition_key("badge"), row_key(badge))]
#[index(Mail, table = "Mail", partition_key("mail_", department), row_key(email, "_", id))]
#[index_entity(Namesakes, at_most = 100, table = "Names", partition_key(last_name), row_key("all"))]
struct Employee {
    department: String,
    #[digits(3)]
    id: u32,
    age: i32,
    #[without('_')]
    email: String,
    last_name: String,
    badge: Option<u32>,
}

/// What is taken out of the protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Without {
    Nothing,
    /// Guards are written whatever they are by then.
    Conditions,
    /// Guards remember no generations.
    Generations,
}

/// What was ever answered about an entity.
type Answers = Arc<Mutex<HashMap<EntityKey, Vec<Option<StoredRow>>>>>;

/// A store as one process has it: some reads of entities are answered as they were before.
#[derive(Clone)]
struct Weak {
    engine: Engine,
    without: Without,
    answers: Answers,
    /// Decides which answers are old ones.
    lies: Option<Arc<Mutex<StdRng>>>,
}

impl fmt::Debug for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Weak").finish_non_exhaustive()
    }
}

impl fmt::Display for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("weak")
    }
}

impl Weak {
    fn weakened(&self, operation: &Operation) -> OperationKind {
        let kind = operation.kind.clone();
        if !operation.row_key.as_str().starts_with(GUARD_PREFIX) {
            return kind;
        }
        let nothing = || RowWriter::with_capacity(0).finish();
        match (self.without, kind) {
            (Without::Conditions, OperationKind::Insert(row) | OperationKind::Replace(row, _)) => {
                OperationKind::InsertOrReplace(row)
            }
            (Without::Generations, OperationKind::Insert(_)) => OperationKind::Insert(nothing()),
            (Without::Generations, OperationKind::Replace(_, if_match)) => {
                OperationKind::Replace(nothing(), if_match)
            }
            (_, kind) => kind,
        }
    }
}

impl TableStore for Weak {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let found = self.engine.get(table, key, select).await?;
        if table.as_str() != "Company" || key.row_key.is_reserved() {
            return Ok(found);
        }
        let mut answers = self.answers.lock().unwrap();
        let answers = answers.entry(key.clone()).or_insert_with(|| vec![None]);
        answers.push(found.clone());
        if let Some(lies) = &self.lies {
            let mut lies = lies.lock().unwrap();
            if lies.random_bool(0.4) {
                return Ok(answers[lies.random_range(0..answers.len())].clone());
            }
        }
        Ok(found)
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.engine.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let mut weakened = Transaction::new(transaction.partition_key().clone(), self.capabilities().limits)?;
        for operation in transaction.operations() {
            let kind = self.weakened(operation);
            weakened.push(Operation { row_key: operation.row_key.clone(), kind })?;
        }
        self.engine.submit(table, weakened).await
    }
}

type Store = Controlled<Weak>;
type Queues = Controlled<Engine>;
type Table = Entities<Employee, Store, Outbox<Store, Queues>>;

struct World {
    engine: Engine,
    time: Arc<AtomicU64>,
    answers: Answers,
    without: Without,
}

impl World {
    fn new(without: Without) -> Self {
        let time = Arc::new(AtomicU64::new(639_307_584_000_000_000));
        let clock = Arc::clone(&time);
        let engine = EngineOptions::new().clock(Clock::new(move || clock.load(Ordering::SeqCst))).in_memory();
        let world = Self { engine, time, answers: Answers::default(), without };
        block_on(world.outbox(&Control::default(), None).create_queues()).unwrap();
        block_on(world.table(&Control::default(), None).create_if_missing()).unwrap();
        world
    }

    fn pass(&self, seconds: u64) {
        self.time.fetch_add(seconds * 10_000_000, Ordering::SeqCst);
    }

    fn pace(&self) -> Pace {
        let (clock, sleep) = (Arc::clone(&self.time), Arc::clone(&self.time));
        Pace::new().seed(7).clock(Clock::new(move || clock.load(Ordering::SeqCst))).sleep_by(move |time| {
            sleep.fetch_add(u64::try_from(time.as_nanos() / 100).unwrap(), Ordering::SeqCst);
            Box::pin(async {})
        })
    }

    fn outbox(&self, control: &Control, lies: Option<u64>) -> Outbox<Store, Queues> {
        let lies = lies.map(|seed| Arc::new(Mutex::new(StdRng::seed_from_u64(seed))));
        let Self { engine, answers, without, .. } = self;
        let weak = Weak { engine: engine.clone(), without: *without, answers: answers.clone(), lies };
        let queue = QueueName::new("work").unwrap();
        Outbox::with_pace(control.over(weak), control.over(engine.clone()), queue, self.pace())
    }

    fn table(&self, control: &Control, lies: Option<u64>) -> Table {
        let outbox = self.outbox(control, lies);
        outbox.store().clone().entities_through::<Employee, _>(outbox).with_pace(self.pace())
    }

    fn worker(&self, control: &Control, lies: Option<u64>) -> Worker<Store, Queues> {
        let options = WorkerOptions { batch: 3, poison_after: 1_000, ..WorkerOptions::default() };
        let table = self.table(control, lies);
        Worker::with_options(self.outbox(control, lies), options).settles(&table)
    }

    fn sweep(&self) -> u64 {
        let outbox = self.outbox(&Control::default(), None);
        block_on(Sweep::new(outbox).registered()).unwrap().pending
    }

    /// Lets the living workers do all that is left, with true answers; returns the rest.
    fn recover(&self) -> u64 {
        for _ in 0..5 {
            self.pass(800);
            self.sweep();
            block_on(self.worker(&Control::default(), None).run_until_idle()).unwrap();
        }
        self.sweep()
    }

    /// What is wrong in the end.
    fn wrong(&self) -> Option<String> {
        let pending = self.recover();
        if pending > 0 {
            return Some(format!("{pending} changes are not settled"));
        }
        let report = block_on(self.table(&Control::default(), None).check().run()).unwrap();
        let problems =
            || report.findings.iter().map(|found| format!("{} {:?} {}", found.index, found.kind, found.at));
        (!report.is_clean()).then(|| problems().collect::<Vec<_>>().join(", "))
    }
}

struct Process {
    control: Control,
    running: Pin<Box<dyn Future<Output = ()>>>,
}

impl Process {
    fn start(world: &World, lies: u64) -> Self {
        let control = Control::default().stepped();
        let worker = world.worker(&control, Some(lies));
        let running = Box::pin(async move {
            let _ = worker.run_once().await;
        });
        Self { control, running }
    }

    /// Whether it is at its end.
    fn step(&mut self) -> bool {
        self.control.step(&mut self.running).is_some()
    }
}

fn run(seed: u64, without: Without) -> Option<String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let world = World::new(without);
    let alive = world.table(&Control::default(), None);
    let mut processes: Vec<_> = (0..3).map(|n| Process::start(&world, n)).collect();
    let mut sleepers = Vec::new();
    for step in 0..rng.random_range(60..300) {
        match rng.random_range(0..100) {
            0..=9 => {
                let id = rng.random_range(0..3);
                let key = Employee::key("Sales", id);
                let employee = Employee {
                    department: "Sales".into(),
                    id,
                    age: step,
                    email: ["ada", "bob"][rng.random_range(0..2)].into(),
                    last_name: ["Jones", "Cao"][rng.random_range(0..2)].into(),
                    badge: rng.random_bool(0.6).then(|| 10 * id + rng.random_range(0..2)),
                };
                let _ = if rng.random_bool(0.25) {
                    block_on(alive.delete(key, IfMatch::Any))
                } else {
                    block_on(alive.insert_or_replace(&employee)).map(drop)
                };
            }
            10..=13 => world.pass(rng.random_range(1..60)),
            14..=15 => drop(world.sweep()),
            16..=18 => {
                let at = rng.random_range(0..processes.len());
                let old = std::mem::replace(&mut processes[at], Process::start(&world, rng.random()));
                sleepers.push(old);
            }
            _ => {
                let at = rng.random_range(0..processes.len());
                if processes[at].step() {
                    processes[at] = Process::start(&world, rng.random());
                }
            }
        }
    }
    for process in &mut processes {
        while !process.step() {}
    }
    let pending = world.recover();
    // All is settled. The sleepers wake, make a call or a few, and die; no worker after them knows of it.
    for mut sleeper in sleepers {
        for _ in 0..rng.random_range(1..4) {
            if sleeper.step() {
                break;
            }
        }
    }
    match pending {
        0 => world.wrong(),
        _ => Some(format!("{pending} changes are not settled")),
    }
    .map(|wrong| format!("seed {seed}: {wrong}"))
}

const RUNS: u64 = 150;

#[test]
fn pat_inter_3_indexes_elsewhere_converge_whoever_sleeps_dies_or_is_told_old_answers() {
    let wrong: Vec<_> = (0..RUNS).filter_map(|seed| run(seed, Without::Nothing)).collect();
    assert!(wrong.is_empty(), "{} of {RUNS} runs: {:?}", wrong.len(), &wrong[..wrong.len().min(4)]);
}

#[test]
fn pat_inter_3_without_the_conditions_of_guards_they_do_not() {
    assert!((0..RUNS).any(|seed| run(seed, Without::Conditions).is_some()));
}

#[test]
fn pat_inter_3_without_the_generations_of_guards_they_do_not() {
    assert!((0..RUNS).any(|seed| run(seed, Without::Generations).is_some()));
}

/// A settling ended with the first answer about the entity, also with one from before the change.
#[test]
fn pat_inter_3_an_old_answer_about_the_entity_ends_no_settling() {
    let world = World::new(Without::Nothing);
    let alive = world.table(&Control::default(), None);
    let ada = |email: &str, age| Employee {
        department: "Sales".into(),
        id: 1,
        age,
        email: email.into(),
        last_name: "Lovelace".into(),
        badge: None,
    };
    for (before, after) in [(ada("a", 36), ada("b", 36)), (ada("b", 36), ada("b", 37))] {
        block_on(alive.insert_or_replace(&before)).unwrap();
        world.recover();
        let key = EntityKey::new("Sales", "empid_001").unwrap();
        let old =
            block_on(world.engine.get(&TableName::new("Company").unwrap(), &key, &Select::All)).unwrap();
        block_on(alive.insert_or_replace(&after)).unwrap();
        for answers in [vec![old], vec![None]] {
            // All that a lying store answers is what was before.
            for lies in 0..6 {
                *world.answers.lock().unwrap() = HashMap::from([(key.clone(), answers.clone())]);
                block_on(world.worker(&Control::default(), Some(lies)).run_until_idle()).unwrap();
                world.pass(800);
                world.sweep();
            }
        }
        assert_eq!(world.wrong(), None);
    }
}
