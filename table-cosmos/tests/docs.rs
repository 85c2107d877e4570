//! Tests that each table cell in `docs/cosmos.md` names an existing test or recipe, or states that the combination was not run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The folders that contain tests.
const CODE: [&str; 9] = [
    "table-core/src",
    "table-store/src",
    "table-engine/src",
    "table-hierarchy/src",
    "table-advice/src",
    "table-patterns/src",
    "table-azure/src",
    "table-cosmos",
    "tests",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Appends the Rust code in all files below a folder to a string.
fn code(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn each_cell_of_the_table_of_patterns_names_its_evidence() {
    let page = fs::read_to_string(root().join("docs/cosmos.md")).unwrap();
    let (mut tests, mut recipes) = (String::new(), String::new());
    for folder in CODE {
        code(&root().join(folder), &mut tests);
    }
    code(&root().join("examples/src/recipes"), &mut recipes);
    let table = page.split("## Where each pattern runs").nth(1).unwrap().split("###").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(2);
    let mut cells = 0;
    for row in rows {
        let (pattern, row) = row.trim_matches(['|', ' ']).split_once('|').unwrap();
        assert_eq!(row.split('|').count(), 4, "{pattern}");
        for cell in row.split('|').map(str::trim) {
            cells += 1;
            let Some((before, rest)) = cell.split_once('`') else {
                assert!(cell.starts_with("not run") || cell.starts_with("none"), "{pattern}: {cell}");
                continue;
            };
            let name = rest.split('`').next().unwrap();
            let there = match before.trim() {
                "recipe" => recipes.contains(&format!("name: \"{name}\"")),
                "suite" => root().join(format!("tests/tests/engine/{name}.rs")).exists(),
                _ => tests.contains(&format!("fn {name}(")),
            };
            assert!(there, "{pattern}: {name} is not there");
        }
    }
    assert!(cells >= 64, "{cells} cells");
}

#[test]
fn documented_requests_of_the_recipes_match_the_cookbook() {
    let page = fs::read_to_string(root().join("docs/cosmos.md")).unwrap();
    let mut rows = 0;
    for recipe in ["tenants", "split"] {
        let snapshot = root().join(format!("table-cosmos/tests/snapshots/cookbook__{recipe}.snap"));
        let table: Vec<String> = fs::read_to_string(snapshot)
            .unwrap()
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(str::to_owned)
            .collect();
        assert!(
            page.contains(&format!("`{recipe}`:\n\n{}\n", table.join("\n"))),
            "{recipe}: copy the snapshot"
        );
        rows += table.len() - 2;
    }
    assert!(rows >= 10, "{rows} questions");
}

#[test]
fn each_injected_response_has_a_source_and_a_test() {
    let page = fs::read_to_string(root().join("docs/cosmos.md")).unwrap();
    let recorded = fs::read_to_string(root().join("table-cosmos/tests/emulator/recorded.rs")).unwrap();
    let section = page.split("## Responses of the service").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    for row in &rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [_, sources, _, test] = cells.as_slice() else { panic!("{row}") };
        for source in sources.split(", ") {
            let key = source.split("][").nth(1).unwrap();
            assert!(section.contains(&format!("[{key}: https://")), "{row}: {source} has no address");
        }
        let name = test.trim_matches(|character| character != '`').trim_matches('`');
        assert!(
            name == "throttled" || recorded.contains(&format!("fn {name}(")),
            "{row}: {name} is not there"
        );
    }
    let tests = recorded.matches("#[test]").count();
    assert_eq!(rows.len(), tests + 1, "each test has its row, and the suite under throttling");
}
