//! A run: random writers and workers, some of which die before or after any of their calls, compared with a model.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pollster::block_on;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::{ErrorCode, IfMatch, Result};
use table_patterns::large::whole;
use table_patterns::series::SeriesRow;
use table_patterns::work::Worker;
use tests::faults::{BLOBS, Control, Death};
use tests::time::Skew;

use crate::together::desk::{Comment, Firm, PEOPLE, Person, TENANT, Ticket, before, person};
use crate::together::odd;
use crate::together::patterns::{Parts, Pattern};
use crate::together::visits::Visits;
use crate::together::world::{Known, Model, Process, Store, WORKERS, World};

pub const NUMBERS: u32 = 5;

/// A change by a writer to one or two tickets.
#[expect(clippy::large_enum_variant, reason = "a handful of them, each used at once")]
#[derive(Clone, Debug)]
enum Verb {
    Insert(Ticket),
    Put(Ticket),
    Replace(Ticket),
    Update(Ticket),
    Patch(i64),
    Delete,
    /// Writes both tickets in one transaction.
    Unit(Ticket, Ticket),
    Comment(u32),
    Photo(String),
    /// Sets a slot.
    Hour(Ticket, usize, i64),
    /// Adds to a slot.
    Work(Ticket, usize, i64),
}

pub struct Run {
    world: World,
    rng: StdRng,
    model: Model,
    /// The number of acknowledged changes of each ticket.
    changes: BTreeMap<u32, usize>,
    /// The processes that currently run.
    processes: Vec<Process>,
    /// The number of odd rows of outboxes.
    odd: u64,
    visits: Visits,
    /// The workers that currently run.
    workers: Vec<(Process, Worker<Store, Store>)>,
}

impl Run {
    fn has(&self, pattern: Pattern) -> bool {
        self.world.has(pattern)
    }

    fn of(&mut self, pattern: Pattern, values: &[&str]) -> Option<String> {
        let is_set = self.has(pattern) && self.rng.random_bool(0.8);
        is_set.then(|| values[self.rng.random_range(0..values.len())].to_owned())
    }

    fn ticket(&mut self, number: u32) -> Ticket {
        // A badge belongs to one ticket. A violation would need a manual decision.
        let badge = self.has(Pattern::UniqueElsewhere).then(|| number * 10 + self.rng.random_range(0..3));
        Ticket {
            tenant: TENANT.to_owned(),
            number,
            status: self.of(Pattern::Index, &["open", "closed"]),
            mail: self.of(Pattern::Unique, &["ada", "bob", "cyd"]),
            agent: self.of(Pattern::List, &["joan", "kim"]),
            queue: self.of(Pattern::IndexElsewhere, &["mail", "phone"]),
            badge,
            tag: self.of(Pattern::ListElsewhere, &["red", "blue"]),
            amount: self.rng.random_range(0..100),
            photo: None,
            owner: self.has(Pattern::Copies).then(|| self.rng.random_range(0..PEOPLE)),
            owner_name: None,
        }
    }

    fn verb(&mut self, number: u32) -> Verb {
        let ticket = self.ticket(number);
        if self.has(Pattern::Series) && self.rng.random_bool(0.2) {
            let (hour, work) = (self.rng.random_range(0..3), self.rng.random_range(1..100));
            let ticket = self.model.get(&number).map_or(ticket, |known| known.ticket.clone());
            let verb = if self.rng.random_bool(0.5) { Verb::Hour } else { Verb::Work };
            return verb(ticket, hour, work);
        }
        match self.rng.random_range(0..16) {
            0..=2 => Verb::Insert(ticket),
            3..=4 => Verb::Put(ticket),
            5 => Verb::Replace(ticket),
            8 => Verb::Patch(ticket.amount),
            9..=10 => Verb::Delete,
            11..=12 if self.has(Pattern::Unit) => {
                let other = self.ticket((number + 1) % NUMBERS);
                Verb::Unit(ticket, other)
            }
            13 if self.has(Pattern::Parts) => Verb::Comment(self.rng.random_range(0..20)),
            14..=15 if self.has(Pattern::Blob) => Verb::Photo(format!("photo {}", ticket.amount)),
            _ => Verb::Update(ticket),
        }
    }

