//! The environment of a run: a store, the processes that use it, and the final checks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use object_store::memory::InMemory;
use pollster::block_on;
use rand::{Rng, RngExt};
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::query::{KeyRange, Query, TextRange};
use table_core::retry::Retry;
use table_core::{PartitionKey, QueueName, Result, TableName, TableStore, TableStoreExt, ticks};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::feed::{Cursor, Feed};
use table_patterns::grant::PartitionGrant;
use table_patterns::large::LargeTable;
use table_patterns::outbox::Outbox;
use table_patterns::participant::WithParticipants;
use table_patterns::series::SeriesTable;
use table_patterns::view::ViewTable;
use table_patterns::work::{PoisonEntry, Runtime, Sweep, SweepReport, WorkMetrics, Worker, WorkerOptions};
use tests::faults::{Control, Controlled, Outages};

use crate::together::bad;
use crate::together::desk::{
    Audit, Comment, Firm, Mark, Marks, Person, TENANT, Ticket, Totals, Trail, before, person, signature,
};
use crate::together::odd;
use crate::together::patterns::{Parts, Pattern};
use crate::together::visits;
use tests::time::{Skew, Time};

/// The number of workers that share the queue.
pub const WORKERS: usize = 20;

pub type Store = Controlled<Engine>;
pub type Work = Outbox<Store, Store>;
pub type Desk = WithParticipants<Store>;
pub type Tickets = Entities<Ticket, Desk, Work>;

/// A ticket in the model, with its comments and the content of its blob.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub ticket: Ticket,
    pub photo: Option<String>,
    pub comments: BTreeSet<u32>,
    /// The values of the slots that are set.
    pub hours: BTreeMap<usize, i64>,
}

pub type Model = BTreeMap<u32, Known>;

/// A process: the call during which it dies, its clock, and its handles.
#[derive(Clone, Debug)]
pub struct Process {
    pub control: Control,
    runtime: Runtime,
    outbox: Work,
    feed: Feed<Desk>,
    /// The grant that permits the process to write tickets without reading the stored schema, if any.
    grant: Option<PartitionGrant>,
}

impl Process {
    pub const fn outbox(&self) -> &Work {
        &self.outbox
    }

    pub const fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn clock(&self) -> Clock {
        let runtime = self.runtime.clone();
        Clock::new(move || runtime.now())
    }

    /// Returns the handle of the process for tickets, without the participants and other patterns of the run.
    pub fn plain(&self) -> Tickets {
        let outbox = self.outbox.clone();
        Desk::from(outbox.store().clone())
            .entities_with_outbox::<Ticket, _>(outbox)
            .with_runtime(self.runtime.clone())
    }

    /// Returns the handle of the process for the owners of tickets.
    pub fn people(&self) -> Entities<Person, Desk, Work> {
        let outbox = self.outbox.clone();
        Desk::from(outbox.store().clone())
            .entities_with_outbox::<Person, _>(outbox)
            .with_runtime(self.runtime.clone())
    }

    /// Returns the handle of the process for the firm of the owners.
    pub fn firms(&self) -> Entities<Firm, Desk, Work> {
        let outbox = self.outbox.clone();
        Desk::from(outbox.store().clone())
            .entities_with_outbox::<Firm, _>(outbox)
            .with_runtime(self.runtime.clone())
    }

    pub fn before(&self) -> Entities<before::Ticket, Desk, Work> {
        let outbox = self.outbox.clone();
        Desk::from(outbox.store().clone())
            .entities_with_outbox::<before::Ticket, _>(outbox)
            .with_runtime(self.runtime.clone())
    }

    /// Runs a sweep. Returns the number of pending changes.
    pub fn sweep(&self) -> Result<u64> {
        Ok(self.swept()?.pending)
    }

    /// Runs a sweep. Returns its report.
    pub fn swept(&self) -> Result<SweepReport> {
        block_on(Sweep::new(self.outbox.clone()).sweep_registered())
    }
}

