//! The environment of the convergence tests: employees with all kinds of data derived from them in other partitions,
//! the processes that change the employees, and the final checks.

use std::collections::BTreeMap;
use std::time::Duration;

use pollster::block_on;
use rand::RngExt;
use rand::rngs::StdRng;
use table_core::embedded::{Engine, EngineOptions};
use table_core::query::{KeyRange, Query};
use table_core::retry::Retry;
use table_core::selection::Point;
use table_core::{
    Entity, EntityKey, QueueName, Result, RowKey, Selection, TableName, TableStore, TableStoreExt,
};
use table_patterns::Entities;
use table_patterns::copies::{CopyRelation, OnDelete};
use table_patterns::outbox::Outbox;
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::work::{Runtime, Sweep, Worker, WorkerOptions};
use tests::faults::{Control, Controlled, mend, spoil};
use tests::time::{Skew, Time};

use super::weak::{Answered, Answers, Weak, Without};

/// The tables whose rows another program makes unreadable.
const TABLES: [&str; 5] = ["Company", "Projects", "Badges", "Mail", "Names"];

/// The prefix of recorded steps, the only rows of the patterns that become unreadable.
const STEPS: &str = "\u{FFFC}outbox_";

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", copied_by(Lead), feed)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(Badges, unique, table = "Badges", partition_key("badge"), row_key(badge))]
#[index(Mail, table = "Mail", partition_key("mail_", department), row_key(email, "_", id))]
#[index_entity(Namesakes, at_most = 100, table = "Names", partition_key(last_name), row_key("all"))]
pub(super) struct Employee {
    pub(super) department: String,
    #[digits(3)]
    pub(super) id: u32,
    pub(super) age: i32,
    #[without('_')]
    pub(super) email: String,
    pub(super) last_name: String,
    pub(super) badge: Option<u32>,
}

/// A project in another table. It contains a copy of the name of its lead.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Projects", copies_from(Lead))]
#[partition_key(plan)]
#[row_key(id)]
pub(super) struct Project {
    pub(super) plan: String,
    #[digits(3)]
    pub(super) id: u32,
    pub(super) lead: Option<i32>,
    pub(super) lead_name: Option<String>,
}

pub(super) struct Lead;

impl CopyRelation for Lead {
    type Source = Employee;
    type Holder = Project;
    type Copied = String;
    const NAME: &'static str = "lead";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(project: &Project) -> Option<Selection<Employee, Point>> {
        Some(Employee::key("Sales", u32::try_from(project.lead?).ok()?))
    }
    fn copied(lead: &Employee) -> String {
        format!("{} {}", lead.last_name, lead.age)
    }
    fn set(project: &mut Project, name: String) {
        project.lead_name = Some(name);
    }
    fn clear(project: &mut Project) {
        (project.lead, project.lead_name) = (None, None);
    }
}

/// A row of the view. It contains either the totals for all employees with one last name, or one employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Headcounts")]
#[partition_key(of)]
#[row_key(row)]
pub(super) struct Headcount {
    of: String,
    row: String,
    employees: i64,
    years: i64,
}

pub(super) struct Headcounts;

impl View for Headcounts {
    type Source = Employee;
    type Row = Headcount;

    fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
        let all = || Headcount::key(&employee.last_name, "all");
        view.add(all(), Headcount::EMPLOYEES, 1)?;
        view.add(all(), Headcount::YEARS, employee.age.into())?;
        let (of, row) = (employee.email.clone(), format!("of_{:03}", employee.id));
        view.put(&Headcount { of, row, employees: 1, years: employee.age.into() })
    }
}

/// The tables deleted and recreated during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Recreated {
    Nothing,
    View,
    All,
}

pub(super) type Store = Controlled<Weak>;
pub(super) type Queues = Controlled<Engine>;
pub(super) type Through = Outbox<Store, Queues>;

pub(super) struct World {
    pub(super) engine: Engine,
    /// The queue store, which is a service with its own clock.
    queues: Engine,
    pub(super) answered: Answered,
    time: Time,
    without: Without,
    /// `true` if the store supports checks, as the engine does, and `false` as for the service.
    pub(super) has_checks: bool,
}

/// A process: the call during which it dies, the responses it receives, and its clock.
pub(super) struct Process {
    pub(super) control: Control,
    pub(super) answers: Answers,
    pub(super) seed: u64,
    pub(super) skew: Skew,
}

