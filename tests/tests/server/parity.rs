//! Tests that the tests mentioned in the tables of `docs/server.md` exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Adds the names of all tests below `folder` to `found`: Rust and Python functions, and the titles of JavaScript tests.
fn names(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names(&path, found);
        } else if path.extension().is_some_and(|end| ["rs", "py", "mjs"].iter().any(|known| end == *known)) {
            for line in fs::read_to_string(&path).unwrap().lines() {
                let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("async ");
                let name =
                    ["fn ", "def "].iter().find_map(|word| line.strip_prefix(word)?.split(['(', '<']).next());
                let title = || line.strip_prefix("test(\"")?.split('"').next();
                found.extend(name.or_else(title).map(str::to_owned));
            }
        }
    }
}

/// Returns the cells of the table whose header row starts with `heading`, without that row.
fn rows<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, table) = text.split_once(heading).expect("the table");
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line| -> Vec<&str> { str::trim_matches(line, '|').split('|').map(str::trim).collect() };
    lines.map(cells).filter(|cells| !cells[0].starts_with("**")).collect()
}

#[test]
fn each_row_names_existing_tests() {
    let mut known = BTreeSet::new();
    for folder in [
        "tests/clients",
        "tests/src/suite",
        "tests/tests",
        "table-core/src",
        "table-store/src",
        "table-engine/src",
        "table-server",
        "table-wire/src",
    ] {
        names(&root().join(folder), &mut known);
    }
    let text = fs::read_to_string(root().join("docs/server.md")).unwrap();
    let parity = rows(&text, "| | the service | Azurite |");
    let chosen = rows(&text, "| case | the specification | Azurite |");
    assert!(parity.len() >= 45 && chosen.len() >= 14, "{} and {}", parity.len(), chosen.len());
    for cells in parity.into_iter().chain(chosen) {
        let [what, _, _, ours, tests] = cells[..] else { panic!("{cells:?} has not five cells") };
        let tests: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        // A feature must have tests if and only if it is implemented.
        let missing = ours == "no" || ours.ends_with("not applied");
        assert_eq!(tests.is_empty(), missing, "{what}: {tests:?}");
        for test in tests {
            assert!(known.contains(test), "{what}: `{test}` is not there");
        }
    }
}