/// The conditions of a run that do not change.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The difference between the clocks of the queue and of the store.
    pub queue: Skew,
    /// `true` if workers may die. Each death counts as an attempt, so valid work can become poison unless the workers try it almost without limit.
    pub deadly: bool,
}

impl Conditions {
    /// Chooses random conditions.
    pub fn random(rng: &mut impl Rng) -> Self {
        let days = [0, 0, 9, -9][rng.random_range(0..4)];
        Self { queue: Skew::Days(days), deadly: rng.random_bool(0.5) }
    }
}

pub struct World {
    pub engine: Engine,
    /// The queue store, which is a service with its own clock.
    pub queues: Engine,
    pub parts: Parts,
    pub conditions: Conditions,
    time: Time,
    outages: Outages,
    blobs: Arc<InMemory>,
}

impl World {
    pub fn new(parts: Parts, conditions: Conditions) -> Self {
        let time = Time::default();
        let world = Self {
            engine: time.engine(),
            queues: EngineOptions::new().clock(time.skewed(conditions.queue)).in_memory(),
            parts,
            conditions,
            time,
            outages: Outages::default(),
            blobs: Arc::new(InMemory::new()),
        };
        block_on(world.alive().outbox.create_queues()).unwrap();
        world
    }

    pub fn pass(&self, seconds: u64) {
        self.time.pass(Duration::from_secs(seconds));
    }

    /// Creates a process that never dies, has a correct clock, can read every row, and is not affected by outages.
    pub fn alive(&self) -> Process {
        self.started(Control::default(), Skew::None)
    }

    /// Creates a process that dies as specified by `control`. Its clock has the given skew, it is affected by outages, and its store cannot represent some rows.
    pub fn process(&self, control: Control, skew: Skew) -> Process {
        self.started(control.misreading().with_outages(&self.outages), skew)
    }

    /// Gives a process a grant for the partition of the tickets. The handles of the process then do not read the stored schema.
    pub fn bearer(&self, process: Process) -> Process {
        let (partition_key, expiry) = (PartitionKey::new(TENANT).unwrap(), self.expiry(86_400));
        let grant = block_on(self.tickets(&self.alive()).grant(&partition_key, expiry)).unwrap();
        Process { grant: Some(grant), ..process }
    }

    /// Returns the time `seconds` seconds from now, according to the store's clock.
    pub fn expiry(&self, seconds: u64) -> DateTime<Utc> {
        ticks::to_datetime(self.now() + seconds * 10_000_000).unwrap()
    }

    /// Returns the current time of the store in ticks.
    pub fn now(&self) -> u64 {
        self.time.clock().now()
    }

    fn started(&self, control: Control, skew: Skew) -> Process {
        let (runtime, queue) = (self.time.runtime_of(skew), QueueName::new("work").unwrap());
        let stores = (control.over(self.engine.clone()), control.over(self.queues.clone()));
        let outbox = Outbox::with_runtime(stores.0, stores.1, queue, runtime.clone());
        let feed = Feed::with_runtime(Desk::from(control.over(self.engine.clone())), runtime.clone());
        Process { control, runtime, outbox, feed, grant: None }
    }

    /// Starts an outage of a table or a queue. If `target` is empty, everything is affected.
    pub fn outage(&self, target: &str, time: Duration) {
        self.outages.begin(target, time, self.time.clock());
    }

    pub fn has(&self, pattern: Pattern) -> bool {
        self.parts.contains(pattern)
    }

    /// Returns the process's handle for tickets, with the patterns combined in this run.
    pub fn tickets(&self, process: &Process) -> Tickets {
        let (outbox, store) = (process.outbox.clone(), Desk::from(process.control.over(self.engine.clone())));
        let store = if self.has(Pattern::Participant) {
            store.with_participant::<Ticket>(Trail).with_participant::<Comment>(Marks)
        } else {
            store
        };
        let tickets = store.entities_with_outbox::<Ticket, _>(outbox).with_runtime(process.runtime.clone());
        let tickets = tickets.with_feed(process.feed.clone());
        match &process.grant {
            Some(grant) => tickets.with_grant(grant).unwrap(),
            None => tickets,
        }
    }

