//! Measures the bytes on disk of entities with long keys, compared with `SQLite`.

use pollster::block_on;
use rusqlite::{Connection, params};
use table_core::embedded::{Durability, EngineOptions};
use table_core::limits::Limits;
use table_core::row::RowWriter;
use table_core::{
    Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction, ValueRef,
};

use crate::Outcome;
use crate::folder::bytes_of;
use crate::report::{Report, Target};
use crate::stage::Stage;

/// The number of characters in a `PartitionKey`.
const KEY: usize = 500;
/// The number of entities in each partition and in each transaction.
const PARTITION: u32 = 100;
/// The value stored in each entity.
const VALUE: [u8; 20] = [7; 20];

/// Measures the sizes and adds their ratio to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let (count, folder) = (stage.small(), stage.folder.inside("long-keys"));
    let engine = EngineOptions::new().durability(Durability::Relaxed).open(folder.join("engine"))?;
    let table = TableName::new("LongKeys")?;
    block_on(engine.create_table(&table))?;
    let sqlite = Connection::open(folder.join("peer.sqlite"))?;
    sqlite.execute_batch("create table t(p text, r text, v blob, primary key(p, r)) without rowid; begin")?;
    let mut row = RowWriter::new();
    row.property("Value", ValueRef::Binary(&VALUE));
    let row = row.finish();
    for partition in 0..count / PARTITION {
        let key = format!("{partition:0>KEY$}");
        let mut transaction = Transaction::new(PartitionKey::new(key.as_str())?, Limits::PORTABLE)?;
        for number in 0..PARTITION {
            let row_key = format!("{number:08}");
            sqlite.prepare_cached("insert into t values(?, ?, ?)")?.execute(params![
                key,
                row_key,
                VALUE.as_slice()
            ])?;
            let kind = OperationKind::Insert(row.clone());
            transaction.push(Operation { row_key: RowKey::new(row_key)?, kind })?;
        }
        block_on(engine.submit(&table, transaction))?;
    }
    block_on(engine.checkpoint())?;
    sqlite.execute_batch("commit")?;
    drop(sqlite);
    #[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
    let bytes = |folder, end| -> Outcome<f64> { Ok(bytes_of(folder, end)? as f64 / f64::from(count)) };
    let (ours, peer) = (bytes(&folder.join("engine"), ".rows")?, bytes(&folder.join(""), ".sqlite")?);
    report.line(
        "bytes of an entity with a key of 500 characters",
        format!("{ours:.0}"),
        format!("rusqlite {peer:.0}"),
        ours / peer,
        Target::AtMost(1.5),
    );
    Ok(())
}
