//! Tests that the files, folders and tests mentioned in CONTRIBUTING, on all other pages and in comments exist.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files::{below, prose, root};

/// Pages that may mention files that do not exist. The first mentions deleted files, and the second contains placeholders.
const EXEMPT: [&str; 2] = ["CHANGELOG.md", "docs/designs/template.md"];

#[test]
fn every_task_names_an_existing_place() {
    let guides = below("", &["CONTRIBUTING.md"]);
    let (_, guide) = guides.first().expect("CONTRIBUTING.md is there");
    let (_, tasks) = guide.split_once("## Where a change goes").expect("the section is there");
    let rows: Vec<&str> = tasks.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    assert!(rows.len() >= 10, "{rows:#?}");
    for row in rows {
        let places: Vec<&str> = row
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|place| place.contains('/') && !place.contains(' '))
            .collect();
        assert!(!places.is_empty(), "no place is named: {row}");
        for place in places {
            assert!(root().join(place).exists(), "`{place}` is not there: {row}");
        }
    }
}

#[test]
fn pages_and_comments_name_existing_files() {
    let files = below("", &[".rs", ".md"]);
    let exists = |name: &str| {
        let end = format!("/{name}");
        files.iter().any(|(path, _)| path == name || path.ends_with(&end))
    };
    let (mut named, mut missing) = (0, Vec::new());
    for (path, text) in files.iter().filter(|(path, _)| !EXEMPT.contains(&path.as_str())) {
        for (number, line) in prose(path, text) {
            for name in line.split('`').skip(1).step_by(2).filter(|name| is_file(name)) {
                named += 1;
                if !exists(name) {
                    missing.push(format!("{path}:{number}: `{name}`"));
                }
            }
        }
    }
    assert!(named >= 100, "only {named} files are named");
    assert!(missing.is_empty(), "{} files do not exist:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn pages_name_existing_tests() {
    let sources = below("", &[".rs", ".py"]);
    let defined: BTreeSet<&str> = sources.iter().flat_map(|(_, text)| functions(text)).collect();
    let (mut named, mut missing) = (0, Vec::new());
    for (path, text) in below("", &[".md"]) {
        for (number, line) in prose(&path, &text) {
            for name in line.split('`').skip(1).step_by(2).filter(|name| is_test(name)) {
                named += 1;
                if !defined.contains(name) {
                    missing.push(format!("{path}:{number}: `{name}`"));
                }
            }
        }
    }
    assert!(named >= 1_000, "only {named} tests are named");
    assert!(missing.is_empty(), "{} tests do not exist:\n{}", missing.len(), missing.join("\n"));
}

/// Returns the names of the functions defined in a Rust or Python file.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (_, after) = line.split_once("fn ").or_else(|| line.split_once("def "))?;
        after.split(['(', '<']).next()
    })
}

/// Returns `true` if a name reads like a sentence, as only test names do.
fn is_test(name: &str) -> bool {
    let is_plain =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
    name.matches('_').count() >= 4
        && name.chars().all(is_plain)
        && !name.starts_with('_')
        && !name.ends_with('_')
}

/// Returns `true` if a string is the name of a Rust or Markdown file, with or without a path.
fn is_file(name: &str) -> bool {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("rs" | "md")) && name.chars().all(is_plain)
}
