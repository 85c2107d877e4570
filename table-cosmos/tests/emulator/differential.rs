//! Tests that random queries with ranges and filters return the same rows in the same order as on the embedded engine, and read as many rows as their plans
//! predict.

use std::ops::Bound;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::filter::Filter;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::row::{Row, RowWriter};
use table_core::{
    Engine, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction, ValueRef,
};
use table_cosmos::{Options, Reads};
use table_hierarchy::{Component, Epk, PartitionMap, common_levels};
use uuid::Uuid;

use crate::partitioned::Partitioned;
use crate::{runtime, store};

const WORLDS: u64 = 9;
const ROWS: usize = 60;
const QUERIES: usize = 120;
/// Levels and `RowKey`s with characters that sort before and after the level terminator.
const TEXTS: [&str; 7] = ["a", "a b", "a\"", "ab", "b", " a", "é"];
const ROW_KEYS: [&str; 8] = ["", " x", "!", "!x", "0", "a", "a b", "東"];
const NAMES: [&str; 3] = ["A", "B", "C"];
const LITERALS: [&str; 18] = [
    "0",
    "1",
    "-7",
    "1L",
    "9007199254740993L",
    "-9223372036854775808L",
    "0.0",
    "1.5",
    "-2.0",
    "'a'",
    "'b'",
    "''",
    "true",
    "false",
    "datetime'2024-01-02T00:00:00Z'",
    "datetime'2030-01-01T00:00:00Z'",
    "guid'00000000-0000-0000-0000-000000000007'",
    "X'0708'",
];

fn value(row: &mut RowWriter, name: &str, random: &mut StdRng) {
    let of = |random: &mut StdRng| random.random_range(-1..3_i32);
    match random.random_range(0..12_u32) {
        0 => row.property(name, ValueRef::Int32(of(random))),
        1 => row.property(name, ValueRef::Int64(of(random).into())),
        2 => row.property(name, ValueRef::Int64((1 << 53) + i64::from(of(random)))),
        3 => row.property(name, ValueRef::Double(f64::from(of(random)))),
        4 => row.property(name, ValueRef::Double(f64::from(of(random)) + 0.5)),
        5 => {
            let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0][random.random_range(0..4_usize)];
            row.property(name, ValueRef::Double(special));
        }
        6 => row.property(name, ValueRef::String(["", "a", "b", "1"][random.random_range(0..4_usize)])),
        7 => row.property(name, ValueRef::Boolean(random.random())),
        // A time on 2024-01-02, in ticks.
        8 => row
            .property(name, ValueRef::DateTime(638_397_504_000_000_000 + u64::from(random.random::<bool>()))),
        9 => row.property(name, ValueRef::Guid(Uuid::from_u128(random.random_range(6..9)))),
        10 => row.property(name, ValueRef::Binary(&[7, random.random_range(7..10)])),
        _ => {}
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
            match random.random_range(0..8_u32) {
                0 => format!("RowKey {operator} '{}'", pick(&ROW_KEYS, random)),
                1 => format!("PartitionKey {operator} '{}!{}!'", pick(&TEXTS, random), pick(&TEXTS, random)),
                2 => timestamp(operator, random),
                _ => format!("{} {operator} {}", pick(&NAMES, random), pick(&LITERALS, random)),
            }
        }
    }
}

/// Generates a comparison with the Timestamp. Each store sets its own Timestamps, so the stores return equal results only if the constants are far from the
/// current time.
fn timestamp(operator: &str, random: &mut StdRng) -> String {
    let year = pick(&["1990", "2990"], random);
    format!("Timestamp {operator} datetime'{year}-01-01T00:00:00Z'")
}

fn bound(random: &mut StdRng, text: String) -> Bound<String> {
    match random.random_range(0..4_u32) {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(text),
        _ => Bound::Included(text),
    }
}

fn keys(depth: usize, random: &mut StdRng) -> KeyRange {
    let text = |levels: usize, random: &mut StdRng| -> String {
        (0..levels).flat_map(|_| [pick(&TEXTS, random), "!"]).collect()
    };
    let levels = random.random_range(0..=depth);
    let partition_key = match random.random_range(0..5_u32) {
        0 => TextRange::ALL,
        1 => TextRange::exactly(text(depth, random)),
        2 => TextRange::prefix(&text(levels, random)),
        3 => {
            let prefix = text(levels.min(depth - 1), random);
            let (lower, upper) = (pick(&TEXTS, random), pick(&TEXTS, random));
            TextRange {
                lower: bound(random, format!("{prefix}{lower}")),
                upper: bound(random, format!("{prefix}{upper}!")),
            }
        }
        _ => {
            let (lower, upper) = (text(levels, random), text(depth, random));
            TextRange { lower: bound(random, lower), upper: bound(random, upper) }
        }
    };
    let row_key = match random.random_range(0..4_u32) {
        0 => TextRange::exactly(pick(&ROW_KEYS, random)),
        1 => {
            let (lower, upper) = (pick(&ROW_KEYS, random), pick(&ROW_KEYS, random));
            TextRange { lower: bound(random, lower.to_owned()), upper: bound(random, upper.to_owned()) }
        }
        _ => TextRange::ALL,
    };
    KeyRange { partition_key, row_key }
}

/// Returns the result keys in order, and the number of rows read. Checks that each page is in key order.
async fn answer(store: &impl TableStore, table: &TableName, query: &Query) -> (Vec<(String, String)>, u64) {
    let (mut found, mut read, mut from) = (Vec::new(), 0, None);
    loop {
        let page = store.query(table, query, from.as_ref()).await.unwrap();
        let rows: Vec<_> = page
            .rows
            .iter()
            .map(|entity| (entity.partition_key.to_owned(), entity.row_key.to_owned()))
            .collect();
        assert!(rows.is_sorted(), "a page is in key order: {rows:?}");
        read += page.rows_read.unwrap_or(rows.len() as u64);
        found.extend(rows);
        from = page.continuation;
        if from.is_none() {
            return (found, read);
        }
    }
}

