//! A model of an index that is added while programs built from an older release are writing. The model contains sightings (records that an older program has
//! been seen), grants to holders of SAS tokens, and the backfill. The backfill consists of a fence, which waits until older programs are refused, and a pass
//! over all rows, which another run can continue. A program may require the pass again. In some runs, a second release declares the index differently and
//! stores its schema.
//!
//! Each request contains the date from its program's clock, which may be wrong, stopped, or adjusted once during the run. The store refuses a request whose
//! date is too far from its own clock. A request with a SAS has no date; the store refuses it after the token has expired. A program may pause at any request,
//! for any length of time.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::Model;
use crate::interleave::{Process, Processes, Random, finish, give_way, step};

pub(crate) const MODEL: Model = Model { name: "backfill", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 18] = [
    "an older program leaves a sighting before it writes",
    "an older program reads the schema again after its sighting",
    "a program checks its lease when it sends a request",
    "the store refuses requests with the date of another time",
    "the backfill waits for requests from before its first run",
    "older programs are refused before the last sighting is read",
    "a run that finds older programs refused reads the last sighting, too",
    "a run ends only the refusal that it has seen",
    "the pass follows the fence",
    "newer programs maintain the index before it is ready",
    "an entry is written under the version of its entity",
    "a grant is recorded before its bearer writes",
    "the schema is read again after a grant is recorded",
    "the store refuses a signature after its expiry",
    "the later expiry of two grants remains",
    "a run records only positions of its own pass",
    "a run completes only its own pass",
    "a release builds only the index that it declares",
];

const SIGHTING: usize = 0;
const READS_AGAIN: usize = 1;
const LEASE_AT_SEND: usize = 2;
const STORE_REFUSES: usize = 3;
const FIRST_RUN: usize = 4;
const REFUSED_FIRST: usize = 5;
const CHECKS_AGAIN: usize = 6;
const TOKEN: usize = 7;
const PASS_LAST: usize = 8;
const MAINTAINED: usize = 9;
const VERSIONED: usize = 10;
const GRANT_RECORDED: usize = 11;
const GRANT_READS_AGAIN: usize = 12;
const EXPIRES: usize = 13;
const LATER_EXPIRY: usize = 14;
const OWN_POSITION: usize = 15;
const OWN_COMPLETION: usize = 16;
const DECLARED: usize = 17;
/// The condition that each refusal of older programs has a unique number. Random runs without this condition, or without one of the following conditions,
/// rarely fail, so a test contains the seed of a run that fails.
const UNIQUE: usize = 18;
/// The condition that a first run of a backfill is recorded only if the schema that the run has read is still stored.
const SEEN_FIRST: usize = 19;
/// The condition that a run begins or continues a pass only if the schema that the run has read is still stored.
const SEEN_POSITION: usize = 20;

/// The maximum difference between the date of a request and the store's clock. The store refuses a request with a larger difference.
const TOLERANCE: i64 = 15;
/// The time during which a program may write before it must read the schema again.
const LEASE: i64 = 1;
/// The time for which requests can still take effect after a program has checked that it may write. The date of the program's sighting is at most `TOLERANCE`
/// ahead of the store, the date of the write is at most one lease later, and the store accepts that date for another `TOLERANCE`.
const LAST_REQUESTS: i64 = 2 * TOLERANCE + LEASE + 1;
const ENTITIES: usize = 3;
const VALUES: usize = 3;
/// The release without the index, and two releases that declare it differently.
const RELEASES: usize = 3;

/// The state of the index, as recorded in the stored schema.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Index {
    /// The stored schema does not declare the index yet.
    Unknown,
    /// Older programs may write. The value is the store's time when a backfill was first run, if one has been run.
    Announced(Option<i64>),
    /// Older programs are refused. The values are the number that identifies this refusal and the store's time when a backfill was first run.
    Closing(i64, i64),
    /// A backfill may run its pass over all entities. The values are the number that identifies the pass and the position that it has reached.
    Building(u64, usize),
    Ready,
}

