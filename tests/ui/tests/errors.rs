//! Tests that `docs/errors.md` and the messages in the `fail` folders, here and in `ui_patterns`, contain the same message numbers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../docs/errors.md");

/// The cases for which rustc has its own messages: arity, names and plain types. No trait of this library is checked in them.
const RUSTC: [&str; 15] = [
    "blob/of_another_entity",
    "blob/without_derive",
    "group/partition_of_owner",
    "index/type_of_the_program",
    "index/when_of_wrong_type",
    "key/ambiguous_not_narrowed",
    "level/left_out_of_key",
    "level/skipped",
    "selection/arity",
    "selection/level_left_out",
    "set/other_is_no_bag",
    "set/upgrade_without_from",
    "table/create_without_type",
    "wide/blob",
    "write/by_hand",
];

/// Returns the headings of the sections on the page, in order.
fn sections() -> Vec<&'static str> {
    PAGE.lines().filter_map(|line| line.strip_prefix("### ")).collect()
}

/// Returns the numbers that a string contains in the form used in messages: `[T045]`.
fn shown(text: &str) -> BTreeSet<String> {
    let is_number = |word: &&str| {
        word.strip_prefix('T')
            .is_some_and(|digits| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let words = text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(word, _)| word);
    words.filter(is_number).map(str::to_owned).collect()
}

/// Adds all files with the extension `ending` below `folder` to `found`.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

/// Returns the messages of the UI cases, by class and rule such as `key/float`.
fn cases() -> BTreeMap<String, String> {
    let mut cases = BTreeMap::new();
    for folder in ["fail", "../ui_patterns/fail"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut messages = Vec::new();
        files(&root, "stderr", &mut messages);
        for path in messages {
            let name = path.strip_prefix(&root).unwrap().with_extension("").to_str().unwrap().to_owned();
            assert!(cases.insert(name, fs::read_to_string(&path).unwrap()).is_none(), "{}", path.display());
        }
    }
    cases
}

#[test]
fn every_case_except_those_of_rustc_shows_a_number() {
    let cases = cases();
    let without: Vec<_> =
        cases.iter().filter(|(_, text)| shown(text).is_empty()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(without, RUSTC);
}

#[test]
fn every_number_of_the_page_has_a_case_and_every_case_a_section() {
    let told: BTreeSet<String> = cases().values().flat_map(|text| shown(text)).collect();
    let page: BTreeSet<String> = sections().into_iter().map(str::to_owned).collect();
    let without_case: Vec<_> = page.difference(&told).collect();
    let without_section: Vec<_> = told.difference(&page).collect();
    assert!(without_case.is_empty(), "no UI case shows {without_case:?}");
    assert!(without_section.is_empty(), "docs/errors.md does not explain {without_section:?}");
}

#[test]
fn a_number_has_one_section_with_both_declarations() {
    let sections = sections();
    assert!(sections.windows(2).all(|pair| pair[0] < pair[1]), "sections ascend, none twice: {sections:?}");
    for section in PAGE.split("\n### ").skip(1) {
        for part in ["Why: ", "// wrong\n", "// right\n"] {
            assert!(section.contains(part), "no `{part}` in {section}");
        }
    }
}

#[test]
fn only_numbers_are_found_in_messages() {
    assert_eq!(
        shown("error: [T045] `a[T]` and T046, [T9], [T12é]").into_iter().collect::<Vec<_>>(),
        ["T045"]
    );
}
