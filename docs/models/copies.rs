//! A model of copied properties that are added while programs built from an older release are writing.
//!
//! One entity, called the holder, contains a value that is copied from the entity to which it refers, called the source. The model contains the recorded
//! references from holders to sources, the copies, and the two backfills that complete them.
//!
//! Older programs write sources and holders until they are refused. The two types are refused at different times. `backfill.rs` models how this happens. Here,
//! it is a single atomic step. Processes pause and die at any request. Recorded changes are delivered repeatedly until workers have applied them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::Model;
use crate::interleave::{Process, Processes, Random, finish, give_way, step};

pub(crate) const MODEL: Model = Model { name: "copies", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 7] = [
    "the pass over holders follows the last write of an older program to a holder",
    "the pass over references follows the last write of an older program to a source",
    "the pass over references finds sources that do not exist",
    "the pass over holders records their references",
    "a new reference is recorded before the source is read",
    "a new reference changes the version of the source",
    "a holder is written under its version",
];

const HOLDERS_LAST: usize = 0;
const SOURCES_LAST: usize = 1;
const FINDS_GONE: usize = 2;
const RECORDS: usize = 3;
const REFERS_FIRST: usize = 4;
const TOUCHES: usize = 5;
const VERSIONED: usize = 6;

const SOURCES: usize = 2;
const HOLDERS: usize = 2;
const VALUES: usize = 3;

/// The content of a holder: the source to which it refers, and its copy. The copy consists of a source and the value that was copied from it.
type Holder = (Option<usize>, Option<(usize, usize)>);

/// A row together with its version.
#[derive(Clone, Copy, Default)]
struct Stored<T> {
    content: T,
    version: u64,
}

/// A recorded change. Workers apply it to the copies.
#[derive(Clone, Copy, Debug)]
enum Recorded {
    /// The holder with this number has been changed to refer to a different source.
    Held(usize),
    /// The source with this number has been changed. Workers must update the copies in its holders.
    Given(usize),
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a row of the store")]
struct Store {
    sources: [Stored<Option<usize>>; SOURCES],
    holders: [Stored<Holder>; HOLDERS],
    /// The version of each reference, keyed by source and holder.
    references: BTreeMap<(usize, usize), u64>,
    recorded: Vec<Recorded>,
    versions: u64,
    /// `true` if older programs can no longer write sources.
    fenced_sources: bool,
    fenced_holders: bool,
    /// `true` if the backfill of sources is complete.
    done_sources: bool,
    done_holders: bool,
}

impl Store {
    fn version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    fn source(&self, at: usize) -> Stored<Option<usize>> {
        self.sources.get(at).copied().unwrap_or_default()
    }

    fn holder(&self, at: usize) -> Stored<Holder> {
        self.holders.get(at).copied().unwrap_or_default()
    }

    fn put_source(&mut self, at: usize, content: Option<usize>) {
        let version = self.version();
        if let Some(source) = self.sources.get_mut(at) {
            *source = Stored { content, version };
        }
    }

    fn put_holder(&mut self, at: usize, content: Holder) {
        let version = self.version();
        if let Some(holder) = self.holders.get_mut(at) {
            *holder = Stored { content, version };
        }
    }

    fn references_of(&self, source: usize) -> Vec<(usize, u64)> {
        let own = self.references.iter().filter(|((of, _), _)| *of == source);
        own.map(|((_, holder), version)| (*holder, *version)).collect()
    }
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

    fn value(&self) -> Option<usize> {
        Some(self.random.below(VALUES + 1)).filter(|value| *value < VALUES)
    }

    /// Writes a source or a holder as an older program. References and copies are not updated, because the schema of the program does not declare them.
    async fn old_write(self) {
        give_way().await;
        let mut store = self.store.borrow_mut();
        if self.random.one_in(2) {
            if !store.fenced_sources {
                let (at, value) = (self.random.below(SOURCES), self.value());
                store.put_source(at, value);
            }
        } else if !store.fenced_holders {
            let at = self.random.below(HOLDERS);
            let source = Some(self.random.below(SOURCES + 1)).filter(|source| *source < SOURCES);
            let copy = store.holder(at).content.1.filter(|_| source.is_some());
            store.put_holder(at, (source, copy));
        }
    }

