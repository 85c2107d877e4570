//! Model-based tests of the row format, and tests of golden rows. The encoding of golden rows must never change.

mod limits;

use std::fmt::Write;

use proptest::prelude::*;
use uuid::Uuid;

use crate::error::ErrorCode;
use crate::row::{BODY_HEADER, ENTRY, Row, RowView, RowWriter, SHAPE_HEADER, VERSION, entity_bytes, merge};
use crate::ticks;
use crate::value::{Value, ValueRef};

/// A row as a list of names and values.
pub(crate) type Model = Vec<(String, Value)>;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        ".{0,12}".prop_map(Value::String),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<u64>().prop_map(|bits| Value::Double(f64::from_bits(bits))),
        any::<bool>().prop_map(Value::Boolean),
        (ticks::EDM_MIN..=ticks::MAX).prop_map(|count| ValueRef::DateTime(count).to_owned()),
        any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
        prop::collection::vec(any::<u8>(), 0..24).prop_map(Value::Binary),
    ]
}

/// Generates rows with distinct names from a small set, so that two rows often share names.
pub(crate) fn model() -> impl Strategy<Value = Model> {
    prop::collection::vec(("[A-E_é]{1,2}|[a-z]{8,10}", value()), 0..12).prop_map(|mut list: Model| {
        let mut names = std::collections::HashSet::new();
        list.retain(|(name, _)| names.insert(name.clone()));
        list
    })
}

pub(crate) fn row(model: &Model) -> Row {
    let mut writer = RowWriter::with_capacity(model.len() / 2);
    for (name, value) in model {
        writer.property(name, value.as_ref());
    }
    writer.finish()
}