    /// Returns the state after an operation; `None` if it is impossible.
    fn after(&self, number: u32, verb: &Verb) -> Option<Model> {
        let mut model = self.model.clone();
        let bare = |ticket: &Ticket, old: Option<&Known>| Known {
            ticket: ticket.clone(),
            photo: None,
            comments: old.map(|old| old.comments.clone()).unwrap_or_default(),
            hours: BTreeMap::new(),
        };
        let old = self.model.get(&number);
        match verb {
            Verb::Insert(_) if old.is_some() => return None,
            Verb::Insert(ticket) | Verb::Put(ticket) => drop(model.insert(number, bare(ticket, old))),
            Verb::Replace(ticket) => drop(model.insert(number, bare(ticket, Some(old?)))),
            Verb::Update(ticket) => {
                let old = old?.clone();
                let ticket = Ticket { photo: old.ticket.photo.clone(), ..ticket.clone() };
                model.insert(number, Known { ticket, ..old });
            }
            Verb::Patch(amount) => model.get_mut(&number)?.ticket.amount = *amount,
            Verb::Delete => drop(model.remove(&number)?),
            Verb::Unit(one, other) => {
                for (ticket, slots) in [(one, true), (other, false)] {
                    let known = bare(ticket, self.model.get(&ticket.number));
                    let old = self.model.get(&ticket.number).map(|old| old.hours.clone());
                    let hours = if slots { self.hours(ticket) } else { old.unwrap_or_default() };
                    model.insert(ticket.number, Known { hours, ..known });
                }
            }
            Verb::Comment(comment) => {
                if !model.get_mut(&number)?.comments.insert(*comment) {
                    return None;
                }
            }
            Verb::Photo(text) => model.get_mut(&number)?.photo = Some(text.clone()),
            Verb::Hour(ticket, hour, work) => {
                model.entry(number).or_insert_with(|| bare(ticket, None)).hours.insert(*hour, *work);
            }
            Verb::Work(ticket, hour, work) => {
                let known = model.entry(number).or_insert_with(|| bare(ticket, None));
                *known.hours.entry(*hour).or_default() += work;
            }
        }
        let mails: Vec<_> = model.values().filter_map(|known| known.ticket.mail.as_ref()).collect();
        (mails.len() == mails.iter().collect::<BTreeSet<_>>().len()).then_some(model)
    }

    /// Returns the slots that a unit writes to a ticket.
    fn hours(&self, ticket: &Ticket) -> BTreeMap<usize, i64> {
        let hours = [(usize::try_from(ticket.amount % 3).unwrap(), ticket.amount)];
        hours.into_iter().filter(|_| self.has(Pattern::Series)).collect()
    }

    async fn write(&self, process: &Process, number: u32, verb: &Verb) -> Result<()> {
        let (tickets, key) = (self.world.tickets(process), || Ticket::key(TENANT, number));
        match verb {
            Verb::Insert(ticket) => tickets.insert(ticket).await.map(drop),
            Verb::Put(ticket) => tickets.insert_or_replace(ticket).await.map(drop),
            Verb::Replace(ticket) => tickets.replace(ticket, IfMatch::Any).await.map(drop),
            Verb::Update(new) => {
                let change = |ticket: &mut Ticket| {
                    let photo = ticket.photo.take();
                    *ticket = Ticket { photo, ..new.clone() };
                };
                tickets.update(key(), change).await.map(drop)
            }
            Verb::Patch(amount) => tickets.patch(key()).set(Ticket::AMOUNT, *amount).send().await.map(drop),
            Verb::Delete if self.has(Pattern::Parts) => {
                self.world.tickets(process).delete_with_parts(key()).await.map(drop)
            }
            Verb::Delete => tickets.delete(key(), IfMatch::Any).await,
            Verb::Unit(one, other) => {
                let mut unit = tickets.unit(Ticket::partition(TENANT))?;
                if self.has(Pattern::Series) {
                    let old = self.world.series(process).get(Ticket::key(TENANT, one.number)).await?;
                    let mut row = SeriesRow::new(one.clone());
                    for (hour, work) in self.hours(one) {
                        *row.slot_mut(hour)? = Some(work);
                    }
                    unit.put_series(old.as_ref(), &row)?;
                } else {
                    unit.save(tickets.get(Ticket::key(TENANT, one.number)).await?.as_ref(), one)?;
                }
                // A unit saves the other ticket, which must keep all its slots.
                unit.save(tickets.get(Ticket::key(TENANT, other.number)).await?.as_ref(), other)?;
                unit.commit().await.map(drop)
            }
            Verb::Comment(comment) => {
                let (tenant, text) = (TENANT.to_owned(), "so it is".to_owned());
                let comment = Comment { tenant, ticket: number, number: *comment, text };
                self.world.tickets(process).insert_part(key(), &comment).await
            }
            Verb::Photo(text) => {
                let content = [Ticket::PHOTO_BLOB.content(whole(text.clone()))];
                self.world.large(process).set(key(), content).await.map(drop)
            }
            Verb::Hour(ticket, hour, work) => {
                self.world.series(process).set(ticket, *hour, *work).await.map(drop)
            }
            Verb::Work(ticket, hour, work) => {
                self.world.series(process).increment(ticket, *hour, *work).await.map(drop)
            }
        }
    }

