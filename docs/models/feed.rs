//! A model of the change feed (`table-patterns/src/feed.rs`).
//!
//! It contains several partitions and writers, views with several followers, trims, and a table that is dropped. Followers are processes that keep a view up to
//! date. A trim deletes old entries.
//!
//! A commit writes its changes, and replaces the head, a row that contains the number of the last change. Readers read the head, and then the entries up to
//! that number. A follower that has read all entries marks the feed as quiet, first in the head and then in the registry of partitions. Later calls skip quiet
//! feeds. The protocol does not use clocks.
//!
//! These designs were rejected:
//! - Numbered slots that are filled by inserts. They require placeholders for the slots of dead writers, and a check against the floor for writers that were
//!   paused during a trim. They also do not order the changes that two processes make to the same entity.
//! - Marks for each reader. They cost one row per change and reader.
//!
//! In all designs, processes conflict at the same rate, because each process must know the last number. With a head, the writers of one process wait for each
//! other in each partition. A store that numbered changes at commit would avoid this.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::Model;
use crate::interleave::{Process, Processes, Random, finish, give_way};

pub(crate) const MODEL: Model = Model { name: "feed", conditions: &CONDITIONS, run };

const CONDITIONS: [&str; 12] = [
    "a commit replaces the head that it read",
    "a partition is listed before the commit",
    "a partition is listed after the head was read",
    "a writer removes the mark of a quiet feed",
    "the mark in the registry is conditional on the listing that was read first",
    "a mark changes the head, also one that is marked already",
    "a cursor moves after its changes are applied",
    "a trim goes no further than the slowest view",
    "a cursor names the feed that it is of",
    "a head is created before the partition is listed",
    "a trim reads the head after the rows that it deletes",
    "a trim deletes the version of a row that it read",
];

const COMMIT: usize = 0;
const LISTED_BEFORE: usize = 1;
const LISTED_AFTER_HEAD: usize = 2;
const WAKES: usize = 3;
const MARK_CONDITIONAL: usize = 4;
const MARK_CHANGES: usize = 5;
const AFTER_CHANGES: usize = 6;
const SLOWEST: usize = 7;
const NAMES_FEED: usize = 8;
const CREATED_FIRST: usize = 9;
const TRIM_READS_HEAD: usize = 10;
const TRIM_VERSION: usize = 11;

const PARTITIONS: usize = 2;
const VIEWS: usize = 2;
/// The number of entries that a follower reads with one request.
const LIMIT: u64 = 2;
/// The number of entries that a trim deletes in one transaction.
const PAGE: usize = 2;

/// A position in a feed. It consists of the id of the feed, and the number of the last change that has been read.
type Cursor = (u64, u64);

#[derive(Clone, Copy)]
struct Head {
    feed: u64,
    last: u64,
    floor: u64,
    quiet: bool,
    version: u64,
}

impl Head {
    fn passed(&self, cursor: Cursor, names_feed: bool) -> u64 {
        if cursor.0 == self.feed || !names_feed { cursor.1.max(self.floor) } else { self.floor }
    }
}

#[derive(Clone, Copy)]
struct Listing {
    version: u64,
    quiet: Option<Cursor>,
}

#[derive(Clone, Default)]
struct Partition {
    head: Option<Head>,
    /// The changes in the feed, by number.
    entries: BTreeMap<u64, usize>,
    listing: Option<Listing>,
    /// The largest number in any cursor that readers of the current feed have received.
    given: u64,
    /// All changes in the current feed, in commit order.
    committed: Vec<usize>,
}

#[derive(Clone, Default)]
struct View {
    cursors: [(Cursor, u64); PARTITIONS],
    applied: BTreeSet<usize>,
}

#[derive(Default)]
struct State {
    partitions: [Partition; PARTITIONS],
    views: [View; VIEWS],
    /// The heads cached by each of the two writer processes.
    heads: [[Option<Head>; PARTITIONS]; 2],
    versions: u64,
    changes: usize,
    wrong: Option<String>,
    /// The number of heads that followers have read.
    asked: usize,
}

impl State {
    fn version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }
}

/// The state shared by the processes of a run.
#[derive(Clone)]
struct World {
    state: Rc<RefCell<State>>,
    random: Random,
    removed: Option<usize>,
}

impl World {
    fn holds(&self, condition: usize) -> bool {
        self.removed != Some(condition)
    }

    fn list(&self, at: usize) {
        let mut state = self.state.borrow_mut();
        let version = state.version();
        state.partitions[at].listing = Some(Listing { version, quiet: None });
    }

