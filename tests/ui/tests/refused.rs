//! Tests the page of rejected declarations line by line. Each line must name the cases in `fail` that show it, and no case may be omitted.
//!
//! The forms that the page recommends instead are in `pass/refused.rs`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The first words of each line on the page, the error numbers in the line, and the cases that show them.
const LINES: &[(&str, &[&str], &[&str])] = &[
    ("text before another part", &["T027"], &["key/constants"]),
    ("`\"id\"`, `\"empid_{id}\"`", &["T038"], &["key/declarations"]),
    ("a PartitionKey of one constant", &["T045", "T046"], &["hot/declarations", "hot/constants"]),
    ("a first level with few values", &["T044"], &["level/constants"]),
    ("`bucket(user, 1)`", &["T036", "T047"], &["key/declarations", "hot/declarations"]),
    ("an `Option`, a float", &["T026"], &["key/types", "many/types"]),
    ("`desc` of text", &["T031"], &["key/types"]),
    ("`desc(hash(…))`", &["T032"], &["key/declarations", "refused/forms"]),
    ("`Option<Option<T>>`", &["T058"], &["property/option_twice"]),
    ("a patch of a property that the key uses", &["T131"], &["patch/types"]),
    ("a field with a [generated name]", &["T033", "T039"], &["level/declarations", "key/declarations"]),
    ("an index without `unique` that omits", &["T065"], &["index/declarations"]),
    ("an index list without a bound", &["T068"], &["index/declarations"]),
    ("plain writes of an entity", &["T069"], &["index/types"]),
    ("**A key from the end of a field**", &["T001", "T004"], &["refused/forms"]),
    ("**Arithmetic of numbers**", &["T001", "T004"], &["refused/forms"]),
    ("**Case rules of a language**", &["T001"], &["refused/forms"]),
    ("**Culture-dependent forms of .NET**", &["T008"], &["refused/forms"]),
    ("**Ranges of a number without leading zeros**", &["T082"], &["selection/types"]),
    ("**One field in two keys", &[], &[]),
    ("**Keys that depend on a condition**", &["T004"], &["refused/forms"]),
    ("**Lists and maps as properties**", &["T050"], &["many/types"]),
    ("**Lifetimes and borrowed fields**", &["T011"], &["type/declarations"]),
];

/// Returns the starts of the lines on the page. These lines are table rows and list items.
fn lines(page: &str) -> Vec<&str> {
    let (refused, rest) = page.split_once("## Not possible").unwrap();
    let points = rest.split("\n## ").next().unwrap();
    let rows = refused
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .skip(1)
        .filter(|line| !line.starts_with("---"));
    rows.chain(points.lines().filter_map(|line| line.strip_prefix("- "))).collect()
}

/// Returns the numbers that follow a mark in a file, such as `//~ T198`.
fn marked(text: &str, mark: &str) -> BTreeSet<String> {
    let notes = text.lines().filter_map(|line| line.split_once(mark)).map(|(_, note)| note);
    notes.flat_map(|note| note.split(", ")).map(str::to_owned).collect()
}

/// Tests that all forms recommended in messages for methods of other libraries are compiled and run.
#[test]
fn each_refused_method_has_a_form_that_compiles() {
    let refused = marked(include_str!("../fail/selection/elsewhere.rs"), "//~ ");
    let forms = marked(include_str!("pass/elsewhere.rs"), "// ");
    assert!(refused.len() > 20, "the cases were not found");
    assert_eq!(refused.difference(&forms).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn each_line_of_the_page_is_shown_by_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(folder.join("../../docs/book/refused.md")).unwrap();
    let lines = lines(&page);
    assert_eq!(lines.len(), LINES.len(), "{lines:#?}");
    for (line, (begin, numbers, cases)) in lines.iter().zip(LINES) {
        assert!(line.starts_with(begin), "'{line}' does not begin with '{begin}'");
        let said =
            |name: &str| fs::read_to_string(folder.join("fail").join(format!("{name}.stderr"))).unwrap();
        let told: String = cases.iter().map(|case| said(case)).collect();
        for number in *numbers {
            assert!(told.contains(&format!("[{number}]")), "no case of '{begin}' is told as {number}");
        }
        // Each number on the page must have been tested.
        for number in line.split("(T").skip(1).filter_map(|rest| rest.get(..3)) {
            if number.bytes().all(|byte| byte.is_ascii_digit()) {
                assert!(numbers.contains(&format!("T{number}").as_str()), "T{number} of '{begin}'");
            }
        }
    }
}
