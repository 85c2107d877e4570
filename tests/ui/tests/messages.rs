//! How many messages each mistake makes: one, so that nothing is told because of something that is told already. What rustc says
//! more than once is counted here, so that it does not become more.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The cases with more than one message, and how many.
const SEVERAL: &[(&str, usize)] = &[
    // So many mistakes are in these.
    ("attribute/all_at_once", 6),
    ("key/missing", 2),
    ("projection/of_another_entity", 2),
    ("property/kind", 2),
    ("set/type_twice", 2),
    // Types that have no place where they stand, which rustc finds in more than one use of them.
    ("group/field_type", 2),
    ("index/float_of_alias", 6),
    ("level/point_of_prefix", 3),
    // An awaited call, which rustc checks as a call, as its future and where it is awaited.
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
    let told: BTreeMap<_, _> = messages.into_iter().filter(|(_, errors)| *errors != 1).collect();
    assert_eq!(told, several);
}
