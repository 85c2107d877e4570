//! Tests of the matcher. They use the truth table in the rules, and compare the matcher with a simple reference implementation.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::{Matcher, Operand};
use crate::filter::arbitrary::{self, Sample};
use crate::filter::{Comparison, Filter, Term};
use crate::query::EntityRef;
use crate::row::RowWriter;
use crate::value::{EdmType, Value, ValueRef};

fn matches(sample: &Sample, filter: &Filter) -> bool {
    let row = sample.row();
    Matcher::new(filter).matches(EntityRef::new(&sample.partition_key, &sample.row_key, row.view())).unwrap()
}

fn entity(property: Option<Value>) -> Sample {
    Sample {
        partition_key: "Sales".to_owned(),
        row_key: "000223".to_owned(),
        timestamp: "2026-11-20T08:00:00.0000001Z".parse().unwrap(),
        properties: property.into_iter().map(|value| ("P", value)).collect(),
    }
}

fn assert_all(property: Option<&Value>, expected: bool, filters: &[&str]) {
    for text in filters {
        let filter = Filter::parse(text).unwrap().unwrap();
        assert_eq!(matches(&entity(property.cloned()), &filter), expected, "{property:?}: {text}");
    }
}

#[test]
fn fil_10_to_16_truth_table() {
    let text = |text: &str| Value::String(text.to_owned());
    let instant = Value::DateTime("2014-08-22T00:50:32Z".parse().unwrap());
    assert_all(None, false, &["P eq 1", "P ne 1", "P lt 1", "P ge 1", "P", "P ne ''"]);
    assert_all(None, true, &["not (P eq 1)", "not P", "not (P ne '')"]);
    let five = Value::Int32(5);
    assert_all(Some(&five), true, &["P eq 5", "P ge 5", "5 eq P", "P lt 6", "P ne 6"]);
    assert_all(Some(&five), false, &["P eq 5L", "P eq 5D", "P ge 5L", "P gt 4L"]);
    assert_all(Some(&five), true, &["P ne 5L", "P lt 4L", "P le 4L"]);
    let five = Value::Int64(5);
    assert_all(Some(&five), true, &["P eq 5", "P eq 5L", "P gt 4"]);
    assert_all(Some(&five), false, &["P eq 5D", "P gt 4D"]);
    assert_all(Some(&Value::Double(5.0)), true, &["P eq 5", "P eq 5L", "P eq 5.0", "P lt 5.5"]);
    assert_all(Some(&text("34")), false, &["P gt 30", "P eq 34", "P ge 34"]);
    assert_all(Some(&text("34")), true, &["P lt 30", "P le 30", "P ne 34"]);
    assert_all(Some(&text("B")), true, &["P lt 'b'", "P lt 'bB'", "P gt 'A'"]);
    assert_all(Some(&text("b")), false, &["P eq 'B'"]);
    assert_all(Some(&Value::Boolean(true)), true, &["P", "P eq true", "P gt false"]);
    assert_all(Some(&Value::Boolean(false)), false, &["P"]);
    assert_all(Some(&text("true")), false, &["P", "P eq true"]);
    assert_all(Some(&Value::Binary(vec![1, 2])), true, &["P gt X'01'", "P lt X'0103'", "P eq binary'0102'"]);
    assert_all(Some(&instant), false, &["P eq 'text'"]);
    assert_all(Some(&instant), true, &["P ne 'text'"]);
}

#[test]
fn fil_12_absence_idioms() {
    let absent = "not (P ne '') and not (P eq '')";
    assert_all(None, true, &[absent, "not (P ne '')", "not (P ge '')"]);
    assert_all(Some(&Value::String(String::new())), true, &["not (P ne '')"]);
    for present in
        [Value::String(String::new()), Value::String("x".to_owned()), Value::Int32(0), Value::Boolean(false)]
    {
        assert_all(Some(&present), false, &[absent]);
    }
    assert_all(Some(&Value::Int32(0)), true, &["not (P ge '')"]);
}