    /// Records that a holder refers to a source. Returns `false` if the source does not exist.
    async fn refer(&self, source: usize, holder: usize) -> bool {
        give_way().await;
        let mut store = self.store.borrow_mut();
        let Some(value) = store.source(source).content else { return false };
        if self.holds(TOUCHES) {
            store.put_source(source, Some(value));
        }
        let version = store.version();
        store.references.insert((source, holder), version);
        true
    }

    /// Writes a holder if it still has the given version. Returns `true` if it was written.
    async fn write_holder(&self, at: usize, content: Holder, version: u64) -> bool {
        give_way().await;
        let mut store = self.store.borrow_mut();
        if self.holds(VERSIONED) && store.holder(at).version != version {
            return false;
        }
        store.put_holder(at, content);
        true
    }

    /// Changes the source to which a holder refers, as a newer program. The new source is either a random one or none.
    async fn new_holder(self) {
        let at = self.random.below(HOLDERS);
        let source = Some(self.random.below(SOURCES + 1)).filter(|source| *source < SOURCES);
        give_way().await;
        let old = self.store.borrow().holder(at);
        let mut copy = None;
        if let Some(source) = source {
            if old.content.0 != Some(source) && !self.refer(source, at).await {
                return;
            }
            give_way().await;
            copy = self.store.borrow().source(source).content.map(|value| (source, value));
        }
        let source = copy.map(|(source, _)| source);
        if self.write_holder(at, (source, copy), old.version).await && old.content.0 != source {
            self.store.borrow_mut().recorded.push(Recorded::Held(at));
        }
    }

    /// Changes or deletes a source as a newer program.
    async fn new_source(self) {
        let (at, value) = (self.random.below(SOURCES), self.value());
        give_way().await;
        let old = self.store.borrow().source(at);
        give_way().await;
        let has_holders = !self.store.borrow().references_of(at).is_empty();
        give_way().await;
        let mut store = self.store.borrow_mut();
        if store.source(at).version == old.version {
            store.put_source(at, value);
            if has_holders {
                store.recorded.push(Recorded::Given(at));
            }
        }
    }

    /// Updates the copy in a holder from the source. Deletes the reference if the holder no longer refers to the source.
    async fn settle_holder(&self, source: usize, holder: usize, reference: Option<u64>, touches: bool) {
        loop {
            give_way().await;
            let read = self.store.borrow().holder(holder);
            give_way().await;
            let value = self.store.borrow().source(source).content;
            let is_here = read.content.0 == Some(source);
            if is_here {
                let copy = value.map(|value| (source, value));
                let content = (copy.map(|(source, _)| source), copy);
                let is_due = touches || content != read.content;
                if is_due && !self.write_holder(holder, content, read.version).await {
                    continue;
                }
            }
            if !is_here || value.is_none() {
                give_way().await;
                let mut store = self.store.borrow_mut();
                if reference.is_some() && store.references.get(&(source, holder)).copied() == reference {
                    store.references.remove(&(source, holder));
                }
            }
            return;
        }
    }

    /// Updates the copies in all holders for which a reference to the source is recorded.
    async fn spread(&self, source: usize) {
        give_way().await;
        let references = self.store.borrow().references_of(source);
        for (holder, version) in references {
            self.settle_holder(source, holder, Some(version), true).await;
        }
    }

    /// Updates the copy in a holder from its current source. If `records` is `true`, also records the reference.
    async fn align(&self, at: usize, records: bool) {
        loop {
            give_way().await;
            let Some(source) = self.store.borrow().holder(at).content.0 else { return };
            if !self.holds(REFERS_FIRST) {
                self.settle_holder(source, at, None, false).await;
            }
            let is_referred = !records || self.refer(source, at).await;
            if self.holds(REFERS_FIRST) || !is_referred {
                let reference = self.store.borrow().references.get(&(source, at)).copied();
                self.settle_holder(source, at, reference, false).await;
            }
            if is_referred {
                return;
            }
        }
    }

    async fn settle(self, change: Recorded) {
        match change {
            Recorded::Held(at) => self.align(at, true).await,
            Recorded::Given(source) => self.spread(source).await,
        }
    }

