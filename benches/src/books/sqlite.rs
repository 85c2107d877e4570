//! The ledger with `rusqlite`, using prepared statements, WAL, `synchronous=FULL` and WITHOUT ROWID.
//!
//! Each post is a transaction on a shared connection, as in most programs. Alternatively, a committer thread commits the pending posts of all threads together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chrono::{Days, NaiveDate};
use rusqlite::{Connection, OptionalExtension, Statement, params};
use table_core::ticks;

use crate::Outcome;
use crate::books::{Books, Draft, FIRST, Line, PAGE, Reader, TENANT, month};
use crate::peer::CACHE;
use crate::peer::committer::{Committer, Reply};
use crate::peer::sqlite::{Sqlite, connect};

const SCHEMA: &str = "
CREATE TABLE books (tenant TEXT PRIMARY KEY, closed_until INTEGER NOT NULL, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (tenant TEXT NOT NULL, number INTEGER NOT NULL, effective INTEGER NOT NULL, posted INTEGER NOT NULL,
    reference TEXT NOT NULL, memo TEXT NOT NULL, volume INTEGER NOT NULL, reversed_by INTEGER,
    PRIMARY KEY (tenant, number)) WITHOUT ROWID;
CREATE INDEX entries_by_date ON entries (tenant, effective, number);
CREATE INDEX entries_by_reference ON entries (tenant, reference, number);
CREATE TABLE postings (tenant TEXT NOT NULL, account INTEGER NOT NULL, effective INTEGER NOT NULL, entry INTEGER NOT NULL,
    line INTEGER NOT NULL, cents INTEGER NOT NULL, reference TEXT NOT NULL,
    PRIMARY KEY (tenant, account, effective DESC, entry DESC, line)) WITHOUT ROWID;
CREATE INDEX postings_by_entry ON postings (tenant, entry, line);
CREATE TABLE balances (tenant TEXT NOT NULL, account INTEGER NOT NULL, cents INTEGER NOT NULL, closed INTEGER NOT NULL,
    PRIMARY KEY (tenant, account)) WITHOUT ROWID;
CREATE TABLE months (tenant TEXT NOT NULL, month INTEGER NOT NULL, account INTEGER NOT NULL, cents INTEGER NOT NULL,
    PRIMARY KEY (tenant, month, account)) WITHOUT ROWID;
CREATE TABLE requests (tenant TEXT NOT NULL, id TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
CREATE TABLE audit (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, change TEXT NOT NULL);
CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, source TEXT NOT NULL, kind TEXT NOT NULL)";
const ENTRY: &str = "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, '', ?6, NULL)";
const POSTING: &str = "INSERT INTO postings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const BALANCE: &str = "INSERT INTO balances VALUES (?1, ?2, ?3, FALSE)
    ON CONFLICT (tenant, account) DO UPDATE SET cents = cents + excluded.cents RETURNING closed";
const CLOSE: &str = "INSERT INTO balances VALUES (?1, ?2, 0, TRUE)
    ON CONFLICT (tenant, account) DO UPDATE SET closed = TRUE WHERE cents = 0";
const MONTH: &str = "INSERT INTO months VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (tenant, month, account) DO UPDATE SET cents = cents + excluded.cents";
const STATEMENT: &str =
    "SELECT effective, entry, cents, reference FROM postings WHERE tenant = ?1 AND account = ?2
    ORDER BY effective DESC, entry DESC, line LIMIT ?3";
const TRIAL: &str = "SELECT account, SUM(cents) FROM months WHERE tenant = ?1 AND month < ?2
    GROUP BY account HAVING SUM(cents) <> 0";

/// The number of entries in one transaction during a load.
const BATCH: usize = 1_000;

/// A database that contains the ledger, and its committer thread.
#[derive(Debug)]
pub struct SqliteBooks {
    path: PathBuf,
    connection: Mutex<Connection>,
    committer: Committer<Vec<Draft>>,
}

/// Returns the number of days from [`FIRST`] to a date.
fn day(date: NaiveDate) -> i64 {
    (date - FIRST).num_days()
}

fn date(day: i64) -> NaiveDate {
    let days = u64::try_from(day).unwrap_or_default();
    FIRST.checked_add_days(Days::new(days)).unwrap_or(FIRST)
}

impl SqliteBooks {
    /// Creates a ledger in a new folder, including the books of the tenant.
    pub fn create(folder: &Path) -> Outcome<Self> {
        std::fs::create_dir_all(folder)?;
        let ledger = Self::open(folder)?;
        let connection = connect(&ledger.path, CACHE)?;
        connection.execute_batch(SCHEMA)?;
        connection.execute("INSERT INTO books VALUES (?1, -1, 0)", [TENANT])?;
        Ok(ledger)
    }

    /// Opens an existing ledger.
    pub fn open(folder: &Path) -> Outcome<Self> {
        let path = folder.join("books.sqlite");
        let writer = connect(&path, CACHE)?;
        let committer = Committer::start(move |jobs| commit(&writer, jobs));
        Ok(Self { connection: Mutex::new(connect(&path, CACHE)?), committer, path })
    }
}

/// The ledger with a committer thread that commits all pending posts together.
#[derive(Debug)]
pub struct Grouped<'a>(pub &'a SqliteBooks);