impl Process {
    /// Creates a process that never dies, receives correct responses, can read every row, and has a correct clock.
    pub(super) fn alive() -> Self {
        Self { control: Control::default(), answers: Answers::True, seed: 0, skew: Skew::None }
    }

    /// Creates a process whose store cannot represent some rows.
    pub(super) fn writer() -> Self {
        Self { control: Control::default().misreading(), ..Self::alive() }
    }
}

impl World {
    /// Creates the tables and queues. The clock of the queue store differs from the clock of the tables by `queue`.
    pub(super) fn new(without: Without, queue: Skew) -> Self {
        let time = Time::default();
        let queues = EngineOptions::new().clock(time.skewed(queue)).in_memory();
        let world = Self {
            engine: time.engine(),
            queues,
            time,
            answered: Answered::default(),
            without,
            has_checks: true,
        };
        let alive = Process::alive();
        block_on(async {
            world.outbox(&alive).create_queues().await?;
            world.employees(&alive).create_if_missing().await?;
            world.projects(&alive).create_if_missing().await?;
            world.view(&alive).create_if_missing().await?.rebuild().run().await
        })
        .unwrap();
        world
    }

    /// Makes a random row unreadable for the store of the other processes, as another program could.
    pub(super) fn spoil(&self, rng: &mut StdRng) {
        let table = TABLES[rng.random_range(0..TABLES.len())];
        let keys = self.keys(table, |key| !key.is_reserved() || key.as_str().starts_with(STEPS));
        if !keys.is_empty() {
            self.spoil_row(table, &keys[rng.random_range(0..keys.len())]);
        }
    }

    /// Makes all recorded steps of employees unreadable.
    pub(super) fn spoil_steps(&self) {
        for key in self.keys("Company", |key| key.as_str().starts_with(STEPS)) {
            self.spoil_row("Company", &key);
        }
    }

    fn keys(&self, table: &str, is_chosen: impl Fn(&RowKey) -> bool) -> Vec<EntityKey> {
        let page =
            block_on(self.engine.query(&TableName::new(table).unwrap(), &Query::new(KeyRange::ALL), None))
                .unwrap();
        let keys = page.rows.iter().map(|row| EntityKey::new(row.partition_key, row.row_key).unwrap());
        keys.filter(|key| is_chosen(&key.row_key)).collect()
    }

    fn spoil_row(&self, table: &str, key: &EntityKey) {
        assert!(block_on(spoil(&self.engine, &TableName::new(table).unwrap(), key)).unwrap());
    }

    /// Makes all rows readable again, as another program could.
    pub(super) fn mend(&self) {
        for table in TABLES {
            block_on(mend(&self.engine, &TableName::new(table).unwrap())).unwrap();
        }
    }

    pub(super) fn pass(&self, seconds: u64) {
        self.time.pass(Duration::from_secs(seconds));
    }

    fn runtime(&self, process: &Process) -> Runtime {
        self.time.runtime_of(process.skew)
    }

    fn store(&self, process: &Process) -> Store {
        let Self { engine, answered, without, has_checks, .. } = self;
        let (answers, seed) = (process.answers, process.seed);
        process.control.over(Weak::new(engine, *has_checks, *without, (answers, answered.clone()), seed))
    }

    fn outbox(&self, process: &Process) -> Through {
        let queues = process.control.over(self.queues.clone());
        Outbox::with_runtime(
            self.store(process),
            queues,
            QueueName::new("work").unwrap(),
            self.runtime(process),
        )
    }

    pub(super) fn employees(&self, process: &Process) -> Entities<Employee, Store, Through> {
        Entities::from(self.outbox(process)).with_runtime(self.runtime(process))
    }

    pub(super) fn projects(&self, process: &Process) -> Entities<Project, Store, Through> {
        Entities::from(self.outbox(process)).with_runtime(self.runtime(process))
    }

    pub(super) fn view(&self, process: &Process) -> ViewTable<Headcounts, Store> {
        ViewTable::new(self.store(process)).with_retry(Retry::default().with_runtime(self.runtime(process)))
    }

    pub(super) fn worker(&self, process: &Process) -> Worker<Store, Queues> {
        let options = WorkerOptions { messages_per_receive: 3, ..WorkerOptions::default() };
        let worker =
            Worker::with_options(self.outbox(process), options).with_index_handler(&self.employees(process));
        // Copies and views must read their sources from the primary. A worker that receives stale responses therefore does not update copies.
        if process.answers == Answers::Old {
            worker
        } else {
            worker.with_index_handler(&self.projects(process))
        }
    }