    pub fn large(&self, process: &Process) -> LargeTable<Ticket, Desk, Work> {
        let blobs = Arc::new(process.control.over(self.blobs.clone()));
        LargeTable::new(self.tickets(process), blobs, "desk").with_clock(process.clock())
    }

    pub fn series(&self, process: &Process) -> SeriesTable<Ticket, Desk, Work> {
        SeriesTable::new(self.tickets(process))
    }

    pub fn view(&self, process: &Process) -> ViewTable<Totals, Store> {
        ViewTable::new(process.control.over(self.engine.clone()))
            .with_retry(Retry::default().with_runtime(process.runtime.clone()))
    }

    pub fn worker(&self, process: &Process) -> Worker<Store, Store> {
        let mut options = WorkerOptions { messages_per_receive: 3, ..WorkerOptions::default() };
        if self.conditions.deadly {
            options.poison_after = 1_000;
        }
        Worker::with_options(process.outbox.clone(), options)
            .with_index_handler(&self.tickets(process))
            .with_index_handler(&process.people())
            .with_index_handler(&process.firms())
            .with_index_handler(&visits::handle(process))
    }

    /// Runs twenty workers concurrently until no messages remain. Returns the metrics of those workers that processed messages.
    fn work(&self) -> Vec<WorkMetrics> {
        let workers: Vec<_> = (0..WORKERS).map(|_| self.worker(&self.alive())).collect();
        thread::scope(|scope| {
            for worker in &workers {
                scope.spawn(|| block_on(worker.run_until_idle()).unwrap());
            }
        });
        workers.iter().map(Worker::metrics).filter(|metrics| metrics.received > 0).collect()
    }

    /// Returns the stored data of a ticket, as read from its rows.
    pub fn stored(&self, number: u32) -> Option<Known> {
        let process = self.alive();
        let ticket = block_on(self.tickets(&process).get(Ticket::key(TENANT, number))).unwrap()?.into_value();
        let photo = block_on(async {
            let reader = self.large(&process).open(&ticket, Ticket::PHOTO_BLOB).await.unwrap()?;
            Some(String::from_utf8(reader.bytes().await.unwrap().to_vec()).unwrap())
        });
        let of_ticket = self.comments().into_iter().filter(|(ticket, _)| *ticket == number);
        let comments = of_ticket.map(|(_, comment)| comment).collect();
        let series = block_on(self.series(&process).get(Ticket::key(TENANT, number))).unwrap()?;
        let hours =
            series.slots().iter().enumerate().filter_map(|(hour, work)| Some((hour, (*work)?))).collect();
        Some(Known { ticket, photo, comments, hours })
    }

    /// Returns all stored comments, each as a ticket number and a comment number. This includes comments whose ticket is missing.
    fn comments(&self) -> Vec<(u32, u32)> {
        let query = Query::new(KeyRange::rows(TENANT, TextRange::prefix("ticket_")));
        let page = block_on(self.engine.query(&TableName::new("Desk").unwrap(), &query, None)).unwrap();
        assert!(page.continuation.is_none());
        let comment = |row_key: &str| {
            let (ticket, comment) = row_key.strip_prefix("ticket_")?.split_once('_')?;
            Some((ticket.parse().unwrap(), comment.parse().unwrap()))
        };
        page.rows.iter().filter_map(|row| comment(row.row_key)).collect()
    }

