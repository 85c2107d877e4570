//! `SQLite` through `rusqlite`, with prepared statements, WAL, `synchronous=FULL` and WITHOUT ROWID. A committer thread combines the jobs of the writers into
//! one commit.

use std::path::{Path, PathBuf};

use chrono::DateTime;
use rusqlite::{Connection, Row, Statement, params};

use crate::Outcome;
use crate::data::{PARTITION, Reading};
use crate::peer::committer::{Committer, Reply};
use crate::peer::{Peer, Reader, See};

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS readings (
    site TEXT NOT NULL, number INTEGER NOT NULL,
    device TEXT NOT NULL, operator TEXT NOT NULL, quantity TEXT NOT NULL, remark TEXT NOT NULL,
    level INTEGER NOT NULL, retries INTEGER NOT NULL, total INTEGER NOT NULL, value REAL NOT NULL,
    valid INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (site, number)) WITHOUT ROWID";
const INSERT: &str = "INSERT INTO readings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const REPLACE: &str = "REPLACE INTO readings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const GET: &str = "SELECT * FROM readings WHERE site = ?1 AND number = ?2";
const PAGE: &str = "SELECT * FROM readings WHERE site = ?1 ORDER BY number LIMIT 1000";
const FILTER: &str = "SELECT * FROM readings WHERE site = ?1 AND level = ?2 ORDER BY number";

/// Readings to write atomically.
#[derive(Debug)]
struct Job {
    readings: Vec<Reading>,
    /// `true` to replace existing readings, `false` to fail if a reading exists.
    replaces: bool,
}

/// A database with a committer thread and any number of readers.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    cache: usize,
    connection: std::sync::Mutex<Connection>,
    committer: Committer<Job>,
}

/// Connects to a database with the given cache size. Commits on the connection are durable.
pub(crate) fn connect(path: &Path, cache: usize) -> Outcome<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -i64::try_from(cache / 1024)?)?;
    Ok(connection)
}

impl Sqlite {
    /// The name of this contender as shown in the table of results.
    pub const NAME: &str = "rusqlite";

    /// Opens a database with the given cache size, creating it if it does not exist.
    pub fn open(path: &Path, cache: usize) -> Outcome<Self> {
        let writer = connect(path, cache)?;
        writer.execute_batch(SCHEMA)?;
        let committer = Committer::start(move |jobs| commit(&writer, jobs));
        let connection = std::sync::Mutex::new(connect(path, cache)?);
        Ok(Self { path: path.to_owned(), cache, connection, committer })
    }

    /// Inserts or replaces readings in one transaction.
    pub fn replace(&self, readings: Vec<Reading>) -> Outcome<()> {
        self.committer.submit(Job { readings, replaces: true })
    }
}

fn commit(connection: &Connection, jobs: &mut dyn Iterator<Item = Job>) -> Outcome<Vec<Reply>> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let replies = jobs.map(|job| apply(connection, &job).map_err(|error| error.to_string())).collect();
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(replies)
}

/// Writes the readings of a job atomically. One statement is atomic, but several statements need a savepoint.
fn apply(connection: &Connection, job: &Job) -> Outcome<()> {
    let several = job.readings.len() > 1;
    if several {
        connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    }
    let mut write = connection.prepare_cached(if job.replaces { REPLACE } else { INSERT })?;
    let done = job.readings.iter().try_for_each(|reading| put(&mut write, reading));
    if several {
        if done.is_err() {
            connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
        }
        connection.prepare_cached("RELEASE job")?.execute([])?;
    }
    done
}

fn put(insert: &mut Statement<'_>, reading: &Reading) -> Outcome<()> {
    insert.execute(params![
        reading.site,
        reading.number,
        reading.device,
        reading.operator,
        reading.quantity,
        reading.remark,
        reading.level,
        reading.retries,
        reading.total,
        reading.value,
        reading.valid,
        reading.at.timestamp_micros(),
    ])?;
    Ok(())
}

impl Peer for Sqlite {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn load(&self, entities: u32) -> Outcome<()> {
        let connection = self.connection.lock().map_err(|_| "poisoned")?;
        let mut insert = connection.prepare(INSERT)?;
        let mut left = 0..entities;
        while !left.is_empty() {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            for index in left.by_ref().take(100 * PARTITION as usize) {
                put(&mut insert, &Reading::at(index))?;
            }
            connection.execute_batch("COMMIT")?;
        }
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    fn reader(&self) -> Outcome<Box<dyn Reader + '_>> {
        // The reader has a separate connection. The prepared statements borrow the connection, so it lives until the end of the run.
        let connection: &'static Connection = Box::leak(Box::new(connect(&self.path, self.cache)?));
        Ok(Box::new(Prepared {
            get: connection.prepare(GET)?,
            page: connection.prepare(PAGE)?,
            filter: connection.prepare(FILTER)?,
        }))
    }

    fn insert(&self, reading: Reading) -> Outcome<()> {
        self.committer.submit(Job { readings: vec![reading], replaces: false })
    }

    fn transaction(&self, readings: Vec<Reading>) -> Outcome<()> {
        self.committer.submit(Job { readings, replaces: false })
    }
}

struct Prepared {
    get: Statement<'static>,
    page: Statement<'static>,
    filter: Statement<'static>,
}

impl Reader for Prepared {
    fn get(&mut self, site: &str, number: u32) -> Outcome<Option<Reading>> {
        let mut rows = self.get.query(params![site, number])?;
        Ok(rows.next()?.map(decode).transpose()?)
    }

    fn page(&mut self, site: &str, see: See<'_>) -> Outcome<()> {
        let rows = self.page.query_map([site], decode)?;
        show(rows, see)
    }

    fn filter(&mut self, site: &str, level: i32, see: See<'_>) -> Outcome<()> {
        let rows = self.filter.query_map(params![site, level], decode)?;
        show(rows, see)
    }
}

fn show(rows: impl Iterator<Item = rusqlite::Result<Reading>>, see: See<'_>) -> Outcome<()> {
    for reading in rows {
        see(&reading?);
    }
    Ok(())
}

fn decode(row: &Row<'_>) -> rusqlite::Result<Reading> {
    Ok(Reading {
        site: row.get(0)?,
        number: row.get(1)?,
        device: row.get(2)?,
        operator: row.get(3)?,
        quantity: row.get(4)?,
        remark: row.get(5)?,
        level: row.get(6)?,
        retries: row.get(7)?,
        total: row.get(8)?,
        value: row.get(9)?,
        valid: row.get(10)?,
        at: DateTime::from_timestamp_micros(row.get(11)?).unwrap_or_default(),
    })
}
