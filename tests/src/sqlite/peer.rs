//! The `SQLite` side of the differential test. All rows are in a single in-memory table.

use rusqlite::{Connection, OptionalExtension, params};
use table_core::ErrorCode;

use crate::sqlite::shape::{Kind, Shape};

type Result<T> = rusqlite::Result<T>;
/// The keys of a row, and its version.
pub(super) type Row = (String, String, i64);

/// A `SQLite` database that contains the rows of all tables.
pub(super) struct Peer(Connection);

impl Peer {
    pub(super) fn new() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE TABLE tables (number INTEGER PRIMARY KEY);
             CREATE TABLE rows (number INTEGER, pk BLOB, rk BLOB, version INTEGER, bytes INTEGER, PRIMARY KEY (number, pk, rk)) WITHOUT ROWID;",
        )?;
        Ok(Self(connection))
    }

    pub(super) fn has_table(&self, number: u8) -> Result<bool> {
        let mut found = self.0.prepare_cached("SELECT 1 FROM tables WHERE number = ?")?;
        found.exists([number])
    }

    pub(super) fn create_table(&self, number: u8) -> Result<()> {
        self.0.execute("INSERT INTO tables VALUES (?)", [number]).map(drop)
    }

    pub(super) fn drop_table(&self, number: u8) -> Result<()> {
        self.0.execute("DELETE FROM tables WHERE number = ?", [number])?;
        self.0.execute("DELETE FROM rows WHERE number = ?", [number]).map(drop)
    }

    /// Returns the approximate size of all rows in bytes.
    pub(super) fn bytes(&self) -> Result<u64> {
        let bytes: i64 =
            self.0.query_row("SELECT coalesce(sum(bytes), 0) FROM rows", [], |row| row.get(0))?;
        Ok(bytes.unsigned_abs())
    }

    /// Returns the number of the table whose rows take up the most bytes.
    pub(super) fn largest(&self) -> Result<Option<u8>> {
        let sql = "SELECT number FROM rows GROUP BY number ORDER BY sum(bytes) DESC LIMIT 1";
        self.0.query_row(sql, [], |row| row.get(0)).optional()
    }

    pub(super) fn get(&self, number: u8, pk: &str, rk: &str) -> Result<Option<i64>> {
        let mut found =
            self.0.prepare_cached("SELECT version FROM rows WHERE number = ? AND pk = ? AND rk = ?")?;
        found.query_row(params![number, pk.as_bytes(), rk.as_bytes()], |row| row.get(0)).optional()
    }

    /// Returns the first and the last row key in a partition, or `None` if the partition is empty.
    pub(super) fn ends(&self, number: u8, pk: &str) -> Result<Option<(String, String)>> {
        let mut found =
            self.0.prepare_cached("SELECT min(rk), max(rk) FROM rows WHERE number = ? AND pk = ?")?;
        found.query_row(params![number, pk.as_bytes()], |row| {
            let (first, last): (Option<Vec<u8>>, Option<Vec<u8>>) = (row.get(0)?, row.get(1)?);
            Ok(first.zip(last).map(|(first, last)| (text(&first), text(&last))))
        })
    }

    /// Applies a transaction. If a table store would reject it, returns the expected error and the index of the failed operation.
    pub(super) fn submit(
        &mut self,
        number: u8,
        pk: &str,
        shape: Shape,
        writes: &[(u64, Kind)],
        version: i64,
    ) -> Result<Option<(ErrorCode, Option<usize>)>> {
        if !self.has_table(number)? {
            return Ok(Some((ErrorCode::TableNotFound, None)));
        }
        for (index, (row, kind)) in writes.iter().enumerate() {
            let there = self.get(number, pk, &shape.row_key(*row))?.is_some();
            let code = match kind {
                Kind::Insert if there => ErrorCode::EntityAlreadyExists,
                Kind::Replace | Kind::Delete if !there => ErrorCode::ResourceNotFound,
                _ => continue,
            };
            return Ok(Some((code, Some(index))));
        }
        let transaction = self.0.transaction()?;
        for (row, kind) in writes {
            let row_key = shape.row_key(*row);
            let (pk, rk) = (pk.as_bytes(), row_key.as_bytes());
            if *kind == Kind::Delete {
                let mut delete =
                    transaction.prepare_cached("DELETE FROM rows WHERE number = ? AND pk = ? AND rk = ?")?;
                delete.execute(params![number, pk, rk])?;
            } else {
                let mut put =
                    transaction.prepare_cached("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)")?;
                let bytes = i64::try_from(shape.bytes()).unwrap_or_default();
                put.execute(params![number, pk, rk, version, bytes])?;
            }
        }
        transaction.commit()?;
        Ok(None)
    }

    /// Returns the rows of a table from a start position (inclusive) to an end position (exclusive). They are in one partition or in all partitions.
    pub(super) fn page(
        &self,
        number: u8,
        from: &(String, String),
        end: Option<&(String, String)>,
        within: Option<&str>,
    ) -> Result<Vec<Row>> {
        // This key is greater than all keys in a run, which consist of digits.
        let above = (":".to_owned(), String::new());
        let end = end.unwrap_or(&above);
        let mut found = self.0.prepare_cached(
            "SELECT pk, rk, version FROM rows
             WHERE number = ?1 AND (pk, rk) >= (?2, ?3) AND (pk, rk) < (?4, ?5) AND (?6 IS NULL OR pk = ?6) ORDER BY pk, rk",
        )?;
        let (from, end) = ((from.0.as_bytes(), from.1.as_bytes()), (end.0.as_bytes(), end.1.as_bytes()));
        let rows = found.query_map(
            params![number, from.0, from.1, end.0, end.1, within.map(str::as_bytes)],
            |row| {
                let (pk, rk): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
                Ok((text(&pk), text(&rk), row.get(2)?))
            },
        )?;
        rows.collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
