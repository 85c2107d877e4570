//! Bulk rows for crash tests. While the writers run, up to millions of rows are updated at random. When the process is killed, the engine is therefore writing
//! and merging segments.

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::key::{PartitionKey, RowKey};
use table_core::query::{KeyRange, Query};
use table_core::row::RowWriter;
use table_core::{Operation, OperationKind, Result, Row, TableName, TableStore, Transaction, ValueRef};

use crate::crash::workload::{TABLE, number_of};

/// The number of rows in a partition.
const PARTITION: u64 = 1_000;
/// The number of rows inserted per transaction.
const BATCH: u64 = 100;
/// The number of rows updated per transaction.
const UPDATED: u64 = 10;
/// The number of partitions read per check.
const CHECKED: u64 = 50;

fn partition(number: u64) -> String {
    format!("bulk_{number:06}")
}

fn row_key(row: u64) -> String {
    format!("row_{row:03}")
}

/// Returns the content of a bulk row. It consists of the number of the row, its version, and bytes that depend on both.
fn row(number: u64, version: u64) -> Row {
    let mut row = RowWriter::with_capacity(3);
    row.property("Number", ValueRef::Int64(i64::try_from(number).unwrap_or(i64::MAX)));
    row.property("Version", ValueRef::Int64(i64::try_from(version).unwrap_or(i64::MAX)));
    let bytes: Vec<u8> = (0..12).flat_map(|at| mixed(number ^ version, at).to_le_bytes()).collect();
    row.property("Filler", ValueRef::Binary(&bytes));
    row.finish()
}

fn mixed(number: u64, at: u64) -> u64 {
    (number + at + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

async fn put(store: &impl TableStore, number: u64, rows: impl Iterator<Item = (u64, u64)>) -> Result<()> {
    let partition_key = PartitionKey::new(partition(number))?;
    let mut transaction = Transaction::new(partition_key, store.capabilities().limits)?;
    for (place, version) in rows {
        let kind = OperationKind::InsertOrReplace(row(number * PARTITION + place, version));
        transaction.push(Operation { row_key: RowKey::new(row_key(place))?, kind })?;
    }
    store.submit(&TableName::new(TABLE)?, transaction).await.map(drop)
}

/// Inserts all bulk rows with their first version.
///
/// # Errors
/// Any error from the store.
pub async fn fill(store: &impl TableStore, rows: u64) -> Result<()> {
    for number in 0..rows.div_ceil(PARTITION) {
        for batch in 0..PARTITION / BATCH {
            put(store, number, (batch * BATCH..(batch + 1) * BATCH).map(|place| (place, 0))).await?;
        }
    }
    Ok(())
}

/// Updates evenly spaced rows of a random partition.
///
/// # Errors
/// Any error from the store.
pub async fn update(store: &impl TableStore, rows: u64, random: &mut StdRng) -> Result<()> {
    let number = random.random_range(0..rows.div_ceil(PARTITION));
    let (first, version) = (random.random_range(0..PARTITION / UPDATED), u64::from(random.random::<u32>()));
    let places = (0..UPDATED).map(|step| step * (PARTITION / UPDATED) + first);
    put(store, number, places.map(|place| (place, version))).await
}

/// Reads several random partitions and checks that all of their rows exist and are intact. Returns a description of each defect.
///
/// # Errors
/// Any error from the store.
pub async fn check(store: &impl TableStore, rows: u64, random: &mut StdRng) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for _ in 0..CHECKED {
        let number = random.random_range(0..rows.div_ceil(PARTITION));
        let query = Query::new(KeyRange::partition(partition(number)));
        let (mut seen, mut from) = (0, None);
        loop {
            let page = store.query(&TableName::new(TABLE)?, &query, from.as_ref()).await?;
            for entity in page.rows.iter() {
                let found = entity.row.to_row();
                let version = match entity.row.find("Version", &mut 0)? {
                    Some(ValueRef::Int64(version)) => u64::try_from(version).unwrap_or_default(),
                    _ => u64::MAX,
                };
                let expected = row(number * PARTITION + seen, version).with_timestamp(entity.row.timestamp());
                if entity.row_key != row_key(seen) || found != expected {
                    let (row_key, is) = (entity.row_key, number_of(&found)?);
                    wrong.push(format!(
                        "partition {number} of the bulk: {row_key} holds {is:?} at place {seen}"
                    ));
                }
                seen += 1;
            }
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
        if seen != PARTITION {
            wrong.push(format!("partition {number} of the bulk has {seen} rows of {PARTITION}"));
        }
    }
    Ok(wrong)
}
