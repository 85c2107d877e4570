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

/// Tests that neither the time nor the declaration grows with the number of property names.
#[test]
fn rows_with_new_property_names_are_declared_up_to_a_limit() {
    // The name of a field cannot contain these characters. All fields therefore have the same name with different numbers.
    let character = |number: u32| char::from_u32(0x4E00 + number).unwrap();
    let rows: Vec<_> = (0..2_000)
        .map(|n| {
            let entity = row("p", &format!("{n:04}"), &[("Common", Value::Boolean(true))]);
            (0..200).fold(entity, |entity, at| entity.with(format!("{}{}", character(n), character(at)), 1))
        })
        .collect();
    let mut kinds = infer("Wide", &rows).kinds;
    let kind = kinds.remove(0);
    assert_eq!(kind.properties.len(), 1_000);
    assert_eq!(kind.properties[0].name, "Common");
    assert_eq!(kind.notes, [format!("{} more properties are not declared", 2_000 * 200 + 1 - 1_000)]);
    let fields: std::collections::HashSet<_> =
        kind.properties.iter().map(|property| property.field.as_str()).collect();
    assert_eq!(fields.len(), 1_000);
}

#[test]
fn names_that_end_with_digits_are_chunks_only_of_a_full_value() {
    let full = "x".repeat(32_768);
    let chunks = |second: &str| -> Vec<TableEntity> {
        (0..3)
            .map(|n| {
                let properties: [(&str, Value); 3] =
                    [("Data", full.as_str().into()), ("Data1", second.into()), ("Line1", "a".into())];
                row("p", &format!("{n:04}"), &properties)
            })
            .collect()
    };
    let named = |rows: &[TableEntity]| -> Vec<(String, bool)> {
        let kind = infer("Chunks", rows).kinds.remove(0);
        kind.properties.into_iter().map(|property| (property.name, property.is_chunked)).collect()
    };
    let joined = [("Data".to_owned(), true), ("Line1".to_owned(), false)];
    assert_eq!(named(&chunks("rest")), joined);
    // A row without the entire value has no effect. A row that lacks only a chunk does.
    let mut rows = chunks("rest");
    rows.push(row("p", "0003", &[("Line1", "a".into())]));
    assert_eq!(named(&rows), joined);
    rows.push(row("p", "0004", &[("Data", full.as_str().into()), ("Data2", "rest".into())]));
    assert!(named(&rows).contains(&("Data1".to_owned(), false)));
}
