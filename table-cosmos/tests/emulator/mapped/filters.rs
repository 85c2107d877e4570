//! Tests that random filters on mapped properties select the same entities in Cosmos DB and in the embedded engine.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::filter::Filter;
use table_core::query::{KeyRange, Query};
use table_core::row::{Row, RowWriter};
use table_core::{
    Engine, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction, ValueRef,
};
use table_cosmos::emulator::Emulator;
use table_cosmos::{Format, Mapping, Options};
use uuid::Uuid;

use crate::runtime;

const WORLDS: u64 = 4;
const ROWS: usize = 60;
const QUERIES: usize = 150;
/// The start of 2024-01-02, in ticks.
const DAY: u64 = 638_397_504_000_000_000;
const SECOND: u64 = 10_000_000;

const NAMES: [&str; 12] = [
    "Text",
    "Int32",
    "Int64",
    "Digits",
    "Double",
    "Flag",
    "At",
    "Seconds",
    "Milliseconds",
    "Guid",
    "Bytes",
    "Own",
];
const LITERALS: [&str; 20] = [
    "0",
    "1",
    "-7",
    "1L",
    "9007199254740993L",
    "9007199254740992L",
    "0.0",
    "1.5",
    "-2.0",
    "'a'",
    "'b'",
    "''",
    "'東'",
    "true",
    "false",
    "datetime'2024-01-02T00:00:00Z'",
    "datetime'2024-01-02T00:00:00.5Z'",
    "datetime'9999-12-31T23:59:59.9Z'",
    "guid'00000000-0000-0000-0000-000000000007'",
    "X'0708'",
];

fn mapping() -> Mapping {
    Mapping::new(["/tenant"])
        .property("Text", "/deep/text", Format::Text)
        .property("Int32", "/int", Format::Int32)
        .property("Int64", "/deep/long", Format::Int64)
        .property("Digits", "/digits", Format::Int64Text)
        .property("Double", "/double", Format::Double)
        .property("Flag", "/flag", Format::Boolean)
        .property("At", "/at", Format::DateTime)
        .property("Seconds", "/seconds", Format::UnixSeconds)
        .property("Milliseconds", "/milliseconds", Format::UnixMilliseconds)
        .property("Guid", "/guid", Format::Guid)
        .property("Bytes", "/bytes", Format::Base64)
}

/// Returns the mapping of an earlier release, which has paths for only some of the properties.
fn earlier() -> Mapping {
    Mapping::new(["/tenant"]).property("Text", "/deep/text", Format::Text).property(
        "Int32",
        "/int",
        Format::Int32,
    )
}

fn property(row: &mut RowWriter, name: &str, random: &mut StdRng) {
    let small = random.random_range(-2..3_i32);
    let part = random.random_range(0..3_u64);
    match name {
        "Text" | "Own" => {
            row.property(name, ValueRef::String(["", "a", "b", "é"][random.random_range(0..4_usize)]));
        }
        "Int32" => row.property(name, ValueRef::Int32(small)),
        "Int64" => {
            row.property(name, ValueRef::Int64([small.into(), 1 << 53][random.random_range(0..2_usize)]));
        }
        "Digits" => row
            .property(name, ValueRef::Int64([small.into(), (1 << 53) + 1][random.random_range(0..2_usize)])),
        "Double" => row.property(name, ValueRef::Double(f64::from(small) / 2.0)),
        "Flag" => row.property(name, ValueRef::Boolean(random.random())),
        "At" | "Milliseconds" => row.property(name, ValueRef::DateTime(DAY + part * SECOND / 2)),
        "Seconds" => row.property(name, ValueRef::DateTime(DAY + part * SECOND - SECOND)),
        "Guid" => row.property(name, ValueRef::Guid(Uuid::from_u128(random.random_range(6..9)))),
        _ => row.property(name, ValueRef::Binary(&[7, random.random_range(7..10)])),
    }
}

fn pick(texts: &[&'static str], random: &mut StdRng) -> &'static str {
    texts[random.random_range(0..texts.len())]
}

fn filter(random: &mut StdRng, depth: usize) -> String {
    match random.random_range(0..if depth == 0 { 1 } else { 4_u32 }) {
        1 => format!("({}) and ({})", filter(random, depth - 1), filter(random, depth - 1)),
        2 => format!("({}) or ({})", filter(random, depth - 1), filter(random, depth - 1)),
        3 => format!("not ({})", filter(random, depth - 1)),
        _ => {
            let operator = pick(&["eq", "ne", "lt", "le", "gt", "ge"], random);
            format!("{} {operator} {}", pick(&NAMES, random), pick(&LITERALS, random))
        }
    }
}

fn row(random: &mut StdRng) -> Row {
    let mut row = RowWriter::new();
    for name in NAMES {
        if random.random_bool(0.8) {
            property(&mut row, name, random);
        }
    }
    row.finish()
}

/// Returns the `RowKey`s of the query's results in ascending order, and the number of rows read.
async fn keys(store: &impl TableStore, table: &TableName, query: &Query) -> (Vec<String>, u64) {
    let (mut keys, mut read, mut from) = (Vec::new(), 0, None);
    loop {
        let page = store.query(table, query, from.as_ref()).await.unwrap();
        keys.extend(page.rows.iter().map(|row| row.row_key.to_owned()));
        read += page.rows_read.unwrap_or_default();
        from = page.continuation;
        if from.is_none() {
            keys.sort();
            return (keys, read);
        }
    }
}

#[test]
fn fil_10_to_18_and_wire_6_filters_of_mapped_properties_have_the_engines_answers() {
    runtime().block_on(async {
        let mut narrowed = 0;
        for world in 0..WORLDS {
            let mut random = StdRng::seed_from_u64(world);
            let (account, engine) = (Emulator::new(false).unwrap(), Engine::in_memory());
            let table = TableName::new("Things").unwrap();
            let store = account.open(Options::new().mapping("Things", mapping()).unwrap()).await.unwrap();
            store.create_table(&table).await.unwrap();
            let release = account.open(Options::new().mapping("Things", earlier()).unwrap()).await.unwrap();
            engine.create_table(&table).await.unwrap();
            for number in 0..ROWS {
                let row = row(&mut random);
                let limits = store.capabilities().limits;
                let key = PartitionKey::new(["a", "b"][number % 2]).unwrap();
                let mut insert = Transaction::new(key, limits).unwrap();
                let kind = OperationKind::Insert(row);
                insert
                    .push(Operation { row_key: RowKey::new(format!("{number:03}")).unwrap(), kind })
                    .unwrap();
                engine.submit(&table, insert.clone()).await.unwrap();
                let writer = if number % 3 == 0 { &release } else { &store };
                writer.submit(&table, insert).await.unwrap();
            }
            for _ in 0..QUERIES {
                let text = filter(&mut random, 2);
                let query = Query { filter: Filter::parse(&text).unwrap(), ..Query::new(KeyRange::ALL) };
                let (expected, _) = keys(&engine, &table, &query).await;
                let (found, read) = keys(&store, &table, &query).await;
                assert_eq!(found, expected, "{text}");
                narrowed += usize::from(read < ROWS as u64);
            }
            assert_eq!(store.skipped_items().count, 0);
        }
        assert!(narrowed > QUERIES, "the conditions are sent: {narrowed} queries read fewer items");
    });
}
