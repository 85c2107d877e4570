//! Proptest strategies shared by all kinds of random programs. Each kind supplies its own names, values and keys.

use std::ops::{Bound, Range};

use proptest::collection::{SizeRange, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use table_core::filter::Filter;
use table_core::query::{KeyRange, Select, TextRange};
use table_core::{Query, Value};

use crate::random::{Condition, Properties, Write};

/// Generates lists of properties without duplicate names.
pub fn properties(
    property: impl Strategy<Value = (&'static str, Value)>,
    size: impl Into<SizeRange>,
) -> impl Strategy<Value = Properties> {
    vec(property, size).prop_map(|mut properties| {
        properties.sort_by_key(|(name, _)| *name);
        properties.dedup_by_key(|(name, _)| *name);
        properties
    })
}

/// Generates writes with properties and conditions from the given strategies.
pub fn write<P: Strategy<Value = Properties>, C: Strategy<Value = Condition>>(
    properties: impl Fn() -> P,
    condition: impl Fn() -> C,
) -> impl Strategy<Value = Write> {
    prop_oneof![
        3 => properties().prop_map(Write::Insert),
        2 => (properties(), condition()).prop_map(|(properties, condition)| Write::Replace(properties, condition)),
        2 => (properties(), condition()).prop_map(|(properties, condition)| Write::Merge(properties, condition)),
        4 => properties().prop_map(Write::InsertOrReplace),
        3 => properties().prop_map(Write::InsertOrMerge),
        2 => condition().prop_map(Write::Delete),
    ]
}

/// Generates conditions: any version, the last version, or sometimes an earlier version. The weights are for the first two. An earlier version is the one
/// before a number of writes in `before`.
pub fn condition([any, last]: [u32; 2], before: Range<usize>) -> impl Strategy<Value = Condition> {
    prop_oneof![
        any => Just(Condition::Any),
        last => Just(Condition::Version(0)),
        1 => before.prop_map(Condition::Version),
    ]
}

/// Generates filters. A filter has comparisons joined by `and` and `or`, up to `depth` levels deep, with about `size` terms in total. If `not` is 1, some terms
/// are negated.
pub fn filter(
    leaf: impl Strategy<Value = Filter> + 'static,
    (depth, size): (u32, u32),
    not: u32,
) -> impl Strategy<Value = Filter> {
    leaf.prop_recursive(depth, size, 2, move |inner| {
        prop_oneof![
            1 => (inner.clone(), inner.clone()).prop_map(|(left, right)| left.and(right)),
            1 => (inner.clone(), inner.clone()).prop_map(|(left, right)| left.or(right)),
            not => inner.prop_map(|filter| !filter),
        ]
    })
}

/// Generates ranges with bounds from the strings in `pool`.
fn texts(pool: &'static [&'static str]) -> impl Strategy<Value = TextRange> {
    let bound = move || {
        (select(pool), 0..3).prop_map(|(text, kind)| match kind {
            0 => Bound::Included(text.to_owned()),
            1 => Bound::Excluded(text.to_owned()),
            _ => Bound::Unbounded,
        })
    };
    prop_oneof![
        2 => Just(TextRange::ALL),
        2 => select(pool).prop_map(TextRange::exactly),
        1 => select(pool).prop_map(TextRange::prefix),
        2 => (bound(), bound()).prop_map(|(lower, upper)| TextRange { lower, upper }),
    ]
}

/// Generates selections of all properties, or of one of the given lists of names.
pub fn selected(names: Vec<Vec<&'static str>>) -> impl Strategy<Value = Select> {
    prop_oneof![3 => Just(Select::All), 1 => select(names).prop_map(Select::names)]
}

/// Generates queries over ranges of the given partition keys and row keys.
pub fn query(
    (partitions, rows): (&'static [&'static str], &'static [&'static str]),
    filter: impl Strategy<Value = Filter>,
    selected: impl Strategy<Value = Select>,
) -> impl Strategy<Value = Query> {
    let keys = (texts(partitions), texts(rows));
    (keys, option::of(filter), selected, option::of(1_usize..5)).prop_map(
        |((partition_key, row_key), filter, select, top)| Query {
            keys: KeyRange { partition_key, row_key },
            filter,
            select,
            top,
        },
    )
}
