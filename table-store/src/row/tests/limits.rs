//! Boundary tests of every entity limit (ENT-2, PROP, TYPE, SIZE, ENG-3).

use super::row;
use crate::error::ErrorCode;
use crate::limits::Limits;
use crate::row::{RowWriter, entity_bytes};
use crate::ticks;
use crate::value::{Value, ValueRef};

fn check(name: &str, value: ValueRef<'_>) -> Result<(), (ErrorCode, Option<&'static str>)> {
    let mut writer = RowWriter::new();
    writer.property(name, value);
    Limits::PORTABLE.check_row(writer.finish().view()).map_err(|error| (error.code(), error.rule()))
}

fn numbered(count: usize) -> crate::row::Row {
    row(&(0..count).map(|index| (format!("P{index}"), Value::from(1))).collect())
}

#[test]
fn ent_2_252_properties_and_not_253() {
    assert!(Limits::PORTABLE.check_row(numbered(252).view()).is_ok());
    let error = Limits::PORTABLE.check_row(numbered(253).view()).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::TooManyProperties, Some("ENT-2")));
    assert!(Limits::UNLIMITED.check_row(numbered(253).view()).is_ok());
}

#[test]
fn prop_2_255_code_units_and_not_256() {
    let too_long = Err((ErrorCode::PropertyNameTooLong, Some("PROP-2")));
    for (letter, units) in [("n", 1), ("é", 1), ("漢", 1), ("𐐀", 2)] {
        let longest = letter.repeat(255 / units);
        assert_eq!(check(&longest, ValueRef::Int32(1)), Ok(()), "{letter}");
        assert_eq!(
            check(&format!("{longest}{}", "n".repeat(255 % units)), ValueRef::Int32(1)),
            Ok(()),
            "{letter}"
        );
        assert_eq!(check(&format!("{longest}{letter}"), ValueRef::Int32(1)), too_long, "{letter}");
    }
}

#[test]
fn prop_3_and_eng_18_only_identifiers() {
    for name in ["Age", "_", "_1", "straße", "имя", "e\u{301}", "a\u{203F}b"] {
        assert_eq!(check(name, ValueRef::Int32(1)), Ok(()), "{name}");
    }
    for name in ["", "1st", "a-b", "a b", "a.b", "$a", "a@odata.type", "\u{301}e", "a\0"] {
        let refused = Err((ErrorCode::PropertyNameInvalid, Some("PROP-3")));
        assert_eq!(check(name, ValueRef::Int32(1)), refused, "{name}");
    }
}

#[test]
fn prop_4_reserved_names_in_their_exact_case() {
    for name in ["PartitionKey", "RowKey", "Timestamp"] {
        let refused = Err((ErrorCode::PropertyNameInvalid, Some("PROP-4")));
        assert_eq!(check(name, ValueRef::String("")), refused);
        assert_eq!(check(&name.to_lowercase(), ValueRef::String("")), Ok(())); // PROP-1
    }
}

#[test]
fn prop_6_the_same_name_twice_but_not_in_another_case() {
    let with = |names: &[&str]| {
        let mut writer = RowWriter::new();
        for name in names {
            writer.property(name, ValueRef::Int32(1));
        }
        Limits::PORTABLE.check_row(writer.finish().view()).map_err(|error| (error.code(), error.rule()))
    };
    assert_eq!(with(&["Age", "age", "AGE"]), Ok(()));
    let twice = Err((ErrorCode::DuplicatePropertiesSpecified, Some("PROP-6")));
    assert_eq!(with(&["Age", "Name", "Age"]), twice);
}

#[test]
fn type_6_both_ends_of_the_calendar() {
    for count in [ticks::EDM_MIN, ticks::MAX] {
        assert_eq!(check("Hired", ValueRef::DateTime(count)), Ok(()));
    }
    for count in [0, ticks::EDM_MIN - 1, ticks::MAX + 1, u64::MAX] {
        let refused = Err((ErrorCode::OutOfRangeInput, Some("TYPE-6")));
        assert_eq!(check("Hired", ValueRef::DateTime(count)), refused, "{count}");
    }
}

#[test]
fn type_10_and_11_32_768_code_units_regardless_of_their_bytes() {
    let too_large = Err((ErrorCode::PropertyValueTooLarge, Some("TYPE-10")));
    for (character, units) in [("x", 1), ("é", 1), ("漢", 1), ("\u{1F600}", 2)] {
        let longest = character.repeat(32_768 / units);
        assert_eq!(check("Text", ValueRef::String(&longest)), Ok(()), "{character}");
        assert_eq!(check("Text", ValueRef::String(&format!("{longest}x"))), too_large, "{character}");
    }
}

#[test]
fn type_10_65_536_bytes() {
    let too_large = Err((ErrorCode::PropertyValueTooLarge, Some("TYPE-10")));
    assert_eq!(check("Photo", ValueRef::Binary(&vec![0; 65_536])), Ok(()));
    assert_eq!(check("Photo", ValueRef::Binary(&vec![0; 65_537])), too_large);
}

#[test]
fn size_1_size_4_and_eng_3_exactly_1_048_488_bytes() {
    // The entity has 15 binary values of the maximum size, and one more that fills the remaining space.
    let sized = |last: usize| {
        let mut writer = RowWriter::new();
        for index in 10..25 {
            writer.property(&format!("B{index}"), ValueRef::Binary(&vec![0; 65_536]));
        }
        writer.property("Bx", ValueRef::Binary(&vec![0; last]));
        entity_bytes("Sales", "00001", Some(&writer.finish()))
    };
    let fill = 1_048_488 - sized(0);
    assert_eq!(sized(fill), 1_048_488);
    assert!(Limits::PORTABLE.check_entity_bytes(sized(fill)).is_ok());
    let error = Limits::PORTABLE.check_entity_bytes(sized(fill + 1)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityTooLarge, Some("SIZE-1")));
    assert!(Limits::PORTABLE.check_entity_bytes(usize::MAX).is_err());
}
