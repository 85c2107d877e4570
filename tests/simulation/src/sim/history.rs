//! One history. It consists of successive lives on one disk, and the defects that were found. A life is the lifetime of one engine.

mod asks;
mod backups;
mod closes;
mod compactions;
mod copied;
mod earlier;
mod ends;
mod erasure;
mod excuses;
mod foreign;
mod full_disk;
mod images;
mod linked;
mod log;
mod neighbours;
mod openings;
mod options;
mod queues;
mod reads;
mod rest;
mod restores;
mod steps;
mod time;
mod transactions;
mod troubles;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::Engine;
use table_core::queue::Lease;
use table_core::{ETag, Error, ErrorCode};

use crate::power::{Fault, SimulatedDisk};
use crate::sim::model::{Model, NUMBERS, Number, Place, Wrong};
use crate::sim::plan::{End, Life, Trouble};
use crate::sim::rows::Shape;
use crate::sim::schedule::Schedule;
use excuses::Excuses;
pub(super) use log::Log;
pub use log::Seen;
use neighbours::Neighbours;
use time::Time;

const FOLDER: &str = "/data/tables";
/// The number of ticks in a second.
const SECOND: u64 = 10_000_000;
/// The start time of every history, in ticks.
const BEGINNING: u64 = 638_000_000_000_000_000;

pub(super) struct History {
    random: StdRng,
    schedule: Arc<Schedule>,
    disk: SimulatedDisk,
    model: Model,
    /// The `ETag` of the row written by each operation.
    etags: BTreeMap<Number, ETag>,
    /// The operation that created each version of a row in a table.
    versions: BTreeMap<(u8, Place, u64), Number>,
    /// The leases returned by queue operations.
    leases: BTreeMap<Number, Lease>,
    clock: Arc<AtomicU64>,
    next: Number,
    shape: Shape,
    life: Life,
    excuses: Excuses,
    full_disk: full_disk::FullDisk,
    asked: Vec<asks::Asked>,
    scan: Option<reads::Scan>,
    snapshot: Option<reads::Kept>,
    backups: backups::Backups,
    image: Option<images::Image>,
    neighbours: Neighbours,
    time: Time,
    /// The disk before the current life. Only some histories keep it.
    earlier: Option<SimulatedDisk>,
    /// `true` if the engine was closed without a fault, and the folder has not been opened since. All journal frames are then recorded as synced.
    closed: bool,
    /// The disk when the folder was copied, and the number of the first request after that.
    copied: Option<(u64, SimulatedDisk)>,
    established: bool,
    /// `true` if a power loss may still lose the last writes of an engine. The engine had relaxed durability, and was killed or failed before it was closed.
    /// The folder has not been opened since.
    unsynced: bool,
    log: Log,
    seen: Seen,
}

impl History {
    pub(super) fn new(seed: u64, log: Log, stall: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let (shape, life) = (Shape::draw(&mut random), Life::draw(&mut random));
        Self {
            neighbours: Neighbours::draw(seed),
            time: Time::draw(seed),
            full_disk: full_disk::FullDisk::draw(seed),
            schedule: Schedule::new(random.random(), stall),
            random,
            disk: SimulatedDisk::new(),
            model: Model::default(),
            etags: BTreeMap::new(),
            versions: BTreeMap::new(),
            leases: BTreeMap::new(),
            clock: Arc::new(AtomicU64::new(BEGINNING)),
            next: NUMBERS,
            shape,
            life,
            excuses: Excuses::default(),
            asked: Vec::new(),
            scan: None,
            snapshot: None,
            backups: backups::Backups::default(),
            image: None,
            earlier: None,
            closed: false,
            copied: None,
            established: false,
            unsynced: false,
            log,
            seen: Seen::default(),
        }
    }

