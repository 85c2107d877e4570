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
/// A process stops waiting after this many consecutive reservations have expired while it was waiting for them.
pub(super) const MOST_EXPIRED: u64 = 4;
/// The maximum number of reservations in one read, and the maximum number in one delete.
pub(super) const MOST_READ: usize = 128;
pub(super) const MOST_DELETED: usize = 100;
/// The maximum time between two reads of the reservations.
pub(super) const PAUSE: u64 = 32 * MS;
/// The simulated time after which a run counts as stuck.
pub(super) const HORIZON: u64 = 120_000 * MS;

#[derive(Clone, Copy)]
pub(super) struct Reservation {
    pub(super) number: u64,
    /// A random number. It distinguishes the reservation from others with the same `number`.
    pub(super) id: u64,
    pub(super) owner: usize,
    pub(super) hold: u64,
    /// The time at which the reservation was written, according to the clock of its process.
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
    /// The difference between the clock of the process and the true time.
    pub(super) ahead: i64,
    /// The speed of the process's clock, as a percentage of the true speed.
    pub(super) speed: u64,
    /// The number of the request at which the process pauses, and the number of the request at which it dies.
    pub(super) pauses_at: Option<u64>,
    pub(super) dies_at: Option<u64>,
    /// `true` if the process does not read the row, but remembers the version of its last write.
    pub(super) remembers: bool,
    pub(super) requests: Cell<u64>,
    /// The version of the row after the last transaction of the process, or `None` if it is unknown.
    pub(super) known: Cell<Option<u64>>,
    /// `true` if another process has written the row since the previous transaction of this process.
    pub(super) is_shared: Cell<bool>,
    /// The reservations for which the process no longer waits, each with its date.
    pub(super) passed: RefCell<BTreeSet<((u64, u64), i64)>>,
    /// `true` if the credential of the process permits deletes.
    pub(super) may_delete: bool,
    /// The number of commits that were refused because of the credential of the process.
    pub(super) refusals: Cell<u64>,
    /// The number of consecutive reservations that expired while the process was waiting for them.
    pub(super) expired: Cell<u64>,
}

/// A transaction in progress.
#[derive(Default)]
pub(super) struct Transaction {
    pub(super) lost: usize,
    /// The number and the id of the transaction's own reservation, if it has one.
    pub(super) own: Option<(u64, u64)>,
    pub(super) hold: u64,
    /// `true` if the reservation of the transaction has changed the version of the row since the last attempt.
    pub(super) has_touched: bool,
    pub(super) has_paused: bool,
}

#[derive(Default)]
pub(super) struct Schedule {
    pub(super) now: u64,
    /// The times at which the waiting processes continue, in ascending order.
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
    /// `true` if another program has left reservations that it never deletes.
    pub(super) is_hostile: bool,
}

/// The error returned by a request if its process has died.
pub(super) struct Died;

/// The first reservations in key order, as returned by one request.
#[derive(Default)]
pub(super) struct Found {
    pub(super) first: Vec<Reservation>,
    /// `true` if no further reservation exists.
    pub(super) is_whole: bool,
}

impl Found {
    /// Returns `true` if the reservation may exist: it is among the reservations read, or some reservations were not read.
    pub(super) fn may_contain(&self, key: (u64, u64)) -> bool {
        !self.is_whole || self.first.iter().any(|known| known.key() == key)
    }
}

impl Reservation {
    /// Returns `true` if the row has a different format and is therefore not a reservation.
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

    /// Sends a request of a process. `act` applies the request to the store.
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
