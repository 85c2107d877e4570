//! Tests of random conditions evaluated by the store. A statement must have the same result on a store as on the same rows in memory.

mod common;

use chrono::{DateTime, Utc};
use common::answer;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use table_core::{DynTableStore, Engine, Entity, TableEntity, TableStoreExt, Value};

/// An entity whose keys consist of several parts.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Mixture")]
#[partition_key(group)]
#[row_key("r", number)]
struct Row {
    group: String,
    #[digits(3)]
    number: u32,
}

const TEXTS: [&str; 9] = ["", "a", "ab", "b", "é", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}"];

/// Returns a store that contains values with unusual comparison behaviour and properties with values of several types.
async fn store() -> DynTableStore {
    let engine = Engine::in_memory();
    let rows = engine.table::<Row>().create_if_missing().await.unwrap();
    let numbers = [
        f64::NAN.copysign(1.0),
        f64::NAN.copysign(-1.0),
        -0.0,
        0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1.5,
        -1.5,
    ];
    for number in 0..200_u32 {
        let at = number as usize;
        let group = TEXTS[at % 6 + usize::from(at % 6 == 0)].to_owned();
        rows.insert(&Row { group: group.clone(), number }).await.unwrap();
        let key = format!("r{number:03}");
        let mut entity = TableEntity::new(group, key).unwrap();
        let mut set = |name: &str, value: Value| entity.insert(name, value);
        set("Text", Value::from(TEXTS[at / 2 % TEXTS.len()]));
        if at % 3 > 0 {
            set("Double", Value::Double(numbers[at % numbers.len()]));
            set("Flag", Value::Boolean(at % 5 > 1));
        }
        if at % 4 > 0 {
            set(
                "Mixed",
                if at % 8 > 4 { Value::Int32(at as i32 - 100) } else { Value::from(TEXTS[at % TEXTS.len()]) },
            );
            let at: DateTime<Utc> = format!("2026-01-{:02}T00:00:00.1234567Z", at % 28 + 1).parse().unwrap();
            set("Seen", Value::DateTime(at));
        }
        engine.untyped("Mixture").unwrap().insert_or_merge(&entity).await.unwrap();
    }
    for (at, text) in TEXTS.iter().enumerate().skip(1) {
        let entity =
            TableEntity::new(*text, format!("other{at}")).unwrap().with("Text", *text).with("Int", at as i32);
        engine.untyped("Mixture").unwrap().insert(&entity).await.unwrap();
    }
    DynTableStore::new(engine)
}

fn text() -> impl Strategy<Value = String> {
    // A key cannot contain a control character, but a constant can.
    let texts = TEXTS.into_iter().chain(["a\u{1}", "a\u{1}z"]).collect::<Vec<_>>();
    prop::sample::select(texts).prop_map(|text| format!("'{text}'"))
}

/// Returns a strategy for conditions on one column.
fn comparison() -> impl Strategy<Value = String> {
    let operator = || prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let texts =
        prop::sample::select(vec!["Text", "PartitionKey", "RowKey", "\"group\"", "\"Mixed@Int32\"", "Mixed"]);
    prop_oneof![
        4 => (texts, operator(), text()).prop_filter("types", |(column, ..)| *column != "\"Mixed@Int32\"")
            .prop_map(|(column, operator, text)| format!("{column} {operator} {text}")),
        2 => (prop::sample::select(vec!["Text", "PartitionKey", "RowKey"]), prop::sample::select(vec!["a", "r0", "é", ""]))
            .prop_map(|(column, prefix)| format!("{column} LIKE '{prefix}%'")),
        3 => (operator(), -5..210).prop_map(|(operator, number)| format!("number {operator} {number}")),
        1 => (-5..210, 0..60).prop_map(|(low, length)| format!("number BETWEEN {low} AND {}", low + length)),
        2 => (operator(), prop::sample::select(vec!["0.0", "1.5", "-1.5", "1e300"]))
            .prop_map(|(operator, number)| format!("Double {operator} {number}")),
        1 => (operator(), 1..28).prop_map(|(operator, day)| format!("Seen {operator} TIMESTAMP '2026-01-{day:02} 00:00:00.1234567'")),
        1 => prop::sample::select(vec!["Flag", "NOT Flag", "Flag IS NULL", "Int IN (1, 3, 5)", "Int > 2", "Text IN ('a', 'é')"]).prop_map(str::to_owned),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    comparison().prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" AND "))),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" OR "))),
            1 => inner.prop_map(|one| format!("NOT ({one})")),
        ]
    })
}

#[test]
fn the_store_never_omits_a_row_that_sql_selects() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let session = runtime.block_on(async { common::with_plain(&store().await, "Mixture").await });
    let mut selected = 0;
    let mut runner = TestRunner::new(Config::with_cases(400));
    let found = std::cell::RefCell::new(&mut selected);
    let outcome = runner.run(&condition(), |condition| {
        let (store, plain) = runtime.block_on(async {
            (answer(&session, "Mixture", &condition).await, answer(&session, common::PLAIN, &condition).await)
        });
        **found.borrow_mut() += usize::from(!store.is_empty());
        prop_assert_eq!(store, plain, "{}", condition);
        Ok(())
    });
    outcome.unwrap();
    assert!(selected > 100, "{selected} conditions selected a row");
}