    /// Backfills the sources by updating the holders of every source that has recorded references.
    async fn complete_sources(self) {
        if self.store.borrow().done_sources {
            return;
        }
        if self.holds(SOURCES_LAST) {
            self.store.borrow_mut().fenced_sources = true;
        }
        give_way().await;
        let found: BTreeSet<_> = self.store.borrow().references.keys().map(|(source, _)| *source).collect();
        for source in found {
            if self.holds(FINDS_GONE) || self.store.borrow().source(source).content.is_some() {
                self.spread(source).await;
            }
        }
        let mut store = self.store.borrow_mut();
        (store.fenced_sources, store.done_sources) = (true, true);
    }

    /// Backfills the holders by updating the copy in every holder and recording its reference.
    async fn complete_holders(self) {
        if self.store.borrow().done_holders {
            return;
        }
        if self.holds(HOLDERS_LAST) {
            self.store.borrow_mut().fenced_holders = true;
        }
        for at in 0..HOLDERS {
            self.align(at, self.holds(RECORDS)).await;
        }
        let mut store = self.store.borrow_mut();
        (store.fenced_holders, store.done_holders) = (true, true);
    }

    /// Checks that each holder contains the current value of its source.
    fn check(&self) -> Result<(), String> {
        let store = self.store.borrow();
        for at in 0..HOLDERS {
            let (source, copy) = store.holder(at).content;
            let wanted = source.and_then(|source| Some((source, store.source(source).content?)));
            if copy != wanted || source.is_some() != copy.is_some() {
                return Err(format!("holder {at} of {source:?} has {copy:?} instead of {wanted:?}"));
            }
        }
        Ok(())
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let mut store = Store::default();
    (0..SOURCES).for_each(|at| store.put_source(at, Some(0)));
    let world = World { store: Rc::new(RefCell::new(store)), random: random.clone(), removed };
    let mut processes = Processes::new(random.clone());
    let mut asleep: Vec<Process> = Vec::new();
    let begins = [random.below(8), random.below(8)];
    for round in 0..8 {
        for _ in 0..random.below(3) {
            processes.start(Box::pin(world.clone().old_write()));
        }
        match random.below(4) {
            0 => processes.start(Box::pin(world.clone().new_source())),
            1 | 2 => processes.start(Box::pin(world.clone().new_holder())),
            _ => {}
        }
        let recorded = world.store.borrow().recorded.get(random.below(4)).copied();
        if let Some(change) = recorded {
            processes.start(Box::pin(world.clone().settle(change)));
        }
        for (at, begin) in begins.into_iter().enumerate() {
            if begin == round {
                // If the process dies during a pass, the pass runs again below.
                let pass: Process = if at == 0 {
                    Box::pin(world.clone().complete_sources())
                } else {
                    Box::pin(world.clone().complete_holders())
                };
                processes.start(pass);
            }
        }
        processes.run(random.below(20));
        asleep.extend(processes.sleepers());
    }
    processes.run_to_end();
    let passes: [fn(World) -> Process; 2] =
        [|world| Box::pin(world.complete_sources()), |world| Box::pin(world.complete_holders())];
    let first = random.below(2);
    for pass in [passes[first % 2], passes[(first + 1) % 2]] {
        let mut pass = pass(world.clone());
        while !step(&mut pass) {
            if random.one_in(3) {
                finish(Box::pin(world.clone().old_write()));
            }
            if random.one_in(6) {
                finish(Box::pin(world.clone().new_source()));
            }
            if let Some(sleeper) = asleep.last_mut().filter(|_| random.one_in(3))
                && step(sleeper)
            {
                asleep.pop();
            }
        }
    }
    for mut process in asleep {
        (0..random.below(8)).any(|_| step(&mut process));
    }
    // Every recorded change is delivered again, in the order of the records, to a worker that does not die.
    let mut settled = 0;
    loop {
        let change = world.store.borrow().recorded.get(settled).copied();
        let Some(change) = change else { break };
        finish(Box::pin(world.clone().settle(change)));
        settled += 1;
    }
    world.check()
}