struct Store {
    now: i64,
    /// The release whose schema is stored.
    schema: usize,
    index: Index,
    sighting: i64,
    /// The latest expiry of all grants that older programs have made.
    granted: i64,
    /// The value and the version of each entity.
    entities: [(Option<usize>, u64); ENTITIES],
    /// The version of each index entry, keyed by value and entity, for each release. Each release stores the entries under other keys.
    entries: [BTreeMap<(usize, usize), u64>; RELEASES],
    versions: u64,
}

impl Store {
    fn version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    fn put(&mut self, at: usize, value: Option<usize>) {
        let version = self.version();
        if let Some(entity) = self.entities.get_mut(at) {
            *entity = (value, version);
        }
    }

    fn entity(&self, at: usize) -> (Option<usize>, u64) {
        self.entities.get(at).copied().unwrap_or_default()
    }

    /// Returns the index entries as a release declares them.
    fn entries(&self, release: usize) -> BTreeMap<(usize, usize), u64> {
        self.entries.get(release).cloned().unwrap_or_default()
    }

    fn insert(&mut self, release: usize, entry: (usize, usize)) {
        let version = self.version();
        if let Some(entries) = self.entries.get_mut(release) {
            entries.insert(entry, version);
        }
    }

    fn remove(&mut self, release: usize, entry: (usize, usize)) {
        if let Some(entries) = self.entries.get_mut(release) {
            entries.remove(&entry);
        }
    }

    /// Writes an entity and its index entry as a release declares it.
    fn write(&mut self, release: usize, at: usize, value: Option<usize>, maintains: bool) {
        let before = self.entity(at).0;
        self.put(at, value);
        if maintains && release > 0 {
            if let Some(before) = before {
                self.remove(release, (before, at));
            }
            if let Some(value) = value {
                self.insert(release, (value, at));
            }
        }
    }

    /// Stores the schema of a release, which requires the index to be built.
    fn open(&mut self, release: usize) {
        self.schema = release;
        self.index = Index::Announced(None);
    }

    /// Writes an entity as another tool, without the index, and requires the pass again. A pass that has not begun begins later in any case.
    ///
    /// The tool does not write a value that the entity had when an entry was written, because a run that has paused may delete this entry.
    fn overwrite(&mut self, at: usize, value: Option<usize>) {
        if value.is_some_and(|value| self.entries.iter().any(|entries| entries.contains_key(&(value, at)))) {
            return;
        }
        self.put(at, value);
        if matches!(self.index, Index::Building(..) | Index::Ready) {
            self.index = Index::Building(self.version(), 0);
        }
    }
}

/// A program that may be built from an older release than the one whose schema is stored.
struct Program {
    release: usize,
    /// The difference by which the program's clock is ahead of the store's clock or, if the program's clock has stopped, the time that it shows.
    ahead: Cell<i64>,
    is_stopped: bool,
    /// The time, by the program's clock, at which the program last checked that it may write.
    asked: Cell<Option<i64>>,
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

    fn index(&self) -> Index {
        self.store.borrow().index
    }

    fn schema(&self) -> usize {
        self.store.borrow().schema
    }

    /// Returns `true` if the stored schema lets a program write.
    fn may_write(&self, program: &Program) -> bool {
        self.schema() == program.release || matches!(self.index(), Index::Unknown | Index::Announced(_))
    }

    fn clock(&self, program: &Program) -> i64 {
        if program.is_stopped { program.ahead.get() } else { self.store.borrow().now + program.ahead.get() }
    }

    fn accepts(&self, date: i64) -> bool {
        !self.holds(STORE_REFUSES) || (date - self.store.borrow().now).abs() <= TOLERANCE
    }

