//! Generates random programs for the model test, which runs them on a store. A program is plain data, so proptest can shrink it.

pub mod parts;

use chrono::{DateTime, Utc};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use table_core::filter::{Comparison, Filter};
use table_core::query::Select;
use table_core::{Query, Value};
use uuid::Uuid;

/// The names of the tables. Programs use few tables, partitions and rows, so their operations conflict. Some keys are strings that certain stores sort
/// differently from the service.
pub const TABLES: [&str; 3] = ["Alpha", "Beta", "alphabet"];
/// The `PartitionKey`s used by programs.
pub const PARTITIONS: [&str; 6] = ["", "a", "ab", "b", "\u{1F600}", "\u{FF21}"];
/// The `RowKey`s used by programs.
pub const ROWS: [&str; 9] = ["", "'", "1", "10", "2", "a", "\u{D7FF}", "\u{1F600}", "\u{E000}"];
const NAMES: [&str; 4] = ["A", "B", "a", "Flag"];

/// The version required by a write.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// Any version.
    Any,
    /// The version that the key had before the given number of its last writes, including deletes. If it has had fewer writes, a version that never existed.
    Version(usize),
}

/// A write to one row.
#[derive(Clone, Debug)]
pub enum Write {
    /// Insert an entity.
    Insert(Properties),
    /// Replace an entity.
    Replace(Properties, Condition),
    /// Merge into an entity.
    Merge(Properties, Condition),
    /// Insert or replace an entity.
    InsertOrReplace(Properties),
    /// Insert an entity or merge into it.
    InsertOrMerge(Properties),
    /// Delete an entity.
    Delete(Condition),
    /// Check that the row does not exist (`None`), or that it has a version. Only the model test uses checks, and only if the store supports them.
    Check(Option<Condition>),
}

/// The names and values of properties. If a name occurs several times, only one of its values is written.
pub type Properties = Vec<(&'static str, Value)>;

/// One step of a program. Tables and cursors are identified by their numbers.
#[derive(Clone, Debug)]
pub enum Step {
    /// Create a table.
    Create(usize),
    /// Delete a table.
    Drop(usize),
    /// List the tables whose names have a prefix, in pages of the given size.
    List(&'static str, usize),
    /// Submit a transaction.
    Submit(usize, &'static str, Vec<(&'static str, Write)>),
    /// Read the selected properties of one entity.
    Get(usize, &'static str, &'static str, Select),
    /// Read the first page of a query, and keep its continuation as a cursor.
    Begin(usize, Query),
    /// Read the next page of a cursor, with a different page size.
    Continue(usize, usize),
    /// Read all pages of a query.
    Drain(usize, Query),
    /// Close and reopen the store if the backend supports this. `true` means an orderly shutdown.
    Reopen(bool),
}

fn instant() -> impl Strategy<Value = DateTime<Utc>> {
    (-11_000_000_000_i64..200_000_000_000)
        .prop_filter_map("in the calendar", |s| DateTime::from_timestamp(s, 700))
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        select(vec!["", "1", "5", "a", "b", "B", "é", "\u{1F600}", "\u{FF21}"]).prop_map(Value::from),
        prop_oneof![Just(5), Just(i32::MIN), -3..7].prop_map(Value::Int32),
        prop_oneof![Just(5), Just(i64::MAX), Just(i64::MIN), -3_i64..7].prop_map(Value::Int64),
        prop_oneof![Just(5.0), Just(-0.0), Just(0.5), -3.0..7.0].prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        instant().prop_map(Value::DateTime),
        (0_u128..3).prop_map(|number| Value::Guid(Uuid::from_u128(number))),
        vec(0_u8..3, 0..3).prop_map(Value::Binary),
    ]
}

fn properties() -> impl Strategy<Value = Properties> {
    let not_finite = select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]).prop_map(Value::Double);
    let stored = prop_oneof![12 => value(), 1 => not_finite];
    parts::properties((select(NAMES.to_vec()), stored), 0..4)
}

fn filter() -> impl Strategy<Value = Filter> {
    let name = select(NAMES.to_vec()).boxed();
    let key = select(vec!["PartitionKey", "RowKey", "Timestamp"]);
    let name = prop_oneof![5 => name.clone(), 1 => key];
    let leaf = prop_oneof![
        5 => (name, select(Comparison::ALL.to_vec()), value())
            .prop_map(|(name, operator, value)| Filter::compare(name, operator, value)),
        1 => select(NAMES.to_vec()).prop_map(Filter::flag),
    ];
    parts::filter(leaf, (3, 8), 1)
}

fn selected() -> impl Strategy<Value = Select> {
    parts::selected(vec![vec!["A"], vec!["B", "a"], vec!["Missing"]])
}

fn query() -> impl Strategy<Value = Query> {
    parts::query((&PARTITIONS, &ROWS), filter(), selected())
}

fn write() -> impl Strategy<Value = Write> {
    let check = || prop::option::of(parts::condition([2, 4], 1..4)).prop_map(Write::Check);
    prop_oneof![16 => parts::write(properties, || parts::condition([2, 4], 1..4)), 2 => check()]
}

fn step() -> impl Strategy<Value = Step> {
    // This is usually the first table, so that operations conflict.
    let table = || prop_oneof![6 => Just(0_usize), 1 => Just(1_usize), 1 => Just(2_usize)];
    let (partition, row) = (|| select(PARTITIONS.to_vec()), || select(ROWS.to_vec()));
    prop_oneof![
        2 => (0..TABLES.len()).prop_map(Step::Create),
        1 => (0..TABLES.len()).prop_map(Step::Drop),
        1 => (select(vec!["", "A", "alpha", "B", "x"]), 1_usize..4).prop_map(|(prefix, top)| Step::List(prefix, top)),
        16 => (table(), partition(), vec((row(), write()), 1..6)).prop_map(|(t, p, w)| Step::Submit(t, p, w)),
        4 => (table(), partition(), row(), selected()).prop_map(|(t, p, r, s)| Step::Get(t, p, r, s)),
        4 => (table(), query()).prop_map(|(table, query)| Step::Begin(table, query)),
        6 => (0_usize..4, 1_usize..6).prop_map(|(cursor, top)| Step::Continue(cursor, top)),
        4 => (table(), query()).prop_map(|(table, query)| Step::Drain(table, query)),
        2 => any::<bool>().prop_map(Step::Reopen),
    ]
}

/// Generates programs of at most `steps` steps. The first step of each program creates the first table.
pub fn program(steps: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..steps).prop_map(|mut steps| {
        steps.insert(0, Step::Create(0));
        steps
    })
}
