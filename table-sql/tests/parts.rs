//! Tests of conditions on key parts in many encodings. A statement must have the same result on a store as on the same rows in memory.

mod common;

use chrono::{DateTime, NaiveDate, Utc};
use common::{PLAIN, answer, texts};
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::physical_plan::collect;
use datafusion::prelude::{Expr, SessionContext, ident, lit};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use table_core::{DynTableStore, Engine, Entity, TableEntity, TableName, TableStoreExt};
use table_sql::{SqlOptions, StoreTable, session};

/// An entity with a signed number and a bucket of that number.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Parts")]
#[partition_key("s", bucket(number, 4))]
#[row_key("n_", number)]
struct Signed {
    #[digits(3, signed)]
    number: i32,
}

/// An entity with a string followed by a literal that sorts between letters, and with a number too long for an integer column.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Parts", allow(hot_partition, reason = "a few rows"))]
#[partition_key("names")]
#[row_key(without('_', name), "_", id)]
struct Named {
    name: String,
    #[digits(20)]
    id: u64,
}

/// An entity with an escaped string and a time.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Parts", allow(hot_partition, reason = "a few rows"))]
#[partition_key("mail")]
#[row_key(escaped(mail), "!", sent)]
struct Mail {
    mail: String,
    sent: DateTime<Utc>,
}

/// An entity with parts in descending order, which SQL reads in their encoded form.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Parts", allow(hot_partition, reason = "a few rows"))]
#[partition_key("days")]
#[row_key(desc(day), "_", inverted(9999, digits(4, place)))]
struct Day {
    day: NaiveDate,
    place: u32,
}

/// An entity that stores a number as text. Another entity type in the table stores a number of the same name as digits.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Parts", allow(hot_partition, reason = "a few rows"))]
#[partition_key("loose")]
#[row_key("x_", id)]
struct Loose {
    id: String,
}

const NUMBERS: [i32; 12] = [-999, -500, -51, -50, -6, -1, 0, 1, 6, 50, 51, 999];
const NAMES: [&str; 8] = ["", "B", "a", "ab", "abZ", "ab`", "abc", "b"];
const IDS: [u64; 5] = [0, 6, 50, 100, u64::MAX];
const MAILS: [&str; 9] = ["", " ", "a", "a b", "a/b", "a\"w", "\"A", "ab", "é"];
const DAYS: [&str; 4] = ["2014-01-01", "2014-01-31", "2020-02-29", "2026-11-28"];

async fn store() -> DynTableStore {
    let engine = Engine::in_memory();
    let signed = engine.table::<Signed>().create_if_missing().await.unwrap();
    for number in NUMBERS {
        signed.insert(&Signed { number }).await.unwrap();
    }
    let named = engine.table::<Named>().create_if_missing().await.unwrap();
    for (name, id) in NAMES.iter().flat_map(|name| IDS.map(|id| ((*name).to_owned(), id))) {
        named.insert(&Named { name, id }).await.unwrap();
    }
    let mails = engine.table::<Mail>().create_if_missing().await.unwrap();
    let days = engine.table::<Day>().create_if_missing().await.unwrap();
    for (at, day) in DAYS.iter().enumerate() {
        for mail in MAILS {
            let sent = format!("{day}T12:00:00.1234567Z").parse().unwrap();
            mails.insert(&Mail { mail: mail.to_owned(), sent }).await.unwrap();
        }
        for place in [at as u32, 30, 4_000, 9_999] {
            days.insert(&Day { day: day.parse().unwrap(), place }).await.unwrap();
        }
    }
    let loose = engine.table::<Loose>().create_if_missing().await.unwrap();
    for id in ["", "050", "50", "6", "7 a"] {
        loose.insert(&Loose { id: id.to_owned() }).await.unwrap();
    }
    // No entity type would write these keys, although most of them match a schema.
    let plain = engine.untyped("Parts").unwrap();
    for (partition, row) in [
        ("mail", "\"A!0635244192001234567"),
        ("mail", "a\"!0635244192001234567"),
        ("mail", "a!9999999999999999999"),
        ("s0", "n_-999"),
        ("names", "other"),
        ("x", "y"),
    ] {
        plain.insert(&TableEntity::new(partition, row).unwrap()).await.unwrap();
    }
    DynTableStore::new(engine)
}