#[test]
fn fil_16_mismatch_holds_for_every_pair_of_types() {
    let one_of_each = [
        ("'5'", Value::String("5".to_owned())),
        ("5", Value::Int32(5)),
        ("5L", Value::Int64(5)),
        ("5.0", Value::Double(5.0)),
        ("true", Value::Boolean(true)),
        ("datetime'2014-08-22T00:50:32Z'", Value::DateTime("2014-08-22T00:50:32Z".parse().unwrap())),
        ("guid'00000000-0000-0000-0000-000000000005'", Value::Guid(uuid::Uuid::from_u128(5))),
        ("X'05'", Value::Binary(vec![5])),
    ];
    for (literal, constant) in &one_of_each {
        for (_, stored) in &one_of_each {
            let widened = matches!(
                (constant.edm_type(), stored.edm_type()),
                (EdmType::Int32, EdmType::Int64 | EdmType::Double) | (EdmType::Int64, EdmType::Double)
            );
            let alike = widened || constant.edm_type() == stored.edm_type();
            for operator in Comparison::ALL {
                use Comparison::{Eq, Ge, Le, Lt, Ne};
                // The values are equal if their types match. Otherwise, FIL-16 applies.
                let expected =
                    if alike { matches!(operator, Eq | Ge | Le) } else { matches!(operator, Ne | Lt | Le) };
                assert_all(Some(stored), expected, &[&format!("P {} {literal}", operator.as_str())]);
            }
        }
    }
}

#[test]
fn fil_17_nan_is_unequal_and_unordered() {
    let nan = Value::Double(f64::NAN);
    assert_all(Some(&nan), true, &["P ne 1.0", "P ne 1", "not (P lt 1.0)"]);
    assert_all(Some(&nan), false, &["P eq 1.0", "P lt 1.0", "P le 1.0", "P gt 1", "P ge 1L"]);
    assert_all(Some(&Value::Double(f64::INFINITY)), true, &["P gt 1e308"]);
}

#[test]
fn fil_18_keys_are_strings_and_the_timestamp_is_an_instant() {
    assert_all(
        None,
        true,
        &["PartitionKey eq 'Sales'", "RowKey gt '0001' and RowKey lt '0003'", "RowKey lt 5"],
    );
    assert_all(None, false, &["PartitionKey eq 5", "RowKey gt 5", "PartitionKey", "Timestamp eq 'x'"]);
    assert_all(None, true, &["Timestamp gt datetime'2026-11-20T08:00:00Z'"]);
}

#[test]
fn fil_15_an_int64_constant_is_rounded_to_the_stored_double() {
    assert_all(Some(&Value::Double(9_007_199_254_740_992.0)), true, &["P eq 9007199254740993L"]);
}

#[test]
fn a_broken_row_is_an_error_and_never_a_match() {
    let row = entity(Some(Value::Int32(5))).row();
    let bytes = row.as_bytes();
    let mut matcher = Matcher::new(&Filter::compare("P", Comparison::Eq, 5));
    for length in 12..bytes.len() {
        let view = crate::row::RowView::new(bytes.get(..length).unwrap());
        assert!(matcher.matches(EntityRef::new("", "", view)).is_err(), "{length}");
    }
}

#[test]
fn a_filter_of_a_million_terms_is_evaluated_without_recursion() {
    let mut deep = Filter::compare("P", Comparison::Eq, 5);
    for _ in 0..200_000 {
        deep = !(deep.and(Filter::compare("P", Comparison::Ne, 6)));
    }
    assert!(matches(&entity(Some(Value::Int32(5))), &deep));
    assert_eq!(Filter::parse(&deep.to_string()).unwrap().as_ref(), Some(&deep));
}