    /// Completes all pending work, as surviving processes would. `odd` is the number of invalid outbox rows.
    fn recover(&self, odd: u64) {
        let process = self.alive();
        bad::correct(&self.engine);
        let (mut pending, mut work) = (u64::MAX, Vec::new());
        for _ in 0..8 {
            self.pass(800);
            // Work on rows that could not be read is poison, or becomes poison now because its attempts are used up.
            block_on(process.outbox.requeue_poison_if(|entry| !odd::is_work(&entry.work))).unwrap();
            process.sweep().unwrap();
            work = self.work();
            pending = process.sweep().unwrap();
            let poison = block_on(process.outbox.poison(32)).unwrap();
            if pending == 0 && poison.iter().all(|entry| odd::is_work(&entry.work)) {
                break;
            }
        }
        assert!(pending <= odd, "{pending} changes are not settled, and {odd} rows are odd: {work:?}");
    }

    /// Returns the model, with the stored names of the owners filled in.
    fn named(&self, model: &Model) -> Model {
        let mut model = model.clone();
        let (people, firms) = (self.alive().people(), self.alive().firms());
        for Known { ticket, .. } in model.values_mut() {
            // The firm name is read from the firm itself, because a ticket contains only a copy of a copy.
            let name = |id: u32| {
                let firm = block_on(firms.get(Firm::key(TENANT))).unwrap().unwrap().into_value().name;
                let person = block_on(people.get(person(id))).unwrap().unwrap().into_value();
                signature(&person.name, person.is_employed.then_some(firm.as_str()))
            };
            ticket.owner_name = ticket.owner.map(name);
        }
        model
    }

    /// Checks all invariants that hold once all work is complete.
    pub fn check(&self, model: &Model, changes: &BTreeMap<u32, usize>, odd: u64) {
        self.recover(odd);
        let process = self.alive();
        let tickets = block_on(self.tickets(&process).create_if_missing()).unwrap();
        let model = &self.named(model);
        for number in 0..crate::together::run::NUMBERS {
            assert_eq!(self.stored(number).as_ref(), model.get(&number));
        }
        block_on(async {
            let report = tickets.check().run().await.unwrap();
            // The consistency check reports the odd rows of other programs as well.
            let wrong = report.findings.iter().filter(|found| !odd::is_place(&found.at));
            let wrong: Vec<_> = wrong.collect();
            assert!(wrong.is_empty(), "{wrong:?}");
            // Every read of the type returns exactly the rows of the type, regardless of the other rows in the partition.
            let all: Vec<&Ticket> = model.values().map(|known| &known.ticket).collect();
            let rows = tickets.query(Ticket::rows(TENANT)).collect().await.unwrap();
            assert_eq!(rows.iter().collect::<Vec<_>>(), all);
            for known in &all {
                self.find(&tickets, known).await;
            }
        });
        self.check_feed(model, changes);
        if self.has(Pattern::Participant) {
            let trail = block_on(self.engine.table::<Audit>().query(Audit::rows(TENANT)).collect()).unwrap();
            for number in 0..crate::together::run::NUMBERS {
                let differences = trail.iter().filter(|audit| audit.ticket == i64::from(number));
                let amount = model.get(&number).map_or(0, |known| known.ticket.amount);
                let sum: i64 = differences.map(|audit| audit.difference).sum();
                assert_eq!(sum, amount, "the trail of {number}");
            }
        }
        if self.has(Pattern::Parts) {
            let comments = self.comments();
            assert!(comments.iter().all(|(ticket, _)| model.contains_key(ticket)), "{comments:?}");
            if self.has(Pattern::Participant) {
                let marks =
                    block_on(self.engine.table::<Mark>().query(Mark::rows(TENANT)).collect()).unwrap();
                let marks: Vec<_> = marks.iter().map(|mark| (mark.ticket, mark.number)).collect();
                assert_eq!(marks, comments, "each comment has its mark");
            }
        }
        if self.has(Pattern::View) {
            self.check_view(model);
        }
        self.check_poison();
    }

