//! Tests state files that belong to a different command, source, target, filter, file or version. A command must not use such a file to report rows that it has
//! not written.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{Account, refused, shown, tables};
use table_core::query::KeyRange;
use table_core::{DynTableStore, Engine, Query, TableName};
use tables_cli::Exit;
use tables_cli::rows::Pages;

const IMPORT: &str = "import Things DIR/in.jsonl --store DB --state DIR/state";

/// Returns entities as JSON lines, one for each row number in a range. Each entity has the given property.
fn lines(rows: std::ops::Range<u32>, property: &str) -> String {
    let line = |row| format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row:04}\",\"A\":\"{property}\"}}\n");
    rows.fold(String::new(), |text, row| text + &line(row))
}

/// Writes `content` to the file to import, and runs a command that must be rejected with the message `wanted`.
fn refuses(at: &Path, content: &str, line: &str, wanted: &str) {
    std::fs::write(at.join("in.jsonl"), content).unwrap();
    let (exit, text) = refused(at, line);
    assert!(exit == Exit::Refused && text.contains(wanted), "{line}: {text}");
}

/// Writes `content` to the file to import, and runs a command that must succeed.
fn succeeds(at: &Path, content: &str, line: &str) -> String {
    std::fs::write(at.join("in.jsonl"), content).unwrap();
    shown(at, line)
}

#[test]
fn an_import_continues_only_with_the_records_that_it_has_settled() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let all = lines(0..300, "x");
    refuses(at, &all.replacen(&lines(200..201, "x"), "{ broken\n", 1), IMPORT, "line 201");
    let changed = "lines 1 to 200 of the file, which are settled, have changed";
    for other in [
        lines(0..300, "y"),
        lines(1_000..1_300, "x"),
        lines(0..199, "x") + &lines(500..700, "x"),
        lines(1..2, "x") + &lines(0..1, "x") + &lines(2..300, "x"),
        String::from("{ broken\n") + &lines(1..300, "x"),
    ] {
        refuses(at, &other, IMPORT, changed);
        assert_eq!(shown(at, "count Things --store DB -o csv"), "rows\n200\n");
    }
    refuses(at, &lines(0..150, "x"), IMPORT, "the state file has 200 records, and the file 150");
    // Later lines may change. Blank lines and different notations of the same record have no effect.
    let respelled = all.replace(",\"A\"", ", \"A\"").replacen('\n', "\n\n", 3);
    assert_eq!(succeeds(at, &respelled, IMPORT), "imported 300 rows into Things\n");
    // A completed import continues with lines appended to the file.
    assert_eq!(succeeds(at, &lines(0..310, "x"), IMPORT), "imported 310 rows into Things\n");
    assert_eq!(shown(at, "count Things --store DB -o csv"), "rows\n310\n");
    refuses(at, &lines(0..310, "y"), IMPORT, "lines 1 to 310 of the file");
}

#[test]
fn rejected_lines_that_are_repaired_later_are_not_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let all = lines(0..50, "x");
    let broken = all.replacen(&lines(20..21, "x"), "{ broken\n", 1);
    let import = format!("{IMPORT} --errors DIR/wrong");
    refuses(at, &broken, &import, "1 row rejected");
    refuses(at, &all, &import, "lines 1 to 50 of the file");
    // The reasons for the rejected lines are in one file, whose length is recorded in the state.
    refuses(at, &broken, IMPORT, "pass `--errors DIR/wrong`");
    std::fs::write(at.join("letter"), "Dear".repeat(100)).unwrap();
    refuses(at, &broken, &format!("{IMPORT} --errors DIR/letter"), "pass `--errors");
    assert_eq!(std::fs::read_to_string(at.join("letter")).unwrap().len(), 400);
    std::fs::write(at.join("wrong"), "").unwrap();
    refuses(at, &broken, &import, "is shorter than the state file records");
}

#[test]
fn a_state_does_not_hide_an_emptied_target() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    succeeds(at, &lines(0..50, "x"), IMPORT);
    let copies = ["", " --no-verify", " --mode merge"].map(|options| {
        let name = options.replace([' ', '-'], "");
        format!("copy Things --store DB --to DIR/copied --state DIR/copy{name}{options}")
    });
    for copy in &copies {
        shown(at, copy);
    }
    std::fs::remove_dir_all(at.join("copied")).unwrap();
    for copy in &copies {
        refuses(
            at,
            &lines(0..50, "x"),
            copy,
            "counts 50 records as written, and table Things of the target is empty",
        );
    }
    shown(at, "delete Things --all --yes --store DB");
    refuses(at, &lines(0..50, "x"), IMPORT, "counts 50 records as written");
    shown(at, "delete Things --drop-table --yes --store DB");
    refuses(at, &lines(0..50, "x"), IMPORT, "counts 50 records as written");
}