    /// Runs one life after another until the history ends.
    pub(super) fn run(mut self) -> (Seen, u64, Result<(), Wrong>) {
        if self.random.random_ratio(1, 8) {
            self.disk = SimulatedDisk::with_volume(Path::new(FOLDER));
        }
        let lives = self.random.random_range(1..6);
        let is_worn = self.shape.rows > 100 && self.random.random();
        self.log.add(format!("{:?}", self.shape));
        let mut outcome = self.begin_with_earlier_folder().and_then(|()| self.open_often());
        let lives = if outcome.is_ok() { lives } else { 0 };
        for number in 0..lives {
            let (before, killed) = (self.life.trouble, self.life.end == End::Kill);
            self.life = Life::draw(&mut self.random);
            if self.neighbours.are_there && self.neighbours.random.random_ratio(1, 8) {
                let most = [6, 60, 600, 2_000][self.neighbours.random.random_range(0..4)];
                self.life.trouble =
                    Trouble::Disk(Fault::NoMemory(self.neighbours.random.random_range(1..=most)));
            }
            self.life.drops_slowly = self.neighbours.are_there
                && self.life.trouble != Trouble::Clock
                && self.neighbours.random.random_ratio(1, 4);
            if is_worn {
                self.life = self.life.worn(number);
            }
            if number > 0 && (before.is_of_syncs() || killed) && self.random.random() {
                self.life = self.life.short();
            }
            self.log.add(format!("life {number}: {:?}", self.life));
            outcome = self.live();
            if self.neighbours.are_there && outcome.is_ok() {
                outcome = self.use_links();
                self.add_foreign_file();
                self.go_back_to_earlier_format();
            }
            if outcome.is_err() {
                break;
            }
        }
        if outcome.is_ok() {
            outcome = self.last_look();
        }
        // The threads of an open engine must end before the history ends.
        self.let_go();
        self.seen.calls = self.schedule.calls();
        (self.seen, self.schedule.trace(), outcome)
    }

    fn live(&mut self) -> Result<(), Wrong> {
        self.excuses = self.excuses.of_disk();
        self.model.may_skip = self.excuses.is_damaged();
        if self.established && self.random.random_ratio(1, 4) {
            self.earlier = Some(self.disk.after_kill());
        }
        self.correct_clock_of_unknown_time();
        if self.life.from == 0 {
            self.begin_trouble();
        }
        if let Some(engine) = self.open()? {
            let lived = self.work(&engine);
            lived?;
            self.finish(engine)?;
        } else {
            self.disk = self.disk_afterwards();
        }
        self.seen.faults += u64::from(self.has_failed() || self.is_full() || self.lacks_resources());
        self.model.end();
        if self.excuses.time_over {
            self.clock.store(BEGINNING, Ordering::SeqCst);
            self.time.behind = 0;
        }
        self.log.add(format!("ended; {} possible states", self.model.states().len()));
        Ok(())
    }

    /// Returns `true` if a fault has occurred that may stop the engine.
    fn has_failed(&self) -> bool {
        (self.disk.has_failed() && !self.life.trouble.is_shortage())
            || self.disk.has_lost_power()
            || self.excuses.thread_failed.load(Ordering::SeqCst)
    }

    fn is_full(&self) -> bool {
        matches!(self.life.trouble, Trouble::Disk(Fault::FullAfter(_) | Fault::CallFull(_)))
            && self.disk.has_failed()
    }

    /// Returns `true` if calls have failed because no file descriptor or no memory was free.
    fn lacks_resources(&self) -> bool {
        let is_lack =
            matches!(self.life.trouble, Trouble::Disk(Fault::NoDescriptors(..) | Fault::NoMemory(_)));
        is_lack && self.disk.has_failed()
    }

    /// Opens the folder. Returns `None` if a fault prevents it.
    fn open(&mut self) -> Result<Option<Engine>, Wrong> {
        match self.options().open(FOLDER) {
            Ok(engine) => {
                (self.established, self.unsynced, self.closed) = (true, false, false);
                self.neighbours.is_earlier_format = false;
                self.seen.opened += 1;
                self.log.add("opened".to_owned());
                Ok(Some(engine))
            }
            Err(error) => {
                self.log.add(format!("not opened: {error}"));
                // Opening copies the files that are shared with another folder. It also replaces a manifest in an earlier format. Both take up space.
                let needs_room = !self.established
                    || self.neighbours.linked.is_of_folder()
                    || self.neighbours.is_earlier_format;
                let full = self.is_full() && needs_room;
                let broken = self.excuses.is_damaged() && error.code() == ErrorCode::Corrupted;
                if self.has_failed() || full || broken || self.lacks_resources() {
                    return Ok(None);
                }
                Err(Wrong(format!("the folder is not opened: {error}")))
            }
        }
    }

    fn describe(error: &Error) -> String {
        format!("{error}")
    }
}
