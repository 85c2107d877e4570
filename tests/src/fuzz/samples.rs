//! Sample inputs for the fuzz targets, written by the engine and the client.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pollster::block_on;
use simulation::power::SimulatedDisk;
use table_core::embedded::EngineOptions;
use table_core::embedded::testing::fuzz;
use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::query::{Continuation, KeyRange, Position, Query};
use table_core::row::RowWriter;
use table_core::{Operation, OperationKind, Row, TableName, TableStore, Transaction, ValueRef};

const FOLDER: &str = "/data";

/// Returns a row with up to seven properties of different types. `number` determines the row.
pub(super) fn row(number: u8) -> Row {
    let mut row = RowWriter::new();
    let text = "text ".repeat(usize::from(number));
    let all = [
        ("Age", ValueRef::Int32(i32::from(number))),
        ("Name", ValueRef::String(&text)),
        ("Total", ValueRef::Int64(i64::MIN)),
        ("Value", ValueRef::Double(-0.5)),
        ("Active", ValueRef::Boolean(true)),
        ("Photo", ValueRef::Binary(&[0, 1, number])),
        ("Größe", ValueRef::String("ä")),
    ];
    for (name, value) in all.into_iter().cycle().skip(usize::from(number) % 7).take(usize::from(number) % 8) {
        row.property(name, value);
    }
    row.finish().with_timestamp(638_000_000_000_000_000 + u64::from(number))
}

/// Returns sorted rows, each with its key in the engine's format (`docs/format.md`): table, partition and row.
fn pairs(count: u8) -> Vec<(Vec<u8>, Row)> {
    let key = |number: u8| [&[0, 0, 0, 1][..], b"part\0", &[b'r', number]].concat();
    (1..=count).map(|number| (key(number), row(number))).collect()
}

pub(super) fn rows() -> Vec<Vec<u8>> {
    (0..9).map(|number| row(number).as_bytes().to_vec()).collect()
}

pub(super) fn journals() -> Vec<Vec<u8>> {
    let mut all = vec![fuzz::journal_of(&pairs(5)), fuzz::record_of(&pairs(3)), fuzz::record_of(&pairs(1))];
    // A table is created and then dropped.
    all.push(
        [&[2][..], &9_u64.to_le_bytes(), &3_u32.to_le_bytes(), &6_u32.to_le_bytes(), b"Orders"].concat(),
    );
    all.push([&[3][..], &9_u64.to_le_bytes(), &3_u32.to_le_bytes()].concat());
    all
}

pub(super) fn blocks() -> Vec<Vec<u8>> {
    [0, 1, 4, 40].into_iter().map(|count| fuzz::block_of(&pairs(count))).collect()
}

pub(super) fn indexes() -> Vec<Vec<u8>> {
    let index = |blocks: u8| {
        let mut index = u32::from(blocks).to_le_bytes().to_vec();
        for block in 0..blocks {
            index.extend(16_000_u32.to_le_bytes());
            for key in [[b'k', 2 * block], [b'k', 2 * block + 1]] {
                index.extend(2_u32.to_le_bytes());
                index.extend(key);
            }
        }
        index
    };
    [1, 2, 20].into_iter().map(index).collect()
}

/// Returns the contents of the `BASE` files in several folders with different numbers of tables and layers.
pub(super) fn bases() -> Vec<Vec<u8>> {
    [0, 1, 4].into_iter().map(|checkpoints| content(&written(checkpoints))).collect()
}

/// Returns the content of the first copy in the `BASE` file. Omits the magic number, the version and the length before it.
fn content(disk: &SimulatedDisk) -> Vec<u8> {
    let copies = file(disk, "BASE");
    let length = copies[12..16].try_into().map(u32::from_le_bytes).unwrap_or_default() as usize;
    copies[16..16 + length].to_vec()
}

pub(super) fn manifests() -> Vec<Vec<u8>> {
    vec![file(&written(0), "FORMAT")]
}

fn file(disk: &SimulatedDisk, name: &str) -> Vec<u8> {
    let bytes = Mutex::new(Vec::new());
    disk.damage(&Path::new(FOLDER).join(name), |file| {
        bytes.lock().unwrap_or_else(PoisonError::into_inner).clone_from(file);
    });
    bytes.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Writes rows to an engine and makes the given number of checkpoints. Returns the disk with the folder of the engine.
fn written(checkpoints: u8) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    let options = EngineOptions::new().disk(Arc::new(disk.clone())).checkpoint_bytes(1 << 14);
    let write = || -> table_core::Result<()> {
        let engine = options.open(FOLDER)?;
        for checkpoint in 0..checkpoints {
            let table = TableName::new(&format!("Table{}", checkpoint % 2))?;
            let _ = block_on(engine.create_table(&table));
            let mut transaction = Transaction::new(PartitionKey::new("part")?, Limits::PORTABLE)?;
            for number in 0..20 {
                let row_key = RowKey::new(format!("r{checkpoint}{number}"))?;
                transaction.push(Operation { row_key, kind: OperationKind::InsertOrReplace(row(number)) })?;
            }
            block_on(engine.submit(&table, transaction))?;
            block_on(engine.checkpoint())?;
        }
        block_on(engine.close())
    };
    write().unwrap_or_else(|error| panic!("a sample is not written: {error}"));
    disk
}

pub(super) fn tokens() -> Vec<Vec<u8>> {
    let table = TableName::new("Readings").unwrap_or_else(|error| panic!("{error}"));
    let query = Query::new(KeyRange::ALL);
    let position =
        |row_key: Option<&str>| Position { partition_key: "p'ä".into(), row_key: row_key.map(Into::into) };
    let tokens = [
        Continuation::new(&table, &query, position(None)),
        Continuation::new(&table, &query, position(Some("r1"))).in_incarnation(7),
        Continuation::of_service(&table, &query, position(Some("r1"))),
    ];
    tokens.into_iter().map(|token| token.to_string().into_bytes()).collect()
}

pub(super) fn filters() -> Vec<Vec<u8>> {
    let texts = [
        "PartitionKey eq 'Sales' and RowKey ge '1' and RowKey lt '2'",
        "not (Age gt 30 or Name ne 'O''Neil') and Active",
        "Total eq -9223372036854775808L or Value le -1.5e300",
        "At ge datetime'2024-02-29T12:00:00.1234567Z'",
        "Id eq guid'c9da6455-213d-42c9-9a79-3e9149a57833' or Photo eq X'00ff' or Photo eq binary'AB'",
        "Timestamp lt datetime'2024-01-01T00:00:00Z' and not not Active eq false",
    ];
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(super) fn bodies() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"PartitionKey":"Sales","RowKey":"1","Id":"5","Id@odata.type":"Edm.Int64","Bonus":3.0,"Nick":null}"#,
        r#"{"odata.metadata":"x","value":[{"PartitionKey":"p","RowKey":"r1","Age":34},{"PartitionKey":"p","RowKey":"r2"}]}"#,
        r#"{"value":[{"odata.etag":"W/\"datetime'2024-02-29T12%3A00%3A00.1234567Z'\"","PartitionKey":"p","RowKey":"r","Timestamp":"2024-02-29T12:00:00.1234567Z","At@odata.type":"Edm.DateTime","At":"2024-01-01T00:00:00Z","B@odata.type":"Edm.Binary","B":"AAEC","G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","D@odata.type":"Edm.Double","D":"NaN","T":"\u00e4\ud83d\ude00\n","N":-0,"X":1e300,"Y":true}]}"#,
        r#"{"value":[]}"#,
    ];
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}
