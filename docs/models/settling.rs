//! A model of an optional property that is added while programs built from an older release are writing.
//!
//! Older programs replace entities. They also update entities whose copies contain all properties. The model contains the copies, the wait before the property
//! is first written, and the mark in the stored schema. The mark shows that older programs may still write.
//!
//! Clocks that run at the same rate measure leases, waits and requests. A request takes effect within `REQUEST` or never.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::Model;
use crate::interleave::{Process, Processes, Random, give_way, step};

pub(crate) const MODEL: Model = Model { name: "settling", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 10] = [
    "an older program reads the schema again after its lease",
    "an older program that knows of the property does not replace rows",
    "the lease is checked when a request is sent",
    "a program that stores the property waits before it writes",
    "a program that finds the mark waits, too",
    "the wait is longer than a lease and a request",
    "the mark is removed after the wait",
    "an older program that knows of the property writes it into the copy",
    "the property is read from the entity, because the copy may not exist",
    "the write of the copy requires the version of the entity that was read",
];

const READS_AGAIN: usize = 0;
const REFUSED: usize = 1;
const LEASE_AT_SEND: usize = 2;
const FIRST_WAITS: usize = 3;
const OTHERS_WAIT: usize = 4;
const LONG_ENOUGH: usize = 5;
const MARK_LAST: usize = 6;
const IN_COPY: usize = 7;
const FROM_ENTITY: usize = 8;
const ONE_VERSION: usize = 9;

/// The time during which a program may write before it must read the schema again.
const LEASE: i64 = 5;
/// The time after which a request can no longer take effect.
const REQUEST: i64 = 5;
/// The time for which a newer program waits before it writes the property.
const WAIT: i64 = LEASE + REQUEST + 1;
const ROWS: usize = 2;

/// The stored schema.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Schema {
    Older,
    /// The schema declares the property. The value, called the mark, is `true` while older programs that have not read this schema may still write.
    Newer(bool),
}

/// The content of an entity's copy: the value of the property.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Copied(Option<u64>);

/// A stored entity and its copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Row {
    version: u64,
    /// The value of the property in the entity.
    value: Option<u64>,
    /// `true` if the entity has a copy. Writes by older programs change this.
    is_copied: bool,
    copy: Option<Copied>,
}

struct Store {
    now: i64,
    schema: Schema,
    rows: [Row; ROWS],
    /// For each row, the last value of the property that a newer program has written. The store has acknowledged the write.
    written: [Option<u64>; ROWS],
    values: u64,
}

#[derive(Clone)]
struct World {
    store: Rc<RefCell<Store>>,
    random: Random,
    removed: Option<usize>,
}

impl World {
    fn holds(&self, condition: usize) -> bool {
        self.removed != Some(condition)
    }

    fn now(&self) -> i64 {
        self.store.borrow().now
    }

    /// Sends a request. Returns `true` if the request takes effect.
    async fn send(&self) -> bool {
        let sent = self.now();
        give_way().await;
        self.now() - sent <= REQUEST
    }

    fn row(&self, at: usize) -> Row {
        self.store.borrow().rows.get(at).copied().unwrap_or_default()
    }

    /// Changes an entity if it has the given version. Returns `true` if it was changed.
    fn change(&self, at: usize, version: Option<u64>, change: impl FnOnce(&mut Row)) -> bool {
        let mut store = self.store.borrow_mut();
        let row = store.rows.get_mut(at).filter(|row| version.is_none_or(|version| version == row.version));
        row.map(|row| {
            change(row);
            row.version += 1;
        })
        .is_some()
    }

    /// Updates, as an older program, an entity that was read earlier. Also writes the copy of the entity.
    async fn update(&self, at: usize, read: Row, lacks: bool) {
        // The entity is read again to get its copy.
        if !self.send().await {
            return;
        }
        let (entity, is_copied) = (self.row(at), self.random.one_in(2));
        let known = if self.holds(FROM_ENTITY) { entity.value } else { entity.copy.and_then(|copy| copy.0) };
        let value = known.filter(|_| lacks && self.holds(IN_COPY));
        if self.send().await {
            let version = self.holds(ONE_VERSION).then_some(read.version);
            self.change(at, version, |row| {
                row.is_copied = is_copied;
                row.copy = is_copied.then_some(Copied(value));
            });
        }
    }

