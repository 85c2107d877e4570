//! Tests that the ratios in the README equal the results of the last recorded benchmark runs.
//!
//! `TABLES_UPDATE=1 cargo test -p book ratios` updates the table in the README.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::pages::{hold, root};

/// The rows of the table, each with the name of the measured work in the records and the name of the peer. Ratios below 1 are included for each kind of work.
const ROWS: [(&str, &str); 13] = [
    ("typed point get, decoded", "redb, raw bytes"),
    ("typed point get, decoded", "rusqlite"),
    ("typed point get, decoded", "native_db"),
    ("page of 1,000, decoded", "redb, raw bytes"),
    ("page of 1,000, decoded", "rusqlite"),
    ("page of 1,000, decoded", "native_db"),
    ("filter over a partition, 1 % match", "rusqlite"),
    ("durable insert, 1 writer", "rusqlite"),
    ("durable insert, 16 writers", "rusqlite"),
    ("durable insert, 16 writers", "native_db"),
    ("transaction of 100, durable", "rusqlite"),
    ("ledger: durable posts of 2 lines, 16 tasks", "rusqlite, grouped"),
    ("ledger: 50 lines of a statement", "rusqlite"),
];

/// Returns the last recorded entry for the given row of the table.
fn last<'a>(entries: &'a [Value], work: &str, peer: &str) -> &'a Value {
    // In a record, the name of the peer is followed by its figure.
    let is_of = |entry: &&Value| {
        let name = entry["peer"].as_str().unwrap().strip_prefix(peer);
        entry["work"] == work
            && name
                .is_some_and(|figure| figure.trim_start().starts_with(|first: char| first.is_ascii_digit()))
    };
    entries.iter().rfind(is_of).unwrap_or_else(|| panic!("no record of {work}, {peer}"))
}

#[test]
fn the_readme_has_the_recorded_ratios() {
    let records = fs::read_to_string(root().join("benches/records/ratios.jsonl")).unwrap();
    let entries: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut rows =
        "| operation | entities | compared with | ratio | recorded |\n| --- | ---: | --- | ---: | --- |\n"
            .to_owned();
    for (work, peer) in ROWS {
        let entry = last(&entries, work, peer);
        let entities = entry["entities"].as_u64().map_or("–".to_owned(), |entities| entities.to_string());
        let (ratio, date) = (entry["ratio"].as_f64().unwrap(), entry["date"].as_str().unwrap());
        writeln!(rows, "| {work} | {entities} | {peer} | {ratio:.2} | {date} |").unwrap();
    }
    let path = root().join("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- recorded: ratios -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    hold(&path, &format!("{before}<!-- recorded: ratios -->\n\n{rows}\n<!-- end -->{after}"));
}
