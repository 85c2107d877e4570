//! Tests that every package or program named in the sources and pages exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::pages::root;

/// Adds each name such as `table-core` that occurs in code in the sources and pages below a folder to `names`.
fn add_names(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let is_built = path.ends_with("target") || path.ends_with(".git");
        if path.is_dir() && !is_built {
            add_names(&path, names);
        } else if matches!(end, "rs" | "md") {
            let text = fs::read_to_string(&path).unwrap();
            let is_name = |code: &&str| {
                let rest = code.strip_prefix("table-").or_else(|| code.strip_prefix("tables-"));
                rest.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_lowercase()))
            };
            names.extend(text.split('`').filter(is_name).map(str::to_owned));
        }
    }
}

#[test]
fn each_named_package_or_program_exists() {
    let mut names = BTreeSet::new();
    add_names(&root(), &mut names);
    // `table-scan` is a recipe, `tables-sql` is the program of `table-sql`, and `tables-timer` is a thread.
    names.retain(|name| !matches!(name.as_str(), "table-scan" | "tables-sql" | "tables-timer"));
    assert!(names.len() > 10, "{names:?}");
    names.retain(|name| !root().join(name).join("Cargo.toml").exists());
    assert!(names.is_empty(), "unknown packages: {names:?}");
}
