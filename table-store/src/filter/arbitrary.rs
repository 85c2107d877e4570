//! Strategies for random filters, values and entities in tests.

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use uuid::Uuid;

use crate::filter::{Comparison, Filter};
use crate::row::{Row, RowWriter};
use crate::ticks;
use crate::value::Value;

/// Property names, some of them unusual. The list is short, so a filter often uses a property that the entity has.
pub(crate) const NAMES: [&str; 6] = ["P", "Q", "straße_2", "_", "datetime", "X"];

pub(crate) fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::sample::select(vec!['a', 'b', '\'', ' ', '"', 'é', '\u{FF21}', '\u{1F600}', '\u{0}', '\n', '/']),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..4).prop_map(|characters| characters.into_iter().collect())
}

pub(crate) fn instant() -> impl Strategy<Value = DateTime<Utc>> {
    prop_oneof![ticks::EDM_MIN..=ticks::MAX, ticks::UNIX_EPOCH..ticks::UNIX_EPOCH + 3]
        .prop_map(|count| ticks::to_datetime(count).unwrap())
}

/// Generates constants for filters, of all eight types. Many of them are equal or close to each other.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let double = prop_oneof![
        prop::sample::select(vec![-1.0, -0.0, 0.0, 1.0, 2.5, 1e300, 5e-324, 9_007_199_254_740_992.0]),
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
    ];
    prop_oneof![
        text().prop_map(Value::String),
        prop_oneof![-2_i32..3, any::<i32>()].prop_map(Value::Int32),
        prop_oneof![-2_i64..3, any::<i64>(), Just(9_007_199_254_740_993)].prop_map(Value::Int64),
        double.prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        instant().prop_map(Value::DateTime),
        prop_oneof![0_u128..3, any::<u128>()].prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
        prop::collection::vec(prop_oneof![0_u8..3, any::<u8>()], 0..4).prop_map(Value::Binary),
    ]
}

/// Generates values that may be stored, including non-finite Doubles (ENG-19).
pub(crate) fn stored() -> impl Strategy<Value = Value> {
    let odd = prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    prop_oneof![9 => value(), 1 => odd.prop_map(Value::Double)]
}

pub(crate) fn operator() -> impl Strategy<Value = Comparison> {
    prop::sample::select(Comparison::ALL.to_vec())
}

/// Generates legal keys.
pub(crate) fn key() -> impl Strategy<Value = String> {
    let legal = vec!['a', 'b', '\'', ' ', '\u{FF21}', '\u{1F600}'];
    prop::collection::vec(prop::sample::select(legal), 0..=2)
        .prop_map(|characters| characters.into_iter().collect())
}

fn comparison() -> impl Strategy<Value = Filter> {
    let key_text =
        prop_oneof![3 => key().prop_map(Value::String), 1 => text().prop_map(Value::String), 1 => value()];
    let key_name = prop::sample::select(vec!["PartitionKey", "RowKey"]);
    let name = prop::sample::select(NAMES.to_vec());
    let timestamp = prop_oneof![instant().prop_map(Value::DateTime), value()];
    prop_oneof![
        4 => (name.clone(), operator(), value()).prop_map(|(name, operator, value)| Filter::compare(name, operator, value)),
        4 => (key_name, operator(), key_text).prop_map(|(name, operator, value)| Filter::compare(name, operator, value)),
        1 => (operator(), timestamp).prop_map(|(operator, value)| Filter::compare("Timestamp", operator, value)),
        1 => name.prop_map(Filter::flag),
    ]
}

/// Generates filters on the properties in [`NAMES`], the keys and the Timestamp. Many of them are conjunctions.
pub(crate) fn filter() -> impl Strategy<Value = Filter> {
    comparison().prop_recursive(5, 24, 2, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(left, right)| left.and(right)),
            1 => (inner.clone(), inner.clone()).prop_map(|(left, right)| left.or(right)),
            1 => inner.prop_map(|inner| !inner),
        ]
    })
}

/// A decoded entity for the reference implementation of filters.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) partition_key: String,
    pub(crate) row_key: String,
    pub(crate) timestamp: DateTime<Utc>,
    pub(crate) properties: Vec<(&'static str, Value)>,
}

impl Sample {
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        match name {
            "PartitionKey" => Some(Value::String(self.partition_key.clone())),
            "RowKey" => Some(Value::String(self.row_key.clone())),
            "Timestamp" => Some(Value::DateTime(self.timestamp)),
            name => self.properties.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone()),
        }
    }

    pub(crate) fn row(&self) -> Row {
        let mut writer = RowWriter::new();
        for (name, value) in &self.properties {
            writer.property(name, value.as_ref());
        }
        writer.finish().with_timestamp(ticks::from_datetime(self.timestamp).unwrap())
    }
}

pub(crate) fn sample() -> impl Strategy<Value = Sample> {
    let properties = prop::collection::vec(prop::option::weighted(0.7, stored()), NAMES.len());
    (key(), key(), instant(), properties, any::<bool>()).prop_map(
        |(partition_key, row_key, timestamp, values, reversed)| {
            let mut properties: Vec<_> =
                NAMES.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
            if reversed {
                properties.reverse();
            }
            Sample { partition_key, row_key, timestamp, properties }
        },
    )
}
