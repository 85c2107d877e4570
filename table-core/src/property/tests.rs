//! Tests that reading into an existing value gives the same result as reading a new value from the row.

use std::fmt::Debug;

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ticks;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "\\PC{0,12}".prop_map(Value::String),
        prop_oneof![-200..300, any::<i32>()].prop_map(Value::Int32),
        prop_oneof![-200..300_i64, any::<i64>()].prop_map(Value::Int64),
        prop_oneof![any::<f64>(), Just(0.5)].prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        (ticks::EDM_MIN..=ticks::MAX)
            .prop_map(|count| Value::DateTime(ticks::to_datetime(count).unwrap_or_default())),
        any::<u128>().prop_map(|number| Value::Guid(Uuid::from_u128(number))),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Binary),
    ]
}

/// Reads each row into the value read from the previous row, and compares the result with a new read. The comparison uses the `Debug` output, in which all NaNs
/// are equal.
fn compare<T: Property + Debug>(rows: &[Vec<(&str, Value)>]) -> Result<(), TestCaseError> {
    let mut place: Option<T> = None;
    for properties in rows {
        let mut row = RowWriter::new();
        for (name, value) in properties {
            row.property(name, value.as_ref());
        }
        let row = row.finish();
        let fresh = read::<T>(row.view(), "P", &mut 0);
        let Some(last) = &mut place else {
            place = fresh.ok();
            continue;
        };
        let mut search = Search::new(row.view());
        if last.read_again(&mut search, "P") {
            prop_assert_eq!(format!("{last:?}"), format!("{:?}", fresh.unwrap()));
        } else {
            prop_assert_eq!(
                format!("{:?}", search.take_error().unwrap()),
                format!("{:?}", fresh.unwrap_err())
            );
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn reading_over_another_value_equals_a_fresh_read(
        rows in prop::collection::vec(
            prop::collection::vec((prop::sample::select(vec!["O", "P"]), value()), 0..3),
            0..12,
        ),
        kind in value(),
    ) {
        // Most values have the same type, because in practice, a value is read into a variable that already contains a value of that type.
        let alike = |mut properties: Vec<(&'static str, Value)>| {
            properties.dedup_by_key(|(name, _)| *name);
            properties.retain(|(_, value)| value.edm_type() == kind.edm_type() || matches!(value, Value::Int32(7..)));
            properties
        };
        let alike: Vec<_> = rows.iter().cloned().map(alike).collect();
        for rows in [rows, alike] {
            compare::<String>(&rows)?;
            compare::<bool>(&rows)?;
            compare::<i8>(&rows)?;
            compare::<i16>(&rows)?;
            compare::<i32>(&rows)?;
            compare::<i64>(&rows)?;
            compare::<u8>(&rows)?;
            compare::<u16>(&rows)?;
            compare::<u32>(&rows)?;
            compare::<f32>(&rows)?;
            compare::<f64>(&rows)?;
            compare::<Uuid>(&rows)?;
            compare::<Vec<u8>>(&rows)?;
            compare::<DateTime<Utc>>(&rows)?;
            compare::<Option<String>>(&rows)?;
            compare::<Option<Vec<u8>>>(&rows)?;
            compare::<Option<i64>>(&rows)?;
        }
    }
}

#[test]
fn a_shorter_value_reuses_the_allocation() {
    let mut row = RowWriter::new();
    Property::write_to(&"Ada".to_owned(), "Name", &mut row).unwrap();
    Property::write_to(&vec![1_u8], "Data", &mut row).unwrap();
    let row = row.finish();
    let mut search = Search::new(row.view());
    let (mut name, mut data) = (Some("x".repeat(40)), vec![0; 40]);
    let places = (name.as_ref().unwrap().as_ptr(), data.as_ptr());
    assert!(name.read_again(&mut search, "Name") && data.read_again(&mut search, "Data"));
    assert_eq!((name.as_deref(), data.as_slice()), (Some("Ada"), [1].as_slice()));
    assert_eq!((name.as_ref().unwrap().as_ptr(), data.as_ptr()), places);
}

#[test]
fn az_4_a_double_that_lost_its_fraction_is_read() {
    let mut row = RowWriter::new();
    row.property("Bonus", ValueRef::Int32(3));
    let bonus = read::<f64>(row.finish().view(), "Bonus", &mut 0).unwrap();
    assert_eq!(bonus.to_string(), "3");
}