    /// Returns a process that may die at one of its calls, and whose clock may be wrong. Some processes continue during the next steps.
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

    /// Returns the way in which a process dies, if it does.
    fn control(&mut self) -> Control {
        if self.rng.random_bool(0.4) {
            return Control::default();
        }
        let death = if self.rng.random_bool(0.5) { Death::Before } else { Death::After };
        Control::dying(self.rng.random_range(1..20), death)
    }

    /// Lets some of the workers work once. Workers that died are replaced.
    fn work(&mut self) {
        self.workers.retain(|(process, _)| !process.control.is_dead());
        while self.workers.len() < WORKERS {
            let control = self.control();
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
            6 => odd::message(&self.world.engine, &mut self.rng),
            7..=8 => self.world.pass(self.rng.random_range(3_600..4 * 3_600)),
            9..=11 => {
                let process = self.process();
                let _ = process.sweep();
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
                // The fence of a backfill assumes a running clock, so the clock of a request that lasts an hour does not stop.
                let skew = [Skew::None, Skew::Days(3), Skew::Days(-3)][self.rng.random_range(0..3)];
                let control = self.control();
                let process = self.world.process(control, skew);
                self.visits.older_step(&self.world, &process, &mut self.rng);
            }
            8 if self.has(Pattern::View) => {
                let process = self.process();
                self.world.pass(60);
                let _ = block_on(self.world.view(&process).catch_up(3));
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

    /// Starts an outage of between five seconds and a day that affects one table, the queue, or everything.
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
                    // A comment does not change its ticket.
                    let is_change = !matches!(verb, Verb::Comment(_));
                    *self.changes.entry(number).or_default() += usize::from(is_change);
                }
            }
            // If the response was lost, a store is down, or a jump of the clock interrupts an upload, either all of the change was made, or nothing.
            (Err(error), is_dead)
                if is_dead || error.code() == ErrorCode::ServerBusy || matches!(verb, Verb::Photo(_)) =>
            {
                let is_one = bare(&stored) == bare(&self.model)
                    || after.is_some_and(|after| bare(&stored) == bare(&after));
                assert!(is_one, "{verb:?} of {number}: {stored:?}");
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

    /// Runs an earlier program, which writes the properties that it knows until it is refused.
    fn older_program(&mut self) {
        let process = self.world.alive();
        let old = block_on(process.before().create_if_missing()).unwrap();
        let write = |number: u32, amount: i64| {
            let (tenant, status) = (TENANT.to_owned(), Some("open".to_owned()));
            let ticket = before::Ticket {
                tenant,
                number,
                status,
                mail: None,
                agent: None,
                queue: None,
                badge: None,
                tag: None,
                amount,
            };
            block_on(old.insert_or_replace(&ticket))
        };
        write(0, 1).unwrap();
        write(1, 2).unwrap();
        block_on(self.world.tickets(&process).create_if_missing()).unwrap();
        // The store belongs to this process, so the older program knows the newer schema at once.
        let error = write(2, 3).unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        let tickets = block_on(process.plain().create_if_missing()).unwrap();
        block_on(async {
            tickets
                .backfill::<crate::together::desk::TicketByMail>()
                .assume_no_older_programs()
                .run()
                .await
                .unwrap();
            tickets
                .backfill::<crate::together::desk::TicketByAgent>()
                .assume_no_older_programs()
                .run()
                .await
                .unwrap();
            tickets
                .backfill::<crate::together::desk::TicketQueues>()
                .assume_no_older_programs()
                .run()
                .await
                .unwrap();
            tickets
                .backfill::<crate::together::desk::TicketBadges>()
                .assume_no_older_programs()
                .run()
                .await
                .unwrap();
            tickets
                .backfill::<crate::together::desk::TicketTags>()
                .assume_no_older_programs()
                .run()
                .await
                .unwrap();
            tickets.backfill_copies().assume_no_older_programs().run().await.unwrap();
            // Patterns that were added later cover only new writes, so this program writes the tickets again.
            for number in [0, 1] {
                let key = || Ticket::key(TENANT, number);
                tickets.delete(key(), IfMatch::Any).await.unwrap();
            }
        });
    }
}

/// Returns a model without the addresses of blobs and the names of owners: addresses are random, and names follow later.
fn bare(model: &Model) -> Model {
    let without = |known: &Known| {
        let ticket = Ticket { photo: None, owner_name: None, ..known.ticket.clone() };
        Known { ticket, ..known.clone() }
    };
    model.iter().map(|(number, known)| (*number, without(known))).collect()
}

/// Runs a random history with these patterns to its end.
pub fn run(parts: &Parts, seed: u64, steps: usize) {
    let world = World::new(parts.clone());
    let (rng, model) = (StdRng::seed_from_u64(seed), Model::new());
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
