//! Tests that each mistake produces one message, and that no message is a mere consequence of another. If rustc repeats a message, the number of messages is
//! recorded here and must not increase.
//!
//! A case with several mistakes marks the line of each mistake with the number of its message, such as `//~ T005`. The case must produce exactly these
//! messages at these lines.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The cases with more than one message, each with its number of messages.
const SEVERAL: &[(&str, usize)] = &[
    // These cases contain several mistakes, each of which is reported once.
    ("attribute/all_at_once", 6),
    ("projection/of_another_entity", 2),
    ("property/chunks_misused", 3),
    ("property/kind", 2),
    ("property/rest_misused", 4),
    ("set/type_twice", 2),
    // These cases contain types that are not allowed where they are used. rustc reports them for more than one use.
    ("index/float_of_alias", 6),
];

/// Returns the files of the cases in `fail`, both here and in `ui_patterns`, with the extension `ending`.
fn cases(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let classes = ["fail", "../ui_patterns/fail"].map(|fail| fs::read_dir(folder.join(fail)).unwrap());
    let files = classes.into_iter().flatten().flat_map(|class| fs::read_dir(class.unwrap().path()).unwrap());
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == ending)).collect()
}

/// Returns the name of a case, such as `class/rule`.
fn name(case: &Path) -> String {
    let [class, rule] =
        [case.parent().unwrap(), case].map(|part| part.file_stem().unwrap().to_str().unwrap());
    format!("{class}/{rule}")
}

/// Returns the expected output of rustc for each case.
fn messages() -> BTreeMap<String, String> {
    cases("stderr").into_iter().map(|case| (name(&case), fs::read_to_string(case).unwrap())).collect()
}

#[test]
fn each_mistake_is_reported_once() {
    let (messages, marked) = (messages(), marked());
    assert!(messages.len() > 50, "the cases were not found");
    let several: BTreeMap<_, _> =
        SEVERAL.iter().map(|(case, errors)| ((*case).to_owned(), *errors)).collect();
    let told = messages.into_iter().filter(|(case, _)| !marked.contains_key(case));
    let told = told.map(|(case, text)| (case, text.lines().filter(|line| line.starts_with("error")).count()));
    assert_eq!(told.filter(|(_, errors)| *errors != 1).collect::<BTreeMap<_, _>>(), several);
}

/// Returns the cases that mark the lines of the expected errors in their source. Each mark consists of a line number and the number of the message.
fn marked() -> BTreeMap<String, Vec<(usize, String)>> {
    let mut marked = BTreeMap::new();
    for case in cases("rs") {
        let text = fs::read_to_string(&case).unwrap();
        let marks = (1..).zip(text.lines());
        let marks = marks.filter_map(|(at, line)| Some((at, line.split_once("//~ ")?.1.to_owned())));
        let marks: Vec<_> = marks.collect();
        if !marks.is_empty() {
            marked.insert(name(&case), marks);
        }
    }
    marked
}

#[test]
fn each_marked_mistake_is_reported_once_at_its_position() {
    let (marked, messages) = (marked(), messages());
    assert!(marked.len() > 20, "the cases were not found");
    for (case, mut marks) in marked {
        let mut told: Vec<(usize, String)> = Vec::new();
        for message in messages[&case].split("\nerror").filter(|message| !message.trim().is_empty()) {
            let number = message.split_once("[T").and_then(|(_, rest)| rest.get(..3)).unwrap_or("?");
            let place = message.split_once(&format!("--> fail/{case}.rs:")).map(|(_, rest)| rest);
            let line = place.and_then(|rest| rest.split(':').next()?.parse().ok()).unwrap_or(0);
            told.push((line, format!("T{number}")));
        }
        told.sort();
        marks.sort();
        assert_eq!(told, marks, "{case}");
    }
}
