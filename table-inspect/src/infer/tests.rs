//! Tests that declarations are inferred from sample rows. Complete declarations are tested in `tests/inferred`, which also compiles them.

use table_core::Value;

use super::*;

fn row(partition: &str, row: &str, properties: &[(&str, Value)]) -> TableEntity {
    let entity = TableEntity::new(partition, row).unwrap();
    properties.iter().fold(entity, |entity, (name, value)| entity.with(*name, value.clone()))
}

#[test]
fn a_property_of_two_types_and_parts_with_few_texts_are_noted() {
    let mut rows: Vec<_> =
        (1..=9).map(|day| row("site-1", &format!("2026020{day}"), &[("Count", Value::Int64(day))])).collect();
    rows.push(row("site-2", "20260210", &[("Count", "seven".into())]));
    let kind = infer("Metrics", &rows).kinds.remove(0);
    assert_eq!(
        kind.notes,
        [
            "`Count` is Edm.Int64 in most rows and of another type in 1, which the declaration does not read",
            "`number` is inferred from 2 different values; compare it with more rows",
        ]
    );
}

#[test]
fn every_property_and_type_has_a_name_that_rust_accepts() {
    let words = ["Static", "Return", "Yield", "Try", "Self", "姓名", "_", "电话", "Gen"];
    let properties: Vec<(&str, Value)> = words.iter().map(|word| (*word, Value::Int32(1))).collect();
    let rows: Vec<_> = (0..20).map(|n| row("p", &format!("{n:04}"), &properties)).collect();
    let text = infer("Words", &rows).to_string();
    for name in
        ["static_", "return_", "yield_", "try_", "self_", "property", "property_2", "property_3", "gen_"]
    {
        assert!(text.contains(&format!("pub {name}: i32")), "{name}: {text}");
    }
    let kinds = [
        ("self", "SelfRow"),
        ("option", "OptionRow"),
        ("string_", "StringRow"),
        ("", "Row"),
        ("0", "Row0"),
        ("_2nd_item", "Row2ndItem"),
    ];
    for (kind, name) in kinds {
        assert_eq!(name::Names::default().take_type(kind), name);
    }
}

#[test]
fn too_few_rows_are_listed_but_not_explained() {
    let mut rows: Vec<_> = (0..10).map(|n| row("users", &format!("user_u{n}x"), &[])).collect();
    rows.push(row("users", "odd", &[]));
    let inferred = infer("Users", &rows);
    assert_eq!(
        (inferred.kinds.len(), inferred.unexplained),
        (1, vec![("users".to_owned(), "odd".to_owned())])
    );
}

#[test]
fn person_names_are_texts_and_zero_padded_numbers_keep_their_width() {
    let names: Vec<_> =
        ["Jones", "Jonas", "Smith-Jones", "O'Hara", "Ng"].map(|name| row("p", name, &[])).into();
    assert!(infer("People", &names).to_string().contains("#[row_key(row)]"));
    let numbers: Vec<_> = (0..20).map(|n| row("p", &format!("{n:04}"), &[])).collect();
    assert!(infer("Numbers", &numbers).to_string().contains("#[row_key(digits(4, number))]"));
    let plain: Vec<_> = (5..20).map(|n| row("p", &n.to_string(), &[])).collect();
    assert!(infer("Numbers", &plain).to_string().contains("#[row_key(unpadded(number))]"));
}
