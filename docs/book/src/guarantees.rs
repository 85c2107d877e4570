//! Tests that each promise in a "Guarantee" section is followed by a comment that names its tests, and that these tests exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::pages::{pages, read, root};

/// The comments that are accepted in place of test names.
const OTHERS: [&str; 2] = ["tests: the sample -->", "no test: not a promise -->"];

/// Adds the names of the functions in all source files below a folder to `names`.
fn functions(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, names);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let found = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            names.extend(found.map(str::to_owned));
        }
    }
}

/// Returns the promises in the "Guarantee" section of a page: its paragraphs and list items.
fn promises(text: &str) -> Vec<String> {
    let section = text.split("\n## Guarantee\n").nth(1).and_then(|rest| rest.split("\n## ").next());
    let points = section.unwrap_or_default().replace("\n- ", "\n\n- ");
    points.split("\n\n").map(str::trim).filter(|promise| !promise.is_empty()).map(str::to_owned).collect()
}

/// Returns an error message if a promise names no test or names an unknown test.
fn fault(promise: &str, functions: &BTreeSet<String>, errors: &str) -> Option<String> {
    let Some((_, comment)) = promise.split_once("<!-- ") else {
        return Some(format!("names no test: {promise}"));
    };
    if OTHERS.contains(&comment) {
        return None;
    }
    let names = comment.trim_start_matches("tests: ").trim_end_matches(" -->").split([',', ';']);
    let is_known = |name: &str| match name.strip_prefix("compile errors ").unwrap_or(name) {
        number if number.len() == 4 && number.starts_with('T') => {
            errors.contains(&format!("\n### {number}\n"))
        }
        name => functions.contains(name),
    };
    let unknown: Vec<_> = names.map(str::trim).filter(|name| !is_known(name)).collect();
    (!unknown.is_empty()).then(|| format!("no test {unknown:?}: {promise}"))
}

#[test]
fn each_promise_names_its_tests() {
    let mut names = BTreeSet::new();
    for folder in [
        "table-core/src",
        "table-store/src",
        "table-engine/src",
        "table-patterns/src",
        "table-azure/src",
        "tables-cli/src",
        "tests/tests",
        "tests/src/suite",
        "docs/book/src",
        "examples/web/src",
    ] {
        functions(&root().join(folder), &mut names);
    }
    let errors = read("errors.md");
    let (mut found, mut faults) = (0, Vec::new());
    for page in pages() {
        let text = read(&page);
        assert_eq!(text.matches("<!--").count(), text.matches("-->").count(), "{page}: ends of comments");
        // In other sections, comments are optional, but the tests that they name must exist.
        let comments = text.split("<!-- tests: ").skip(1).filter_map(|rest| rest.split_once(" -->"));
        let comments = comments.map(|(comment, _)| format!("<!-- tests: {comment} -->"));
        for promise in promises(&text).into_iter().chain(comments) {
            found += 1;
            faults.extend(fault(&promise, &names, &errors).map(|fault| format!("{page}: {fault}")));
        }
    }
    assert!(found > 100, "{found} promises and comments were found");
    assert!(faults.is_empty(), "{} promises without tests:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_sample_check_finds_faults() {
    let names = BTreeSet::from(["it_holds".to_owned()]);
    let fault = |promise: &str| fault(promise, &names, "\n### T069\n");
    assert_eq!(fault("- It holds.\n  <!-- tests: it_holds; compile errors T069 -->"), None);
    assert_eq!(fault("- It holds.\n  <!-- tests: the sample -->"), None);
    assert!(fault("- It holds.").is_some());
    assert!(fault("- It holds.\n  <!-- tests: it_holds, it_stays -->").is_some());
    assert!(fault("- It holds.\n  <!-- tests: compile errors T070 -->").is_some());
    assert_eq!(promises("\n## Guarantee\n\n- One,\n  of two.\n- Two.\n\nThree.\n\n## Cost\n").len(), 3);
}
