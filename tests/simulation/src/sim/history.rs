//! One history: successive lives of an engine on one disk, and the defects found.

mod asks;
mod backups;
mod copied;
mod ends;
mod excuses;
mod log;
mod queues;
mod reads;
mod rest;
mod troubles;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::{Durability, Engine, EngineOptions, FaultInjection};
use table_core::queue::Lease;
use table_core::{Clock, ETag, Error, ErrorCode, ticks};

use crate::power::{Call, Fault, SimulatedDisk};
use crate::sim::model::{Model, NUMBERS, Number, Place, Wrong};
use crate::sim::plan::{End, Life, Trouble, Work};
use crate::sim::rows::Shape;
use crate::sim::schedule::{Schedule, Shared};
use excuses::Excuses;
pub(super) use log::Log;
pub use log::Seen;

const FOLDER: &str = "/data/tables";
/// A second, in ticks.
const SECOND: u64 = 10_000_000;
/// The time at which histories begin.
const BEGINNING: u64 = 638_000_000_000_000_000;

pub(super) struct History {
    random: StdRng,
    schedule: Arc<Schedule>,
    disk: SimulatedDisk,
    model: Model,
    /// The `ETag` that each operation gave to its row.
    etags: BTreeMap<Number, ETag>,
    /// The operation that gave this version to a row of a table.
    versions: BTreeMap<(u8, Place, u64), Number>,
    /// The leases that operations on the queue returned.
    leases: BTreeMap<Number, Lease>,
    clock: Arc<AtomicU64>,
    next: Number,
    shape: Shape,
    life: Life,
    excuses: Excuses,
    asked: Vec<asks::Asked>,
    scan: Option<reads::Scan>,
    snapshot: Option<reads::Kept>,
    backups: backups::Backups,
    /// The disk before the current life, in some histories.
    earlier: Option<SimulatedDisk>,
    /// `true` if the engine was closed without a fault, and the folder has not been opened since. All its frames are then recorded as synced.
    closed: bool,
    /// The disk when the folder was copied, and the number of the first request after that.
    copied: Option<(u64, SimulatedDisk)>,
    established: bool,
    /// `true` if an engine with relaxed durability was killed, or failed before it was closed, and the folder has not been opened since. Its last
    /// writes may still be lost in a power loss.
    unsynced: bool,
    log: Log,
    seen: Seen,
}

impl History {
    pub(super) fn new(seed: u64, log: Log, stall: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let (shape, life) = (Shape::draw(&mut random), Life::draw(&mut random));
        Self {
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
            earlier: None,
            closed: false,
            copied: None,
            established: false,
            unsynced: false,
            log,
            seen: Seen::default(),
        }
    }

    /// Runs engine lifetimes, one after another, until the seeded history ends.
    pub(super) fn run(mut self) -> (Seen, u64, Result<(), Wrong>) {
        if self.random.random_ratio(1, 8) {
            self.disk = SimulatedDisk::with_volume(Path::new(FOLDER));
        }
        let lives = self.random.random_range(1..6);
        let is_worn = self.shape.rows > 100 && self.random.random();
        self.log.add(format!("{:?}", self.shape));
        let mut outcome = Ok(());
        for number in 0..lives {
            let (before, killed) = (self.life.trouble, self.life.end == End::Kill);
            self.life = Life::draw(&mut self.random);
            if is_worn {
                self.life = self.life.worn(number);
            }
            if number > 0 && (before.is_of_syncs() || killed) && self.random.random() {
                self.life = self.life.short();
            }
            self.log.add(format!("life {number}: {:?}", self.life));
            outcome = self.live();
            if outcome.is_err() {
                break;
            }
        }
        if outcome.is_ok() {
            outcome = self.last_look();
        }
        // The threads of an open engine must end before the history.
        self.let_go();
        self.seen.calls = self.schedule.calls();
        (self.seen, self.schedule.trace(), outcome)
    }

    fn options(&self) -> EngineOptions {
        let (schedule, log) = (Arc::clone(&self.schedule), self.log.clone());
        let disk = self.disk.watched(move |call| {
            log.call(call);
            watch(&schedule, call);
        });
        let (schedule, clock) = (Arc::clone(&self.schedule), Arc::clone(&self.clock));
        let now = move || {
            let passed = u64::try_from(schedule.elapsed().as_nanos() / 100).unwrap_or(u64::MAX);
            clock.load(Ordering::SeqCst).saturating_add(passed).min(ticks::MAX)
        };
        let faults = FaultInjection {
            page_entities: std::num::NonZeroUsize::new(self.life.page_entities),
            ..FaultInjection::default()
        };
        let durability = if self.life.relaxed { Durability::Relaxed } else { Durability::Durable };
        EngineOptions::new()
            .disk(Arc::new(disk))
            .scheduler(Arc::new(Shared(Arc::clone(&self.schedule))))
            .clock(Clock::new(now))
            .failpoints(self.hook())
            .faults(faults)
            .durability(durability)
            .checkpoint_bytes(self.life.checkpoint_bytes)
            .memtable_bytes(self.life.memtable_bytes)
            .cache_bytes(self.life.cache_bytes)
    }

