//! Updates random rows continuously in a child process with one storage library. Measures the bytes written, the write latency, and the time to close.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::child::{CHILD, wait_for_line};
use crate::data::{PARTITION, Random, Reading};
use crate::folder::bytes_below;
use crate::harness::repeat_busy;
use crate::large::Large;
use crate::peer::store::{Kind, Store};

/// The number of writing threads.
const WRITERS: u64 = 32;
/// The number of rows per transaction.
const ROWS: u32 = 10;

/// The distribution of a transaction's rows over partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rows {
    /// All rows of a transaction are in one partition, as the engine requires.
    OfOnePartition,
    /// The rows of a transaction are distributed at random over the table.
    Anywhere,
}

/// The work of a child process, passed to it as an argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Work {
    kind: String,
    rows: Rows,
    folder: PathBuf,
    cache: usize,
    entities: u32,
    /// The number of entities from which the reader reads pages.
    warm: u32,
    row_bytes: u64,
    millis: u64,
}

/// The results of continuous updates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// The number of rows updated per second.
    pub rows: f64,
    /// The median write latency in milliseconds. The latency is the time until a write was durable.
    pub half: f64,
    /// The 99.9th percentile of the write latency, in milliseconds.
    pub most: f64,
    /// The highest write latency, in milliseconds.
    pub longest: f64,
    /// The number of full seconds in which no write became durable.
    pub idle_seconds: u32,
    /// The number of bytes written to disk for each byte of updated rows and their keys.
    pub written: f64,
    /// The largest size of the folder in bytes, measured every second.
    pub folder_most: u64,
    /// The size of the folder in bytes after the database was closed.
    pub folder_after: u64,
    /// The time needed to close the database, in milliseconds.
    pub close: f64,
    /// The rate of page reads during the updates, per second of CPU time of the reader. A page has 1,000 entities.
    pub pages: f64,
}

impl Work {
    /// Creates the work for one library in the library's folder.
    pub fn new(large: &Large, kind: Kind, rows: Rows, time: Duration) -> Outcome<Self> {
        Ok(Self {
            kind: kind.word().to_owned(),
            rows,
            folder: large.to_update(kind)?,
            cache: large.cache(),
            entities: large.entities,
            warm: large.warm(),
            row_bytes: large.row_bytes,
            millis: u64::try_from(time.as_millis())?,
        })
    }

    fn spawn(&self) -> Outcome<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([CHILD, "sustained"]).arg(serde_json::to_string(self)?);
        Ok(command.stdout(Stdio::piped()).spawn()?)
    }

    /// Performs the work in a child process and returns the results.
    pub fn measured(&self) -> Outcome<Figures> {
        let output = self.spawn()?.wait_with_output()?;
        let text = String::from_utf8(output.stdout)?;
        let line = text.lines().nth(1).ok_or("the process gave no figures")?;
        Ok(serde_json::from_str(line)?)
    }

    /// Starts the work in a child process and kills the process after the given time.
    pub fn killed(&self, after: Duration) -> Outcome<()> {
        let mut child = self.spawn()?;
        let outcome = wait_for_line(&mut child).map(|()| std::thread::sleep(after));
        child.kill()?;
        child.wait()?;
        outcome
    }
}

/// Performs the work described by `argument` as a child process, and prints the results.
#[expect(clippy::cast_precision_loss, reason = "figures are shown with three digits")]
pub fn run(argument: &str) -> Outcome<()> {
    let work: Work = serde_json::from_str(argument)?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.word() == work.kind).ok_or("no such contender")?;
    let store = kind.open(&work.folder, work.cache)?;
    println!("ready");
    std::io::stdout().flush()?;
    let time = Duration::from_millis(work.millis);
    let (before, start) = (written()?, Instant::now());
    let (mut waits, seen) = update(&*store, &work, (0, time), |running| watch(&work.folder, running))?;
    let elapsed = start.elapsed();
    let bytes = (written()? - before) as f64;
    let (_, pages) =
        update(&*store, &work, (WRITERS, time / 8), |_| read_pages(&*store, work.warm, time / 8))?;
    let closing = Instant::now();
    drop(store);
    let close = closing.elapsed();
    waits.sort_unstable();
    let rows = waits.len() as f64 * f64::from(ROWS);
    let millis = |wait: Option<&u32>| wait.map_or(f64::NAN, |micros| f64::from(*micros) / 1_000.0);
    let figures = Figures {
        rows: rows / elapsed.as_secs_f64(),
        half: millis(waits.get(waits.len() / 2)),
        most: millis(waits.get(waits.len() - waits.len() / 1_000 - 1)),
        longest: millis(waits.last()),
        idle_seconds: seen.idle,
        written: bytes / (rows * work.row_bytes as f64),
        folder_most: seen.most,
        folder_after: bytes_below(&work.folder)?,
        close: close.as_secs_f64() * 1_000.0,
        pages,
    };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// The state that the writing threads and the observing thread share.
