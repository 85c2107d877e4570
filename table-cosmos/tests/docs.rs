//! The table of `docs/cosmos.md`: each cell names a test or a recipe that is there, or says that there is none.

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of code that tests are in.
const CODE: [&str; 5] = ["table-core/src", "table-patterns/src", "table-azure/src", "table-cosmos", "tests"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All code below a folder, in one text.
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
fn each_cell_of_the_table_of_patterns_names_what_shows_it() {
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
                assert!(cell.starts_with("not run") || cell.starts_with("not there"), "{pattern}: {cell}");
                continue;
            };
            let name = rest.split('`').next().unwrap();
            let there = match before.trim() {
                "recipe" => recipes.contains(&format!("name: \"{name}\"")),
                "suite" => root().join(format!("tests/tests/{name}.rs")).exists(),
                _ => tests.contains(&format!("fn {name}(")),
            };
            assert!(there, "{pattern}: {name} is not there");
        }
    }
    assert!(cells >= 64, "{cells} cells");
}