impl Grouped<'_> {
    /// The name of this implementation as shown in the table of results.
    pub const NAME: &'static str = "rusqlite, grouped";

    /// Posts entries in one durable transaction. The transaction may also contain posts by other threads.
    pub fn post(&self, drafts: Vec<Draft>) -> Outcome<()> {
        self.0.committer.submit(drafts)
    }
}

fn commit(connection: &Connection, jobs: &mut dyn Iterator<Item = Vec<Draft>>) -> Outcome<Vec<Reply>> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let replies = jobs.map(|job| post(connection, &job).map_err(|error| error.to_string())).collect();
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(replies)
}

/// Posts all entries of one job atomically.
fn post(connection: &Connection, drafts: &[Draft]) -> Outcome<()> {
    connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let done = drafts.iter().try_for_each(|draft| add(connection, draft));
    if done.is_err() {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    connection.prepare_cached("RELEASE job")?.execute([])?;
    done
}

fn add(connection: &Connection, draft: &Draft) -> Outcome<()> {
    let mut known = connection.prepare_cached("SELECT entry FROM requests WHERE tenant = ?1 AND id = ?2")?;
    let known = known.query_row(params![TENANT, draft.request], |row| row.get::<_, u32>(0)).optional()?;
    if let Some(known) = known {
        return is_same(connection, known, draft);
    }
    let mut books = connection
        .prepare_cached("UPDATE books SET last = last + 1 WHERE tenant = ?1 RETURNING last, closed_until")?;
    let (number, closed_until): (u32, i64) =
        books.query_row([TENANT], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let effective = day(draft.effective);
    if effective <= closed_until {
        return Err("the period is closed".into());
    }
    let month = month(draft.effective);
    let (mut posting, mut balance, mut sums) = (
        connection.prepare_cached(POSTING)?,
        connection.prepare_cached(BALANCE)?,
        connection.prepare_cached(MONTH)?,
    );
    for (line, (account, cents)) in (0_u32..).zip(&draft.lines) {
        posting.execute(params![TENANT, account, effective, number, line, cents, draft.reference])?;
        if balance.query_row(params![TENANT, account, cents], |row| row.get(0))? {
            return Err(format!("account {account} is closed").into());
        }
        sums.execute(params![TENANT, month, account, cents])?;
    }
    let volume: i64 = draft.lines.iter().map(|(_, cents)| (*cents).max(0)).sum();
    let now = ticks::now().timestamp_micros();
    connection.prepare_cached(ENTRY)?.execute(params![
        TENANT,
        number,
        effective,
        now,
        draft.reference,
        volume
    ])?;
    let mut request = connection.prepare_cached("INSERT INTO requests VALUES (?1, ?2, ?3)")?;
    request.execute(params![TENANT, draft.request, number])?;
    let mut audit = connection.prepare_cached("INSERT INTO audit VALUES (NULL, ?1, ?2, 'clerk', ?3)")?;
    audit.execute(params![TENANT, now, format!("created entry_{number:08}")])?;
    let mut change = connection.prepare_cached("INSERT INTO changes VALUES (NULL, ?1, ?2, 'inserted')")?;
    change.execute(params![TENANT, format!("entry_{number:08}")])?;
    Ok(())
}

/// Checks that a repeated request has the same postings as the entry posted for it.
fn is_same(connection: &Connection, entry: u32, draft: &Draft) -> Outcome<()> {
    let mut lines = connection.prepare_cached(
        "SELECT account, cents FROM postings WHERE tenant = ?1 AND entry = ?2 ORDER BY line",
    )?;
    let lines = lines.query_map(params![TENANT, entry], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let lines: Vec<(u32, i64)> = lines.collect::<Result<_, _>>()?;
    if lines == draft.lines { Ok(()) } else { Err("the request belongs to another entry".into()) }
}

impl Books for SqliteBooks {
    fn name(&self) -> &'static str {
        Sqlite::NAME
    }

    fn post(&self, drafts: Vec<Draft>) -> Outcome<()> {
        let connection = self.connection.lock().map_err(|_| "poisoned")?;
        let replies = commit(&connection, &mut std::iter::once(drafts))?;
        replies.into_iter().try_for_each(|reply| Ok(reply?))
    }

    fn load(&self, drafts: Vec<Draft>) -> Outcome<()> {
        drafts.chunks(BATCH).try_for_each(|batch| self.post(batch.to_vec()))
    }

    fn close_account(&self, account: u32) -> Outcome<()> {
        let connection = self.connection.lock().map_err(|_| "poisoned")?;
        let closed = connection.prepare_cached(CLOSE)?.execute(params![TENANT, account])?;
        if closed == 1 { Ok(()) } else { Err(format!("account {account} has a balance").into()) }
    }

    fn reader(&self) -> Outcome<Box<dyn Reader + '_>> {
        // The reader has a separate connection. The prepared statements borrow the connection, so it lives until the end of the run.
        let connection: &'static Connection = Box::leak(Box::new(connect(&self.path, CACHE)?));
        Ok(Box::new(Prepared {
            connection,
            balance: connection.prepare("SELECT cents FROM balances WHERE tenant = ?1 AND account = ?2")?,
            statement: connection.prepare(STATEMENT)?,
            trial: connection.prepare(TRIAL)?,
        }))
    }
}

struct Prepared {
    connection: &'static Connection,
    balance: Statement<'static>,
    statement: Statement<'static>,
    trial: Statement<'static>,
}

impl Reader for Prepared {
    fn balance(&mut self, account: u32) -> Outcome<i64> {
        let cents = self.balance.query_row(params![TENANT, account], |row| row.get(0)).optional()?;
        Ok(cents.unwrap_or_default())
    }

    fn statement(&mut self, account: u32) -> Outcome<Vec<Line>> {
        let lines = self.statement.query_map(params![TENANT, account, i64::try_from(PAGE)?], |row| {
            let (effective, entry) = (date(row.get(0)?), row.get(1)?);
            Ok(Line { effective, entry, cents: row.get(2)?, reference: row.get(3)? })
        })?;
        Ok(lines.collect::<Result<_, _>>()?)
    }

    fn trial_balance(&mut self, month: u32) -> Outcome<BTreeMap<u32, i64>> {
        let sums = self.trial.query_map(params![TENANT, month], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(sums.collect::<Result<_, _>>()?)
    }

    fn entries(&mut self) -> Outcome<u32> {
        let counted = "SELECT COUNT(*), COALESCE(MAX(number), 0) FROM entries WHERE tenant = ?1";
        let (count, last): (u32, u32) =
            self.connection.query_row(counted, [TENANT], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if count == last { Ok(count) } else { Err(format!("{count} entries, the last is {last}").into()) }
    }
}