    fn is_admitted(&self, program: &Program) -> bool {
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
    async fn old_write(self, program: Rc<Program>) {
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
    async fn grant(self, program: Rc<Program>, valid: i64) {
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
    async fn new_write(self, release: usize) {
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

    /// Changes the state of the index if `next` returns a state and, with the condition `seen`, the schema of the release is stored. Returns the state after
    /// that, or `None` if another schema is stored.
    async fn note(
        &self,
        (release, seen): (usize, usize),
        next: impl Fn(Index) -> Option<Index>,
    ) -> Option<Index> {
        give_way().await;
        let mut store = self.store.borrow_mut();
        if store.schema != release && self.holds(seen) {
            return None;
        }
        if let Some(next) = next(store.index) {
            store.index = next;
        }
        Some(store.index)
    }

    /// Returns the store's time, together with the later of the last sighting and the last expiry of a grant. The time is read first.
    async fn sightings(&self) -> (i64, i64) {
        give_way().await;
        let now = self.store.borrow().now;
        give_way().await;
        let seen = self.store.borrow().sighting;
        give_way().await;
        (now, seen.max(self.store.borrow().granted))
    }

    /// Returns the number of the pass and the position where this run may begin or continue it; `None` if the run must wait.
    async fn fence(&self, release: usize) -> Option<(u64, usize)> {
        give_way().await;
        if self.schema() != release && self.holds(DECLARED) {
            return None;
        }
        let index = self.index();
        let pass = self.store.borrow_mut().version();
        let (token, first) = match index {
            Index::Building(pass, position) => return Some((pass, position)),
            Index::Closing(token, _) if !self.holds(CHECKS_AGAIN) => {
                return self
                    .begin(release, pass, |now| matches!(now, Index::Closing(known, _) if known == token))
                    .await;
            }
            Index::Closing(token, first) => (token, first),
            Index::Announced(first) => {
                let (now, seen) = self.sightings().await;
                let Some(first) = first else {
                    let wait =
                        |index| (index == Index::Announced(None)).then_some(Index::Announced(Some(now)));
                    self.note((release, SEEN_FIRST), wait).await;
                    return None;
                };
                let is_over = now - first >= LAST_REQUESTS || !self.holds(FIRST_RUN);
                if !is_over || now - seen < LAST_REQUESTS {
                    return None;
                }
                if !self.holds(REFUSED_FIRST) {
                    return self.begin(release, pass, |now| now == index).await;
                }
                // The time alone does not identify a refusal, because backfills that read the time simultaneously get the same one.
                let number = i64::try_from(self.store.borrow_mut().version()).unwrap_or_default();
                let token = if self.holds(UNIQUE) { number } else { now };
                let close = |now| (now == index).then_some(Index::Closing(token, first));
                if self.note((release, SEEN_POSITION), close).await? != Index::Closing(token, first) {
                    return None;
                }
                (token, first)
            }
            _ => return None,
        };
        let is_ours = |index| match index {
            Index::Closing(number, _) => number == token || !self.holds(TOKEN),
            _ => false,
        };
        let (now, seen) = self.sightings().await;
        if now - seen < LAST_REQUESTS {
            let reopen = |index| is_ours(index).then_some(Index::Announced(Some(first)));
            self.note((release, SEEN_POSITION), reopen).await;
            return None;
        }
        self.begin(release, pass, is_ours).await
    }

    /// Begins a pass if the state of the index is an expected one. Returns the number and the position of the pass that is recorded after that.
    async fn begin(
        &self,
        release: usize,
        pass: u64,
        is_expected: impl Fn(Index) -> bool,
    ) -> Option<(u64, usize)> {
        let begin = |index| is_expected(index).then_some(Index::Building(pass, 0));
        match self.note((release, SEEN_POSITION), begin).await? {
            Index::Building(pass, position) => Some((pass, position)),
            _ => None,
        }
    }

    /// Deletes the entries that no entity requires.
    async fn delete_entries(&self, release: usize) {
        let entries = self.store.borrow().entries(release);
        for ((value, at), version) in entries {
            give_way().await;
            if self.store.borrow().entity(at).0 != Some(value) {
                give_way().await;
                let mut store = self.store.borrow_mut();
                if store.entries(release).get(&(value, at)) == Some(&version) {
                    store.remove(release, (value, at));
                }
            }
        }
    }

    /// Inserts the entry of an entity if it is missing.
    async fn insert_entry(&self, release: usize, at: usize) {
        loop {
            give_way().await;
            let (value, version) = self.store.borrow().entity(at);
            let entries = self.store.borrow().entries(release);
            let Some(value) = value.filter(|value| !entries.contains_key(&(*value, at))) else { return };
            give_way().await;
            let mut store = self.store.borrow_mut();
            if store.entity(at).1 == version || !self.holds(VERSIONED) {
                if self.holds(VERSIONED) {
                    store.put(at, Some(value));
                }
                store.insert(release, (value, at));
            }
        }
    }

    /// Runs the part of the pass at a position: first the entries, then each entity.
    async fn part(&self, release: usize, position: usize) {
        match position.checked_sub(1) {
            None => self.delete_entries(release).await,
            Some(at) => self.insert_entry(release, at).await,
        }
    }

    /// Runs the backfill of a release once.
    async fn backfill(self, release: usize) {
        if !self.holds(PASS_LAST) {
            for position in 0..=ENTITIES {
                self.part(release, position).await;
            }
        }
        let Some((pass, mut position)) = self.fence(release).await else { return };
        if !self.holds(PASS_LAST) {
            position = ENTITIES + 1;
        }
        while position <= ENTITIES {
            self.part(release, position).await;
            position += 1;
            give_way().await;
            let mut store = self.store.borrow_mut();
            match store.index {
                Index::Building(known, _) if known == pass || !self.holds(OWN_POSITION) => {
                    store.index = Index::Building(known, position);
                }
                // Another run has completed the pass.
                Index::Ready => {}
                _ => return,
            }
        }
        give_way().await;
        let mut store = self.store.borrow_mut();
        if matches!(store.index, Index::Building(known, _) if known == pass || !self.holds(OWN_COMPLETION)) {
            store.index = Index::Ready;
        }
    }

    fn check(&self) -> Result<(), String> {
        let store = self.store.borrow();
        let wanted = store.entities.iter().enumerate().filter_map(|(at, entity)| Some((entity.0?, at)));
        let wanted: BTreeSet<_> = wanted.collect();
        let has: BTreeSet<_> = store.entries(store.schema).into_keys().collect();
        if has == wanted {
            Ok(())
        } else {
            Err(format!("the entities need {wanted:?}, the index has {has:?}"))
        }
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let entities = [(Some(0), 0), (Some(1), 0), (None, 0)];
    let (entries, sighting) = (Default::default(), -10 * LAST_REQUESTS);
    let store = Store {
        now: 0,
        schema: 0,
        index: Index::Unknown,
        sighting,
        granted: sighting,
        entities,
        entries,
        versions: 0,
    };
    let world = World { store: Rc::new(RefCell::new(store)), random: random.clone(), removed };
    let minutes = |most: i64| i64::try_from(random.below(usize::try_from(most).unwrap_or(1))).unwrap_or(0);
    // The releases that store their schemas, one after another.
    let releases = [&[1][..], &[1, 2]][random.below(2) % 2];
    let program = |release| {
        let ahead = Cell::new(minutes(3 * TOLERANCE) - minutes(3 * TOLERANCE));
        Rc::new(Program { release, ahead, is_stopped: random.one_in(4), asked: Cell::new(None) })
    };
    // If only one schema is stored, the programs of its release need no permission.
    let programs = [program(0), program(0), program(1), program(2)];
    let programs = programs.get(..if releases.len() == 1 { 2 } else { 4 }).unwrap_or_default();
    // The rounds in which the clocks of the programs are adjusted. A round after the end of the run has no effect.
    let set_at = [random.below(24), random.below(24), random.below(24), random.below(24)];
    let mut processes = Processes::new(random.clone());
    let mut asleep: Vec<Process> = Vec::new();
    let begin = random.below(4);
    let begins = [begin, begin + 1 + random.below(6)];
    // The exclusive upper bound for the number of backfills that start in a round.
    let runs = if random.one_in(2) { 3 } else { 7 };
    // In each round, each program makes a grant with a probability of 1 in `grants`.
    let grants = [3, 12][random.below(2) % 2];
    for round in 0..6 + random.below(10) {
        let opened: Vec<_> = releases.iter().zip(begins).filter(|(_, begin)| *begin <= round).collect();
        if let Some((release, _)) = opened.last().filter(|(_, begin)| *begin == round) {
            world.store.borrow_mut().open(**release);
        }
        for (program, set_at) in programs.iter().zip(set_at) {
            let exists =
                opened.iter().any(|(release, _)| **release == program.release) || program.release == 0;
            if random.one_in(2) && round < 12 && exists {
                processes.start(Box::pin(world.clone().old_write(Rc::clone(program))));
            }
            if random.one_in(grants) && round < 12 && program.release == 0 {
                let valid = minutes(10 * TOLERANCE);
                processes.start(Box::pin(world.clone().grant(Rc::clone(program), valid)));
            }
            if round == set_at {
                program.ahead.set(program.ahead.get() + minutes(4 * TOLERANCE) - 2 * TOLERANCE);
            }
        }
        if round >= begin {
            if releases.len() == 1 {
                processes.start(Box::pin(world.clone().new_write(1)));
            }
            for _ in 0..random.below(runs) {
                let release = *opened.get(random.below(opened.len())).map_or(&1, |(release, _)| *release);
                processes.start(Box::pin(world.clone().backfill(release)));
            }
            if random.one_in(6) {
                let value = Some(random.below(VALUES + 1)).filter(|value| *value < VALUES);
                world.store.borrow_mut().overwrite(random.below(ENTITIES), value);
            }
        }
        processes.run(random.below(30));
        world.store.borrow_mut().now += [0, LEASE, minutes(TOLERANCE), LAST_REQUESTS][random.below(4) % 4];
        asleep.extend(processes.sleepers());
        if !asleep.is_empty() && random.one_in(3) {
            let mut process = asleep.swap_remove(random.below(asleep.len()));
            (0..random.below(4)).any(|_| step(&mut process));
        }
    }
    processes.run_to_end();
    for _ in 0..8 {
        world.store.borrow_mut().now += LAST_REQUESTS;
        finish(Box::pin(world.clone().backfill(world.schema())));
    }
    if world.index() != Index::Ready {
        return Err(format!("the index does not become ready: {:?}", world.index()));
    }
    for mut process in asleep {
        world.store.borrow_mut().now += minutes(TOLERANCE);
        (0..random.below(8)).any(|_| step(&mut process));
    }
    world.check()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests two runs of the backfill that read the same time from the store and refuse older programs one after another. A third run then confirms the first
    /// refusal.
    #[test]
    fn a_refusal_that_is_known_by_its_time_alone_is_confirmed_by_mistake() {
        const FOUND_BY: u64 = 596_845;
        assert!(run(FOUND_BY, Some(UNIQUE)).is_err());
        assert_eq!(run(FOUND_BY, None), Ok(()));
    }

    /// Tests a run of one release that reads the time, pauses, and records this time as the first run of another release.
    #[test]
    fn a_first_run_before_another_schema_is_recorded_by_mistake() {
        const FOUND_BY: u64 = 3_687_293;
        assert!(run(FOUND_BY, Some(SEEN_FIRST)).is_err());
        assert_eq!(run(FOUND_BY, None), Ok(()));
    }

    /// Tests a run of one release that pauses and then takes the position of the pass of another release, whose index it completes.
    #[test]
    fn a_pass_of_another_schema_is_continued_by_mistake() {
        const FOUND_BY: u64 = 490_677;
        assert!(run(FOUND_BY, Some(SEEN_POSITION)).is_err());
        assert_eq!(run(FOUND_BY, None), Ok(()));
    }
}