    /// Checks that only odd rows and messages have become poison.
    fn check_poison(&self) {
        let wrong = Mutex::new(Vec::new());
        let collect = |entry: &PoisonEntry| {
            if !odd::is_work(&entry.work) {
                wrong.lock().unwrap().push(entry.clone());
            }
            true
        };
        block_on(self.alive().outbox.discard_poison_if(collect)).unwrap();
        let wrong = wrong.into_inner().unwrap();
        assert!(wrong.is_empty(), "valid work is poison: {wrong:?}");
    }

    /// Checks that the ticket is found through each index for which it has a value.
    async fn find(&self, tickets: &Tickets, known: &Ticket) {
        let number = known.number;
        if let Some(status) = &known.status {
            let found = tickets.query(Ticket::by_status(TENANT, status)).collect().await.unwrap();
            assert!(found.contains(known), "{number} by status");
        }
        if let Some(mail) = &known.mail {
            let found = tickets.get(Ticket::by_mail(TENANT, mail)).await.unwrap();
            assert_eq!(found.as_deref(), Some(known), "{number} by mail");
        }
        if let Some(agent) = &known.agent {
            let found = tickets.get_by_index(Ticket::by_agent(TENANT, agent)).await.unwrap();
            assert!(found.iter().any(|found| **found == *known), "{number} by agent");
        }
        if let Some(queue) = &known.queue {
            let found = tickets.query_eventual(Ticket::queues(TENANT, queue)).collect().await.unwrap();
            assert!(found.iter().any(|found| *found.possibly_stale() == *known), "{number} by queue");
        }
        if let Some(badge) = known.badge {
            let found = tickets.get_eventual(Ticket::badges(badge)).await.unwrap();
            assert_eq!(found.map(table_patterns::index::Eventual::into_possibly_stale).as_ref(), Some(known));
        }
        if let Some(tag) = &known.tag {
            let found = tickets.get_by_index_eventual(Ticket::tags(tag)).await.unwrap();
            assert!(found.iter().any(|found| **found == *known), "{number} by tag");
        }
    }

    fn check_feed(&self, model: &Model, changes: &BTreeMap<u32, usize>) {
        let (table, tenant) = (TableName::new("Desk").unwrap(), PartitionKey::new(TENANT).unwrap());
        self.pass(60);
        let tickets = self.tickets(&self.alive());
        let entries = block_on(tickets.feed().read(&table, &tenant, &Cursor::default(), usize::MAX)).unwrap();
        for number in 0..crate::together::run::NUMBERS {
            let source = format!("ticket_{number:03}");
            let of_ticket: Vec<_> = entries.iter().filter(|entry| entry.source.as_str() == source).collect();
            let least = changes.get(&number).copied().unwrap_or(0);
            assert!(of_ticket.len() >= least, "{number}: {} entries of {least} changes", of_ticket.len());
            let is_there = of_ticket.last().is_some_and(|entry| entry.kind != "deleted");
            assert_eq!(is_there, model.contains_key(&number), "the last entry of {number}");
        }
    }

    fn check_view(&self, model: &Model) {
        self.pass(60);
        block_on(async {
            let view = self.view(&self.alive()).create_if_missing().await.unwrap();
            let expected = || {
                let amounts = model.values().map(|known| known.ticket.amount);
                (i64::try_from(model.len()).unwrap(), amounts.sum::<i64>())
            };
            let is = || async {
                let found =
                    view.table().await.unwrap().get(crate::together::desk::Total::key(TENANT)).await.unwrap();
                found.map_or((0, 0), |total| (total.tickets, total.amount))
            };
            // Tickets that could not be read are set aside.
            view.retry_poison().await.unwrap();
            while view.catch_up(1_000).await.unwrap().is_behind {}
            assert_eq!(is().await, expected(), "caught up");
            view.rebuild().run().await.unwrap();
            assert_eq!(is().await, expected(), "rebuilt");
        });
    }
}
