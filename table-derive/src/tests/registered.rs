//! Tests that all attributes are registered. rustc would report an unregistered attribute with its own error instead of
//! this crate's help text.

use std::collections::BTreeSet;

use crate::attr::foreign;

/// Returns the names in a list in `lib.rs`, such as `foreign: [table, key]`.
fn listed(word: &str) -> BTreeSet<&'static str> {
    let root = include_str!("../lib.rs");
    let (_, rest) = root.split_once(&format!("{word}: [\n")).unwrap();
    let (names, _) = rest.split_once(']').unwrap();
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

#[test]
fn each_attribute_of_another_library_with_a_message_is_registered() {
    // `#[ignore]` is built into the language and need not be registered.
    let explained: BTreeSet<&str> = foreign::names().filter(|name| *name != "ignore").collect();
    assert!(explained.len() > 50, "the list was not found");
    assert_eq!(listed("foreign"), explained);
}

#[test]
fn documented_attributes_are_those_of_entities() {
    let own = listed("own");
    assert!(own.contains("partition_key"), "the list was not found");
    assert_eq!(own.intersection(&listed("foreign")).collect::<Vec<_>>(), Vec::<&&str>::new());
}
