//! Test scenarios for keys and their order (KEY, ORD rules).

use std::ops::Bound::{Excluded, Included, Unbounded};

use table_core::query::{KeyRange, TextRange};
use table_core::{IfMatch, Query, TableStore};

use super::scene::{Scene, a, is_a, row_keys};

/// Keys in the order of the service, including strings that some stores sort differently.
const ORDERED: [&str; 20] = [
    "",
    " ",
    "!",
    "10",
    "10 ",
    "9",
    "A",
    "Aa",
    "B",
    "_",
    "a",
    "a!",
    "aa",
    "b",
    "~",
    "é",
    "\u{D7FF}",
    "\u{1F600}",
    "\u{E000}",
    "\u{FF21}",
];

pub async fn key_2_and_6_unusual_but_legal_keys_are_kept_unchanged<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let keys =
        ["", " ", "  ", "%2F", "+", "&", "'", "''", "\"", ":", "=", ",", "(", ")", "é", "e\u{301}", "$", "@"];
    for (number, key) in (0..).zip(keys) {
        scene.insert(key, key, a(number)).await.unwrap();
    }
    for (number, key) in (0..).zip(keys) {
        assert_eq!(scene.properties(key, key).await, is_a(number), "{key:?}");
        scene.replace(key, key, a(number), IfMatch::Any).await.unwrap();
    }
    assert_eq!(scene.keys(&Query::new(KeyRange::ALL)).await.len(), keys.len());
    scene.delete("%2F", "%2F", IfMatch::Any).await.unwrap();
    assert_eq!(scene.read("%2F", "%2F").await, None);
}

pub async fn key_6_keys_are_case_sensitive_and_not_trimmed<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let keys = ["a", "A", " a", "a ", "\u{E9}", "e\u{301}"];
    for key in keys {
        scene.insert("p", key, a(key)).await.unwrap();
    }
    for key in keys {
        assert_eq!(scene.properties("p", key).await, is_a(key));
    }
}

pub async fn ord_1_to_4_rows_come_in_utf16_order<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for key in ORDERED.iter().rev() {
        scene.insert("p", key, a(1)).await.unwrap();
    }
    assert_eq!(row_keys(&scene.keys(&Query::new(KeyRange::partition("p"))).await), ORDERED);
}

pub async fn ord_1_to_4_partitions_come_in_utf16_order<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for key in ORDERED.iter().rev() {
        scene.fill([(*key, "r"), (*key, "")]).await;
    }
    let keys = scene.keys(&Query::new(KeyRange::ALL)).await;
    let expected: Vec<_> = ORDERED.iter().flat_map(|key| [(*key, ""), (*key, "r")]).collect();
    assert_eq!(keys.iter().map(|(p, r)| (p.as_str(), r.as_str())).collect::<Vec<_>>(), expected);
}

/// Tests that key ranges and continuation tokens use the same order as query results. The engine uses UTF-16 order as well (ENG-2).
pub async fn ord_5_ranges_and_tokens_use_the_same_order<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for key in ORDERED {
        scene.insert("p", key, a(1)).await.unwrap();
    }
    for (at, bound) in ORDERED.iter().enumerate() {
        let text = || (*bound).to_owned();
        let cases = [
            (Included(text()), Unbounded, &ORDERED[at..]),
            (Excluded(text()), Unbounded, &ORDERED[at + 1..]),
            (Unbounded, Included(text()), &ORDERED[..=at]),
            (Unbounded, Excluded(text()), &ORDERED[..at]),
        ];
        for (lower, upper, expected) in cases {
            let mut query = Query::new(KeyRange::rows("p", TextRange { lower, upper }));
            query.top = Some(3);
            assert_eq!(row_keys(&scene.keys(&query).await), expected, "{query:?}");
        }
    }
}

pub async fn fil_19_a_prefix_finds_the_keys_that_begin_with_it<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    for key in ["a", "ab", "ab\u{1F600}", "ab\u{FFFF}", "abc", "ac", "b"] {
        scene.insert("p", key, a(1)).await.unwrap();
    }
    let keys = scene.keys(&Query::new(KeyRange::rows("p", TextRange::prefix("ab")))).await;
    assert_eq!(keys.len(), 4);
    assert!(keys.iter().all(|(_, row_key)| row_key.starts_with("ab")));
}
