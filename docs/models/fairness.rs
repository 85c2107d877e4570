//! A model of reservations. With them, transactions of several processes take turns in a partition.
//!
//! A reservation is a numbered row. It contains a hold: the time for which other processes wait for the reservation.
//!
//! Time is simulated. A request takes effect after half a round trip, and its response arrives after the other half. Round trips differ by up to two orders of
//! magnitude. Processes pause and die. Their clocks may be wrong, and may run too fast or too slow.
//!
//! A transaction reads a row, and writes it if the row still has the version that was read. Some processes, such as writers of a feed, do not read this row,
//! but remember the version of their last write. If a write finds another version, they read the row, and repeat the write once in the same attempt. Other
//! programs leave behind reservations, and rows in a different format. Some credentials do not permit deletes.
//!
//! [`MOST_ATTEMPTS`](world::MOST_ATTEMPTS) limits the attempts of a transaction. [`LONGEST`] limits the time for which a reservation can delay other processes.

mod protocol;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::Model;
use crate::fairness::world::{HORIZON, LONGEST, MS, Program, Reservation, World};
use crate::interleave::{Process, Random, step};

pub(crate) const MODEL: Model = Model { name: "fairness", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 18] = [
    "a commit requires the version that was read",
    "a transaction that lost three attempts reserves the partition",
    "a reservation changes the versions of the rows",
    "a process that finds an unknown version looks for reservations",
    "a transaction waits while others have reserved the partition",
    "reservations are served in the order of their numbers",
    "a reservation is passed over after its hold",
    "a hold is measured by the clock of the process that waits",
    "a hold is derived from the round trips of its transaction",
    "a commit deletes the reservation",
    "a process that waited in vain for several reservations in a row no longer waits",
    "every row below the prefix is read as a reservation",
    "a row of another form has no hold",
    "a row of another form is deleted when it is found",
    "a transaction whose credential permits no deletes gives up its reservation",
    "a process that cannot reserve waits for others nevertheless",
    "a process that finds another version than the remembered one looks for reservations in its next transaction",
    "a process waits again for a reservation that has been renewed",
];

const CONDITIONAL: usize = 0;
const RESERVES: usize = 1;
const TOUCHES: usize = 2;
const KNOWS: usize = 3;
const WAITS: usize = 4;
const IN_ORDER: usize = 5;
const PASSES: usize = 6;
const OWN_CLOCK: usize = 7;
const MEASURED: usize = 8;
const DELETES: usize = 9;
const TIRES: usize = 10;
const IN_QUEUE: usize = 11;
const NO_HOLD: usize = 12;
const REMOVES_ODD: usize = 13;
const GIVES_UP: usize = 14;
const WAITS_ANYWAY: usize = 15;
const RECORDS: usize = 16;
const RENEWS: usize = 17;

/// Runs the process whose next step is due first. Returns `false` if all processes have ended.
fn next(world: &World, processes: &mut [Option<Process>]) -> bool {
    let at = {
        let mut schedule = world.schedule.borrow_mut();
        let Some((now, _, at)) = schedule.due.pop_first() else { return false };
        (schedule.now, schedule.running) = (now, at);
        at
    };
    if let Some(slot) = processes.get_mut(at)
        && slot.as_mut().is_some_and(step)
    {
        *slot = None;
    }
    true
}

impl World {
    async fn program(self, program: Rc<Program>, is_running: Rc<Cell<bool>>) {
        self.sleep(self.below(program.latency * 4)).await;
        // All other processes continue until the first process has ended.
        let mut done = 0;
        while done < program.transactions || (program.number > 0 && is_running.get()) {
            if self.transaction(&program).await.is_err() {
                break;
            }
            done += 1;
            self.sleep(self.below(program.think + 1)).await;
        }
        if program.number == 0 {
            is_running.set(false);
        }
    }
}

