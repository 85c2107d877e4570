//! Tests that the page about limits states the values of the constants in the code.

use table_patterns::limits::{
    BINARY_BYTES, ENTITY_BYTES, KEY_UNITS_PORTABLE, Limits, PAGE_ENTITIES, PROPERTIES, PROPERTY_NAME_UNITS,
    SELECT_NAMES, STRING_UNITS, TABLE_NAME_MAX, TABLE_NAME_MIN, TRANSACTION_BYTES, TRANSACTION_OPERATIONS,
};
use table_patterns::property::MOST_CHUNKS;

use crate::pages::read;

/// Formats a number with a comma after each group of three digits.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn the_limits_page_matches_the_constants() {
    assert_eq!((ENTITY_BYTES, TRANSACTION_BYTES), (1 << 20, 4 << 20));
    let page = read("book/limits.md");
    for row in [
        format!("| PartitionKey, RowKey | {} UTF-16 code units each, 1 KiB |", thousands(KEY_UNITS_PORTABLE)),
        format!("| properties of an entity | {PROPERTIES}, "),
        format!("| name of a property | {PROPERTY_NAME_UNITS} UTF-16 code units |"),
        format!("| a string | {} UTF-16 code units, 64 KiB |", thousands(STRING_UNITS)),
        format!("| a binary value | {} bytes |", thousands(BINARY_BYTES)),
        "| an entity | 1 MiB |".to_owned(),
        format!("| a field with `#[property(chunks)]` | {MOST_CHUNKS} chunks of 64 KiB"),
        format!("| a transaction | {TRANSACTION_OPERATIONS} entities of one partition, 4 MiB |"),
        format!("| a page | {} entities |", thousands(PAGE_ENTITIES)),
        format!("| names in a projection | {SELECT_NAMES} |"),
        format!("| name of a table | {TABLE_NAME_MIN} to {TABLE_NAME_MAX} letters and digits"),
    ] {
        assert!(page.contains(&row), "limits.md has no row `{row}`");
    }
}

#[test]
fn the_page_of_limits_has_the_numbers_of_unlimited() {
    let Limits { key_units, binary_bytes, properties, operations, .. } = Limits::UNLIMITED;
    assert_eq!(Limits::UNLIMITED.string_units, binary_bytes);
    assert_eq!(Limits::UNLIMITED.transaction_bytes, 1 << 30);
    let sentence = format!(
        "keys of {} code units, values of {} bytes or code units, {} properties, and {} operations or 1 GiB",
        thousands(key_units),
        thousands(binary_bytes),
        thousands(properties),
        thousands(operations)
    );
    let page = read("book/limits.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&sentence), "limits.md: {sentence}");
}