#[test]
fn the_position_of_a_property_is_remembered() {
    let mut writer = RowWriter::new();
    for name in ["A", "B", "P", "C"] {
        writer.property(name, ValueRef::Int32(5));
    }
    let row = writer.finish();
    let mut matcher = Matcher::new(&Filter::compare("P", Comparison::Eq, 5));
    for _ in 0..2 {
        assert!(matcher.matches(EntityRef::new("", "", row.view())).unwrap());
        assert!(matches!(
            matcher.tests.first().unwrap().operand,
            Operand::Property { found: Some((2, _)), turn: 2, .. }
        ));
    }
}

/// The reference implementation, which applies the rules one by one to decoded values.
fn reference(sample: &Sample, terms: &[Term]) -> bool {
    let mut stack: Vec<bool> = Vec::new();
    for term in terms {
        let result = match term {
            Term::Compare { name, operator, value } => {
                sample.get(name).is_some_and(|stored| compare(&stored, *operator, value))
            }
            Term::Bool(name) => sample.get(name) == Some(Value::Boolean(true)),
            Term::Not => !stack.pop().unwrap(),
            Term::And => {
                let (right, left) = (stack.pop().unwrap(), stack.pop().unwrap());
                left && right
            }
            Term::Or => {
                let (right, left) = (stack.pop().unwrap(), stack.pop().unwrap());
                left || right
            }
        };
        stack.push(result);
    }
    assert_eq!(stack.len(), 1);
    stack.pop().unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "FIL-15 widens the constant")]
fn compare(stored: &Value, operator: Comparison, constant: &Value) -> bool {
    let widened = match (stored, constant) {
        (Value::Int64(_), Value::Int32(number)) => Value::Int64(i64::from(*number)),
        (Value::Double(_), Value::Int32(number)) => Value::Double(f64::from(*number)),
        (Value::Double(_), Value::Int64(number)) => Value::Double(*number as f64),
        _ => constant.clone(),
    };
    let ordering: Option<Ordering> = match (stored, &widened) {
        (Value::String(l), Value::String(r)) => Some(l.encode_utf16().cmp(r.encode_utf16())),
        (Value::Int32(l), Value::Int32(r)) => Some(l.cmp(r)),
        (Value::Int64(l), Value::Int64(r)) => Some(l.cmp(r)),
        (Value::Double(l), Value::Double(r)) => l.partial_cmp(r),
        (Value::Boolean(l), Value::Boolean(r)) => Some(l.cmp(r)),
        (Value::DateTime(l), Value::DateTime(r)) => Some(l.cmp(r)),
        (Value::Guid(l), Value::Guid(r)) => Some(l.to_string().cmp(&r.to_string())),
        (Value::Binary(l), Value::Binary(r)) => Some(l.cmp(r)),
        _ => return matches!(operator, Comparison::Ne | Comparison::Lt | Comparison::Le),
    };
    match (operator, ordering) {
        (Comparison::Ne, None) => true,
        (_, None) => false,
        (Comparison::Eq, Some(ordering)) => ordering.is_eq(),
        (Comparison::Ne, Some(ordering)) => ordering.is_ne(),
        (Comparison::Gt, Some(ordering)) => ordering.is_gt(),
        (Comparison::Ge, Some(ordering)) => ordering.is_ge(),
        (Comparison::Lt, Some(ordering)) => ordering.is_lt(),
        (Comparison::Le, Some(ordering)) => ordering.is_le(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Tests one matcher on many rows with different shapes. Cached property indexes must never change a result.
    #[test]
    fn eng_4_matcher_agrees_with_the_reference(
        filter in arbitrary::filter(),
        samples in prop::collection::vec(arbitrary::sample(), 1..8),
    ) {
        let mut matcher = Matcher::new(&filter);
        for sample in &samples {
            let row = sample.row();
            let entity = EntityRef::new(&sample.partition_key, &sample.row_key, row.view());
            prop_assert_eq!(matcher.matches(entity).unwrap(), reference(sample, filter.terms()), "{}", filter);
        }
    }
}