/// Returns `true` if two values are bitwise equal. For this function, NaN equals NaN, and 0 differs from -0.
fn same(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a, b) {
        (ValueRef::Double(a), ValueRef::Double(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn agrees(row: RowView<'_>, model: &Model) -> bool {
    row.len() == model.len()
        && row.properties().zip(model).all(|(found, (name, value))| {
            let found = found.unwrap();
            found.name == name && same(found.value, value.as_ref())
        })
}

/// Calls every function that reads row bytes. They may return errors but must not panic.
fn look_everywhere(bytes: &[u8]) {
    let view = RowView::new(bytes);
    assert_eq!(view.to_row().as_bytes(), bytes, "shape and body are the row, whatever it holds");
    let _ = (view.check_version(), view.timestamp(), view.etag(), view.len(), view.is_overflown());
    for index in [0, 1, view.len(), usize::MAX] {
        let _ = view.at(index);
        let _ = view.find("A", &mut { index });
    }
    let _ = view.properties().count();
    let _ = crate::limits::Limits::UNLIMITED.check_row(view);
    let _ = merge(view, row(&vec![("A".to_owned(), Value::Int32(1))]).view());
    let _ = format!("{view:?}");
    let _ = entity_bytes("", "", Some(&Row::from_bytes(bytes.into())));
}

proptest! {
    #[test]
    fn a_row_reads_back_as_written(model in model(), stamp: u64) {
        let row = row(&model).with_timestamp(stamp);
        prop_assert!(agrees(row.view(), &model));
        prop_assert_eq!(row.view().timestamp(), stamp);
    }

    #[test]
    fn find_agrees_with_a_list_from_any_starting_position(model in model(), name in "[A-E]{1,2}", hint in 0_usize..14) {
        let row = row(&model);
        let wanted = model.iter().position(|(found, _)| *found == name);
        let mut place = hint;
        let found = row.view().find(&name, &mut place).unwrap();
        prop_assert_eq!(found.is_some(), wanted.is_some());
        prop_assert_eq!(place, wanted.map_or(hint, |index| index + 1));
        if let (Some(found), Some(index)) = (found, wanted) {
            prop_assert!(same(found, model[index].1.as_ref()));
        }
    }

    #[test]
    fn mrg_1_and_type_12_merge_agrees_with_a_list(stored in model(), patch in model()) {
        let merged = merge(row(&stored).view(), row(&patch).view()).unwrap();
        let mut model = stored;
        for (name, value) in patch {
            match model.iter_mut().find(|(found, _)| *found == name) {
                Some(place) => place.1 = value,
                None => model.push((name, value)),
            }
        }
        prop_assert!(agrees(merged.view(), &model));
    }

    /// Tests patches to existing properties, in any order and mostly with unchanged types.
    #[test]
    fn mrg_1_a_patch_of_present_properties_agrees_with_a_list(
        stored in model(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), value()), 0..4),
        ticks in any::<u64>(),
    ) {
        let (mut patch, mut expected) = (Model::new(), stored.clone());
        for (at, is_same_type, other) in changes {
            let Some((name, value)) = (!stored.is_empty()).then(|| at.get(&stored).clone()) else { continue };
            let new = match value {
                Value::Int32(number) if is_same_type => Value::Int32(number.wrapping_add(1)),
                Value::Int64(number) if is_same_type => Value::Int64(number.wrapping_add(1)),
                Value::Double(number) if is_same_type => Value::Double(number + 1.0),
                Value::Boolean(flag) if is_same_type => Value::Boolean(!flag),
                Value::String(text) if is_same_type => Value::String(text.chars().rev().collect()),
                _ => other,
            };
            if patch.iter().any(|(known, _)| *known == name) {
                continue;
            }
            expected.iter_mut().filter(|(known, _)| *known == name).for_each(|known| known.1 = new.clone());
            patch.push((name, new));
        }
        let stored = row(&stored).with_timestamp(ticks);
        let merged = merge(stored.view(), row(&patch).view()).unwrap();
        prop_assert!(agrees(merged.view(), &expected));
        prop_assert_eq!(merged.view().timestamp(), 0, "the store assigns it");
        prop_assert_eq!(merged, row(&expected), "the bytes are those of a row written at once");
    }

    #[test]
    fn mrg_3_an_empty_patch_changes_nothing(stored in model()) {
        let merged = merge(row(&stored).view(), RowWriter::new().finish().view()).unwrap();
        prop_assert!(agrees(merged.view(), &stored));
    }

    #[test]
    fn size_2_and_3_agree_with_a_second_implementation(model in model(), partition_key in ".{0,8}", row_key in ".{0,8}") {
        let units = |text: &str| text.encode_utf16().count();
        let mut bytes = 4 + (units(&partition_key) + units(&row_key)) * 2;
        for (name, value) in &model {
            bytes += 8 + units(name) * 2;
            bytes += match value {
                Value::String(text) => units(text) * 2 + 4,
                Value::Binary(bytes) => bytes.len() + 4,
                Value::Guid(_) => 16,
                Value::Int64(_) | Value::Double(_) | Value::DateTime(_) => 8,
                Value::Int32(_) => 4,
                Value::Boolean(_) => 1,
            };
        }
        prop_assert_eq!(entity_bytes(&partition_key, &row_key, Some(&row(&model))), bytes);
    }

    #[test]
    fn arbitrary_bytes_do_not_make_a_read_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80), ours: bool) {
        if ours && let [version, zero, count, high, ..] = bytes.as_mut_slice() {
            (*version, *zero, *count, *high) = (VERSION, 0, *count % 8, 0);
        }
        look_everywhere(&bytes);
    }

    #[test]
    fn flipped_bits_do_not_make_a_read_panic(model in model(), flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8), 1..4)) {
        let mut bytes = row(&model).as_bytes().to_vec();
        for (place, bit) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= 1_u8 << bit;
        }
        look_everywhere(&bytes);
    }

    #[test]
    fn cut_and_lengthened_bytes_are_corrupted(model in model(), cut in any::<prop::sample::Index>()) {
        let bytes = row(&model).as_bytes().to_vec();
        let shorter = &bytes[..cut.index(bytes.len())];
        let longer = [&bytes[..], &[0]].concat();
        for broken in [shorter, &longer] {
            let view = RowView::new(broken);
            prop_assert_eq!(view.check_version().unwrap_err().code(), ErrorCode::Corrupted);
            prop_assert_eq!(view.find("A", &mut 0).unwrap_err().code(), ErrorCode::Corrupted);
            prop_assert!(view.properties().next().is_some_and(|property| property.is_err()));
        }
    }
}

#[test]
fn size_7_the_size_of_the_worked_example() {
    let model = vec![("FirstName".to_owned(), Value::from("Ada")), ("Age".to_owned(), Value::from(34))];
    assert_eq!(entity_bytes("Sales", "00001", Some(&row(&model))), 78);
    assert_eq!(entity_bytes("Sales", "00001", None), 24);
}

#[test]
fn a_newer_format_is_reported_by_its_number() {
    let mut bytes = RowWriter::new().finish().as_bytes().to_vec();
    bytes[0] = 2;
    let error = RowView::new(&bytes).find("A", &mut 0).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FormatTooNew);
    assert!(error.to_string().contains("format 2; this version reads up to format 1"), "{error}");
}