    fn live(&mut self) -> Result<(), Wrong> {
        self.excuses = self.excuses.of_disk();
        self.model.may_skip = self.excuses.is_damaged();
        if self.established && self.random.random_ratio(1, 4) {
            self.earlier = Some(self.disk.after_kill());
        }
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
        self.seen.faults += u64::from(self.has_failed() || self.is_full() || self.lacks_descriptors());
        self.model.end();
        if self.excuses.time_over {
            self.clock.store(BEGINNING, Ordering::SeqCst);
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

    /// Returns `true` if calls found no free descriptor.
    fn lacks_descriptors(&self) -> bool {
        matches!(self.life.trouble, Trouble::Disk(Fault::NoDescriptors(..))) && self.disk.has_failed()
    }

    /// Opens the folder; `None` if a fault prevented that.
    fn open(&mut self) -> Result<Option<Engine>, Wrong> {
        match self.options().open(FOLDER) {
            Ok(engine) => {
                (self.established, self.unsynced, self.closed) = (true, false, false);
                self.seen.opened += 1;
                self.log.add("opened".to_owned());
                Ok(Some(engine))
            }
            Err(error) => {
                self.log.add(format!("not opened: {error}"));
                let new_and_full = self.is_full() && !self.established;
                let broken = self.excuses.is_damaged() && error.code() == ErrorCode::Corrupted;
                if self.has_failed() || new_and_full || broken || self.lacks_descriptors() {
                    return Ok(None);
                }
                Err(Wrong(format!("the folder is not opened: {error}")))
            }
        }
    }

    /// Sends requests, reads, and lets time pass.
    fn work(&mut self, engine: &Engine) -> Result<(), Wrong> {
        if self.life.from > 0 || self.model.is_vague() {
            self.look_at_everything(engine)?;
        }
        for step in 0..self.life.steps {
            if step == self.life.from && step > 0 {
                self.begin_trouble();
            }
            if self.disk.has_lost_power() {
                return Ok(());
            }
            self.step(engine)?;
            let most = [2, 8, 40][self.random.random_range(0..3)];
            for _ in 0..self.random.random_range(0..most) {
                self.schedule.step(Duration::from_micros(20));
            }
            self.hear()?;
            // A failed engine must respond to every caller, although its thread has ended.
            if self.has_failed() && self.random.random_ratio(1, 8) {
                self.hear_all()?;
            }
        }
        Ok(())
    }

    fn step(&mut self, engine: &Engine) -> Result<(), Wrong> {
        match self.random.random_range(0..100) {
            0..=35 => self.ask_transaction(engine),
            36..=44 => self.ask_queue(engine),
            45..=47 => self.ask_table(engine),
            48..=50 => self.ask_checkpoint(engine),
            51..=65 => self.look_up(engine)?,
            66..=80 => self.read_on(engine)?,
            81..=82 => self.list(engine)?,
            83..=85 => self.use_snapshot(engine)?,
            86..=87 => self.go_away(),
            88 => self.second_engine()?,
            89 => self.verify(engine)?,
            90 => self.count_messages(engine)?,
            91..=92 => self.ask_backup(engine),
            93 => self.rest(engine)?,
            94..=95 => self.copy_folder(),
            _ => {}
        }
        if self.life.work == Work::Trickle && self.random.random_ratio(1, 4) {
            self.ask_base(engine, false);
        }
        Ok(())
    }

    /// Checks that the folder is locked, regardless of the lock file.
    fn second_engine(&mut self) -> Result<(), Wrong> {
        if self.random.random() {
            self.disk.take_away(&Path::new(FOLDER).join("LOCK"));
        }
        match EngineOptions::new().disk(Arc::new(self.disk.clone())).open(FOLDER) {
            Err(error)
                if error.code() == ErrorCode::FolderLocked
                    || self.has_failed()
                    || self.is_full()
                    || self.lacks_descriptors() =>
            {
                Ok(())
            }
            Err(error) => Err(Wrong(format!("a second engine received {error}"))),
            Ok(second) => {
                // The scheduler does not know the thread of the second engine, which is therefore dropped immediately.
                drop(second);
                Err(Wrong("a second engine has the folder open".to_owned()))
            }
        }
    }

    fn describe(error: &Error) -> String {
        format!("{error}")
    }
}

/// Lets each call take time, and possibly lets other threads run first.
fn watch(schedule: &Schedule, call: &Call) {
    schedule.note(call);
    let time = match call {
        // The engine may hold a lock here. Threads that wait for it would be invisible to the scheduler.
        Call::Open(_) | Call::List => return,
        Call::Sync(_) | Call::SyncDir => 500,
        Call::Write(_, _, bytes) => 5 + u64::try_from(*bytes / 1_000).unwrap_or(u64::MAX),
        _ => 5,
    };
    schedule.step(Duration::from_micros(time));
}
