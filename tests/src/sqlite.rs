//! A differential test. It runs random operations on an engine and on `SQLite`, and compares all results and pages.
//!
//! The engine is repeatedly closed and reopened with different options. It is also checkpointed, compacted, verified, backed up and restored. In each table,
//! the keys and rows have a different shape. Phases of loading, deleting, queue-like writes and scattered writes alternate.

mod peer;
mod shape;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pollster::FutureExt;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::{Durability, Engine};
use table_core::limits::Limits;
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::{
    EntityKey, Error, ErrorCode, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableName,
    TableStore, Transaction,
};

use crate::crash::options;
use peer::Peer;
use shape::{Kind, Shape};

/// The number of different tables in a run.
const TABLES: u8 = 12;
/// If the total size of all rows in bytes exceeds this value, the largest table is deleted.
const MOST_BYTES: u64 = 400 << 20;

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The duration after which no new round is started.
    pub time: Duration,
    /// The seed for all random choices in the run.
    pub seed: u64,
    /// The path of the engine's folder.
    pub folder: PathBuf,
}

/// Counts of the operations in a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// The number of times the engine was opened.
    pub opens: u64,
    /// The number of transactions, including those rejected by both stores.
    pub transactions: u64,
    /// The number of operations in all compared transactions.
    pub operations: u64,
    /// The number of compared pages.
    pub pages: u64,
    /// The number of rows in all compared pages.
    pub rows: u64,
    /// The number of compared point reads.
    pub gets: u64,
    /// The number of compactions.
    pub compactions: u64,
    /// The number of backups restored and then compared with `SQLite`.
    pub backups: u64,
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

struct Run {
    random: StdRng,
    peer: Peer,
    counts: Counts,
    folder: PathBuf,
    work: Work,
}

/// The kind of write that dominates during a phase.
#[derive(Clone, Copy, Debug)]
enum Work {
    Scattered,
    Load,
    Delete,
    Queue,
}

/// Runs the comparison. Returns the counts of its operations.
///
/// # Errors
/// The first difference found, or an error from the engine or from `SQLite`.
pub fn run(plan: &Plan, mut progress: impl FnMut(&Counts)) -> Outcome<Counts> {
    if plan.folder.exists() {
        std::fs::remove_dir_all(&plan.folder)?;
    }
    let (begun, mut reported) = (Instant::now(), Instant::now());
    let mut run = Run {
        random: StdRng::seed_from_u64(plan.seed),
        peer: Peer::new()?,
        counts: Counts::default(),
        folder: plan.folder.clone(),
        work: Work::Load,
    };
    while begun.elapsed() < plan.time {
        run.life()?;
        if reported.elapsed() > Duration::from_secs(60) {
            reported = Instant::now();
            progress(&run.counts);
        }
    }
    std::fs::remove_dir_all(&plan.folder)?;
    Ok(run.counts)
}

fn table(number: u8) -> Outcome<TableName> {
    Ok(TableName::new(&format!("Table{number:02}"))?)
}

fn differs(
    what: &str,
    engine: impl std::fmt::Debug,
    peer: impl std::fmt::Debug,
) -> Box<dyn std::error::Error> {
    format!("{what}: the engine has {engine:?}, SQLite has {peer:?}").into()
}

impl Run {
    /// Opens the engine, performs some random operations on it, and closes it.
    fn life(&mut self) -> Outcome<()> {
        let durability =
            if self.random.random_ratio(3, 4) { Durability::Relaxed } else { Durability::Durable };
        let options = options::drawn_with(self.random.random(), durability);
        let engine = options.open(&self.folder)?;
        self.counts.opens += 1;
        for _ in 0..self.random.random_range(1..6) {
            self.work =
                [Work::Scattered, Work::Load, Work::Delete, Work::Queue][self.random.random_range(0..4)];
            let most = if matches!(durability, Durability::Durable) { 40 } else { 400 };
            for _ in 0..self.random.random_range(1..most) {
                self.step(&engine)?;
            }
            match self.random.random_range(0..8) {
                0..=2 => engine.checkpoint().block_on()?,
                3 => {
                    engine.compact().block_on()?;
                    self.counts.compactions += 1;
                }
                _ => {}
            }
        }
        self.bound(&engine)?;
        self.compare_all(&engine)?;
        if self.random.random_ratio(1, 8) {
            self.compare_backup(&engine)?;
        }
        if let Some(damage) = engine.verify()?.damage.first() {
            return Err(damage.clone().into());
        }
        if self.random.random() {
            engine.close().block_on()?;
        } else {
            drop(engine);
        }
        Ok(())
    }

    fn step(&mut self, engine: &Engine) -> Outcome<()> {
        let number = self.random.random_range(0..TABLES);
        match self.random.random_range(0..40) {
            0 => self.table(engine, number),
            1..=4 => self.get(engine, number),
            5..=6 => self.scan(engine, number),
            _ => self.transaction(engine, number),
        }
    }