    /// Replaces and updates entities as an older program. The program opened its handle before or after the newer schema was stored.
    async fn older(self) {
        let (asked, lacks) = (Cell::new(None), Cell::new(false));
        let is_admitted = || asked.get().is_some_and(|asked| self.now() - asked <= LEASE);
        for _ in 0..6 {
            if asked.get().is_none() || (!is_admitted() && self.holds(READS_AGAIN)) {
                let now = self.now();
                if !self.send().await {
                    continue;
                }
                lacks.set(self.store.borrow().schema != Schema::Older);
                asked.set(Some(now));
            }
            let (at, updates) = (self.random.below(ROWS), self.random.one_in(2));
            let read = self.row(at);
            let was_admitted = is_admitted();
            give_way().await;
            let may_send = if self.holds(LEASE_AT_SEND) { is_admitted() } else { was_admitted };
            if self.holds(READS_AGAIN) && !may_send {
                continue;
            }
            if updates {
                self.update(at, read, lacks.get()).await;
            } else if !(lacks.get() && self.holds(REFUSED)) && self.send().await {
                self.change(at, None, |row| {
                    row.value = None;
                    row.copy = row.is_copied.then_some(Copied(None));
                });
            }
        }
    }

    /// Opens the table and writes the property as a newer program.
    async fn newer(self) {
        let waits = loop {
            give_way().await;
            let schema = self.store.borrow().schema;
            match schema {
                Schema::Newer(is_settling) => break is_settling && self.holds(OTHERS_WAIT),
                Schema::Older => {
                    give_way().await;
                    let mut store = self.store.borrow_mut();
                    // The schema is stored only if it still has the version that was read.
                    if store.schema == Schema::Older {
                        store.schema = Schema::Newer(true);
                        break self.holds(FIRST_WAITS);
                    }
                }
            }
        };
        if waits {
            if !self.holds(MARK_LAST) {
                self.store.borrow_mut().schema = Schema::Newer(false);
            }
            let since = self.now();
            let wait = if self.holds(LONG_ENOUGH) { WAIT } else { LEASE };
            while self.now() - since < wait {
                give_way().await;
            }
            give_way().await;
            self.store.borrow_mut().schema = Schema::Newer(false);
        }
        for _ in 0..3 {
            let at = self.random.below(ROWS);
            give_way().await;
            let read = self.row(at);
            if !self.send().await {
                continue;
            }
            let value = Some(self.store.borrow().values + 1);
            let is_written = self.change(at, Some(read.version), |row| {
                row.value = value;
                row.copy = row.is_copied.then_some(Copied(value));
            });
            let mut store = self.store.borrow_mut();
            store.values += 1;
            if let Some(written) = store.written.get_mut(at).filter(|_| is_written) {
                *written = value;
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let store = self.store.borrow();
        let is_right = |(row, written): (&Row, &Option<u64>)| {
            row.value == *written && row.copy == row.is_copied.then_some(Copied(row.value))
        };
        if store.rows.iter().zip(&store.written).all(is_right) {
            Ok(())
        } else {
            Err(format!("written were {:?}, and stored are {:?}", store.written, store.rows))
        }
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let rows = [Row::default(); ROWS];
    let store = Store { now: 0, schema: Schema::Older, rows, written: [None; ROWS], values: 0 };
    let world = World { store: Rc::new(RefCell::new(store)), random: random.clone(), removed };
    let mut processes = Processes::new(random.clone());
    let mut asleep: Vec<Process> = Vec::new();
    let begin = random.below(4);
    for round in 0..20 {
        if round < 8 && random.one_in(2) {
            processes.start(Box::pin(world.clone().older()));
        }
        if round >= begin && random.one_in(3) {
            processes.start(Box::pin(world.clone().newer()));
        }
        processes.run(random.below(20));
        let passed = i64::try_from(random.below(5)).unwrap_or_default();
        world.store.borrow_mut().now += passed;
        asleep.extend(processes.sleepers());
        if !asleep.is_empty() && random.one_in(2) {
            let mut process = asleep.swap_remove(random.below(asleep.len()));
            if !(0..random.below(4)).any(|_| step(&mut process)) {
                asleep.push(process);
            }
        }
    }
    world.check()
}
