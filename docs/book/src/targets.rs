//! Tests that the page about operations lists the targets of all tracing spans and events.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::pages::{read, root};

/// Adds the tracing targets in the source files below a folder to `targets`.
fn collect(folder: &Path, targets: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, targets);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let named = text.split("target: \"").skip(1).filter_map(|rest| rest.split('"').next());
            targets.extend(named.map(str::to_owned));
        }
    }
}

#[test]
fn the_page_of_operations_names_every_target_of_tracing() {
    let mut targets = BTreeSet::new();
    for package in
        ["table-core", "table-engine", "table-patterns", "table-azure", "table-cosmos", "table-server"]
    {
        collect(&root().join(package).join("src"), &mut targets);
    }
    assert!(targets.len() > 4, "{targets:?}");
    let page = read("book/operations.md");
    let missing: Vec<_> =
        targets.iter().filter(|target| !page.contains(&format!("\n| `{target}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
