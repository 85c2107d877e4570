//! A model of convergence (`docs/convergence.md`).
//!
//! It contains an entity, called the source, and a target for each value that the source has had. A target may be an index row, for example. Each target has a
//! guard: a row whose version changes with every write to the target. A record lists the targets that do not match the source yet. Processes settle these
//! targets: they update each target from the source.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::Model;
use crate::interleave::{Process, Processes, Random, finish, give_way, step};

pub(crate) const MODEL: Model = Model { name: "convergence", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 6] = [
    "the guard is read before the source",
    "a target is written under the version of its guard",
    "the guard is written also where the target is right",
    "a deletion leaves the guard",
    "the record names the targets before and after the change",
    "the record is deleted under its version",
];

const GUARD_FIRST: usize = 0;
const GUARD_VERSION: usize = 1;
const WRITES_ALWAYS: usize = 2;
const GUARD_STAYS: usize = 3;
const NAMES_BOTH: usize = 4;
const RECORD_VERSION: usize = 5;

#[derive(Clone, Default)]
struct Source {
    value: Option<usize>,
    /// The targets that may not match the source, and the version of the record. `None` if all targets match.
    record: Option<(BTreeSet<usize>, u64)>,
    version: u64,
}

#[derive(Clone, Copy, Default)]
struct Target {
    is_live: bool,
    /// The version of the target's guard, or 0 if the guard does not exist.
    guard: u64,
}

#[derive(Clone)]
struct World {
    source: Rc<RefCell<Source>>,
    targets: Rc<RefCell<BTreeMap<usize, Target>>>,
    random: Random,
    removed: Option<usize>,
}

impl World {
    fn holds(&self, condition: usize) -> bool {
        self.removed != Some(condition)
    }

    async fn write(self) {
        let read = self.source.borrow().version;
        give_way().await;
        let value = Some(self.random.below(4)).filter(|value| *value > 0);
        let mut source = self.source.borrow_mut();
        if source.version == read {
            let before = source.value.filter(|_| self.holds(NAMES_BOTH));
            let mut targets = source.record.take().map(|(targets, _)| targets).unwrap_or_default();
            targets.extend(before.into_iter().chain(value));
            let version = read + 1;
            *source = Source { value, record: Some((targets, version)), version };
        }
    }

    async fn settle(self) {
        for _ in 0..6 {
            let early = self.source.borrow().clone();
            give_way().await;
            let Some((targets, version)) = early.record.clone() else { return };
            let mut is_lost = false;
            for at in targets {
                is_lost |= !self.settle_one(at, early.value).await;
                if self.random.one_in(10) {
                    return;
                }
                give_way().await;
            }
            let mut source = self.source.borrow_mut();
            let is_same = source.record.as_ref().is_some_and(|(_, stored)| *stored == version);
            if !is_lost && (is_same || !self.holds(RECORD_VERSION)) {
                source.record = None;
                return;
            }
        }
    }

    /// Updates one target from the source. Returns `false` if another process has written the guard of the target in the meantime.
    async fn settle_one(&self, at: usize, early: Option<usize>) -> bool {
        let read = self.targets.borrow().get(&at).copied().unwrap_or_default();
        give_way().await;
        let value = if self.holds(GUARD_FIRST) { self.source.borrow().value } else { early };
        give_way().await;
        let is_live = value == Some(at);
        if is_live == read.is_live && !self.holds(WRITES_ALWAYS) {
            return true;
        }
        let mut targets = self.targets.borrow_mut();
        let stored = targets.entry(at).or_default();
        if stored.guard != read.guard && self.holds(GUARD_VERSION) {
            return false;
        }
        let guard = if is_live || self.holds(GUARD_STAYS) { stored.guard + 1 } else { 0 };
        *stored = Target { is_live, guard };
        true
    }

    /// Updates all targets that the record lists. Returns `false` if this takes too many rounds.
    fn settle_all(&self) -> bool {
        (0..200).any(|_| {
            finish(Box::pin(self.clone().settle()));
            self.source.borrow().record.is_none()
        })
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let world = World { source: Rc::default(), targets: Rc::default(), random: random.clone(), removed };
    let mut processes = Processes::new(random.clone());
    for _ in 0..3 + random.below(6) {
        for process in [Box::pin(world.clone().write()) as Process, Box::pin(world.clone().settle())] {
            processes.start(process);
        }
        processes.run(random.below(14));
    }
    processes.run_to_end();
    if !world.settle_all() {
        return Err("it does not end".to_owned());
    }
    for mut process in processes.sleepers() {
        for _ in 0..=random.below(4) {
            if step(&mut process) {
                break;
            }
        }
    }
    if !world.settle_all() {
        return Err("it does not end after sleepers".to_owned());
    }
    let value = world.source.borrow().value;
    let targets = world.targets.borrow();
    let live: Vec<_> = targets.iter().filter(|(_, target)| target.is_live).map(|(at, _)| *at).collect();
    if live == value.into_iter().collect::<Vec<_>>() {
        Ok(())
    } else {
        Err(format!("the source has {value:?}, the targets {live:?}"))
    }
}