/// Returns a strategy for comparisons of the key parts of one entity type.
fn comparison(kind: usize) -> BoxedStrategy<String> {
    let operator = || prop::sample::select(vec!["=", "=", "<>", "<", "<=", ">", ">="]);
    let of = |column: &'static str, constants: Vec<String>| {
        (operator(), prop::sample::select(constants))
            .prop_map(move |(operator, constant)| format!("{column} {operator} {constant}"))
    };
    let text = |texts: &[&str]| texts.iter().map(|text| format!("'{text}'")).collect::<Vec<_>>();
    let like = |column: &'static str, prefixes: &[&'static str]| {
        prop::sample::select(prefixes.to_vec()).prop_map(move |prefix| format!("{column} LIKE '{prefix}%'"))
    };
    let ids = text(&["", "0", "050", "50", "6", "60", "7 a", "18446744073709551615", "00000000000000000050"]);
    match kind {
        0 => {
            let near = NUMBERS.iter().flat_map(|number| number - 1..=number + 1);
            prop_oneof![
                3 => of("\"number\"", near.map(|number| number.to_string()).collect()),
                1 => (-1_010..1_010, 0..600)
                    .prop_map(|(low, length)| format!("\"number\" BETWEEN {low} AND {}", low + length)),
                1 => of("\"number@bucket\"", text(&["", "0", "2", "3", "9"])),
            ]
            .boxed()
        }
        1 => {
            let names: Vec<&str> = NAMES.into_iter().chain(["aB", "c", "a_"]).collect();
            prop_oneof![3 => of("\"name\"", text(&names)), 2 => of("\"id\"", ids), 1 => like("\"name\"", &["a", "ab"])].boxed()
        }
        2 => {
            let mails: Vec<&str> = MAILS.into_iter().chain(["a\"", "a!", "z"]).collect();
            let times = DAYS.iter().map(|day| format!("TIMESTAMP '{day} 12:00:00.1234567'")).collect();
            prop_oneof![3 => of("\"mail\"", text(&mails)), 2 => of("\"sent\"", times), 1 => like("\"mail\"", &["a", "é"])].boxed()
        }
        3 => prop_oneof![
            2 => of("\"day\"", text(&["", "7", "79859898", "79859868", "79799770", "8"])),
            2 => of("\"place\"", text(&["", "0", "5999", "9969", "9998", "9999"])),
        ]
        .boxed(),
        _ => prop_oneof![
            3 => of("\"id\"", ids),
            1 => like("\"id\"", &["5", "0"]),
            1 => of("PartitionKey", text(&["days", "loose", "mail", "names", "s0", "s1", "s2", "s3"])),
        ]
        .boxed(),
    }
}

fn condition() -> impl Strategy<Value = String> {
    let all = || {
        let of_kind = |kind| prop::collection::vec(comparison(kind), 1..4);
        (0..5_usize).prop_flat_map(of_kind).prop_map(|all| format!("({})", all.join(" AND ")))
    };
    prop_oneof![
        4 => all(),
        1 => prop::collection::vec(all(), 2..4).prop_map(|any| any.join(" OR ")),
        1 => prop::collection::vec(all(), 2..4).prop_map(|any| any.join(" AND ")),
    ]
}

#[test]
fn a_condition_on_parts_omits_no_row() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let session = runtime.block_on(async { common::with_plain(&store().await, "Parts").await });
    let selected = std::cell::Cell::new(0);
    let outcome = TestRunner::new(Config::with_cases(400)).run(&condition(), |condition| {
        let (store, plain, limited) = runtime.block_on(async {
            let limited = format!("SELECT RowKey FROM Parts WHERE {condition} LIMIT 3");
            let plain = answer(&session, PLAIN, &condition).await;
            (answer(&session, "Parts", &condition).await, plain, texts(&session, &limited).await)
        });
        selected.set(selected.get() + usize::from(!store.is_empty()));
        prop_assert_eq!(&store, &plain, "{}", condition);
        prop_assert_eq!(limited.len(), plain.len().min(3), "{}", condition);
        Ok(())
    });
    outcome.unwrap();
    assert!(selected.get() > 100, "{} conditions selected a row", selected.get());
}

#[tokio::test]
async fn numbers_with_a_sign_are_integers_in_their_order() {
    let session = session(&store().await, &SqlOptions::default()).await.unwrap();
    let statement = "SELECT concat(\"number\", '') FROM Parts WHERE \"number\" > -2000 ORDER BY \"number\"";
    assert_eq!(texts(&session, statement).await, NUMBERS.map(|number| number.to_string()));
    for partition in ["s0", "s1", "s2", "s3"] {
        let of_partition = format!("FROM Parts WHERE PartitionKey = '{partition}' AND \"number\" > -2000");
        let numbers =
            texts(&session, &format!("SELECT concat(\"number\", '') {of_partition} ORDER BY \"number\""))
                .await;
        let numbers: Vec<i32> = numbers.iter().map(|number| number.parse().unwrap()).collect();
        assert!(!numbers.is_empty() && numbers.is_sorted(), "{numbers:?}");
        let bucket = texts(&session, &format!("SELECT \"number@bucket\" {of_partition}")).await;
        assert!(bucket.iter().all(|bucket| format!("s{bucket}") == partition), "{bucket:?}");
    }
}

#[tokio::test]
async fn a_limit_of_a_scan_with_conditions_limits_no_row_that_satisfies_them() {
    let table = StoreTable::open(&store().await, &TableName::new("Parts").unwrap(), &SqlOptions::default())
        .await
        .unwrap();
    let session = SessionContext::new();
    let rows = async |conditions: &[Expr], limit| {
        let plan = table.scan(&session.state(), None, conditions, limit).await.unwrap();
        let batches = collect(plan, session.task_ctx()).await.unwrap();
        batches.iter().map(|batch| batch.num_rows()).sum::<usize>()
    };
    for number in NUMBERS {
        // The scan ignores the limit, because of the condition. A scan limited to one row could return only the row that the condition excludes.
        let conditions = [ident("number").not_eq(lit(i64::from(number)))];
        assert_eq!(rows(&conditions, Some(1)).await, NUMBERS.len());
    }
    assert_eq!(rows(&[], Some(1)).await, 1);
}