struct Running {
    over: AtomicBool,
    committed: AtomicU64,
}

/// Writes with all threads for the given time while `concurrent` runs. Returns the duration of each write in microseconds.
fn update<T: Send>(
    store: &dyn Store,
    work: &Work,
    (seed, time): (u64, Duration),
    concurrent: impl FnOnce(&Running) -> Outcome<T> + Send,
) -> Outcome<(Vec<u32>, T)> {
    let running = Running { over: AtomicBool::new(false), committed: AtomicU64::new(0) };
    let partitions = work.entities / PARTITION;
    std::thread::scope(|scope| {
        let write = |thread| -> Outcome<Vec<u32>> {
            let (mut random, mut waits) = (Random::new(seed + thread), Vec::new());
            while !running.over.load(Ordering::Relaxed) {
                let readings = changed(&mut random, partitions, work.rows);
                let start = Instant::now();
                store.replace(readings)?;
                waits.push(u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX));
                running.committed.fetch_add(1, Ordering::Relaxed);
            }
            Ok(waits)
        };
        let threads: Vec<_> = (0..WRITERS).map(|thread| scope.spawn(move || write(thread))).collect();
        let concurrent = scope.spawn(|| concurrent(&running));
        std::thread::sleep(time);
        running.over.store(true, Ordering::Relaxed);
        let mut waits = Vec::new();
        for thread in threads {
            waits.append(&mut thread.join().map_err(|_| "a writer panicked")??);
        }
        Ok((waits, concurrent.join().map_err(|_| "the concurrent reader panicked")??))
    })
}

/// Chooses distinct rows at random and returns them with changed values.
fn changed(random: &mut Random, partitions: u32, rows: Rows) -> Vec<Reading> {
    let partition = random.below(partitions);
    let mut indices: Vec<u32> = Vec::new();
    while indices.len() < ROWS as usize {
        let index = match rows {
            Rows::OfOnePartition => partition * PARTITION + random.below(PARTITION),
            Rows::Anywhere => random.below(partitions * PARTITION),
        };
        if !indices.contains(&index) {
            indices.push(index);
        }
    }
    let change = |index: u32| {
        let mut reading = Reading::at(index);
        reading.total = i64::from(random.below(u32::MAX));
        reading.value = f64::from(random.below(u32::MAX));
        reading
    };
    indices.into_iter().map(change).collect()
}

/// The measurements of the observing thread, taken every second.
struct Seen {
    most: u64,
    idle: u32,
}

fn watch(folder: &Path, running: &Running) -> Outcome<Seen> {
    let mut seen = Seen { most: bytes_below(folder)?, idle: 0 };
    let (mut before, mut rates) = (0, Vec::new());
    'seconds: loop {
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(10));
            if running.over.load(Ordering::Relaxed) {
                break 'seconds;
            }
        }
        let committed = running.committed.load(Ordering::Relaxed);
        seen.idle += u32::from(committed == before);
        rates.push(((committed - before) * u64::from(ROWS) / 1_000).to_string());
        before = committed;
        seen.most = seen.most.max(bytes_below(folder)?);
    }
    eprintln!("thousands of rows in each second: {}", rates.join(" "));
    Ok(seen)
}

/// Reads pages for the given time. Returns the number of pages per second of the reader's CPU time.
fn read_pages(store: &dyn Store, warm: u32, time: Duration) -> Outcome<f64> {
    let (mut look, mut random) = (store.look()?, Random::new(5));
    let rate = repeat_busy(time, 1, || {
        let site = crate::data::site(random.below(warm / PARTITION));
        if look.page(&site)? == PARTITION { Ok(()) } else { Err("the page is short".into()) }
    })?;
    Ok(rate.per_second())
}

/// Returns the number of bytes written to disk by this process.
fn written() -> Outcome<u64> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    Ok(line.ok_or("no write_bytes: not on Linux?")?.trim().parse()?)
}
