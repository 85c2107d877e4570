//! Keys and rows by number: what a row holds says which operation wrote it, and every byte of it can be checked.

use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::row::{RowView, RowWriter};
use table_core::{Result, Row, TableName, ValueRef};

use crate::sim::model::{Number, Place};

/// Tables of a history.
pub(super) const TABLES: u8 = 2;
/// Partitions of a table.
pub(super) const PARTITIONS: u8 = 2;
/// Rows of a partition.
pub(super) const ROWS: u8 = 24;

pub(super) fn table(number: u8) -> Result<TableName> {
    TableName::new(&format!("Table{number}"))
}

pub(super) fn partition(number: u8) -> Result<PartitionKey> {
    PartitionKey::new(format!("p{number}"))
}

pub(super) fn row_key(number: u8) -> Result<RowKey> {
    RowKey::new(format!("r{number:02}"))
}

pub(super) fn key((partition, row): Place) -> Result<EntityKey> {
    EntityKey::new(format!("p{partition}"), format!("r{row:02}"))
}

/// The place that two texts name.
pub(super) fn place(partition_key: &str, row_key: &str) -> Option<Place> {
    Some((partition_key.strip_prefix('p')?.parse().ok()?, row_key.strip_prefix('r')?.parse().ok()?))
}

/// The bytes that go with a number: none, some, or more than a block holds. Some look like a frame of the journal.
fn filler(number: Number) -> Vec<u8> {
    let mixed = number.wrapping_mul(0x9E37_79B1);
    let length = [0, 40, 700, 700, 2_000, 5_000][(mixed >> 24) as usize % 6];
    let mut bytes: Vec<u8> =
        (0..length).map(|at: u32| (mixed.rotate_left(at % 32) ^ at).to_le_bytes()[0]).collect();
    if mixed.is_multiple_of(3) {
        bytes.extend(forged_frame(number));
    }
    bytes
}

/// A frame of the journal as anyone can make it who does not know the salt of its file (`docs/format.md`): far ahead of those that
/// stand before it, and written when all of them were durable.
fn forged_frame(number: Number) -> Vec<u8> {
    let record = number.to_le_bytes();
    let sequence = (u64::from(number) + 500).to_le_bytes();
    let length = 4_u32.to_le_bytes();
    let mut frame = [&length[..], &crc32c::crc32c(&record).to_le_bytes(), &sequence, &sequence].concat();
    frame.extend(crc32c::crc32c(&frame).to_le_bytes());
    frame.extend(record);
    frame
}

/// The row that an operation writes.
pub(super) fn row(number: Number) -> Row {
    let mut row = RowWriter::with_capacity(2);
    row.property("Number", ValueRef::Int64(i64::from(number)));
    row.property("Filler", ValueRef::Binary(&filler(number)));
    row.finish()
}

/// Which operation wrote a row.
///
/// # Errors
/// What is wrong with it, where none did.
pub(super) fn number(row: RowView<'_>) -> std::result::Result<Number, String> {
    let find = |name| row.find(name, &mut 0).map_err(|error| error.to_string());
    let (number, bytes) = (find("Number")?, find("Filler")?);
    let number = match number {
        Some(ValueRef::Int64(number)) => Number::try_from(number).map_err(|error| error.to_string())?,
        other => return Err(format!("the number of a row is {other:?}")),
    };
    match bytes {
        Some(ValueRef::Binary(bytes)) if bytes == filler(number) => Ok(number),
        _ => Err(format!("the bytes beside number {number} are others than were written")),
    }
}
