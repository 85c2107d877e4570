//! The workload of the crash tests. It consists of numbered transactions. Each is made by a single writer.

use std::fmt;
use std::str::FromStr;

use table_core::key::{PartitionKey, RowKey};
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::{
    EntityKey, ErrorCode, IfMatch, Operation, OperationKind, Result, Row, TableName, TableStore, Transaction,
    ValueRef,
};

/// The table shared by all writers.
pub const TABLE: &str = "Torture";
/// The number of slots per writer. The `n`-th transaction of a writer changes slot `n % SLOTS`.
pub const SLOTS: u64 = 37;
/// The number of rows written per transaction in addition to the counter.
pub const ROWS_OF_A_SLOT: u64 = 5;
/// One in `DELETE_EVERY` transactions deletes the rows of its slot.
const DELETE_EVERY: u64 = 11;

/// A writer of the workload. It knows the number of its next transaction.
#[derive(Debug)]
pub struct Writer {
    number: usize,
    next: u64,
    filler: String,
}

/// An acknowledged transaction. A process reports it to its parent as one line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The number of the writer.
    pub writer: usize,
    /// The number of the acknowledged transaction.
    pub number: u64,
    /// The time in the `ETag` of the writer's counter, in ticks.
    pub etag: u64,
}

impl fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ack {} {} {}", self.writer, self.number, self.etag)
    }
}

impl FromStr for Acknowledged {
    type Err = ();

    /// Parses a line. It is an error if the kill has truncated the line.
    fn from_str(line: &str) -> std::result::Result<Self, ()> {
        let mut words = line.split(' ');
        let mut word = || words.next().ok_or(());
        if word()? != "ack" {
            return Err(());
        }
        let mut number = || word()?.parse::<u64>().map_err(|_| ());
        let (writer, number, etag) = (number()?, number()?, number()?);
        Ok(Self { writer: usize::try_from(writer).map_err(|_| ())?, number, etag })
    }
}

/// Returns the `PartitionKey` of a writer's rows.
#[must_use]
pub(super) fn partition(writer: usize) -> String {
    format!("writer_{writer:03}")
}

/// Returns the `RowKey` of a row in one of a writer's slots.
#[must_use]
pub(super) fn slot_row(slot: u64, row: u64) -> String {
    format!("slot_{slot:03}_{row:02}")
}

/// Returns the transaction number in a row.
///
/// # Errors
/// `Corrupted` if the row is not valid.
pub(super) fn number_of(row: &Row) -> Result<Option<u64>> {
    let value = row.view().find("Number", &mut 0)?;
    Ok(match value {
        Some(ValueRef::Int64(number)) => u64::try_from(number).ok(),
        _ => None,
    })
}

/// Returns `true` if the transaction with this number deletes the rows of its slot.
#[must_use]
pub(super) const fn deletes(number: u64) -> bool {
    number % DELETE_EVERY == DELETE_EVERY - 1
}

impl Writer {
    /// Creates a writer that continues after the highest transaction number in the store.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn resume(store: &impl TableStore, number: usize) -> Result<Self> {
        let table = TableName::new(TABLE)?;
        let key = EntityKey::new(partition(number), "counter")?;
        let counter = store.get(&table, &key, &Select::All).await?;
        let reached = counter.map(|stored| number_of(&stored.row)).transpose()?.flatten();
        Ok(Self {
            number,
            next: reached.map_or(0, |reached| reached + 1),
            filler: "x".repeat(150 + number % 50),
        })
    }

    /// Creates the shared table if it does not exist.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn create_table(store: &impl TableStore) -> Result<()> {
        match store.create_table(&TableName::new(TABLE)?).await {
            Err(error) if error.code() == ErrorCode::TableAlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Writes the next transaction. Returns its acknowledgement.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn step(&mut self, store: &impl TableStore) -> Result<Acknowledged> {
        let table = TableName::new(TABLE)?;
        let number = self.next;
        let slot = number % SLOTS;
        let mut transaction =
            Transaction::new(PartitionKey::new(partition(self.number))?, store.capabilities().limits)?;
        let counter = OperationKind::InsertOrReplace(self.row(number));
        transaction.push(Operation { row_key: RowKey::new("counter")?, kind: counter })?;
        let first = EntityKey::new(partition(self.number), slot_row(slot, 0))?;
        let there = store.get(&table, &first, &Select::All).await?.is_some();
        for row in 0..ROWS_OF_A_SLOT {
            let kind = match (deletes(number), there) {
                (true, true) => OperationKind::Delete(IfMatch::Any),
                (true, false) => break,
                (false, true) => OperationKind::Merge(self.row(number), IfMatch::Any),
                (false, false) => OperationKind::Insert(self.row(number)),
            };
            transaction.push(Operation { row_key: RowKey::new(slot_row(slot, row))?, kind })?;
        }
        let committed = store.submit(&table, transaction).await?;
        self.next = number + 1;
        let etag =
            committed.first().and_then(Option::as_ref).and_then(table_core::ETag::ticks).unwrap_or_default();
        Ok(Acknowledged { writer: self.number, number, etag })
    }

    fn row(&self, number: u64) -> Row {
        let mut row = RowWriter::with_capacity(2);
        row.property("Number", ValueRef::Int64(i64::try_from(number).unwrap_or(i64::MAX)));
        row.property("Filler", ValueRef::String(&self.filler));
        row.finish()
    }
}
