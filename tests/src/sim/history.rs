//! One history: lives of an engine on one disk, one behind the other, and what is wrong with them.

mod asks;
mod reads;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::failpoint::{Action, Hook};
use table_core::embedded::mend::Mend;
use table_core::embedded::{Durability, Engine, EngineOptions, Faults};
use table_core::{Clock, ETag, Error, ErrorCode, ticks};

use crate::power::{Call, Fault, SimulatedDisk};
use crate::sim::model::{Model, NUMBERS, Number, Place, Wrong};
use crate::sim::plan::{End, Life, Trouble};
use crate::sim::schedule::{Schedule, Shared};

const FOLDER: &str = "/data/tables";
/// A second, in ticks.
const SECOND: u64 = 10_000_000;
/// When histories begin.
const BEGINNING: u64 = 638_000_000_000_000_000;

/// What happened, in words, and how often.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Writes that were acknowledged.
    pub acknowledged: u64,
    /// Pages and look-ups that were answered and right.
    pub reads: u64,
    /// Times a folder was opened.
    pub opened: u64,
    /// Faults that showed themselves.
    pub faults: u64,
}

impl Seen {
    /// Adds those of another history.
    pub fn add(&mut self, other: &Self) {
        self.acknowledged += other.acknowledged;
        self.reads += other.reads;
        self.opened += other.opened;
        self.faults += other.faults;
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { acknowledged, reads, opened, faults } = self;
        write!(
            f,
            "{acknowledged} writes acknowledged, {reads} reads right, {opened} times opened, {faults} faults"
        )
    }
}

/// Everything that was done, for who looks at a history that went wrong.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    /// Whether it has the calls to the disk.
    calls: bool,
}

impl Log {
    pub(super) fn in_detail() -> Self {
        Self { calls: true, ..Self::default() }
    }

    fn call(&self, call: &Call) {
        if self.calls {
            let thread = std::thread::current();
            self.add(format!("    {} {call:?}", thread.name().unwrap_or_default()));
        }
    }

    pub(super) fn add(&self, line: String) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What may be answered beside what is right.
#[derive(Debug, Default)]
struct Excuses {
    /// A thread of the engine was made to fail.
    thread_failed: Arc<AtomicBool>,
    /// Bytes on the disk were changed.
    damaged: bool,
    /// The clock says that time is over.
    time_over: bool,
    /// The end was asked for.
    closing: bool,
}

pub(super) struct History {
    random: StdRng,
    schedule: Arc<Schedule>,
    disk: SimulatedDisk,
    model: Model,
    /// The version that each operation gave its row.
    etags: BTreeMap<Number, ETag>,
    /// Which operation gave a row of a table this version.
    versions: BTreeMap<(u8, Place, u64), Number>,
    clock: Arc<AtomicU64>,
    next: Number,
    life: Life,
    excuses: Excuses,
    asked: Vec<asks::Asked>,
    scan: Option<reads::Scan>,
    snapshot: Option<reads::Kept>,
    established: bool,
    log: Log,
    seen: Seen,
}

impl History {
    pub(super) fn new(
        seed: u64,
        log: Log,
        without: Option<Mend>,
        stall: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let life = Life::draw(&mut random);
        Self {
            schedule: Schedule::new(random.random(), without, stall),
            random,
            disk: SimulatedDisk::new(),
            model: Model::default(),
            etags: BTreeMap::new(),
            versions: BTreeMap::new(),
            clock: Arc::new(AtomicU64::new(BEGINNING)),
            next: NUMBERS,
            life,
            excuses: Excuses::default(),
            asked: Vec::new(),
            scan: None,
            snapshot: None,
            established: false,
            log,
            seen: Seen::default(),
        }
    }

