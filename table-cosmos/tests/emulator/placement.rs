//! Tests that keys are placed in the physical partitions that the model predicts. The placement is known from the items in each feed range and from the
//! partition named in the response to each point read. The tests run on the emulator, and also on a real account if one is configured.

use std::collections::{BTreeMap, BTreeSet};

use azure_data_cosmos::models::PartitionKeyValue;
use azure_data_cosmos::{CosmosClient, FeedScope, PartitionKey, Query};
use futures_util::TryStreamExt;
use serde_json::Value as Json;
use table_core::row::RowWriter;
use table_core::{Operation, OperationKind, RowKey, TableName, TableStore, Transaction};
use table_cosmos::CosmosTables;
use table_hierarchy::{Component, Epk, EpkRange, Fixed, Route};

/// Keys with three levels, including empty levels, long levels, and levels with non-ASCII characters.
fn keys() -> Vec<[String; 3]> {
    let of = |number: usize| {
        let tenant = ["contoso", "Contoso", "", "é 東京 🚀"][number % 4];
        [tenant.to_owned(), format!("u{}", number / 4 % 5), format!("{number:x}").repeat(number % 7)]
    };
    (0..60).map(of).collect()
}

fn components(levels: &[String]) -> Vec<Component<'_>> {
    levels.iter().map(|level| Component::text(level.as_str())).collect()
}

fn partition_key(levels: &[String]) -> PartitionKey {
    let values: Vec<PartitionKeyValue> = levels.iter().cloned().map(PartitionKeyValue::from).collect();
    PartitionKey::try_from(values).unwrap()
}

/// Writes keys into a table with three levels, and compares their physical partitions with the model.
pub(crate) async fn keys_lie_where_the_model_places_them(
    client: &CosmosClient,
    database: &str,
    store: &CosmosTables,
    table: &TableName,
) {
    let keys = keys();
    for levels in &keys {
        let text: String = levels.iter().flat_map(|level| [level.as_str(), "!"]).collect();
        let limits = store.capabilities().limits;
        let mut insert = Transaction::new(table_core::PartitionKey::new(text).unwrap(), limits).unwrap();
        let kind = OperationKind::InsertOrReplace(RowWriter::new().finish());
        insert.push(Operation { row_key: RowKey::new("r").unwrap(), kind }).unwrap();
        store.submit(table, insert).await.unwrap();
    }
    let map = store.partitions(table).await.unwrap();
    let database = client.database_client(database.to_owned());
    let container = database.container_client(table.as_str().to_owned(), None).await.unwrap();

    // The levels of all items, read from each physical partition in turn.
    let mut found = BTreeSet::new();
    for range in container.read_feed_ranges(None).await.unwrap() {
        let bound = |text: String| text.parse::<Epk>().unwrap();
        let bounds =
            EpkRange::new(bound(range.min_inclusive().to_hex()), bound(range.max_exclusive().to_hex()));
        let query = Query::from("SELECT * FROM c");
        let items = container.query_items::<Json>(query, FeedScope::range(range), None).await.unwrap();
        for item in items.try_collect::<Vec<Json>>().await.unwrap() {
            let levels = ["l1", "l2", "l3"].map(|level| item[level].as_str().unwrap().to_owned());
            let epk = Epk::of(&components(&levels));
            assert!(bounds.contains(&epk), "{levels:?} has {epk}, outside of {bounds}");
            assert_eq!(map.locate(&epk).range, bounds, "{levels:?}");
            assert!(found.insert(levels), "an item of two partitions");
        }
    }
    assert_eq!(found, keys.iter().cloned().collect());

    // The partitions named in the responses to point reads, if any.
    let mut named: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for levels in &keys {
        let answer = container.read_item(partition_key(levels), "r", None).await.unwrap();
        if let Some(id) = answer.headers().partition_key_range_id() {
            let place = map.locate(&Epk::of(&components(levels))).id;
            named.entry(place).or_default().insert(id.to_owned());
        }
    }
    assert!(named.values().all(|ids| ids.len() == 1), "keys of one range, and several partitions: {named:?}");
    assert_eq!(named.values().flatten().collect::<BTreeSet<_>>().len(), named.len(), "{named:?}");

    // The number of ranges for each prefix, as computed by the client (RUST-5).
    for levels in &keys {
        for depth in 1..3 {
            let prefix = &levels[..depth];
            let theirs = container.feed_range_from_partition_key(partition_key(prefix), None).await.unwrap();
            let mut fixed: Vec<Fixed<'_>> =
                components(prefix).into_iter().map(|level| Fixed::To(vec![level])).collect();
            fixed.resize(3, Fixed::Not);
            assert_eq!(theirs.len(), Route::new(&fixed, &map).unwrap().partitions(), "{prefix:?}");
        }
    }
}