    /// Creates table `number`, or deletes it if it exists, both in the engine and in `SQLite`.
    fn table(&mut self, engine: &Engine, number: u8) -> Outcome<()> {
        let name = table(number)?;
        let there = self.peer.has_table(number)?;
        let deletes = there && self.random.random_ratio(1, 6);
        let done = if deletes {
            engine.delete_table(&name).block_on()
        } else {
            engine.create_table(&name).block_on()
        };
        match done {
            Ok(()) if deletes => self.peer.drop_table(number)?,
            Ok(()) if !there => self.peer.create_table(number)?,
            Err(error) if error.code() == ErrorCode::TableAlreadyExists && there => {}
            Err(error) if error.code() == ErrorCode::TableBeingDeleted && !there => {}
            outcome => return Err(differs(&format!("table {number}"), outcome, there)),
        }
        Ok(())
    }

    /// Deletes the largest table while the total size of all rows exceeds [`MOST_BYTES`].
    fn bound(&mut self, engine: &Engine) -> Outcome<()> {
        while self.peer.bytes()? > MOST_BYTES {
            let Some(largest) = self.peer.largest()? else { return Ok(()) };
            engine.delete_table(&table(largest)?).block_on()?;
            self.peer.drop_table(largest)?;
        }
        Ok(())
    }

    /// Chooses a partition, the rows written by a transaction, and the kind of write for each row.
    fn operations(&mut self, number: u8, shape: Shape) -> Outcome<(u32, Vec<(u64, Kind)>)> {
        let partition = self.random.random_range(0..shape.partitions());
        let count = [1, 1, 5, 100][self.random.random_range(0..4)].min(shape.most_operations());
        let mut rows: Vec<u64> = match self.work {
            Work::Scattered => (0..count).map(|_| self.random.random_range(0..shape.rows())).collect(),
            Work::Load | Work::Delete => {
                let first = self.random.random_range(0..shape.rows());
                (first..first + count).collect()
            }
            Work::Queue => {
                let ends = self.peer.ends(number, &shape.partition_key(partition))?;
                let (first, last) =
                    ends.map_or((0, 0), |(first, last)| (shape.row_number(&first), shape.row_number(&last)));
                if self.random.random() {
                    (last + 1..=last + count).collect()
                } else {
                    (first..first + count).collect()
                }
            }
        };
        rows.sort_unstable();
        rows.dedup();
        let rows = rows
            .into_iter()
            .map(|row| (row, Kind::draw(&mut self.random, matches!(self.work, Work::Delete))));
        Ok((partition, rows.collect()))
    }

    /// Submits the same transaction to the engine and to `SQLite`, and compares the results.
    fn transaction(&mut self, engine: &Engine, number: u8) -> Outcome<()> {
        let shape = Shape::of(number);
        let (partition, mut writes) = self.operations(number, shape)?;
        let partition_key = shape.partition_key(partition);
        let queue_head = matches!(self.work, Work::Queue) && self.random.random();
        let mut transaction = Transaction::new(PartitionKey::new(&partition_key)?, Limits::UNLIMITED)?;
        let version: i64 = self.random.random_range(0..1 << 40);
        for (row, kind) in &mut writes {
            let row_key = shape.row_key(*row);
            let there = self.peer.get(number, &partition_key, &row_key)?.is_some();
            // In most transactions, the operations are chosen to succeed.
            if self.random.random_ratio(19, 20) {
                *kind = kind.fitting(there, queue_head);
            }
            let content = || shape.row(version);
            let kind = match kind {
                Kind::Insert => OperationKind::Insert(content()),
                Kind::Replace => OperationKind::Replace(content(), IfMatch::Any),
                Kind::Upsert => OperationKind::InsertOrReplace(content()),
                Kind::Delete => OperationKind::Delete(IfMatch::Any),
            };
            transaction.push(Operation { row_key: RowKey::new(row_key)?, kind })?;
        }
        self.counts.transactions += 1;
        self.counts.operations += writes.len() as u64;
        let expected = self.peer.submit(number, &partition_key, shape, &writes, version)?;
        let found = engine.submit(&table(number)?, transaction).block_on().map(drop);
        let code = |error: &Error| if is_missing(error) { ErrorCode::TableNotFound } else { error.code() };
        let refusal = found.as_ref().err().map(|error| (code(error), error.operation()));
        if refusal != expected {
            return Err(differs(
                &format!("transaction on {partition_key} of table {number}"),
                found,
                expected,
            ));
        }
        Ok(())
    }

