//! Runs writers and workers in random order, and compares the stored data with a model. Some processes die before or after a call to a store.

mod older;
mod verb;

use std::collections::BTreeMap;
use std::time::Duration;

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::ErrorCode;
use table_patterns::work::Worker;
use tests::faults::{BLOBS, Control, Death};
use tests::time::Skew;

use crate::together::bad;
use crate::together::desk::{Firm, PEOPLE, Person, TENANT, Ticket, person};
use crate::together::odd;
use crate::together::patterns::{Parts, Pattern};
use crate::together::run::verb::Verb;
use crate::together::visits::Visits;
use crate::together::world::{Conditions, Known, Model, Process, Store, WORKERS, World};

pub const NUMBERS: u32 = 5;

pub struct Run {
    world: World,
    rng: StdRng,
    model: Model,
    /// The number of acknowledged changes to each ticket, by ticket number.
    changes: BTreeMap<u32, usize>,
    /// The live processes.
    processes: Vec<Process>,
    /// The number of invalid outbox rows written.
    odd: u64,
    visits: Visits,
    /// The live workers.
    workers: Vec<(Process, Worker<Store, Store>)>,
}

impl Run {
    fn has(&self, pattern: Pattern) -> bool {
        self.world.has(pattern)
    }

    /// Returns a new process, or one that is still running. A new process may die at a random call to a store, and its clock may be wrong.
    fn process(&mut self) -> Process {
        self.processes.retain(|process| !process.control.is_dead());
        if self.processes.len() == 3 {
            let at = self.rng.random_range(0..3);
            if self.rng.random_bool(0.7) {
                return self.processes[at].clone();
            }
            self.processes.remove(at);
        }
        let control = self.control();
        let process = self.world.process(control, Skew::random(&mut self.rng));
        let process = if self.rng.random_bool(0.2) { self.world.bearer(process) } else { process };
        self.processes.push(process.clone());
        process
    }

    /// Chooses at random whether a process dies, and at which call.
    fn control(&mut self) -> Control {
        if self.rng.random_bool(0.4) {
            return Control::default();
        }
        let death = if self.rng.random_bool(0.5) { Death::Before } else { Death::After };
        Control::dying(self.rng.random_range(1..20), death)
    }

    /// Lets up to three of the workers process messages for one round each. Dead workers are replaced first.
    fn work(&mut self) {
        self.workers.retain(|(process, _)| !process.control.is_dead());
        while self.workers.len() < WORKERS {
            let control = if self.world.conditions.deadly { self.control() } else { Control::default() };
            let process = self.world.process(control, Skew::random(&mut self.rng));
            self.workers.push((process.clone(), self.world.worker(&process)));
        }
        for _ in 0..self.rng.random_range(1..4) {
            let _ = block_on(self.workers[self.rng.random_range(0..WORKERS)].1.run_once());
        }
    }

    fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..=2 => self.outage(),
            3..=5 => self.odd += u64::from(odd::row(&self.world.engine, &mut self.rng)),
            6 => odd::message(&self.world.queues, &mut self.rng),
            7..=8 => self.world.pass(self.rng.random_range(3_600..4 * 3_600)),
            9..=11 => {
                let process = self.process();
                bad::sweep(&self.world, &process);
            }
            12..=15 => bad::make(&self.world.engine, &mut self.rng),
            16 => bad::correct(&self.world.engine),
            17..=18 => {
                let process = self.process();
                bad::check(&self.world, &process);
                bad::copy(&self.world, &process);
            }
            _ => {}
        }
        match self.rng.random_range(0..12) {
            0..=5 => self.writes(),
            6 => {
                self.work();
                self.world.pass(self.rng.random_range(0..60));
            }
            10 => {
                let process = self.process();
                self.visits.step(&self.world, &process, &mut self.rng);
            }
            11 if self.has(Pattern::Versions) => {
                // The fence of a backfill assumes that clocks keep running. The clock must therefore not stop during a request that lasts an hour.
                let skew = [Skew::None, Skew::Days(3), Skew::Days(-3)][self.rng.random_range(0..3)];
                let control = self.control();
                let process = self.world.process(control, skew);
                self.visits.older_step(&self.world, &process, &mut self.rng);
            }
            8 if self.has(Pattern::View) => {
                let process = self.process();
                self.world.pass(60);
                let view = self.world.view(&process);
                if self.rng.random_bool(0.8) {
                    let _ = block_on(view.catch_up(3));
                } else {
                    let _ = block_on(view.rebuild().run());
                }
            }
            7 if self.has(Pattern::Blob) => {
                let process = self.process();
                let _ = block_on(self.world.large(&process).collect_orphans());
            }
            9 if self.has(Pattern::Copies) => {
                let (process, id) = (self.process(), self.rng.random_range(0..PEOPLE));
                let name = ["Ada", "Grace", "Joan"][self.rng.random_range(0..3)];
                if self.rng.random_range(0..2) == 0 {
                    let rename = |person: &mut Person| name.clone_into(&mut person.name);
                    let _ = block_on(process.people().update(person(id), rename));
                } else {
                    let rename = |firm: &mut Firm| firm.name = format!("{name} Ltd");
                    let _ = block_on(process.firms().update(Firm::key(TENANT), rename));
                }
            }
            _ => self.world.pass(self.rng.random_range(0..60)),
        }
    }

    /// Makes a table, the queue, or everything unavailable for a time between five seconds and one day.
    fn outage(&mut self) {
        let targets =
            ["", "Desk", "Queues", "Badges", "Tags", "Totals", "TablesOutbox", "TablesFeeds", "work", BLOBS];
        let target = targets[self.rng.random_range(0..targets.len())];
        let seconds = [5, 90, 3_600, 86_400][self.rng.random_range(0..4)];
        self.world.outage(target, Duration::from_secs(seconds));
    }

    fn writes(&mut self) {
        let number = self.rng.random_range(0..NUMBERS);
        let verb = self.verb(number);
        let process = self.process();
        let outcome = block_on(self.write(&process, number, &verb));
        let touched = match &verb {
            Verb::Unit(_, other) => vec![number, other.number],
            _ => vec![number],
        };
        let stored: Model = (0..NUMBERS)
            .filter_map(|number| self.world.stored(number).map(|known| (number, known)))
            .collect();
        let after = self.after(number, &verb);
        match (&outcome, process.control.is_dead()) {
            (Ok(()), _) => {
                let after = after.unwrap_or_else(|| panic!("{verb:?} of {number} was done"));
                assert_eq!(bare(&stored), bare(&after), "{verb:?} of {number}");
                for number in touched {
                    // A comment is not a change to its ticket.
                    let is_change = !matches!(verb, Verb::Comment(_));
                    *self.changes.entry(number).or_default() += usize::from(is_change);
                }
            }
            // If the response was lost, a store was down, or a clock jump interrupted an upload, the change was either made completely or not at all.
            (Err(error), is_dead)
                if is_dead || error.code() == ErrorCode::ServerBusy || matches!(verb, Verb::Photo(_)) =>
            {
                let is_one = bare(&stored) == bare(&self.model)
                    || after.is_some_and(|after| bare(&stored) == bare(&after));
                assert!(is_one, "{verb:?} of {number}: {stored:?}");
            }
            (Err(error), _)
                if error.code() == ErrorCode::EntityMismatch && bad::exists(&self.world.engine) =>
            {
                assert_eq!(bare(&stored), bare(&self.model), "{verb:?} of {number}");
            }
            (Err(error), _) => {
                let codes =
                    [ErrorCode::EntityAlreadyExists, ErrorCode::ResourceNotFound, ErrorCode::UniqueViolation];
                assert!(codes.contains(&error.code()) && after.is_none(), "{verb:?} of {number}: {error}");
                assert_eq!(bare(&stored), bare(&self.model));
            }
        }
        self.model = stored;
    }
}

/// Returns the model without blob references, which are random, and without owner names, which are copied later.
fn bare(model: &Model) -> Model {
    let without = |known: &Known| {
        let ticket = Ticket { photo: None, owner_name: None, ..known.ticket.clone() };
        Known { ticket, ..known.clone() }
    };
    model.iter().map(|(number, known)| (*number, without(known))).collect()
}

/// Runs a random history with the given patterns, completes all work, and checks the stored data.
pub fn run(parts: &Parts, seed: u64, steps: usize) {
    let (mut rng, model) = (StdRng::seed_from_u64(seed), Model::new());
    let world = World::new(parts.clone(), Conditions::random(&mut rng));
    let visits = Visits::open(&world, parts.contains(Pattern::Versions));
    let mut run = Run {
        world,
        rng,
        model,
        changes: BTreeMap::new(),
        processes: Vec::new(),
        odd: 0,
        visits,
        workers: Vec::new(),
    };
    let process = run.world.alive();
    if run.has(Pattern::Versions) {
        run.older_program();
    }
    block_on(run.world.tickets(&process).create_if_missing()).unwrap();
    if run.has(Pattern::View) {
        let view = block_on(run.world.view(&process).create_if_missing()).unwrap();
        block_on(view.rebuild().run()).unwrap();
    }
    if run.has(Pattern::Copies) {
        let firm = Firm { home: TENANT.to_owned(), name: "Ada Ltd".to_owned() };
        block_on(process.firms().insert(&firm)).unwrap();
        for id in 0..PEOPLE {
            let home = if id == 0 { TENANT } else { "elsewhere" };
            let name = "Ada".to_owned();
            let owner = Person { home: home.to_owned(), id, name, is_employed: true, firm: None };
            block_on(process.people().insert(&owner)).unwrap();
        }
    }
    for _ in 0..steps {
        run.step();
    }
    run.world.check(&run.model, &run.changes, run.odd);
    run.visits.check(&run.world);
}