    /// Lives until the seed has had enough.
    pub(super) fn run(mut self) -> (Seen, u64, Result<(), Wrong>) {
        if self.random.random_ratio(1, 8) {
            self.disk = SimulatedDisk::with_volume(Path::new(FOLDER));
        }
        let lives = self.random.random_range(1..6);
        let mut outcome = Ok(());
        for number in 0..lives {
            let (before, killed) = (self.life.trouble, self.life.end == End::Kill);
            self.life = Life::draw(&mut self.random);
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
        // Threads of an engine that is still there end before the history does.
        self.let_go();
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
        let faults = Faults {
            page_entities: std::num::NonZeroUsize::new(self.life.page_entities),
            ..Faults::default()
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
            .recent_bytes(self.life.recent_bytes)
            .cache_bytes(self.life.cache_bytes)
    }

    /// Fails, or panics, where the life says so.
    fn hook(&self) -> Hook {
        let (trouble, failed) = (self.life.trouble, Arc::clone(&self.excuses.thread_failed));
        let seen = AtomicU32::new(0);
        Hook::new(move |at| {
            let Trouble::Thread { step, nth, panics } = trouble else { return Action::Continue };
            if at != step || seen.fetch_add(1, Ordering::SeqCst) + 1 != nth {
                return Action::Continue;
            }
            failed.store(true, Ordering::SeqCst);
            assert!(!panics, "a panic of this history");
            Action::Fail
        })
    }

    fn live(&mut self) -> Result<(), Wrong> {
        self.excuses = Excuses { damaged: self.excuses.damaged, ..Excuses::default() };
        self.model.may_skip = self.excuses.damaged;
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
        self.seen.faults += u64::from(self.has_failed() || self.is_full());
        self.model.end();
        if self.excuses.time_over {
            self.clock.store(BEGINNING, Ordering::SeqCst);
        }
        self.log.add(format!("ended; {} possible states", self.model.states().len()));
        Ok(())
    }

    fn begin_trouble(&mut self) {
        match self.life.trouble {
            Trouble::Disk(fault) => {
                self.log.add(format!("from here on {fault:?}"));
                self.disk.set_fault(Some(fault));
                self.model.may_skip = matches!(fault, Fault::FullAfter(_));
            }
            Trouble::Rot if self.established => self.rot(),
            Trouble::Clock => self.turn_clock(),
            _ => {}
        }
    }

    /// Whether something has gone wrong that may stop the engine.
    fn has_failed(&self) -> bool {
        let full = matches!(self.life.trouble, Trouble::Disk(Fault::FullAfter(_)));
        (self.disk.has_failed() && !full)
            || self.disk.has_lost_power()
            || self.excuses.thread_failed.load(Ordering::SeqCst)
    }

    fn is_full(&self) -> bool {
        matches!(self.life.trouble, Trouble::Disk(Fault::FullAfter(_))) && self.disk.has_failed()
    }

    /// Opens the folder; `None` where what went wrong kept it from being opened.
    fn open(&mut self) -> Result<Option<Engine>, Wrong> {
        match self.options().open(FOLDER) {
            Ok(engine) => {
                self.established = true;
                self.seen.opened += 1;
                self.log.add("opened".to_owned());
                Ok(Some(engine))
            }
            Err(error) => {
                self.log.add(format!("not opened: {error}"));
                let new_and_full = self.is_full() && !self.established;
                let broken = self.excuses.damaged && error.code() == ErrorCode::Corrupted;
                if self.has_failed() || new_and_full || broken {
                    return Ok(None);
                }
                Err(Wrong(format!("the folder is not opened: {error}")))
            }
        }
    }

    /// Asks, reads and lets time pass.
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
            // Nobody waits for a thread that is no more.
            if self.has_failed() && self.random.random_ratio(1, 8) {
                self.hear_all()?;
            }
        }
        Ok(())
    }

    fn step(&mut self, engine: &Engine) -> Result<(), Wrong> {
        match self.random.random_range(0..100) {
            0..=44 => self.ask_transaction(engine),
            45..=47 => self.ask_table(engine),
            48..=50 => self.ask_checkpoint(engine),
            51..=65 => self.look_up(engine)?,
            66..=80 => self.read_on(engine)?,
            81..=82 => self.list(engine)?,
            83..=85 => self.use_snapshot(engine)?,
            86..=87 => self.go_away(),
            88 => self.second_engine()?,
            89 => self.verify(engine)?,
            _ => {}
        }
        Ok(())
    }

    /// Ends the life as planned.
    fn finish(&mut self, engine: Engine) -> Result<(), Wrong> {
        let end = if self.disk.has_lost_power() { End::Power } else { self.life.end };
        self.log.add(format!("end: {end:?}"));
        if matches!(end, End::Close | End::Drop) && self.random.random() {
            self.hear_all()?;
        }
        match end {
            End::Close => {
                self.end_trouble_of_room();
                self.close(&engine)?;
                // The system may still have what was synced long ago, and nothing else.
                if self.random.random() {
                    if self.life.relaxed && self.has_failed() {
                        self.fall_back();
                    }
                    self.disk = self.disk.after_power_loss(self.random.random());
                } else {
                    self.disk = self.disk.after_kill();
                }
                return Ok(());
            }
            End::Drop => {}
            End::Kill | End::Power => self.disk.cut_power(),
        }
        self.let_go();
        drop(engine);
        self.disk = self.disk_afterwards();
        Ok(())
    }

    /// A full disk has room again some time, or has not.
    fn end_trouble_of_room(&mut self) {
        if self.random.random() {
            self.disk.set_fault(None);
        }
    }

    fn disk_afterwards(&mut self) -> SimulatedDisk {
        let lost_power = self.disk.has_lost_power() && self.life.end != End::Kill;
        if lost_power {
            if self.life.relaxed {
                self.fall_back();
            }
            return self.disk.after_power_loss(self.random.random());
        }
        self.disk.after_kill()
    }

    /// Something that was acknowledged may be gone: its versions may be given again.
    fn fall_back(&mut self) {
        self.model.fall_back();
        (self.etags, self.versions) = (BTreeMap::new(), BTreeMap::new());
    }

