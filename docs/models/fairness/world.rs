//! The simulated store, time and processes of the fairness model.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use crate::interleave::Random;

/// The number of simulated ticks per millisecond.
pub(super) const MS: u64 = 10;
/// The maximum number of attempts that a transaction may need if its process does not pause.
pub(super) const MOST_ATTEMPTS: usize = 7;
pub(super) const LOSSES: usize = 3;
/// The shortest and the longest hold of a reservation.
pub(super) const SHORTEST: u64 = 200 * MS;
pub(super) const LONGEST: u64 = 5_000 * MS;
/// The number of consecutive reservations that may expire while a process waits for them. Then the process stops waiting.
pub(super) const MOST_EXPIRED: u64 = 4;
/// The maximum number of reservations per read, and per delete.
pub(super) const MOST_READ: usize = 128;
pub(super) const MOST_DELETED: usize = 100;
/// The maximum delay between two checks of the reservations.
pub(super) const PAUSE: u64 = 32 * MS;
/// The simulated time after which a run is considered stuck.
pub(super) const HORIZON: u64 = 120_000 * MS;

#[derive(Clone, Copy)]
pub(super) struct Reservation {
    pub(super) number: u64,
    /// A random number. It distinguishes the reservation from others with the same `number`.
    pub(super) id: u64,
    pub(super) owner: usize,
    pub(super) hold: u64,
    /// The time at which the reservation was written, according to its process's clock.
    pub(super) date: i64,
}

#[derive(Default)]
pub(super) struct Store {
    /// The row that all transactions write, with its value and version.
    pub(super) value: u64,
    pub(super) version: u64,
    pub(super) commits: u64,
    pub(super) reservations: BTreeMap<(u64, u64), Reservation>,
}

/// A simulated process, which runs transactions one after another.
pub(super) struct Program {
    pub(super) number: usize,
    /// The shortest round trip between the process and the store, in ticks.
    pub(super) latency: u64,
    /// The maximum pause between two transactions of the process.
    pub(super) think: u64,
    pub(super) transactions: usize,
    /// The difference between the process's clock and the true time.
    pub(super) ahead: i64,
    /// The speed of the process's clock, as a percentage of the true speed.
    pub(super) speed: u64,
    /// The number of the request at which the process pauses, and the number of the one at which it dies.
    pub(super) pauses_at: Option<u64>,
    pub(super) dies_at: Option<u64>,
    pub(super) requests: Cell<u64>,
    /// The row's version after the process's last transaction, or `None` if it is unknown.
    pub(super) known: Cell<Option<u64>>,
    /// `true` if another process has written the row since this process's previous transaction.
    pub(super) is_shared: Cell<bool>,
    pub(super) passed: RefCell<BTreeSet<(u64, u64)>>,
    /// `true` if the process's credential permits deletes.
    pub(super) may_delete: bool,
    /// The number of commits refused because of the process's credential.
    pub(super) refusals: Cell<u64>,
    /// The number of consecutive reservations that have expired while the process waited for them.
    pub(super) expired: Cell<u64>,
}

/// A transaction in progress.
#[derive(Default)]
pub(super) struct Transaction {
    pub(super) lost: usize,
    /// The number and id of the transaction's own reservation, if it has one.
    pub(super) own: Option<(u64, u64)>,
    pub(super) hold: u64,
    /// `true` if the transaction's reservation has changed the row's version since the last attempt.
    pub(super) has_touched: bool,
    pub(super) has_paused: bool,
}

#[derive(Default)]
pub(super) struct Schedule {
    pub(super) now: u64,
    /// The times at which the waiting processes continue, in order.
    pub(super) due: BTreeSet<(u64, u64, usize)>,
    pub(super) count: u64,
    pub(super) running: usize,
    pub(super) wrong: Option<String>,
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) store: Rc<RefCell<Store>>,
    pub(super) schedule: Rc<RefCell<Schedule>>,
    pub(super) random: Random,
    pub(super) removed: Option<usize>,
    /// `true` if another program has left reservations that it will never delete.
    pub(super) is_hostile: bool,
}

/// The error of a request whose process has died.
pub(super) struct Died;

/// The first reservations in key order, as returned by one request.
#[derive(Default)]
pub(super) struct Found {
    pub(super) first: Vec<Reservation>,
    /// `true` if no further reservations exist.
    pub(super) is_whole: bool,
}

impl Found {
    /// Returns `true` unless it is certain that the reservation does not exist.
    pub(super) fn may_contain(&self, key: (u64, u64)) -> bool {
        !self.is_whole || self.first.iter().any(|known| known.key() == key)
    }
}

impl Reservation {
    /// Returns `true` if the row has a different format and is not a reservation.
    pub(super) const fn is_odd(&self) -> bool {
        self.hold == 0
    }

    pub(super) const fn key(&self) -> (u64, u64) {
        (self.number, self.id)
    }
}

impl World {
    pub(super) fn holds(&self, condition: usize) -> bool {
        self.removed != Some(condition)
    }

    pub(super) fn now(&self) -> u64 {
        self.schedule.borrow().now
    }

    pub(super) fn below(&self, bound: u64) -> u64 {
        u64::try_from(self.random.below(usize::try_from(bound).unwrap_or(1))).unwrap_or(0)
    }

    pub(super) fn fail(&self, wrong: String) {
        self.schedule.borrow_mut().wrong.get_or_insert(wrong);
    }

    pub(super) async fn sleep(&self, time: u64) {
        {
            let mut schedule = self.schedule.borrow_mut();
            schedule.count += 1;
            let entry = (schedule.now + time, schedule.count, schedule.running);
            schedule.due.insert(entry);
        }
        let mut is_first = true;
        poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
    }

    /// Sends a process's request. `act` applies it to the store.
    pub(super) async fn request<T>(
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
}

pub(super) fn row(store: &mut Store) -> (u64, u64) {
    (store.value, store.version)
}

pub(super) fn found(store: &mut Store) -> Found {
    let first: Vec<_> = store.reservations.values().take(MOST_READ).copied().collect();
    Found { is_whole: first.len() == store.reservations.len(), first }
}
