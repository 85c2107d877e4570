//! Tests that point operations with unusual characters in their keys address only the correct items.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::filter::{Comparison, Filter};
use table_core::query::{KeyRange, Query, Select};
use table_core::row::RowWriter;
use table_core::{
    EntityKey, IfMatch, Operation, OperationKind, PartitionKey, RowKey, TableStore, Transaction, ValueRef,
};
use table_cosmos::Options;

use crate::partitioned::Partitioned;
use crate::{runtime, store};

/// Parts of keys: characters with a special meaning in URLs, JSON, headers or SQL, and strings that a decoder would change.
const PARTS: [&str; 30] = [
    "%", "%2F", "%2e", "%25", "+", " ", ".", "..", "'", "\"", "&", ";", "=", "~", "é", "e\u{301}", "東",
    "🚀", "a", "A", "\u{a0}", "\u{2028}", "\u{feff}", "$", "<", "^", "`", "{}", "|", "@",
];

fn text(random: &mut StdRng) -> String {
    (0..random.random_range(0..4)).map(|_| PARTS[random.random_range(0..PARTS.len())]).collect()
}

fn value(number: i32) -> OperationKind {
    let mut row = RowWriter::new();
    row.property("A", ValueRef::Int32(number));
    OperationKind::InsertOrReplace(row.finish())
}

fn transaction(
    store: &Partitioned,
    key: &str,
    operations: Vec<(String, OperationKind)>,
) -> Option<Transaction> {
    let limits = store.capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(key).ok()?, limits).unwrap();
    for (row_key, kind) in operations {
        transaction.push(Operation { row_key: RowKey::new(row_key).ok()?, kind }).ok()?;
    }
    Some(transaction)
}

#[test]
fn key_9_a_query_for_a_key_that_no_item_can_have_sends_nothing() {
    runtime().block_on(async {
        for (depth, key) in [(1, "東".repeat(1_000)), (2, format!("a!{}!", "東".repeat(1_000)))] {
            let store = store(1, Options::new().levels("Odd", depth)).await;
            let table = store.create("Odd", depth);
            assert!(store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap().rows.is_empty());
            drop(store.emulator.sent());
            let point = EntityKey::new(key.as_str(), "r").unwrap();
            assert_eq!(store.get(&table, &point, &Select::All).await.unwrap(), None);
            for keys in [KeyRange::partition(key.as_str()), KeyRange::point(key.as_str(), "r")] {
                let page = store.query(&table, &Query::new(keys), None).await.unwrap();
                assert!(page.rows.is_empty() && page.continuation.is_none());
            }
            let sent = store.emulator.sent();
            assert!(sent.is_empty(), "{sent:?}");
        }
    });
}

#[test]
fn lim_5_and_wire_5_keys_with_odd_characters_address_their_own_items() {
    runtime().block_on(async {
        for depth in [1, 2, 3] {
            let random = &mut StdRng::seed_from_u64(depth as u64);
            let store = store(4, Options::new().levels("Odd", depth)).await;
            let table = store.create("Odd", depth);
            let mut model: BTreeMap<(String, String), i32> = BTreeMap::new();
            for number in 0..300 {
                let key: String =
                    if depth == 1 { text(random) } else { (0..depth).map(|_| text(random) + "!").collect() };
                let mut rows = BTreeMap::new();
                for _ in 0..random.random_range(1..4) {
                    rows.insert(text(random), value(number));
                }
                let known: Vec<_> = model.keys().cloned().collect();
                if number % 3 == 2 && !known.is_empty() {
                    let (key, row) = known[random.random_range(0..known.len())].clone();
                    let delete = vec![(row.clone(), OperationKind::Delete(IfMatch::Any))];
                    store.submit(&table, transaction(&store, &key, delete).unwrap()).await.unwrap();
                    model.remove(&(key, row));
                    continue;
                }
                let names: Vec<String> = rows.keys().cloned().collect();
                let Some(write) = transaction(&store, &key, rows.into_iter().collect()) else { continue };
                match store.submit(&table, write).await {
                    Ok(_) => model.extend(names.into_iter().map(|row| ((key.clone(), row), number))),
                    Err(error) => assert_eq!(error.rule(), Some("LIM-5"), "{key:?}, {names:?}: {error}"),
                }
            }
            for ((key, row), number) in &model {
                let at = EntityKey::new(key.as_str(), row.as_str()).unwrap();
                let found = store.get(&table, &at, &Select::All).await.unwrap();
                let found = found.and_then(|found| match found.row.view().find("A", &mut 0).unwrap() {
                    Some(ValueRef::Int32(found)) => Some(found),
                    _ => None,
                });
                assert_eq!(found, Some(*number), "{key:?}, {row:?}");
                let page = store.query(&table, &Query::new(KeyRange::partition(key)), None).await.unwrap();
                let mut rows: Vec<&str> = page.rows.iter().map(|entity| entity.row_key).collect();
                rows.sort_unstable();
                let expected: Vec<&str> =
                    model.keys().filter(|(of, _)| of == key).map(|(_, row)| row.as_str()).collect();
                assert_eq!(rows, expected, "{key:?}");
            }
            assert!(model.len() > 100, "{}", model.len());
        }
    });
}

