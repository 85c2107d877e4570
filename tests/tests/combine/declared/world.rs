//! The environment of a test run: a store, a clock, and the processes that use them.

use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::{Entity, QueueName, Result};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::outbox::Outbox;
use table_patterns::participant::{Changes, Participant, WithParticipants};
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::work::{Runtime, Sweep, Worker, WorkerOptions};
use tests::faults::{Control, Controlled, Death};

use crate::declared::case::{Case, TENANT};
use crate::declared::model::Model;
use crate::declared::writer;
use tests::time::Time;

pub(crate) type Store = Controlled<Engine>;
pub(crate) type Tickets<T> = Entities<T, WithParticipants<Store>, Outbox<Store, Store>>;

/// A comment on a ticket. It is declared as a part of the ticket and stored in the same partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("comment_", ticket, "_", number)]
pub(crate) struct Comment {
    pub(crate) tenant: String,
    #[digits(4)]
    pub(crate) ticket: u32,
    #[digits(4)]
    pub(crate) number: u32,
}

/// A row with the text of a ticket. A custom participant (extra code that runs with each write) writes it together with the ticket.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("shadow_", number)]
pub(crate) struct Shadow {
    pub(crate) tenant: String,
    #[digits(4)]
    pub(crate) number: u32,
    pub(crate) text: String,
}

/// The totals of an agent. The view keeps them up to date.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Totals")]
#[partition_key(agent)]
#[row_key("total")]
pub(crate) struct Total {
    pub(crate) agent: String,
    pub(crate) tickets: i64,
    pub(crate) points: i64,
}

struct Shadows;

impl<T: Case> Participant<T> for Shadows {
    fn name(&self) -> &'static str {
        "shadows"
    }

    fn changes(&self, old: Option<&T>, new: Option<&T>, out: &mut Changes) -> Result<()> {
        match (old, new) {
            (_, Some(new)) => {
                let ticket = new.ticket();
                let (tenant, text) = (TENANT.to_owned(), format!("{ticket:?}"));
                out.insert_or_replace(&Shadow { tenant, number: ticket.number, text })
            }
            (Some(old), None) => out.delete(Shadow::key(TENANT, old.ticket().number)),
            (None, None) => Ok(()),
        }
    }
}

/// The view that computes totals for tickets of type `T`.
pub(crate) struct Totals<T>(PhantomData<T>);

impl<T: Case> View for Totals<T> {
    type Source = T;
    type Row = Total;

    fn project(source: &T, view: &mut Projection<Total>) -> Result<()> {
        let ticket = source.ticket();
        view.add(Total::key(&ticket.agent), Total::TICKETS, 1)?;
        view.add(Total::key(&ticket.agent), Total::POINTS, ticket.points)
    }
}

pub(crate) struct World<T> {
    pub(crate) model: Model,
    engine: Engine,
    time: Time,
    case: PhantomData<T>,
}

impl<T: Case> World<T> {
    pub(crate) fn new() -> Self {
        let time = Time::default();
        let engine = time.engine();
        let world = Self { model: Model::default(), engine, time, case: PhantomData };
        let healthy = Control::default();
        block_on(world.outbox(&healthy).create_queues()).unwrap();
        block_on(world.tickets(&healthy).create_if_missing()).unwrap();
        block_on(world.view(&healthy).create_if_missing()).unwrap();
        block_on(world.view(&healthy).rebuild().run()).unwrap();
        world
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.time.pass(Duration::from_secs(seconds));
    }

    fn runtime(&self) -> Runtime {
        self.time.runtime()
    }

    pub(crate) fn store(&self, control: &Control) -> Store {
        control.over(self.engine.clone())
    }

    pub(crate) fn outbox(&self, control: &Control) -> Outbox<Store, Store> {
        let queue = QueueName::new("work").unwrap();
        Outbox::with_runtime(self.store(control), self.store(control), queue, self.runtime())
    }

    pub(crate) fn tickets(&self, control: &Control) -> Tickets<T> {
        let outbox = self.outbox(control);
        let store = self.store(control).with_participant::<T>(Shadows);
        store.entities_with_outbox::<T, _>(outbox).with_runtime(self.runtime())
    }

    pub(crate) fn view(&self, control: &Control) -> ViewTable<Totals<T>, Store> {
        ViewTable::new(self.store(control)).with_retry(Retry::default().with_runtime(self.runtime()))
    }

    fn worker(&self, control: &Control) -> Worker<Store, Store> {
        let options =
            WorkerOptions { messages_per_receive: 3, poison_after: 1_000, ..WorkerOptions::default() };
        Worker::with_options(self.outbox(control), options).with_index_handler(&self.tickets(control))
    }

    pub(crate) fn sweep(&self) {
        block_on(Sweep::new(self.outbox(&Control::default())).sweep_registered()).unwrap();
    }

    /// Lets time pass and runs workers without faults until all work is done.
    pub(crate) fn recover(&self) {
        for _ in 0..5 {
            self.pass(800);
            self.sweep();
            block_on(self.worker(&Control::default()).run_until_idle()).unwrap();
        }
        let view = self.view(&Control::default());
        // Some changes cannot be processed while a dead follower still holds a lease.
        while block_on(view.catch_up(1_000)).unwrap().is_behind {}
    }
}

/// A process that a test advances one store call at a time. It may die at any call.
pub(crate) struct Process {
    control: Control,
    running: Pin<Box<dyn Future<Output = ()>>>,
}

impl Process {
    /// Creates a process that changes tickets. No other process changes the same tickets at the same time.
    pub(crate) fn writer<T: Case>(world: &World<T>, owner: usize, random: &mut StdRng) -> Self {
        let control = control(random);
        let (tickets, model) = (world.tickets(&control), world.model.clone());
        let random = StdRng::seed_from_u64(random.random());
        let owner = u32::try_from(owner).unwrap();
        let running = async move { drop(writer::write(tickets, model, owner, random).await) };
        Self { control, running: Box::pin(running) }
    }

    /// Creates a process that does the work recorded in the outbox and updates the view.
    pub(crate) fn worker<T: Case>(world: &World<T>, random: &mut StdRng) -> Self {
        let control = control(random);
        let (worker, view) = (world.worker(&control), world.view(&control));
        let running = async move {
            drop(worker.run_once().await);
            drop(view.catch_up(5).await);
        };
        Self { control, running: Box::pin(running) }
    }

    /// Runs the process until its next call to a store. Returns `true` if the process has ended.
    pub(crate) fn step(&mut self) -> bool {
        self.control.step(&mut self.running).is_some()
    }
}

fn control(random: &mut StdRng) -> Control {
    let control = match random.random_range(0..4) {
        0 => Control::dying(random.random_range(1..20), Death::Before),
        1 => Control::dying(random.random_range(1..20), Death::After),
        2 => Control::busy(random.random_range(4..9)),
        _ => Control::default(),
    };
    control.stepped()
}