#[test]
fn a_copy_with_differences_is_not_complete_for_the_next_run_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    succeeds(at, &lines(0..1_500, "x"), IMPORT);
    let copy = "copy Things --store DB --to DIR/copied --state DIR/copy";
    shown(at, copy);
    // The state is reset to that of a copy interrupted after the first page. A program then changes a row on this page.
    let path = at.join("copy");
    let mut state: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    state["is_done"] = false.into();
    state["records"] = 1_000.into();
    state["continuation"] = second_page(&at.join("db")).into();
    std::fs::write(&path, state.to_string()).unwrap();
    shown(at, "put Things p 0001 A=y --store DB");
    let (exit, text) = refused(at, copy);
    assert!(exit == Exit::Refused && text.contains("first at ('p', '0001'): a program writes"), "{text}");
    assert!(shown(at, copy).contains("1500 rows, verified"));
    // A completed copy does not rewrite any rows, because programs may already use the target.
    shown(at, "put Things p 0001 A=z --store DB");
    for _ in 0..2 {
        let (exit, text) = refused(at, copy);
        assert!(exit == Exit::Refused && text.contains("delete the state file to copy the table"), "{text}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(shown(at, copy).contains("1500 rows, verified"));
    let unverified = format!("{copy}2 --no-verify");
    assert_eq!(shown(at, &unverified), "copied Things to Things: 1500 rows, not verified\n");
    let again = "Things was copied to Things before: 1500 rows, not verified; delete the state file";
    assert!(shown(at, &unverified).starts_with(again));
}

/// Returns the continuation token for the second page of the table.
fn second_page(folder: &Path) -> String {
    let store = DynTableStore::new(Engine::open_read_only(folder).unwrap());
    let name = TableName::new("Things").unwrap();
    let mut pages = Pages::new(&store, &name, Query::new(KeyRange::ALL));
    common::block_on(pages.next()).unwrap();
    pages.continuation().unwrap().to_string()
}

#[test]
fn a_state_belongs_to_one_source_target_filter_and_mode() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    succeeds(at, &lines(0..50, "x"), IMPORT);
    shown(at, "copy Things --store DB --to DIR/copied --state DIR/copy");
    shown(at, "put Others p 1 A=x --store DB");
    let account = Account::start();
    let server = &account.string;
    for line in [
        "import Others DIR/in.jsonl --store DB --state DIR/state".to_owned(),
        "import Things DIR/in.jsonl --store DIR/other --state DIR/state".to_owned(),
        format!("import Things DIR/in.jsonl --store {server} --state DIR/state"),
        "import Things DIR/in.jsonl --store DB --mode merge --state DIR/state".to_owned(),
        "import Things DIR/in.jsonl --store DB --state DIR/copy".to_owned(),
        "copy Things --store DB --to DIR/copied --state DIR/state".to_owned(),
        "copy Others --store DB --to DIR/copied --state DIR/copy".to_owned(),
        "copy Things --store DIR/copied --to DIR/other --state DIR/copy".to_owned(),
        "copy Things --store DB --to DIR/other --state DIR/copy".to_owned(),
        format!("copy Things --store DB --to {server} --state DIR/copy"),
        "copy Things --store DB --to DIR/copied --rename Other --state DIR/copy".to_owned(),
        "copy Things --store DB --to DIR/copied --rows 00* --state DIR/copy".to_owned(),
        "copy Things --store DB --to DIR/copied --filter \"A eq 'x'\" --state DIR/copy".to_owned(),
        "copy Things --store DB --to DIR/copied --mode merge --state DIR/copy".to_owned(),
        "copy Things --store DB --to DIR/copied --row-key '{A}' --state DIR/copy".to_owned(),
    ] {
        let (exit, text) = refused(at, &line);
        assert!(exit == Exit::Refused && text.contains("belongs to another transfer"), "{line}: {text}");
    }
    // A different path to the same folder refers to the same target.
    shown(at, "copy Things --store DIR/./db --to DIR/copied/../copied --state DIR/copy");
}

#[test]
fn a_damaged_state_and_one_of_another_version_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (all, path) = (lines(0..50, "x"), at.join("state"));
    succeeds(at, &all, IMPORT);
    let state = std::fs::read_to_string(&path).unwrap();
    for damaged in ["", "{\"transfer\":", "[]", "\u{0}\u{0}"] {
        std::fs::write(&path, damaged).unwrap();
        refuses(at, &all, IMPORT, "is not a state file");
    }
    std::fs::write(&path, state.replacen('{', "{ \"pages\": 7,", 1)).unwrap();
    refuses(at, &all, IMPORT, "is not a state file of this version");
    let old: String = state.lines().filter(|line| !line.contains("checksum")).collect();
    std::fs::write(&path, old).unwrap();
    refuses(at, &all, IMPORT, "has no checksum of the settled records");
    std::fs::remove_file(&path).unwrap();
    shown(at, IMPORT);
    assert!(matches!(tables(at, "count Things --store DB").0, Ok(Exit::Done)));
}