    fn get(&mut self, engine: &Engine, number: u8) -> Outcome<()> {
        let shape = Shape::of(number);
        let partition_key = shape.partition_key(self.random.random_range(0..shape.partitions()));
        let row_key = shape.row_key(self.random.random_range(0..shape.rows()));
        let found =
            engine.get(&table(number)?, &EntityKey::new(&partition_key, &row_key)?, &Select::All).block_on();
        let found = match found {
            Ok(Some(stored)) => Some(shape.version(stored.row.view())?),
            Ok(None) => None,
            Err(error) if is_missing(&error) && !self.peer.has_table(number)? => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let expected = self.peer.get(number, &partition_key, &row_key)?;
        self.counts.gets += 1;
        if found != expected {
            return Err(differs(
                &format!("row {partition_key} {row_key} of table {number}"),
                found,
                expected,
            ));
        }
        Ok(())
    }

    /// Compares up to three pages of a query over a table, a partition, or a range of rows.
    fn scan(&mut self, engine: &Engine, number: u8) -> Outcome<()> {
        let shape = Shape::of(number);
        let partition_key = shape.partition_key(self.random.random_range(0..shape.partitions()));
        let first = shape.row_key(self.random.random_range(0..shape.rows()));
        let (keys, from) = match self.random.random_range(0..3) {
            0 => (KeyRange::ALL, (String::new(), String::new())),
            1 => (KeyRange::partition(&partition_key), (partition_key.clone(), String::new())),
            _ => {
                let range = TextRange { lower: std::ops::Bound::Included(first.clone()), ..TextRange::ALL };
                (KeyRange::rows(&partition_key, range), (partition_key.clone(), first))
            }
        };
        let within = (keys.partition_key.single().is_some()).then_some(partition_key);
        let pages = self.random.random_range(1..4);
        self.compare(engine, number, keys, from, within.as_deref(), pages)
    }

    /// Runs a query on the engine, starting at `place`, and compares its pages with the rows in `SQLite`.
    fn compare(
        &mut self,
        engine: &Engine,
        number: u8,
        keys: KeyRange,
        mut place: (String, String),
        within: Option<&str>,
        pages: usize,
    ) -> Outcome<()> {
        let (name, shape) = (table(number)?, Shape::of(number));
        let mut query = Query::new(keys);
        query.top = [None, Some(1), Some(7), Some(100)][self.random.random_range(0..4)]
            .filter(|_| pages < usize::MAX);
        let mut from = None;
        for _ in 0..pages {
            let page = match engine.query(&name, &query, from.as_ref()).block_on() {
                Ok(page) => page,
                Err(error) if is_missing(&error) && !self.peer.has_table(number)? => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let mut found = Vec::with_capacity(page.rows.len());
            for row in page.rows.iter() {
                found.push((row.partition_key.to_owned(), row.row_key.to_owned(), shape.version(row.row)?));
            }
            let next = page.continuation.as_ref().map(|next| next.position(&name, &query)).transpose()?;
            let end = next.map(|next| (next.partition_key.clone(), next.row_key.clone().unwrap_or_default()));
            let expected = self.peer.page(number, &place, end.as_ref(), within)?;
            self.counts.pages += 1;
            self.counts.rows += found.len() as u64;
            if found != expected {
                let at = found.iter().zip(&expected).position(|(found, expected)| found != expected);
                let at = at.unwrap_or(found.len().min(expected.len()));
                let what = format!(
                    "page of table {number} from {place:?} to {end:?}, at row {at} of {} and {}",
                    found.len(),
                    expected.len()
                );
                return Err(differs(&what, found.get(at), expected.get(at)));
            }
            let Some(end) = end else { return Ok(()) };
            (place, from) = (end, page.continuation);
        }
        Ok(())
    }

    /// Compares the contents of all tables, and the lists of table names.
    fn compare_all(&mut self, engine: &Engine) -> Outcome<()> {
        let names: Vec<String> = engine
            .list_tables("", None, 1_000)
            .block_on()?
            .names
            .iter()
            .map(|name| name.as_str().to_owned())
            .collect();
        let mut expected = Vec::new();
        for number in 0..TABLES {
            if self.peer.has_table(number)? {
                expected.push(table(number)?.as_str().to_owned());
            }
        }
        if names != expected {
            return Err(differs("tables", names, expected));
        }
        for number in 0..TABLES {
            let beginning = (String::new(), String::new());
            self.compare(engine, number, KeyRange::ALL, beginning, None, usize::MAX)?;
        }
        Ok(())
    }

    /// Makes a backup, restores it, and compares its tables with `SQLite`.
    fn compare_backup(&mut self, engine: &Engine) -> Outcome<()> {
        let place = |name: &str| sibling(&self.folder, name);
        let (backup, restored) = (place("backup"), place("restored"));
        engine.backup(&backup).block_on()?;
        Engine::restore(&backup, &restored)?;
        let copy = Engine::open_read_only(&restored)?;
        self.compare_all(&copy)?;
        drop(copy);
        std::fs::remove_dir_all(&restored)?;
        if self.random.random() {
            std::fs::remove_dir_all(&backup)?;
        }
        self.counts.backups += 1;
        Ok(())
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::TableNotFound | ErrorCode::TableBeingDeleted)
}

fn sibling(folder: &Path, name: &str) -> PathBuf {
    let own = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!("{own}-{name}"))
}
