//! Random programs that run on two stores and should give equal results. They use few keys, so several operations often affect the same entity.
//!
//! Programs do not contain the following. Azurite is known to differ from the service in these cases:
//! - AZ-4: the sign of zero, including `-0.0`.
//! - AZ-7, AZ-9: keys, names and values at or above their limits.
//! - AZ-13: a `$top` of 0, or of more than 1,000.
//! - AZ-14: `not not`, constants with an exponent, and comparisons with a constant whose type differs from that of the property. Each name is therefore used
//!   with only one type. Also comparisons with a time finer than a millisecond.
//! - AZ-5: filters on Timestamp, which differs between any two stores.
//! - EGT-6, not among the AZ rules: in a batch, a write without properties (500), and a write to the empty RowKey (`PropertiesNeedValue`).
//! - TBL-2, not among the AZ rules: table names in a different case than at the creation of the table.

use chrono::DateTime;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use table_core::filter::{Comparison, Filter};
use table_core::query::Select;
use table_core::{Query, Value};
use uuid::Uuid;

use crate::random::{Properties, Write, parts};

const PARTITIONS: [&str; 4] = ["a", "b", "O'Neil & co", "\u{1F600}"];
const ROWS: [&str; 8] = ["", "'", "1", "10", "2", "a b+c%", "\u{1F600}", "\u{FF21}"];
/// The property names. Each name is always used with the same type.
const NAMES: [&str; 8] = ["Bin", "Bool", "Dbl", "Guid", "I32", "I64", "Text", "Time"];

/// A partition, and the writes of a transaction to its rows.
pub type Writes = (&'static str, Vec<(&'static str, Write)>);

/// One step of a program. A program uses only one table.
#[derive(Clone, Debug)]
pub enum Step {
    /// Submit a transaction.
    Submit(Writes),
    /// Read one entity.
    Get(&'static str, &'static str, Select),
    /// Read all pages of a query.
    Query(Query),
    /// Read the first page of a query, submit a transaction, and read the remaining pages.
    QueryAcross(Query, Writes),
    /// Delete the table, and create it again.
    Recreate,
}

/// Generates a partition key. It is usually the same key, so operations conflict.
fn partition() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just("a"), 1 => select(PARTITIONS.to_vec())]
}

fn row() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => select(vec!["1", "10", "2"]), 1 => select(ROWS.to_vec())]
}

fn value(name: &'static str) -> BoxedStrategy<Value> {
    match name {
        "Bin" => vec(0_u8..3, 0..3).prop_map(Value::Binary).boxed(),
        "Bool" => any::<bool>().prop_map(Value::Boolean).boxed(),
        "Dbl" => select(vec![0.0, 0.5, -2.25, 5.0]).prop_map(Value::Double).boxed(),
        "Guid" => (0_u128..3).prop_map(|number| Value::Guid(Uuid::from_u128(number << 64))).boxed(),
        "I32" => prop_oneof![-3..7, Just(i32::MIN), Just(i32::MAX)].prop_map(Value::Int32).boxed(),
        "I64" => prop_oneof![-3_i64..7, Just(i64::MIN), Just(i64::MAX)].prop_map(Value::Int64).boxed(),
        "Time" => (0_i64..4)
            .prop_filter_map("in the calendar", |day| {
                DateTime::from_timestamp(1_600_000_000 + day * 86_400, 500_000_000).map(Value::DateTime)
            })
            .boxed(),
        _ => select(vec!["", "a", "b", "B", "é", "'", "\u{1F600}", "{\"<&>\"}\r\n"])
            .prop_map(Value::from)
            .boxed(),
    }
}

fn property() -> impl Strategy<Value = (&'static str, Value)> {
    select(NAMES.to_vec()).prop_flat_map(|name| (Just(name), value(name)))
}

fn properties() -> impl Strategy<Value = Properties> {
    let not_in_filters =
        select(vec![f64::NAN, f64::INFINITY, 1e300]).prop_map(|number| ("Dbl", Value::Double(number)));
    parts::properties(prop_oneof![20 => property(), 1 => not_in_filters], 0..5)
}

fn comparison() -> impl Strategy<Value = Filter> {
    let operator = select(Comparison::ALL.to_vec());
    let of_property = (property(), operator.clone()).prop_map(|((name, value), operator)| {
        // These types have no meaningful order. When Azurite compares them, it deviates from FIL-14.
        let unordered = matches!(value, Value::Binary(_) | Value::Guid(_) | Value::Boolean(_));
        let equality = matches!(operator, Comparison::Eq | Comparison::Ne);
        Filter::compare(name, if unordered && !equality { Comparison::Eq } else { operator }, value)
    });
    let of_key = |name, texts: &[&'static str]| {
        let text = select(texts.to_vec());
        (text, select(Comparison::ALL.to_vec()))
            .prop_map(move |(text, operator)| Filter::compare(name, operator, text))
    };
    prop_oneof![6 => of_property, 1 => of_key("PartitionKey", &PARTITIONS), 1 => of_key("RowKey", &ROWS)]
}

fn filter() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![2 => comparison(), 1 => comparison().prop_map(|filter| !filter)];
    parts::filter(leaf, (2, 6), 0)
}

fn selected() -> impl Strategy<Value = Select> {
    parts::selected(vec![vec!["I32"], vec!["Text", "Dbl"], vec!["Missing"]])
}

fn query() -> impl Strategy<Value = Query> {
    parts::query((&PARTITIONS, &ROWS), filter(), selected())
}

fn write() -> impl Strategy<Value = Write> {
    parts::write(properties, || parts::condition([3, 3], 1..3))
}

/// Generates writes to distinct rows, because a transaction cannot contain two writes to the same row.
fn writes() -> impl Strategy<Value = Writes> {
    let rows = vec((row(), write()), 1..5).prop_map(|mut rows| {
        rows.sort_by_key(|(row, _)| *row);
        rows.dedup_by_key(|(row, _)| *row);
        if rows.len() > 1 {
            rows.retain(|(row, _)| !row.is_empty());
            for (_, write) in &mut rows {
                fill(write);
            }
        }
        rows
    });
    (partition(), rows)
}

/// Adds a property to a write without properties.
fn fill(write: &mut Write) {
    match write {
        Write::Insert(properties)
        | Write::Replace(properties, _)
        | Write::Merge(properties, _)
        | Write::InsertOrReplace(properties)
        | Write::InsertOrMerge(properties)
            if properties.is_empty() =>
        {
            properties.push(("I32", Value::Int32(1)));
        }
        _ => {}
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => writes().prop_map(Step::Submit),
        8 => (partition(), row(), selected()).prop_map(|(p, r, s)| Step::Get(p, r, s)),
        20 => query().prop_map(Step::Query),
        6 => (query(), writes()).prop_map(|(query, writes)| Step::QueryAcross(query, writes)),
        1 => Just(Step::Recreate),
    ]
}

/// Returns the program with the given number. The same number always yields the same program.
///
/// # Panics
/// Panics if the strategy gives up, which is not expected to happen.
#[must_use]
pub fn program(number: u64, steps: usize) -> Vec<Step> {
    let mut seed = [0_u8; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let tree = vec(step(), 1..=steps).new_tree(&mut TestRunner::new_with_rng(Config::default(), rng));
    tree.unwrap_or_else(|reason| panic!("{reason}")).current()
}