#[test]
fn the_reserved_byte_and_the_tag_must_be_known() {
    let whole = row(&vec![("A".to_owned(), Value::from(true))]);
    for (place, byte) in [(1, 1), (SHAPE_HEADER, 0), (SHAPE_HEADER, 9)] {
        let mut bytes = whole.as_bytes().to_vec();
        bytes[place] = byte;
        assert_eq!(RowView::new(&bytes).at(0).unwrap_err().code(), ErrorCode::Corrupted);
        assert_eq!(RowView::new(&bytes).find("A", &mut 0).unwrap_err().code(), ErrorCode::Corrupted);
    }
}

#[test]
fn a_value_of_the_wrong_width_is_corrupted() {
    let mut bytes = row(&vec![("A".to_owned(), Value::from(vec![0_u8; 5]))]).as_bytes().to_vec();
    for tag in [2, 3, 4, 5, 6, 7] {
        bytes[SHAPE_HEADER] = tag;
        assert_eq!(RowView::new(&bytes).at(0).unwrap_err().code(), ErrorCode::Corrupted, "tag {tag}");
    }
    bytes[SHAPE_HEADER] = 1;
    assert_eq!(RowView::new(&bytes).at(0).unwrap().value, ValueRef::String("\0\0\0\0\0"));
    *bytes.last_mut().unwrap() = 0xFF;
    assert_eq!(RowView::new(&bytes).at(0).unwrap_err().code(), ErrorCode::Corrupted);
}

#[test]
fn a_directory_holds_at_most_65_535_properties() {
    let mut writer = RowWriter::with_capacity(0);
    for index in 0..65_535 {
        writer.property(&index.to_string(), ValueRef::Int32(index));
    }
    let whole = writer.clone().finish();
    assert_eq!(whole.view().len(), 65_535);
    assert_eq!(whole.view().find("65534", &mut 65_534).unwrap(), Some(ValueRef::Int32(65_534)));
    writer.property("one more", ValueRef::Boolean(true));
    let row = writer.finish();
    assert!(row.view().is_overflown());
    assert_eq!(row.view().check_version().unwrap_err().code(), ErrorCode::TooManyProperties);
}

#[test]
fn a_directory_holds_at_most_16_mib_of_names() {
    let name = "n".repeat((1 << 24) - 1);
    let mut writer = RowWriter::new();
    writer.property(&name, ValueRef::Boolean(true));
    assert_eq!(writer.clone().finish().view().find(&name, &mut 0).unwrap(), Some(ValueRef::Boolean(true)));
    writer.property("n", ValueRef::Boolean(true));
    let error = writer.finish().view().check_version().unwrap_err();
    assert_eq!(error.code(), ErrorCode::PropertyNameTooLong);
}

#[test]
fn with_timestamp_does_not_change_shared_bytes() {
    let row = row(&vec![("A".to_owned(), Value::from(1))]);
    let stamped = row.clone().with_timestamp(7);
    assert_eq!((row.view().timestamp(), stamped.view().timestamp()), (0, 7));
    assert_eq!(stamped.view().parts().0, row.view().parts().0);
    assert_eq!(stamped.view().parts().1[BODY_HEADER..], row.view().parts().1[BODY_HEADER..]);
}

/// Returns the example from `docs/format.md`, which contains every type once.
fn golden() -> Row {
    let mut writer = RowWriter::new();
    writer.property("FirstName", ValueRef::String("Ada"));
    writer.property("Age", ValueRef::Int32(34));
    writer.property("BadgeId", ValueRef::Int64(9_007_199_254_740_993));
    writer.property("Salary", ValueRef::Double(12.5));
    writer.property("Active", ValueRef::Boolean(true));
    writer.property("Hired", ValueRef::DateTime(635_442_654_321_234_567));
    writer.property("Ref", ValueRef::Guid(Uuid::from_u128(0xc9da_6455_213d_42c9_9a79_3e91_49a5_7833)));
    writer.property("Photo", ValueRef::Binary(&[1, 2, 3, 4]));
    writer.finish().with_timestamp(639_307_584_000_000_000)
}

#[test]
fn the_bytes_match_the_format_document() {
    let document = include_str!("../../../docs/format.md");
    let (_, example) = document.split_once("```row\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let hex = example.lines().flat_map(|line| line.split(';').next().unwrap_or_default().split_whitespace());
    let mut printed = String::new();
    for byte in golden().as_bytes() {
        write!(printed, "{byte:02x}").unwrap();
    }
    assert_eq!(hex.collect::<String>(), printed);
    assert_eq!(golden().as_bytes().len(), SHAPE_HEADER + BODY_HEADER + 16 * ENTRY + 44 + 52);
}
