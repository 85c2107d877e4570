//! How many messages each mistake makes: one, so that nothing is told because of something that is told already. What rustc says
//! more than once is counted here, so that it does not become more.
//!
//! A case with several mistakes marks the line of each with its number, `//~ T005`: so many messages it has, each at its line.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The cases with more than one message, and how many.
const SEVERAL: &[(&str, usize)] = &[
    // So many mistakes are in these.
    ("attribute/all_at_once", 6),
    ("attribute/keys_on_fields", 2),
    ("key/missing", 2),
    ("projection/of_another_entity", 2),
    ("property/chunks_misused", 3),
    ("property/kind", 2),
    ("property/rest_misused", 4),
    ("set/type_twice", 2),
    // Types that have no place where they stand, which rustc finds in more than one use of them.
    ("group/field_type", 2),
    ("index/float_of_alias", 6),
    ("level/point_of_prefix", 3),
    // An awaited call, which rustc checks as a call, as its future and where it is awaited.
    ("set/write_of_indexed", 3),
    ("write/feed", 3),
];

/// The messages of every case of `fail`, here and in `ui_patterns`, by `class/rule`.
fn messages() -> BTreeMap<String, usize> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let classes = ["fail", "../ui_patterns/fail"].map(|fail| fs::read_dir(folder.join(fail)).unwrap());
    let mut messages = BTreeMap::new();
    for class in classes.into_iter().flatten() {
        let class = class.unwrap().path();
        for case in fs::read_dir(&class).unwrap() {
            let case = case.unwrap().path();
            if case.extension().is_some_and(|extension| extension == "stderr") {
                let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
                let text = fs::read_to_string(&case).unwrap();
                let errors = text.lines().filter(|line| line.starts_with("error")).count();
                messages.insert(format!("{}/{}", name(&class), name(&case)), errors);
            }
        }
    }
    messages
}

#[test]
fn each_mistake_is_told_once() {
    let messages = messages();
    assert!(messages.len() > 100, "the cases were not found");
    let several: BTreeMap<_, _> =
        SEVERAL.iter().map(|(case, errors)| ((*case).to_owned(), *errors)).collect();
    let marked = marked();
    let told = messages.into_iter().filter(|(case, errors)| *errors != 1 && !marked.contains_key(case));
    assert_eq!(told.collect::<BTreeMap<_, _>>(), several);
}

/// The cases that mark the lines of their mistakes, and these: line and number.
fn marked() -> BTreeMap<String, Vec<(usize, String)>> {
    let fail = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let mut marked = BTreeMap::new();
    for class in fs::read_dir(fail).unwrap() {
        for case in fs::read_dir(class.unwrap().path()).unwrap() {
            let case = case.unwrap().path();
            let text = fs::read_to_string(&case).unwrap();
            let marks = (1..).zip(text.lines());
            let marks = marks.filter_map(|(at, line)| Some((at, line.split_once("//~ ")?.1.to_owned())));
            let marks: Vec<_> = marks.collect();
            if !marks.is_empty() && case.extension().is_some_and(|extension| extension == "rs") {
                let class = case.parent().and_then(Path::file_name).unwrap().to_str().unwrap();
                marked.insert(format!("{class}/{}", case.file_stem().unwrap().to_str().unwrap()), marks);
            }
        }
    }
    marked
}

#[test]
fn each_marked_mistake_is_told_once_where_it_stands() {
    let marked = marked();
    assert!(marked.len() > 1, "the cases were not found");
    for (case, mut marks) in marked {
        let fail = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
        let text = fs::read_to_string(fail.join(format!("{case}.stderr"))).unwrap();
        let mut told: Vec<(usize, String)> = Vec::new();
        for message in text.split("\nerror").filter(|message| !message.trim().is_empty()) {
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