    /// Everybody who waits goes away.
    fn let_go(&mut self) {
        for asked in self.asked.drain(..) {
            self.model.give_up(asked.id);
        }
        (self.scan, self.snapshot) = (None, None);
    }

    /// The folder is opened once more with nothing going wrong, or on a disk that has rotted, and everything is looked at.
    fn last_look(&mut self) -> Result<(), Wrong> {
        self.excuses = Excuses { damaged: self.excuses.damaged, ..Excuses::default() };
        self.life = self.life.quiet();
        if self.established && self.random.random_ratio(1, 4) {
            self.rot_at_rest();
        }
        self.log.add("the last look".to_owned());
        let Some(engine) = self.open()? else { return Ok(()) };
        self.look_at_everything(&engine)?;
        for _ in 0..3 {
            self.ask_transaction(&engine);
            self.ask_checkpoint(&engine);
        }
        self.hear_all()?;
        self.look_at_everything(&engine)?;
        self.close(&engine)
    }

    /// A file of the folder whose name ends in one of these ways.
    fn any_file(&mut self, ends: &[&str]) -> Option<(PathBuf, usize)> {
        let is_one = |path: &Path| {
            let end = path.extension().or(path.file_name());
            ends.iter().any(|wanted| end.is_some_and(|end| end == *wanted))
        };
        let files = self.disk.files();
        let mut files: Vec<_> =
            files.into_iter().filter(|(path, length)| *length > 0 && is_one(path)).collect();
        (!files.is_empty()).then(|| files.swap_remove(self.random.random_range(0..files.len())))
    }

    /// Changes a bit of a file of rows.
    fn rot(&mut self) {
        if let Some((path, length)) = self.any_file(&["rows"]) {
            let (at, bit) = (self.random.random_range(0..length), 1 << self.random.random_range(0..8));
            self.log.add(format!("byte {at} of {} rots", path.display()));
            self.disk.damage(&path, |bytes| {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            });
            self.excuses.damaged = true;
            self.model.may_skip = true;
            self.seen.faults += 1;
        }
    }

    /// Changes, cuts or takes away a file of a folder that no engine has open.
    fn rot_at_rest(&mut self) {
        let Some((path, length)) = self.any_file(&["BASE", "rows", "journal"]) else { return };
        let is_journal = path.extension().is_some_and(|end| end == "journal");
        let (at, bit) = (self.random.random_range(0..length), 1 << self.random.random_range(0..8));
        let how = self.random.random_range(0..4);
        self.log.add(format!("{} is damaged at {at} ({how})", path.display()));
        match how {
            0 => self.disk.take_away(&path),
            1 => self.disk.damage(&path, |bytes| bytes.truncate(at)),
            2 => self.disk.damage(&path, Vec::clear),
            _ => self.disk.damage(&path, |bytes| {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            }),
        }
        if is_journal {
            // The end of a journal cannot be told from one that was torn.
            self.fall_back();
        }
        self.excuses.damaged = true;
        self.model.may_skip = true;
        self.seen.faults += 1;
    }

    fn turn_clock(&mut self) {
        let now = self.clock.load(Ordering::SeqCst);
        let to = match self.random.random_range(0..4) {
            0 => now + 86_400 * SECOND,
            1 => now.saturating_sub(86_400 * SECOND),
            2 => now.saturating_sub(2 * SECOND),
            // A clock that is set right later.
            _ => {
                self.excuses.time_over = true;
                self.model.may_skip = true;
                ticks::MAX
            }
        };
        self.log.add(format!("the clock goes from {now} to {to}"));
        self.clock.store(to, Ordering::SeqCst);
        self.seen.faults += 1;
    }

    /// The folder is locked, whatever becomes of the lock file.
    fn second_engine(&mut self) -> Result<(), Wrong> {
        if self.random.random() {
            self.disk.take_away(&Path::new(FOLDER).join("LOCK"));
        }
        match EngineOptions::new().disk(Arc::new(self.disk.clone())).open(FOLDER) {
            Err(error) if error.code() == ErrorCode::FolderLocked || self.has_failed() || self.is_full() => {
                Ok(())
            }
            Err(error) => Err(Wrong(format!("a second engine is told {error}"))),
            Ok(second) => {
                // It has a thread that no scheduler knows: it goes at once.
                drop(second);
                Err(Wrong("a second engine has the folder open".to_owned()))
            }
        }
    }

    fn describe(error: &Error) -> String {
        format!("{error}")
    }
}

/// Every call takes its time, and others may come first.
fn watch(schedule: &Schedule, call: &Call) {
    schedule.note(call);
    let time = match call {
        // The engine may hold a lock of its own here, which others would wait for without anyone knowing.
        Call::Open(_) | Call::List => return,
        Call::Sync(_) | Call::SyncDir => 500,
        Call::Write(_, _, bytes) => 5 + u64::try_from(*bytes / 1_000).unwrap_or(u64::MAX),
        _ => 5,
    };
    schedule.step(Duration::from_micros(time));
}
