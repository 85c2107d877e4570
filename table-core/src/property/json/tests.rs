//! Tests of properties stored as JSON.
#![expect(clippy::option_option, reason = "JSON would lose such values, which writes therefore refuse")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::property::read;
use table_store::ErrorCode;

#[test]
fn ent_3_both_optional_forms_store_the_same() {
    for value in [Some(vec![1, 2]), None] {
        let (mut inside, mut outside) = (RowWriter::new(), RowWriter::new());
        Json(value.clone()).write_to("P", &mut inside).unwrap();
        value.clone().map(Json).write_to("P", &mut outside).unwrap();
        let (inside, outside) = (inside.finish(), outside.finish());
        assert_eq!(inside, outside);
        assert_eq!(read::<Json<Option<Vec<i32>>>>(inside.view(), "P", &mut 0).unwrap(), Json(value.clone()));
        assert_eq!(read::<Option<Json<Vec<i32>>>>(inside.view(), "P", &mut 0).unwrap(), value.map(Json));
    }
}

/// A struct whose fields can all contain `null` in their JSON.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Nested {
    number: f64,
    numbers: Vec<Option<f32>>,
    twice: Option<Option<i32>>,
    units: Vec<Option<()>>,
    values: BTreeMap<String, Option<serde_json::Value>>,
    tree: Option<Box<Tree>>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
enum Tree {
    Leaf,
    Number(f64),
    Pair(Option<i8>, Option<Option<i8>>),
    Named { number: Option<f64> },
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![8 => -9.0..9.0, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)]
}

fn tree() -> impl Strategy<Value = Tree> {
    prop_oneof![
        Just(Tree::Leaf),
        number().prop_map(Tree::Number),
        (prop::option::of(0_i8..9), prop::option::of(prop::option::of(0_i8..9)))
            .prop_map(|(one, twice)| Tree::Pair(one, twice)),
        prop::option::of(number()).prop_map(|number| Tree::Named { number }),
    ]
}

fn nested() -> impl Strategy<Value = Nested> {
    let value = prop_oneof![Just(serde_json::Value::Null), Just("null".into()), Just(1.into())];
    let small = number().prop_map(|number| if number.is_nan() { f32::NAN } else { 0.5 });
    (
        number(),
        prop::collection::vec(prop::option::of(small), 0..3),
        prop::option::of(prop::option::weighted(0.8, 0..9)),
        prop::collection::vec(prop::option::weighted(0.2, Just(())), 0..3),
        prop::collection::btree_map("[ab]", prop::option::of(value), 0..2),
        prop::option::of(tree().prop_map(Box::new)),
    )
        .prop_map(|(number, numbers, twice, units, values, tree)| Nested {
            number,
            numbers,
            twice,
            units,
            values,
            tree,
        })
}

proptest! {
    #[test]
    fn a_value_is_read_as_it_was_written_or_refused(value in nested()) {
        let mut row = RowWriter::new();
        match Json::write_ref(&value, "P", &mut row) {
            Ok(()) => {
                let row = row.finish();
                prop_assert_eq!(read::<Json<Nested>>(row.view(), "P", &mut 0).unwrap(), Json(value));
            }
            Err(error) => {
                prop_assert_eq!((error.code(), error.rule()), (ErrorCode::OutOfRangeInput, Some("TYPE-1")));
                let text = serde_json::to_string(&value).unwrap();
                prop_assert!(serde_json::from_str::<Nested>(&text).map_or(true, |read| read != value));
            }
        }
    }
}

#[test]
fn a_value_that_is_null_in_json_is_stored_or_refused() {
    let written = |twice: Option<Option<i32>>| {
        let mut row = RowWriter::new();
        Json::write_ref(&twice, "P", &mut row).map(|()| row.finish())
    };
    assert_eq!(written(None).unwrap().view().find("P", &mut 0).unwrap(), None);
    assert!(written(Some(Some(1))).is_ok());
    let refused = written(Some(None)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::OutOfRangeInput, "{refused}");
    assert!(Json::write_ref(&f64::NAN, "P", &mut RowWriter::new()).is_err());
}

#[test]
fn a_text_of_another_shape_is_a_mismatch_with_its_cause() {
    for stored in
        [Some(ValueRef::String("{")), Some(ValueRef::String("\"x\"")), Some(ValueRef::Int32(1)), None]
    {
        assert_eq!(Json::<u8>::read(stored).unwrap_err().code(), ErrorCode::EntityMismatch, "{stored:?}");
    }
    let error = Json::<u8>::read(Some(ValueRef::String("{"))).unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
}