/// Tests that comparing keys with texts that contain control characters gives the same results as in the embedded engine.
#[test]
fn fil_16_a_comparison_of_a_key_with_control_characters_omits_no_row() {
    const TEXTS: [&str; 12] = [
        "\0",
        "\u{1}",
        "\u{1f}b",
        "!\u{1}",
        "a\u{1}",
        "a!\u{1}",
        "a!b\u{1}",
        "a!b!\u{1}",
        " \u{1}",
        "a \u{1}",
        "a",
        "",
    ];
    runtime().block_on(async {
        for depth in [1, 2] {
            let store = store(4, Options::new().levels("Odd", depth)).await;
            let table = store.create("Odd", depth);
            let keys = ["a!b!", "a !b!", "a!!", "!!", "!b!"];
            let rows = ["", " r", "!", "a", "a!b"];
            for key in keys {
                let writes = rows.map(|row| (row.to_owned(), value(1))).to_vec();
                store.submit(&table, transaction(&store, key, writes).unwrap()).await.unwrap();
            }
            for (name, operator, text) in ["PartitionKey", "RowKey"].into_iter().flat_map(|name| {
                Comparison::ALL.into_iter().flat_map(move |operator| TEXTS.map(|text| (name, operator, text)))
            }) {
                let compared = || Filter::compare(name, operator, text);
                let matches = |at: &str| match operator {
                    Comparison::Eq => at == text,
                    Comparison::Ne => at != text,
                    Comparison::Lt => at < text,
                    Comparison::Le => at <= text,
                    Comparison::Gt => at > text,
                    Comparison::Ge => at >= text,
                };
                let alternative = Filter::compare("A", Comparison::Eq, 2);
                for (filter, is_negated) in [(compared().or(alternative), false), (!compared(), true)] {
                    let mut query = Query::new(KeyRange::ALL);
                    query.filter = Some(filter);
                    let (mut from, mut found) = (None, Vec::new());
                    loop {
                        let page = store.query(&table, &query, from.as_ref()).await.unwrap();
                        found.extend(
                            page.rows
                                .iter()
                                .map(|row| (row.partition_key.to_owned(), row.row_key.to_owned())),
                        );
                        from = page.continuation;
                        if from.is_none() {
                            break;
                        }
                    }
                    let all = keys.iter().flat_map(|key| rows.map(|row| (*key, row)));
                    let mut expected: Vec<_> = all
                        .filter(|(key, row)| matches(if name == "RowKey" { row } else { key }) != is_negated)
                        .map(|(key, row)| (key.to_owned(), row.to_owned()))
                        .collect();
                    found.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(found, expected, "{depth} levels: {:?}", query.filter);
                }
            }
        }
    });
}
