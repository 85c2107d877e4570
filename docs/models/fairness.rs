//! Model of the reservations by which transactions of several processes share a partition: numbered rows, versions that a process knows, holds.
//!
//! Time is simulated: a request takes effect after half a round trip, and its response arrives after the other half. Round trips differ by a factor
//! of up to 100. Processes pause, die, and have clocks that are wrong and run too fast or too slow. A transaction reads one row, and writes it on
//! condition of its version. [`MOST_ATTEMPTS`] is the bound of its attempts, and [`LONGEST`] bounds the time that a reservation delays others.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use crate::Model;
use crate::interleave::{Process, Random, step};

pub(crate) const MODEL: Model = Model { name: "fairness", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 11] = [
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

/// Ticks of the simulation in a millisecond.
const MS: u64 = 10;
/// The maximum number of attempts of a transaction whose process does not pause.
const MOST_ATTEMPTS: usize = 7;
const LOSSES: usize = 3;
/// The bounds of a hold.
const SHORTEST: u64 = 200 * MS;
const LONGEST: u64 = 5_000 * MS;
/// The number of consecutive reservations that expire while a process waits for them before it stops waiting for any.
const MOST_EXPIRED: u64 = 4;
/// The longest delay between two checks of the reservations.
const PAUSE: u64 = 32 * MS;
/// The time after which a run is considered to be stuck.
const HORIZON: u64 = 120_000 * MS;

#[derive(Clone, Copy)]
struct Reservation {
    number: u64,
    /// Distinguishes it from other reservations with its number, now or earlier.
    id: u64,
    owner: usize,
    hold: u64,
    /// The date by the clock of its process.
    date: i64,
}

#[derive(Default)]
struct Store {
    /// The value and the version of the row.
    value: u64,
    version: u64,
    commits: u64,
    reservations: BTreeMap<(u64, u64), Reservation>,
}

/// A process, which runs one transaction at a time.
struct Program {
    number: usize,
    /// Its shortest round trip.
    latency: u64,
    /// The longest delay between two transactions of the process.
    think: u64,
    transactions: usize,
    /// The error of its clock.
    ahead: i64,
    /// The speed of its clock in percent.
    speed: u64,
    /// The request at which it pauses, or dies.
    pauses_at: Option<u64>,
    dies_at: Option<u64>,
    requests: Cell<u64>,
    /// The version of the row that its last transaction knew.
    known: Cell<Option<u64>>,
    /// `true` if another process has written since its transaction before.
    is_shared: Cell<bool>,
    passed: RefCell<BTreeSet<(u64, u64)>>,
    /// The reservations that expired while it waited for them since it last found none.
    expired: Cell<u64>,
}

/// A running transaction.
#[derive(Default)]
struct Transaction {
    lost: usize,
    /// The number and the identifier of its reservation.
    own: Option<(u64, u64)>,
    hold: u64,
    /// `true` if its reservation has changed the version of the row since its last attempt.
    has_touched: bool,
    has_paused: bool,
}

#[derive(Default)]
struct Schedule {
    now: u64,
    /// Processes by the time at which they continue.
    due: BTreeSet<(u64, u64, usize)>,
    count: u64,
    running: usize,
    wrong: Option<String>,
}

#[derive(Clone)]
struct World {
    store: Rc<RefCell<Store>>,
    schedule: Rc<RefCell<Schedule>>,
    random: Random,
    removed: Option<usize>,
    /// `true` if another program has written reservations that it will not delete.
    is_hostile: bool,
}

/// The death of a process.
struct Died;

/// Reservations in the order of their numbers.
type Found = Vec<Reservation>;

impl Reservation {
    const fn key(&self) -> (u64, u64) {
        (self.number, self.id)
    }
}

impl World {
    fn holds(&self, condition: usize) -> bool {
        self.removed != Some(condition)
    }

    fn now(&self) -> u64 {
        self.schedule.borrow().now
    }

    fn below(&self, bound: u64) -> u64 {
        u64::try_from(self.random.below(usize::try_from(bound).unwrap_or(1))).unwrap_or(0)
    }

    fn fail(&self, wrong: String) {
        self.schedule.borrow_mut().wrong.get_or_insert(wrong);
    }

    async fn sleep(&self, time: u64) {
        {
            let mut schedule = self.schedule.borrow_mut();
            schedule.count += 1;
            let entry = (schedule.now + time, schedule.count, schedule.running);
            schedule.due.insert(entry);
        }
        let mut is_first = true;
        poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
    }

    /// Sends a request, which takes effect in `act`.
    async fn request<T>(
        &self,
        program: &Program,
        transaction: &mut Transaction,
        act: impl FnOnce(&mut Store) -> T,
    ) -> Result<T, Died> {
        let at = program.requests.get();
        program.requests.set(at + 1);
        if program.pauses_at == Some(at) {
            transaction.has_paused = true;
            self.sleep(self.below(3 * LONGEST)).await;
        }
        if program.dies_at == Some(at) {
            return Err(Died);
        }
        let half = |latency: u64| latency / 2 + self.below(latency / 2 + 1);
        self.sleep(half(program.latency)).await;
        let answer = act(&mut self.store.borrow_mut());
        self.sleep(half(program.latency)).await;
        Ok(answer)
    }

    async fn look(&self, program: &Program, transaction: &mut Transaction) -> Result<Found, Died> {
        let found = self.request(program, transaction, found).await?;
        if found.is_empty() {
            program.expired.set(0);
        }
        Ok(found)
    }

    /// Returns `true` if a process no longer waits, because several consecutive reservations expired while it waited.
    fn is_tired(&self, program: &Program) -> bool {
        self.holds(TIRES) && program.expired.get() >= MOST_EXPIRED
    }

    /// Returns the reservation that a transaction waits for.
    fn ahead(&self, program: &Program, transaction: &Transaction, found: &Found) -> Option<Reservation> {
        if !self.holds(WAITS) || (!self.holds(IN_ORDER) && transaction.own.is_some()) {
            return None;
        }
        if self.is_tired(program) {
            return None;
        }
        let passed = program.passed.borrow();
        let first = found.iter().find(|known| !passed.contains(&known.key()));
        first.filter(|first| transaction.own != Some(first.key())).copied()
    }

    /// Waits until the transaction is the first one, or no process has reserved the partition.
    async fn wait(
        &self,
        program: &Program,
        transaction: &mut Transaction,
        mut found: Found,
    ) -> Result<(), Died> {
        let (mut seen, mut waited, mut began, mut read) = (None::<Reservation>, 0, self.now(), MS);
        let start = self.now();
        while let Some(first) = self.ahead(program, transaction, &found) {
            if seen.is_none_or(|seen| seen.key() != first.key()) {
                // Another process has passed over the one before, whose owner would have been faster.
                if seen.is_some_and(|seen| waited >= seen.hold / 2) {
                    program.expired.set(program.expired.get() + 1);
                }
                (seen, waited, began) = (Some(first), 0, self.now());
            }
            let paused = self.now();
            let clock = i64::try_from(paused).unwrap_or(0) + program.ahead;
            let age =
                if self.holds(OWN_CLOCK) { waited } else { u64::try_from(clock - first.date).unwrap_or(0) };
            if self.holds(PASSES) && age >= first.hold {
                program.passed.borrow_mut().insert(first.key());
                program.expired.set(program.expired.get() + 1);
                seen = None;
                let delete = |store: &mut Store| store.reservations.remove(&first.key());
                self.request(program, transaction, delete).await?;
            } else {
                let pause = (waited / 16).clamp(read, PAUSE);
                self.sleep(pause * 100 / program.speed).await;
            }
            let looking = self.now();
            found = self.look(program, transaction).await?;
            read = (self.now() - looking).clamp(MS, PAUSE);
            // The process measures by its own clock, which may be too fast or too slow.
            waited += (self.now() - paused) * program.speed / 100;
            if self.now() - start > MOST_EXPIRED * LONGEST {
                program.expired.set(MOST_EXPIRED);
            }
            if self.now() - began > 3 * LONGEST && !transaction.has_paused {
                self.fail(format!("process {} waits for one reservation for too long", program.number));
            }
        }
        Ok(())
    }

    /// Sends both reads together. They take effect in any order.
    async fn read_and_look(
        &self,
        program: &Program,
        transaction: &mut Transaction,
    ) -> Result<((u64, u64), Found), Died> {
        let apart = self.below(program.latency / 2 + 1);
        if self.random.one_in(2) {
            let read = self.request(program, transaction, row).await?;
            // The other request was sent at the same time: its response is not later than this.
            self.sleep(apart).await;
            let found = found(&mut self.store.borrow_mut());
            return Ok((read, found));
        }
        let found = self.look(program, transaction).await?;
        self.sleep(apart).await;
        let read = row(&mut self.store.borrow_mut());
        Ok((read, found))
    }

    /// Reads the row, after other transactions that have reserved the partition.
    async fn read(&self, program: &Program, transaction: &mut Transaction) -> Result<(u64, u64), Died> {
        let mut looked = program.is_shared.get() || transaction.own.is_some();
        let (mut read, mut found) = if looked {
            self.read_and_look(program, transaction).await?
        } else {
            (self.request(program, transaction, row).await?, Vec::new())
        };
        let is_unknown = |read: (u64, u64)| program.known.get().is_some_and(|known| known != read.1);
        let mut is_shared = is_unknown(read);
        if is_shared && !looked && self.holds(KNOWS) {
            found = self.look(program, transaction).await?;
            looked = true;
        }
        if looked {
            transaction.own = transaction.own.filter(|own| found.iter().any(|known| known.key() == *own));
        }
        if looked && self.is_tired(program) {
            let own = transaction.own;
            let discard = |store: &mut Store| store.reservations.retain(|key, _| Some(*key) == own);
            self.request(program, transaction, discard).await?;
        }
        if looked && self.ahead(program, transaction, &found).is_some() {
            self.wait(program, transaction, found).await?;
            read = self.request(program, transaction, row).await?;
            is_shared = true;
        }
        program.known.set(Some(read.1));
        program.is_shared.set(is_shared && self.holds(KNOWS));
        Ok(read)
    }

    /// Writes the row if its version is the one that was read.
    async fn commit(
        &self,
        program: &Program,
        transaction: &mut Transaction,
        (value, version): (u64, u64),
    ) -> Result<bool, Died> {
        let own = transaction.own.filter(|_| self.holds(DELETES));
        let is_conditional = self.holds(CONDITIONAL);
        let committed = self
            .request(program, transaction, |store| {
                if is_conditional && store.version != version {
                    return None;
                }
                (store.value, store.version) = (value + 1, store.version + 1);
                store.commits += 1;
                own.map(|own| store.reservations.remove(&own));
                Some(store.version)
            })
            .await?;
        if committed.is_some() {
            program.known.set(committed);
        }
        Ok(committed.is_some())
    }

    /// Reserves the partition. The first reservation changes the version of the row.
    async fn reserve(&self, program: &Program, transaction: &mut Transaction) -> Result<(), Died> {
        let found = self.look(program, transaction).await?;
        let owner = program.number;
        let is_stored = |own: (u64, u64)| found.iter().any(|known| known.key() == own);
        let own = transaction.own.filter(|own| is_stored(*own));
        let touches = self.ahead(program, transaction, &found).is_none() && self.holds(TOUCHES);
        let last = found.last().map_or(0, |known| known.number);
        let (number, id) = own.unwrap_or((last + 1, self.below(u64::from(u32::MAX))));
        let date = i64::try_from(self.now()).unwrap_or(0) + program.ahead;
        let reservation = Reservation { number, id, owner, hold: transaction.hold, date };
        let reserve = |store: &mut Store| {
            store.reservations.insert((number, id), reservation);
            store.version += u64::from(touches);
        };
        self.request(program, transaction, reserve).await?;
        transaction.own = Some((number, id));
        Ok(())
    }

    async fn transaction(&self, program: &Program) -> Result<(), Died> {
        let mut transaction = Transaction::default();
        for attempt in 1.. {
            let began = self.now();
            let read = self.read(program, &mut transaction).await?;
            let reading = self.now();
            if self.commit(program, &mut transaction, read).await? {
                return Ok(());
            }
            if attempt >= MOST_ATTEMPTS && !transaction.has_paused && !self.is_hostile {
                self.fail(format!("process {} lost {attempt} attempts", program.number));
            }
            if attempt > 10 * MOST_ATTEMPTS {
                return Ok(());
            }
            transaction.lost += 1;
            program.is_shared.set(self.holds(KNOWS));
            let spent = (self.now() - reading) + (reading - began).min(2 * (self.now() - reading));
            let hold =
                if self.holds(MEASURED) { (4 * spent + 4 * PAUSE).max(2 * transaction.hold) } else { 0 };
            transaction.hold = hold.clamp(SHORTEST, LONGEST);
            let backoff = (MS << transaction.lost.min(7)).min(100 * MS);
            self.sleep(backoff / 2 + self.below(backoff / 2)).await;
            // After a touch, the next attempt may be refused although no other process wrote. It is repeated to find out.
            let is_disturbed = !std::mem::take(&mut transaction.has_touched);
            let reserves = transaction.own.is_none() || is_disturbed;
            if transaction.lost >= LOSSES && reserves && self.holds(RESERVES) {
                self.reserve(program, &mut transaction).await?;
                transaction.has_touched = true;
            }
        }
        Ok(())
    }

    async fn program(self, program: Rc<Program>, is_running: Rc<Cell<bool>>) {
        self.sleep(self.below(program.latency * 4)).await;
        // The others continue until the first process has ended.
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

fn row(store: &mut Store) -> (u64, u64) {
    (store.value, store.version)
}

fn found(store: &mut Store) -> Found {
    store.reservations.values().copied().collect()
}

/// Runs the process that is due next; returns `false` once all have ended.
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

/// Creates the processes of a run: a distant one, or equal ones.
fn programs(world: &World) -> Vec<Rc<Program>> {
    let below = |bound| world.below(bound);
    let is_distant = !world.random.one_in(4);
    let count = if world.random.one_in(4) { 12 + world.random.below(5) } else { 2 + world.random.below(5) };
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
            requests: Cell::default(),
            known: Cell::default(),
            is_shared: Cell::default(),
            passed: RefCell::default(),
            expired: Cell::default(),
        })
    };
    (0..count).map(program).collect()
}

/// Writes reservations that their writer will not delete, with the longest hold.
fn leave_reservations(world: &World) {
    let mut store = world.store.borrow_mut();
    for number in 1..=world.below(60) {
        let reservation = Reservation { number, id: number, owner: usize::MAX, hold: LONGEST, date: 0 };
        store.reservations.insert(reservation.key(), reservation);
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let is_hostile = random.one_in(16);
    let world = World { store: Rc::default(), schedule: Rc::default(), random, removed, is_hostile };
    if is_hostile {
        leave_reservations(&world);
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
    let is_live = |owner: usize| programs.get(owner).is_some_and(|owner| owner.dies_at.is_none());
    match store.reservations.values().find(|known| is_live(known.owner)) {
        Some(Reservation { owner, .. }) => Err(format!("process {owner} has ended and left a reservation")),
        None => Ok(()),
    }
}
