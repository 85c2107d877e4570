//! Tests, for random designs, that the hash function and the partition model agree with the Azure SDK's requests and the emulator's data.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::query::{KeyRange, Query, TextRange};
use table_core::row::RowWriter;
use table_core::{Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction};
use table_cosmos::emulator::DATABASE;
use table_cosmos::{Explain, Options};
use table_hierarchy::{Component, Epk, EpkRange, PartitionMap, Route};

use crate::partitioned::Partitioned;
use crate::placement::keys_lie_where_the_model_places_them;
use crate::{runtime, store};

/// The number of random designs. Each is tested with 40 queries, which makes 10,000 queries in total.
const DESIGNS: usize = 250;
const QUESTIONS: usize = 40;
const PARTITIONS: u32 = 64;

fn level(random: &mut StdRng) -> String {
    const TEXTS: [&str; 8] = ["", "a", "Microsoft", "Micro", "é", "東京", "🚀", "a b"];
    match random.random_range(0..3) {
        0 => TEXTS[random.random_range(0..TEXTS.len())].to_owned(),
        1 => format!("v{}", random.random_range(0..20)),
        _ => format!("{:x}", random.random::<u64>()),
    }
}

fn key(levels: &[String]) -> String {
    levels.iter().flat_map(|level| [level.as_str(), "!"]).collect()
}

fn components(levels: &[String]) -> Vec<Component<'_>> {
    levels.iter().map(|level| Component::text(level.as_str())).collect()
}

async fn insert(store: &Partitioned, table: &TableName, levels: &[String], row: &str) {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(key(levels)).unwrap(), limits).unwrap();
    let kind = OperationKind::InsertOrReplace(RowWriter::new().finish());
    transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    store.submit(table, transaction).await.unwrap();
}

#[test]
fn epk_7_and_rt_4_ten_thousand_prefixes_touch_exactly_the_modelled_partitions() {
    let mut random = StdRng::seed_from_u64(16);
    runtime().block_on(async {
        let (mut asked, mut requests) = (0, 0);
        for design in 0..DESIGNS {
            let depth = random.random_range(2..=3);
            let name = format!("Design{design}");
            let store = store(PARTITIONS, Options::new().levels(&name, depth)).await;
            let table = store.create(&name, depth);
            let keys: Vec<Vec<String>> =
                (0..12).map(|_| (0..depth).map(|_| level(&mut random)).collect()).collect();
            for levels in &keys {
                insert(&store, &table, levels, "r").await;
            }
            // In every third design, a partition is split at one of the keys.
            let mut map = PartitionMap::even(PARTITIONS);
            if design % 3 == 0 {
                let at = Epk::of(&components(&keys[0]));
                let id = map.locate(&at).id;
                store.emulator.split(&table, id, &at, std::time::Duration::ZERO).unwrap();
                store.emulator.settled().await;
                map.split(id, &at).unwrap();
            }
            let live = store.store.partitions(&table).await.unwrap();
            let bounds = |map: &PartitionMap| -> Vec<EpkRange> {
                map.partitions().iter().map(|partition| partition.range.clone()).collect()
            };
            assert_eq!(bounds(&live), bounds(&map), "the model has the ranges of the container (RUST-5)");
            let _ = store.emulator.sent();
            for _ in 0..QUESTIONS {
                let mut levels: Vec<String> = if random.random() {
                    keys[random.random_range(0..keys.len())].clone()
                } else {
                    (0..depth).map(|_| level(&mut random)).collect()
                };
                levels.truncate(random.random_range(1..depth));
                let partition_key = TextRange::prefix(&key(&levels));
                let query = Query::new(KeyRange { partition_key, row_key: TextRange::ALL });
                let found = rows(&store, &table, &query).await;
                let expected: BTreeSet<String> =
                    keys.iter().filter(|key| key.starts_with(&levels)).map(|levels| key(levels)).collect();
                assert_eq!(found, expected, "{levels:?}");

                let explain = Explain::new(&query, depth, &map).unwrap();
                let sent: Vec<_> = store.emulator.sent().into_iter().filter(|sent| sent.is_query).collect();
                let mut touched: Vec<(String, String, String)> = sent
                    .iter()
                    .map(|sent| {
                        let (start, end) = sent.range.clone().unwrap();
                        (sent.partition.clone().unwrap(), start, end)
                    })
                    .collect();
                touched.dedup();
                assert_eq!(touched, said(&explain.route), "{levels:?}");
                asked += 1;
                requests += touched.len();
            }
        }
        println!("{asked} prefixes, {requests} requests");
        assert_eq!(asked, DESIGNS * QUESTIONS);
    });
}

/// Returns the partitions of a route in the request format: the id, and the first and last effective partition keys.
fn said(route: &Route) -> Vec<(String, String, String)> {
    let text = |touched: &table_hierarchy::Touched| {
        (touched.id.to_string(), touched.range.start().to_string(), touched.range.end().to_string())
    };
    route.touched.iter().map(text).collect()
}

async fn rows(store: &Partitioned, table: &TableName, query: &Query) -> BTreeSet<String> {
    let (mut found, mut from) = (BTreeSet::new(), None);
    loop {
        let page = store.query(table, query, from.as_ref()).await.unwrap();
        found.extend(page.rows.iter().map(|entity| entity.partition_key.to_owned()));
        from = page.continuation;
        if from.is_none() {
            return found;
        }
    }
}

#[test]
fn rt_14_hpk_37_and_wire_1_full_keys_are_sent_as_keys_and_prefixes_as_bounds() {
    runtime().block_on(async {
        let store = store(4, Options::new().levels("Events", 3)).await;
        let table = store.create("Events", 3);
        let levels = ["Microsoft", "u1", "s1"].map(str::to_owned);
        insert(&store, &table, &levels, "r").await;
        let _ = store.emulator.sent();
        rows(&store, &table, &Query::new(KeyRange::partition(key(&levels)))).await;
        let sent = store.emulator.sent();
        let query = sent.iter().find(|sent| sent.is_query).unwrap();
        assert_eq!((query.key.as_deref(), &query.range), (Some(r#"["Microsoft","u1","s1"]"#), &None));

        let prefix = KeyRange { partition_key: TextRange::prefix("Microsoft!"), row_key: TextRange::ALL };
        rows(&store, &table, &Query::new(prefix)).await;
        let sent = store.emulator.sent();
        let query = sent.iter().find(|sent| sent.is_query).unwrap();
        let (start, end) = query.range.clone().unwrap();
        assert_eq!(start, "188C347FDB4ED0ECB72D5C45AC751981");
        assert_eq!(end, "188C347FDB4ED0ECB72D5C45AC751981FF");
    });
}

#[test]
fn rust_5_and_rt_1_each_partition_has_the_keys_of_the_model() {
    runtime().block_on(async {
        for partitions in [1, 7, 64] {
            let store = store(partitions, Options::new().levels("Placed", 3)).await;
            let table = store.create("Placed", 3);
            let client = store.emulator.client(Vec::new()).await.unwrap();
            keys_lie_where_the_model_places_them(&client, DATABASE, &store.store, &table).await;
        }
    });
}