async fn fill(stores: (&Partitioned, &Engine), table: &TableName, depth: usize, random: &mut StdRng) {
    for _ in 0..ROWS {
        let partition_key: String = (0..depth).flat_map(|_| [pick(&TEXTS, random), "!"]).collect();
        let mut row = RowWriter::new();
        for name in &NAMES {
            value(&mut row, name, random);
        }
        let (row, row_key) = (row.finish(), pick(&ROW_KEYS, random));
        write(stores.0, table, &partition_key, row_key, &row).await;
        write(stores.1, table, &partition_key, row_key, &row).await;
    }
}

async fn write(store: &impl TableStore, table: &TableName, partition_key: &str, row_key: &str, row: &Row) {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition_key).unwrap(), limits).unwrap();
    let kind = OperationKind::InsertOrReplace(row.clone());
    transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    store.submit(table, transaction).await.unwrap();
}

/// Returns the index of the physical partition that contains the given PartitionKey.
fn place(map: &PartitionMap, partition_key: &str, depth: usize) -> usize {
    let levels: Vec<Component<'_>> = if depth == 1 {
        vec![Component::text(partition_key)]
    } else {
        partition_key.split_terminator('!').map(Component::text).collect()
    };
    let id = map.locate(&Epk::of(&levels)).id;
    map.partitions().iter().position(|partition| partition.id == id).unwrap()
}

/// Returns the number of rows whose first levels have the values that the range fixes.
async fn count(engine: &Engine, table: &TableName, range: &TextRange, depth: usize) -> u64 {
    let partition_key = match range.single() {
        Some(key) => TextRange::exactly(key),
        None if depth == 1 => TextRange::ALL,
        None => {
            let fixed = common_levels(range).into_iter().take(depth);
            TextRange::prefix(&fixed.flat_map(|level| [level, "!".to_owned()]).collect::<String>())
        }
    };
    let below = Query::new(KeyRange { partition_key, row_key: TextRange::ALL });
    answer(engine, table, &below).await.0.len() as u64
}

#[test]
fn ord_1_and_fil_10_to_18_random_queries_return_the_engines_rows_in_order() {
    runtime().block_on(async {
        let (mut asked, mut read, mut returned) = (0, 0, 0);
        for seed in 0..WORLDS {
            let random = &mut StdRng::seed_from_u64(seed);
            let depth = 1 + usize::try_from(seed).unwrap() % 3;
            let (cosmos, engine) =
                (store(4, Options::new().levels("Things", depth)).await, Engine::in_memory());
            let table = cosmos.create("Things", depth);
            engine.create_table(&table).await.unwrap();
            fill((&cosmos, &engine), &table, depth, random).await;
            let map = cosmos.store.partitions(&table).await.unwrap();
            for _ in 0..QUERIES {
                let mut query = Query::new(keys(depth, random));
                if random.random() {
                    let text = filter(random, 2);
                    query.filter = Filter::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
                }
                if random.random() {
                    query.top = Some(random.random_range(1..9));
                }
                let (mut ours, rows) = answer(&cosmos, &table, &query).await;
                let (theirs, _) = answer(&engine, &table, &query).await;
                // Rows with the same partition key are read in order. If the query covers several keys, rows are ordered only within each page, and physical
                // partitions are read one after another.
                if query.keys.partition_key.single().is_none() {
                    let places: Vec<usize> = ours.iter().map(|(key, _)| place(&map, key, depth)).collect();
                    assert!(places.is_sorted(), "{places:?} for {query:?}");
                    ours.sort();
                }
                let plan = cosmos.store.explain(&table, &query).await.unwrap();
                let below = count(&engine, &table, &query.keys.partition_key, depth).await;
                let is_as_planned = match plan.reads {
                    Reads::Nothing => rows == 0,
                    Reads::Item => rows <= 1,
                    Reads::Matching => (ours.len() as u64..=below).contains(&rows),
                    _ => rows == below,
                };
                assert!(is_as_planned, "{rows} of {below} rows were read for {query:?}: {plan}");
                assert_eq!(ours, theirs, "{query:?}");
                asked += 1;
                read += rows;
                returned += ours.len();
            }
        }
        println!("{asked} queries read {read} rows for {returned}");
        assert!(read < returned as u64 * 2, "{read} rows were read for {returned}");
    });
}

/// Tests that a query for ten days of a tenant reads ten rows, however many rows the tenant has (RT-11).
#[test]
fn rt_11_a_range_over_the_next_level_reads_exactly_its_rows() {
    runtime().block_on(async {
        for depth in [1, 2] {
            let cosmos = store(4, Options::new().levels("Days", depth)).await;
            let table = cosmos.create("Days", depth);
            let key = |day: usize| {
                if depth == 1 { format!("contoso-{day:04}") } else { format!("contoso!{day:04}!") }
            };
            for day in 0..200 {
                write(&cosmos, &table, &key(day), "r", &RowWriter::new().finish()).await;
            }
            let keys = KeyRange {
                partition_key: TextRange { lower: Bound::Included(key(20)), upper: Bound::Excluded(key(30)) },
                row_key: TextRange::ALL,
            };
            let (found, read) = answer(&cosmos, &table, &Query::new(keys)).await;
            assert_eq!(found.len(), 10);
            // The day after the range is the upper bound, so its row is read as well.
            assert!(read <= 11, "{read} rows were read");
        }
    });
}
