//! The page of what is refused, line by line: each names cases of `fail` that show it, and none is left out.
//!
//! What the page gives instead is in `pass/refused.rs`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

/// How a line of the page begins, the numbers it is refused with, and the cases that show it.
const LINES: &[(&str, &[&str], &[&str])] = &[
    ("text before another part", &["T027"], &["key/ambiguous"]),
    ("`\"id\"`, `\"empid_{id}\"`", &["T038"], &["key/literal_is_field", "key/literal_is_format"]),
    ("a PartitionKey of one constant", &["T045", "T046"], &["hot/constant", "hot/hour_alone"]),
    ("a first level of few values", &["T044"], &["level/bool_first"]),
    ("`bucket(user, 1)`", &["T036", "T047"], &["key/bucket_of_one", "hot/many_buckets"]),
    ("an `Option`, a float", &["T026"], &["key/option", "key/float", "many/types"]),
    ("`desc` of text", &["T031"], &["key/desc_of_text"]),
    ("`desc(hash(…))`", &["T032"], &["key/hash_reversed", "refused/forms"]),
    ("`Option<Option<T>>`", &["T058"], &["property/option_twice"]),
    (
        "a field named as what",
        &["T033", "T039"],
        &["level/name_twice", "key/hidden_clone", "key/hidden_design"],
    ),
    ("an index list without a bound", &["T068"], &["index/unbounded_list"]),
    ("plain writes of an entity", &["T069"], &["index/plain_write"]),
    ("**A key made of the end of a field**", &["T001", "T004"], &["refused/forms"]),
    ("**Arithmetic of numbers**", &["T001", "T004"], &["refused/forms"]),
    ("**Cases of a language**", &["T001"], &["refused/forms"]),
    ("**Forms of .NET with a culture**", &["T008"], &["refused/forms"]),
    ("**A number without zeros", &["T082"], &["selection/range_without_order"]),
    ("**One field in two keys", &[], &[]),
    ("**Keys that depend on a condition**", &["T004"], &["refused/forms"]),
    ("**Lists and maps as properties**", &["T050"], &["many/types"]),
    ("**Lifetimes and borrowed fields**", &["T011"], &["type/lifetime"]),
];

/// The beginnings of the page's lines: rows of the table, and points of the list.
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
        // A number that the page gives is one that was tried.
        for number in line.split("(T").skip(1).filter_map(|rest| rest.get(..3)) {
            if number.bytes().all(|byte| byte.is_ascii_digit()) {
                assert!(numbers.contains(&format!("T{number}").as_str()), "T{number} of '{begin}'");
            }
        }
    }
}
