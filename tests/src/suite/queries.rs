//! Test scenarios for queries: key ranges and the query classes (QRY, CLS rules).

use std::ops::Bound::{Excluded, Included};

use table_core::filter::Comparison;
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::{ErrorCode, Filter, TableStore};

use super::scene::{Scene, a, refused, row_keys, rows};

async fn three_by_three<S: TableStore>(store: &S) -> Scene<'_, S> {
    let scene = Scene::new(store).await;
    for partition in ["p", "q", "r"] {
        scene.fill(["1", "2", "3"].map(|row_key| (partition, row_key))).await;
    }
    scene
}

pub async fn qry_3_a_partition_is_read_in_key_order<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    let keys = scene.keys(&Query::new(KeyRange::partition("q"))).await;
    assert!(keys.iter().all(|(partition, _)| partition == "q"));
    assert_eq!(row_keys(&keys), ["1", "2", "3"]);
}

pub async fn qry_4_a_query_without_matches_is_empty_and_not_an_error<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    for keys in
        [KeyRange::partition("none"), KeyRange::point("p", "9"), rows("p", "4", "5"), rows("p", "3", "1")]
    {
        assert!(scene.keys(&Query::new(keys)).await.is_empty());
    }
    let empty = Scene::new(store).await;
    assert!(empty.keys(&Query::new(KeyRange::ALL)).await.is_empty());
}

pub async fn cls_1_each_class_reads_exactly_its_keys<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    let partitions = TextRange { lower: Included("p".into()), upper: Excluded("r".into()) };
    let one_row = TextRange::exactly("2");
    let cases = [
        (KeyRange::point("p", "2"), 1),
        (rows("p", "2", "3"), 1),
        (KeyRange::partition("p"), 3),
        (KeyRange { partition_key: partitions.clone(), row_key: TextRange::ALL }, 6),
        // A RowKey without a PartitionKey is a condition, not a lookup (DQ-5).
        (KeyRange { partition_key: partitions, row_key: one_row.clone() }, 2),
        (KeyRange { partition_key: TextRange::ALL, row_key: one_row }, 3),
        (KeyRange::ALL, 9),
    ];
    for (keys, count) in cases {
        let query = Query::new(keys.clone());
        let found = scene.keys(&query).await;
        assert_eq!(found.len(), count, "{keys:?}");
        assert!(found.iter().all(|(partition, row_key)| keys.contains(partition, row_key)));
    }
}

pub async fn cls_4_a_filter_on_keys_and_a_range_of_keys_find_the_same<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    let cases = [
        ("PartitionKey eq 'p' and RowKey eq '2'", KeyRange::point("p", "2")),
        ("PartitionKey eq 'p' and RowKey ge '2' and RowKey lt '3'", rows("p", "2", "3")),
        ("PartitionKey eq 'q'", KeyRange::partition("q")),
    ];
    for (filter, keys) in cases {
        let by_keys = scene.keys(&Query::new(keys)).await;
        let mut query = Query::new(KeyRange::ALL);
        query.filter = Filter::parse(filter).unwrap();
        assert_eq!(scene.keys(&query).await, by_keys, "{filter}");
    }
}

pub async fn cls_2_an_or_of_row_keys_finds_both<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    assert_eq!(scene.matches("p", "RowKey eq '1' or RowKey eq '3'").await, ["1", "3"]);
}

pub async fn cls_5_get_3_and_page_10_a_point_query_has_no_continuation<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    for row_key in ["2", "9"] {
        let page = scene.page(&Query::new(KeyRange::point("p", row_key)), None).await.unwrap();
        assert_eq!((page.keys.len(), page.next.is_none()), (usize::from(row_key == "2"), true));
    }
}

pub async fn qry_3_a_rewritten_entity_keeps_its_position<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    scene.insert_or_replace("p", "1", a(9)).await.unwrap();
    scene.insert_or_replace("p", "15", a(9)).await.unwrap();
    assert_eq!(row_keys(&scene.keys(&Query::new(KeyRange::partition("p"))).await), ["1", "15", "2", "3"]);
}

pub async fn sel_1_5_and_fil_17_a_query_that_no_request_can_express_is_refused<S: TableStore>(store: &S) {
    let scene = three_by_three(store).await;
    let whole = || Query::new(KeyRange::ALL);
    let many = Select::names((0..256).map(|number| format!("P{number}")));
    let compare = |name: &'static str, value: f64| Some(Filter::compare(name, Comparison::Eq, value));
    let queries = [
        Query { select: many, ..whole() },
        Query { select: Select::names(["*"]), ..whole() },
        Query { filter: compare("A", f64::NAN), ..whole() },
        Query { filter: compare("a b", 1.0), ..whole() },
    ];
    for query in queries {
        refused(scene.page(&query, None).await, ErrorCode::InvalidInput);
    }
}