/// Creates the processes for a run. Either one distant process runs among near ones, or all processes are at similar distances.
fn programs(world: &World) -> Vec<Rc<Program>> {
    let below = |bound| world.below(bound);
    let is_distant = !world.random.one_in(4);
    let count = if world.random.one_in(4) { 12 + world.random.below(5) } else { 2 + world.random.below(5) };
    let is_feed = world.random.one_in(2);
    let program = |number: usize| {
        let latency = match number {
            0 if is_distant => MS * [1 + below(10), 10 + below(90), 100][world.random.below(3) % 3],
            _ => MS * (1 + below(3)),
        };
        let one_in = |times| world.random.one_in(times);
        let ahead =
            i64::try_from(below(2 * 60_000 * MS)).unwrap_or(0) - i64::try_from(60_000 * MS).unwrap_or(0);
        Rc::new(Program {
            number,
            latency,
            think: if one_in(3) { below(50 * MS) } else { 0 },
            transactions: if number > 0 || is_distant { 1 } else { 8 },
            ahead: if one_in(2) { ahead } else { 0 },
            speed: 90 + below(21),
            pauses_at: Some(below(400)).filter(|_| one_in(6)),
            dies_at: Some(below(400)).filter(|_| number > 0 && one_in(4)),
            remembers: is_feed && number > 0 && one_in(3),
            // If many reservations cannot be deleted, processes stop waiting for them. The protocol then gives no guarantees to other processes.
            may_delete: (is_feed && count > 6)
                || !(1..=3).contains(&number)
                || world.is_hostile
                || !one_in(8),
            refusals: Cell::default(),
            requests: Cell::default(),
            known: Cell::default(),
            is_shared: Cell::default(),
            passed: RefCell::default(),
            expired: Cell::default(),
        })
    };
    (0..count).map(program).collect()
}

/// Writes reservations with the longest hold that their writer never deletes.
fn leave_reservations(world: &World) {
    let mut store = world.store.borrow_mut();
    for number in 1..=world.below(60) {
        let reservation = Reservation { number, id: number, owner: usize::MAX, hold: LONGEST, date: 0 };
        store.reservations.insert(reservation.key(), reservation);
    }
}

/// Writes rows in a different format that belong to no process. Their keys are either before all reservations or between them.
fn leave_odd_rows(world: &World) {
    let mut store = world.store.borrow_mut();
    let is_first = world.random.one_in(2);
    for id in 0..world.below(400) {
        let number = if is_first { 0 } else { world.below(20) };
        let row = Reservation { number, id, owner: usize::MAX, hold: 0, date: 0 };
        store.reservations.insert(row.key(), row);
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let is_hostile = random.one_in(16);
    let world = World { store: Rc::default(), schedule: Rc::default(), random, removed, is_hostile };
    if is_hostile {
        leave_reservations(&world);
    }
    if world.random.one_in(8) {
        leave_odd_rows(&world);
    }
    let programs = programs(&world);
    let is_running = Rc::new(Cell::new(true));
    let start = |program: &Rc<Program>| -> Option<Process> {
        Some(Box::pin(world.clone().program(Rc::clone(program), Rc::clone(&is_running))))
    };
    let mut processes: Vec<_> = programs.iter().map(start).collect();
    for (at, process) in processes.iter_mut().enumerate() {
        world.schedule.borrow_mut().running = at;
        if process.as_mut().is_some_and(step) {
            *process = None;
        }
    }
    while next(&world, &mut processes) {
        if world.now() > HORIZON {
            world.fail("the run does not end".to_owned());
        }
        if let Some(wrong) = world.schedule.borrow().wrong.clone() {
            return Err(wrong);
        }
    }
    let store = world.store.borrow();
    if store.value != store.commits {
        return Err(format!("{} commits, the value is {}", store.commits, store.value));
    }
    let is_live = |owner: &Rc<Program>| owner.dies_at.is_none() && owner.may_delete;
    let is_live = |owner: usize| programs.get(owner).is_some_and(is_live);
    match store.reservations.values().find(|known| is_live(known.owner)) {
        Some(Reservation { owner, .. }) => Err(format!("process {owner} has ended and left a reservation")),
        None => Ok(()),
    }
}