    /// Commits changes if the head is the one that was read. Returns the new head, or `None` if the head has changed.
    fn commit(&self, at: usize, read: Option<Head>, changes: usize) -> Option<Head> {
        let mut state = self.state.borrow_mut();
        let version = state.version();
        let new = state.changes;
        let partition = &mut state.partitions[at];
        let is_same = partition.head.map(|head| head.version) == read.map(|head| head.version);
        if !is_same && (self.holds(COMMIT) || partition.head.is_none() != read.is_none()) {
            return None;
        }
        let mut head = read.unwrap_or(Head { feed: version, last: 0, floor: 0, quiet: false, version: 0 });
        head.quiet = head.quiet && !self.holds(WAKES);
        let mut wrong = None;
        for change in new..new + changes {
            head.last += 1;
            if head.last <= partition.given || partition.entries.insert(head.last, change).is_some() {
                wrong = Some(format!(
                    "change {change} of {at} has number {}, and a cursor is at {}",
                    head.last, partition.given
                ));
            }
            partition.committed.push(change);
        }
        head.version = version;
        partition.head = Some(head);
        state.changes += changes;
        state.wrong = state.wrong.take().or(wrong);
        Some(head)
    }

    /// Creates the head of a feed whose partition is not in the registry. Returns `None` if another writer has already created it.
    fn create(&self, at: usize) -> Option<Head> {
        let mut state = self.state.borrow_mut();
        let version = state.version();
        let stored = &mut state.partitions[at].head;
        if stored.is_some() {
            return None;
        }
        *stored = Some(Head { feed: version, last: 0, floor: 0, quiet: true, version });
        *stored
    }

    async fn write(self, process: usize) {
        let (at, changes) = (self.random.below(PARTITIONS), 1 + self.random.below(3));
        for _ in 0..6 {
            let known = self.state.borrow_mut().heads[process][at].take();
            let early = !self.holds(LISTED_AFTER_HEAD);
            if early {
                self.list(at);
                give_way().await;
            }
            let head = if known.is_some() {
                known
            } else {
                let head = self.state.borrow().partitions[at].head;
                give_way().await;
                head
            };
            let head = match head {
                None if self.holds(CREATED_FIRST) => {
                    let created = self.create(at);
                    give_way().await;
                    let Some(created) = created else { continue };
                    Some(created)
                }
                head => head,
            };
            let is_listed = head.is_some_and(|head| !head.quiet || !self.holds(WAKES));
            if !is_listed && !early && self.holds(LISTED_BEFORE) {
                self.list(at);
                give_way().await;
            }
            let done = self.commit(at, head, changes);
            give_way().await;
            if let Some(new) = done {
                if !is_listed && !self.holds(LISTED_BEFORE) {
                    self.list(at);
                }
                // The response may be lost.
                if !self.random.one_in(8) {
                    self.state.borrow_mut().heads[process][at] = Some(new);
                }
                return;
            }
        }
    }

    /// Runs `catch_up` once as a follower that remembers its cursors.
    async fn follow(self, view: usize, memory: Rc<RefCell<[Cursor; PARTITIONS]>>) {
        let listed: Vec<_> = self.state.borrow().partitions.iter().map(|one| one.listing).collect();
        give_way().await;
        for (at, listing) in listed.into_iter().enumerate() {
            let Some(listing) = listing else { continue };
            let is_read =
                |cursor: Cursor| listing.quiet.is_some_and(|end| end.0 == cursor.0 && end.1 <= cursor.1);
            if is_read(memory.borrow()[at]) {
                continue;
            }
            let (cursor, version) = self.state.borrow().views[view].cursors[at];
            give_way().await;
            if is_read(cursor) {
                memory.borrow_mut()[at] = cursor;
                continue;
            }
            let head = self.state.borrow().partitions[at].head;
            give_way().await;
            // If the writer has died or the table was dropped, the partition stays in the registry and is read repeatedly.
            let Some(head) = head else { continue };
            self.state.borrow_mut().asked += 1;
            let passed = head.passed(cursor, self.holds(NAMES_FEED));
            let found: Vec<(u64, usize)> = {
                let state = self.state.borrow();
                let rows = state.partitions[at].entries.iter().map(|(number, change)| (*number, *change));
                rows.filter(|(number, _)| (passed + 1..=head.last).contains(number)).take(2).collect()
            };
            give_way().await;
            let is_all = u64::try_from(found.len()).unwrap_or(0) < LIMIT;
            let last = found.last().map_or(passed, |(number, _)| *number);
            let end = if is_all { head.last.max(last) } else { last };
            if !self.holds(AFTER_CHANGES) {
                self.advance(view, at, (head.feed, end), version);
                give_way().await;
            }
            for (_, change) in found {
                self.state.borrow_mut().views[view].applied.insert(change);
                give_way().await;
            }
            if self.holds(AFTER_CHANGES) {
                self.advance(view, at, (head.feed, end), version);
                give_way().await;
            }
            memory.borrow_mut()[at] = (head.feed, end);
            if end == head.last {
                self.mark(at, head, listing).await;
            }
        }
    }

    fn advance(&self, view: usize, at: usize, to: Cursor, version: u64) {
        let mut state = self.state.borrow_mut();
        let new = state.version();
        let slot = &mut state.views[view].cursors[at];
        // A cursor that moves backwards would repeat changes but would not lose any.
        if slot.1 == version {
            *slot = (to, new);
            let partition = &mut state.partitions[at];
            if partition.head.is_some_and(|head| head.feed == to.0) {
                partition.given = partition.given.max(to.1);
            }
        }
    }