/// An entity whose row key can be any string.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Overlap", allow(hot_partition, reason = "a few rows"))]
#[partition_key("p")]
#[row_key(title)]
struct Anything {
    title: String,
}

/// An entity with a number. Its row key is also a valid key of [`Anything`].
#[derive(Clone, Debug, Entity)]
#[entity(table = "Overlap", allow(hot_partition, reason = "a few rows"))]
#[partition_key("p")]
#[row_key("n_", number)]
struct Numbered {
    #[digits(3)]
    number: u32,
}

#[tokio::test]
async fn a_row_that_fits_several_schemas_has_the_parts_of_the_one_with_most_literal_characters() {
    let engine = Engine::in_memory();
    engine.table::<Anything>().create_if_missing().await.unwrap();
    let numbers = engine.table::<Numbered>().create_if_missing().await.unwrap();
    numbers.insert(&Numbered { number: 5 }).await.unwrap();
    let session = session(&DynTableStore::new(engine), &SqlOptions::default()).await.unwrap();
    for (condition, count) in [
        ("\"number\" = 5", 1),
        ("\"number\" + 0 = 5", 1),
        ("title = 'n_005'", 0),
        ("concat(title, '') = 'n_005'", 0),
        ("\"number\" = 5 AND title IS NULL", 1),
    ] {
        assert_eq!(answer(&session, "Overlap", condition).await.len(), count, "{condition}");
    }
}

/// An entity of the kind `Cat`.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Kinds", kind = "Cat", allow(hot_partition, reason = "a few rows"))]
#[partition_key("p")]
#[row_key("id_", cat)]
struct Cat {
    #[digits(3)]
    cat: u32,
}

/// An entity of the kind `Dog`, whose keys have the same form as those of [`Cat`].
#[derive(Clone, Debug, Entity)]
#[entity(table = "Kinds", kind = "Dog", allow(hot_partition, reason = "a few rows"))]
#[partition_key("p")]
#[row_key("id_", dog)]
struct Dog {
    #[digits(3)]
    dog: u32,
}

#[tokio::test]
async fn the_kind_of_a_row_determines_its_parts() {
    let engine = Engine::in_memory();
    let cats = engine.table::<Cat>().create_if_missing().await.unwrap();
    let dogs = engine.table::<Dog>().create_if_missing().await.unwrap();
    cats.insert(&Cat { cat: 1 }).await.unwrap();
    dogs.insert(&Dog { dog: 2 }).await.unwrap();
    let session = session(&DynTableStore::new(engine), &SqlOptions::default()).await.unwrap();
    for column in ["cat", "dog"] {
        let statement = format!("SELECT concat(\"{column}\", '') FROM Kinds ORDER BY RowKey");
        let values = texts(&session, &statement).await;
        assert_eq!(values, if column == "cat" { ["1", ""] } else { ["", "2"] });
    }
    for (condition, count) in [("cat = 1", 1), ("cat = 2", 0), ("dog = 2", 1), ("dog = 1", 0)] {
        assert_eq!(answer(&session, "Kinds", condition).await.len(), count, "{condition}");
    }
}

/// Tests that column types do not depend on the order of the schemas.
#[tokio::test]
async fn a_part_that_two_kinds_encode_differently_is_a_string() {
    let table = StoreTable::open(&store().await, &TableName::new("Parts").unwrap(), &SqlOptions::default())
        .await
        .unwrap();
    let schema = table.schema();
    let of = |name: &str| schema.field_with_name(name).unwrap().data_type().clone();
    assert_eq!(
        (of("id"), of("number"), of("number@bucket")),
        (DataType::Utf8, DataType::Int64, DataType::Utf8)
    );
}

/// An entity with a number too long for an integer column.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Long")]
#[partition_key(team)]
#[row_key("id_", id)]
struct Long {
    team: String,
    #[digits(20)]
    id: u64,
}

#[tokio::test]
async fn a_range_of_numbers_that_sql_reads_as_strings_omits_no_row() {
    let engine = Engine::in_memory();
    let table = engine.table::<Long>().create_if_missing().await.unwrap();
    for id in [6, 50, 100] {
        table.insert(&Long { team: "a".into(), id }).await.unwrap();
    }
    let session = session(&DynTableStore::new(engine), &SqlOptions::default()).await.unwrap();
    for (operator, count) in [(">=", 2), (">", 1), ("<", 1), ("<=", 2), ("=", 1)] {
        let pushed = answer(&session, "Long", &format!("team = 'a' AND id {operator} '50'")).await;
        let plain = answer(&session, "Long", &format!("concat(id, '') {operator} '50'")).await;
        assert_eq!((&pushed, pushed.len()), (&plain, count), "{operator}");
    }
}