    /// Runs a sweep with a clock that may be wrong. Returns the number of pending changes.
    pub(super) fn sweep(&self, skew: Skew) -> u64 {
        let process = Process { skew, ..Process::alive() };
        block_on(Sweep::new(self.outbox(&process)).sweep_registered()).unwrap().pending
    }

    /// Deletes and recreates tables while other processes are suspended.
    pub(super) fn recreate(&self, tables: Recreated) {
        let alive = Process::alive();
        let derived = match tables {
            Recreated::Nothing => return,
            Recreated::View => &["Headcounts"][..],
            Recreated::All => &["Headcounts", "Badges", "Mail", "Names"],
        };
        block_on(async {
            for table in derived {
                self.engine.delete_table(&TableName::new(table).unwrap()).await?;
            }
            if tables == Recreated::All {
                self.engine.table::<Employee>().delete_table().await?;
                self.engine.table::<Project>().delete_table().await?;
                self.employees(&alive).create_if_missing().await?;
                self.projects(&alive).create_if_missing().await?;
            }
            self.view(&alive).create_if_missing().await?.rebuild().run().await
        })
        .unwrap();
    }

    /// Repairs the indexes and copies, and rebuilds the view.
    pub(super) fn repair(&self) {
        let alive = Process::alive();
        block_on(async {
            self.employees(&alive).check().repair().run().await?;
            self.projects(&alive).check().repair().run().await?;
            self.view(&alive).rebuild().run().await
        })
        .unwrap();
    }

    /// Completes all work by requeuing the poison that unreadable rows caused, and by running sweeps, a worker and the view with correct responses. Returns the
    /// number of changes still pending.
    pub(super) fn recover(&self) -> u64 {
        self.mend();
        block_on(self.view(&Process::alive()).retry_poison()).unwrap();
        for _ in 0..5 {
            block_on(self.outbox(&Process::alive()).requeue_poison_if(|_| true)).unwrap();
            self.pass(800);
            self.sweep(Skew::None);
            block_on(self.worker(&Process::alive()).run_until_idle()).unwrap();
        }
        while block_on(self.view(&Process::alive()).catch_up(100)).unwrap().is_behind {}
        self.sweep(Skew::None)
    }

    /// Describes the defects in the indexes. Returns `None` if all indexes are correct.
    pub(super) fn wrong_entries(&self) -> Option<String> {
        let report = block_on(self.employees(&Process::alive()).check().run()).unwrap();
        let problems =
            || report.findings.iter().map(|found| format!("{} {:?} {}", found.index, found.kind, found.at));
        (!report.is_clean()).then(|| problems().collect::<Vec<_>>().join(", "))
    }

    /// Describes the defects in copied properties and view totals. Returns `None` if all are correct.
    pub(super) fn wrong_copies_or_sums(&self) -> Option<String> {
        let employees = all::<Employee>(&self.engine);
        let projects = all::<Project>(&self.engine);
        for project in &projects {
            let lead = employees.iter().find(|one| project.lead == i32::try_from(one.id).ok());
            if project.lead_name != lead.map(Lead::copied) || project.lead.is_some() != lead.is_some() {
                return Some(format!("{project:?}, and the lead is {lead:?}"));
            }
        }
        let mut wanted: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
        for one in &employees {
            let sum = wanted.entry((one.last_name.clone(), "all".to_owned())).or_default();
            *sum = (sum.0 + 1, sum.1 + i64::from(one.age));
            wanted.insert((one.email.clone(), format!("of_{:03}", one.id)), (1, one.age.into()));
        }
        let rows = all::<Headcount>(&self.engine);
        let rows = rows.iter().map(|row| ((row.of.clone(), row.row.clone()), (row.employees, row.years)));
        let stored: BTreeMap<_, _> = rows.filter(|(_, sums)| *sums != (0, 0)).collect();
        (stored != wanted).then(|| format!("{stored:?} instead of {wanted:?}"))
    }
}

fn all<E: Entity>(engine: &Engine) -> Vec<E> {
    block_on(engine.table::<E>().scan("all that is there").max_rows(10_000).collect()).unwrap()
}
