//! The programs of the model, which write entities with or without the index. Also the tools that are unaware of the index.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::backfill::conditions::{
    EXPIRES, GRANT_READS_AGAIN, GRANT_RECORDED, LATER_EXPIRY, LEASE_AT_SEND, MAINTAINED, READS_AGAIN,
    SIGHTING, STORE_REFUSES,
};
use crate::backfill::store::{ENTITIES, Index, Store, VALUES};
use crate::interleave::{Random, finish, give_way};

/// The maximum difference between the date of a request and the store's clock. The store refuses a request with a larger difference.
pub(super) const TOLERANCE: i64 = 15;
/// The time during which a program may write before it must read the schema again.
pub(super) const LEASE: i64 = 1;
/// The time for which requests can still take effect after a program has checked that it may write.
///
/// The date of the program's sighting is at most `TOLERANCE` ahead of the store. The date of the write is at most one lease later. The store accepts that date
/// for another `TOLERANCE`.
pub(super) const LAST_REQUESTS: i64 = 2 * TOLERANCE + LEASE + 1;

/// A program that may be built from an older release than the one whose schema is stored.
pub(super) struct Program {
    pub(super) release: usize,
    /// The difference by which the program's clock is ahead of the store's clock. If the program's clock has stopped, this is the time that it shows.
    pub(super) ahead: Cell<i64>,
    pub(super) is_stopped: bool,
    /// The time, by the program's clock, at which the program last checked that it may write.
    pub(super) asked: Cell<Option<i64>>,
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) store: Rc<RefCell<Store>>,
    pub(super) random: Random,
    pub(super) removed: Option<usize>,
}

impl World {
    pub(super) fn holds(&self, condition: usize) -> bool {
        self.removed != Some(condition)
    }

    pub(super) fn index(&self) -> Index {
        self.store.borrow().index
    }

    pub(super) fn schema(&self) -> usize {
        self.store.borrow().schema
    }

    /// Returns `true` if the stored schema lets a program write.
    pub(super) fn may_write(&self, program: &Program) -> bool {
        self.schema() == program.release || matches!(self.index(), Index::Unknown | Index::Announced(_))
    }

    pub(super) fn clock(&self, program: &Program) -> i64 {
        if program.is_stopped { program.ahead.get() } else { self.store.borrow().now + program.ahead.get() }
    }

    pub(super) fn accepts(&self, date: i64) -> bool {
        !self.holds(STORE_REFUSES) || (date - self.store.borrow().now).abs() <= TOLERANCE
    }

    pub(super) fn is_admitted(&self, program: &Program) -> bool {
        program.asked.get().is_some_and(|asked| (self.clock(program) - asked).abs() <= LEASE)
    }

    /// Sends a request as an older program. Returns `true` if the store accepts the date of the request.
    async fn send(&self, program: &Program) -> bool {
        let date = self.clock(program);
        give_way().await;
        self.accepts(date)
    }

    /// Checks, as an older program, whether it may write. If it may, the permission lasts for one lease.
    async fn ask(&self, program: &Program) {
        program.asked.set(None);
        let asked = self.clock(program);
        if !self.send(program).await {
            return;
        }
        match self.index() {
            Index::Unknown => {}
            _ if self.schema() == program.release => {}
            Index::Announced(_) => {
                if self.holds(SIGHTING) {
                    if !self.send(program).await {
                        return;
                    }
                    let mut store = self.store.borrow_mut();
                    store.sighting = store.now;
                }
                if self.holds(READS_AGAIN) && !(self.send(program).await && self.may_write(program)) {
                    return;
                }
            }
            _ => return,
        }
        program.asked.set(Some(asked));
    }

    /// Writes an entity as a program that may be older. It updates the index only as its own release declares it.
    pub(super) async fn old_write(self, program: Rc<Program>) {
        let (at, value) = (self.random.below(ENTITIES), self.random.below(VALUES + 1));
        for _ in 0..3 {
            if !self.is_admitted(&program) {
                self.ask(&program).await;
            }
        }
        let is_admitted = self.is_admitted(&program);
        give_way().await;
        let (_, version) = self.store.borrow().entity(at);
        if !(if self.holds(LEASE_AT_SEND) { self.is_admitted(&program) } else { is_admitted }) {
            return;
        }
        if self.send(&program).await {
            let mut store = self.store.borrow_mut();
            if program.release == 0 || store.entity(at).1 == version {
                store.write(program.release, at, Some(value).filter(|value| *value < VALUES), true);
            }
        }
    }

    /// Makes a grant as an older program. The holder of the grant then writes without reading the schema.
    pub(super) async fn grant(self, program: Rc<Program>, valid: i64) {
        let expiry = self.store.borrow().now + valid;
        if !(self.send(&program).await && self.may_write(&program)) {
            return;
        }
        if self.holds(GRANT_RECORDED) {
            if !self.send(&program).await {
                return;
            }
            let mut store = self.store.borrow_mut();
            store.granted = if self.holds(LATER_EXPIRY) { store.granted.max(expiry) } else { expiry };
        }
        if self.holds(GRANT_READS_AGAIN) && !(self.send(&program).await && self.may_write(&program)) {
            return;
        }
        for _ in 0..3 {
            let (at, value) = (self.random.below(ENTITIES), self.random.below(VALUES + 1));
            give_way().await;
            if self.store.borrow().now < expiry || !self.holds(EXPIRES) {
                self.store.borrow_mut().put(at, Some(value).filter(|value| *value < VALUES));
            }
        }
    }

    /// Writes an entity as a newer program and updates the index.
    pub(super) async fn new_write(self, release: usize) {
        let (at, value) = (self.random.below(ENTITIES), self.random.below(VALUES + 1));
        let value = Some(value).filter(|value| *value < VALUES);
        for _ in 0..4 {
            give_way().await;
            let (_, version) = self.store.borrow().entity(at);
            give_way().await;
            let mut store = self.store.borrow_mut();
            if store.entity(at).1 == version {
                let maintains = self.holds(MAINTAINED) || store.index == Index::Ready;
                store.write(release, at, value, maintains);
                return;
            }
        }
    }

    /// Checks the index if it is ready. Until then, the index is not used, so its content does not matter.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.index() == Index::Ready { self.store.borrow().check() } else { Ok(()) }
    }

    /// Writes an entity as a tool that does not update the index. Then requires another pass, or repairs the index.
    pub(super) fn overwrite(&self) {
        let (at, value) = (self.random.below(ENTITIES), self.random.below(VALUES + 1));
        self.store.borrow_mut().put(at, Some(value).filter(|value| *value < VALUES));
        if self.random.one_in(2) {
            self.store.borrow_mut().rebuild();
        } else if self.schema() > 0 {
            finish(Box::pin(self.clone().repair(self.schema())));
        }
    }
}