    async fn mark(&self, at: usize, read: Head, listing: Listing) {
        let is_won = {
            let mut state = self.state.borrow_mut();
            let version = state.version();
            match &mut state.partitions[at].head {
                Some(head) if head.version == read.version && head.quiet && !self.holds(MARK_CHANGES) => true,
                Some(head) if head.version == read.version => {
                    *head = Head { quiet: true, version, ..*head };
                    true
                }
                _ => false,
            }
        };
        give_way().await;
        if is_won {
            let mut state = self.state.borrow_mut();
            let version = state.version();
            let stored = &mut state.partitions[at].listing;
            let is_same = stored.is_some_and(|stored| stored.version == listing.version);
            if is_same || !self.holds(MARK_CONDITIONAL) {
                *stored = Some(Listing { version, quiet: Some((read.feed, read.last)) });
            }
        }
    }

    async fn trim(self) {
        let at = self.random.below(PARTITIONS);
        let cursors: Vec<Cursor> = self.state.borrow().views.iter().map(|view| view.cursors[at].0).collect();
        give_way().await;
        let head = self.state.borrow().partitions[at].head;
        give_way().await;
        let Some(read) = head else { return };
        let passed = cursors.into_iter().map(|cursor| read.passed(cursor, true));
        let floor = if self.holds(SLOWEST) { passed.min() } else { passed.max() }.unwrap_or(0);
        {
            let mut state = self.state.borrow_mut();
            let version = state.version();
            match &mut state.partitions[at].head {
                Some(head) if head.version == read.version => *head = Head { floor, version, ..*head },
                _ => return,
            }
        }
        give_way().await;
        loop {
            let page: Vec<(u64, usize)> = {
                let state = self.state.borrow();
                let rows = state.partitions[at].entries.range(..=floor).take(PAGE);
                rows.map(|(number, change)| (*number, *change)).collect()
            };
            give_way().await;
            if page.is_empty() {
                return;
            }
            // If the table has been recreated, its rows belong to another feed.
            let is_same = self.state.borrow().partitions[at].head.is_some_and(|head| head.feed == read.feed);
            if !is_same && self.holds(TRIM_READS_HEAD) {
                return;
            }
            give_way().await;
            let entries = &mut self.state.borrow_mut().partitions[at].entries;
            // Each entry contains one change. The change therefore identifies the version of the entry. A transaction fails as a whole.
            let is_current = |(number, change): &(u64, usize)| {
                entries.get(number).is_some_and(|stored| stored == change || !self.holds(TRIM_VERSION))
            };
            if !page.iter().all(is_current) {
                return;
            }
            for (number, _) in page {
                entries.remove(&number);
            }
        }
    }

    /// Drops the table and recreates it. The registry of partitions does not change.
    fn drop_table(&self) {
        for partition in &mut self.state.borrow_mut().partitions {
            *partition = Partition { listing: partition.listing, ..Partition::default() };
        }
    }
}

fn run(seed: u64, removed: Option<usize>) -> Result<(), String> {
    let random = Random::new(seed);
    let world = World { state: Rc::default(), random: random.clone(), removed };
    let memories: Vec<Rc<RefCell<[Cursor; PARTITIONS]>>> = (0..2 * VIEWS).map(|_| Rc::default()).collect();
    let follow = |follower: usize| -> Process {
        Box::pin(world.clone().follow(follower % VIEWS, Rc::clone(&memories[follower])))
    };
    let mut processes = Processes::new(random.clone());
    for _ in 0..5 + random.below(20) {
        let process: Process = match random.below(20) {
            0..11 => Box::pin(world.clone().write(random.below(2))),
            11..17 => follow(random.below(2 * VIEWS)),
            _ => Box::pin(world.clone().trim()),
        };
        processes.start(process);
        processes.run(random.below(10));
        if random.one_in(40) {
            world.drop_table();
        }
        if random.one_in(20) {
            // One process ends, and its successor starts without cached heads.
            world.state.borrow_mut().heads[random.below(2)] = Default::default();
            *memories[random.below(2 * VIEWS)].borrow_mut() = Default::default();
        }
    }
    processes.run_to_end();
    let follow_all = || {
        for _ in 0..40 {
            (0..VIEWS).for_each(|follower| finish(follow(follower)));
        }
    };
    follow_all();
    for process in processes.sleepers() {
        finish(process);
        if random.one_in(2) {
            follow_all();
        }
        if random.one_in(3) {
            finish(Box::pin(world.clone().trim()));
        }
    }
    follow_all();
    let before = world.state.borrow().asked;
    (0..VIEWS).for_each(|follower| finish(follow(follower)));
    let state = world.state.borrow();
    if let Some(wrong) = &state.wrong {
        return Err(wrong.clone());
    }
    for (at, partition) in state.partitions.iter().enumerate() {
        for (view, of) in state.views.iter().enumerate() {
            if let Some(change) = partition.committed.iter().find(|change| !of.applied.contains(change)) {
                return Err(format!("view {view} misses change {change} of partition {at}"));
            }
        }
    }
    if state.asked > before {
        return Err(format!("an idle poll asks for {} heads", state.asked - before));
    }
    Ok(())
}
