//! Tests that an error about invalid input contains the position and the expected input, and that nothing is written partially.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{Account, block_on, refused, shown, tables};
use table_core::{Engine, TableEntity};
use tables_cli::Exit;

/// Imports a file with this content. Returns the exit code and the message.
fn import(at: &Path, name: &str, content: &[u8], options: &str) -> (Exit, String) {
    std::fs::write(at.join(name), content).unwrap();
    refused(at, format!("import Things DIR/{name} --store DB {options}").trim_end())
}

#[test]
fn a_wrong_type_far_into_a_file_is_named_by_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        |row: u32| if row == 73_119 { "p,73119,old\r\n".to_owned() } else { format!("p,{row},{row}\r\n") };
    let text: String =
        std::iter::once("PartitionKey,RowKey,Age\r\n".to_owned()).chain((0..80_000).map(line)).collect();
    let (exit, text) = import(folder.path(), "in.csv", text.as_bytes(), "--types Age=Int32 --dry-run");
    assert!(
        exit == Exit::Refused && text.starts_with("line 73121, column 3: property `Age`: `old`"),
        "{text}"
    );
}

#[test]
fn a_dry_run_keeps_the_file_of_rejected_rows() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wrong"), "line 7: of an earlier import\n").unwrap();
    let file = b"PartitionKey,RowKey,Age\np,1,old\np,2,3\n";
    let options = "--types Age=Int32 --errors DIR/wrong --dry-run";
    assert_eq!(
        import(folder.path(), "in.csv", file, options),
        (Exit::Refused, "1 row would be rejected".to_owned())
    );
    let kept = std::fs::read_to_string(folder.path().join("wrong")).unwrap();
    assert_eq!(kept, "line 7: of an earlier import\n");
}

#[test]
fn rows_that_no_service_accepts_are_set_aside_and_the_others_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let many: String = (0..300).fold(String::new(), |text, n| text + &format!(",\"P{n}\":{n}"));
    let long = "k".repeat(600);
    let lines = [
        "{\"PartitionKey\":\"p\",\"RowKey\":\"good\",\"A\":1}".to_owned(),
        format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"many\"{many}}}"),
        format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{long}\"}}"),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"a/b\"}".to_owned(),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"c\\u0001\"}".to_owned(),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"twice\",\"A\":1,\"A\":\"x\"}".to_owned(),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"list\",\"A\":[1]}".to_owned(),
        format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"text\",\"A\":\"{}\"}}", "x".repeat(40_000)),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"name\",\"a b\":1}".to_owned(),
        "{\"PartitionKey\":\"p\"}".to_owned(),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"last\",\"A\":2}".to_owned(),
    ];
    let (exit, text) = import(at, "in.jsonl", lines.join("\n").as_bytes(), "--errors DIR/wrong");
    assert_eq!((exit, text.as_str()), (Exit::Refused, "9 rows rejected; DIR/wrong has the reasons"));
    let wrong = std::fs::read_to_string(at.join("wrong")).unwrap();
    let numbers: Vec<_> = wrong.lines().map(|line| line.split([':', ',']).next().unwrap()).collect();
    assert_eq!(numbers, (2..=10).map(|line| format!("line {line}")).collect::<Vec<_>>(), "{wrong}");
    for code in
        ["TooManyProperties", "PropertyValueTooLarge", "OutOfRangeInput", "DuplicatePropertiesSpecified"]
    {
        assert!(wrong.contains(code), "{code}: {wrong}");
    }
    assert_eq!(shown(at, "count Things --store DB -o csv"), "rows\n2\n");
}

#[test]
fn a_byte_order_mark_is_skipped_and_other_encodings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let line = "{\"PartitionKey\":\"p\",\"RowKey\":\"é\"}\r\n";
    let utf16: Vec<u8> = format!("\u{feff}{line}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (exit, text) = import(at, "in.jsonl", &utf16, "");
    assert!(exit == Exit::Refused && text.contains("is UTF-16, not UTF-8; convert it"), "{text}");
    std::fs::write(at.join("in.jsonl"), format!("\u{feff}{line}")).unwrap();
    shown(at, "import Things DIR/in.jsonl --store DB");
    let latin = b"{\"PartitionKey\":\"p\",\"RowKey\":\"\xe9\"}\n";
    let (exit, text) = import(at, "in.jsonl", latin, "");
    assert!(exit == Exit::Refused && text.starts_with("line 1, column 31: invalid"), "{text}");
    let (exit, text) = import(at, "empty.csv", b"", "");
    assert!(exit == Exit::Refused && text.contains("no column `PartitionKey`"), "{text}");
}

#[test]
fn a_folder_in_use_is_read_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put Things p 1 A=1 --store DB");
    let held = block_on(async { Engine::open(at.join("db")).unwrap() });
    assert_eq!(shown(at, "count Things --store DB -o csv"), "rows\n1\n");
    for line in [
        "put Things p 2 A=1 --store DB",
        "delete Things --partition p --yes --store DB",
        "backup DIR/b --store DB",
    ] {
        let (exit, text) = refused(at, line);
        assert!(exit == Exit::Store && text.contains("FolderLocked"), "{line}: {text}");
    }
    shown(at, "backup DIR/rows --format rows --store DB");
    drop(held);
}

/// Tests that the file for rejected rows must differ from all other files of the command, because the command empties it at the start.
#[test]
fn the_file_of_rejected_rows_is_no_other_file_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n{ broken\n";
    #[cfg(unix)]
    std::os::unix::fs::symlink(at.join("in.jsonl"), at.join("link")).unwrap();
    let other = if cfg!(unix) { "DIR/link" } else { "DIR/in.jsonl" };
    for options in [
        "--errors DIR/in.jsonl".to_owned(),
        "--errors DIR/in.jsonl --dry-run".to_owned(),
        format!("--errors {other}"),
        "--errors DIR/./in.jsonl --state DIR/state".to_owned(),
        "--errors DIR/new --state DIR/new".to_owned(),
        "--state DIR/in.jsonl".to_owned(),
    ] {
        let (exit, message) = import(at, "in.jsonl", text.as_bytes(), &options);
        assert!(exit == Exit::Usage && message.contains("names a file of another argument"), "{message}");
        assert_eq!(std::fs::read_to_string(at.join("in.jsonl")).unwrap(), text, "{options}");
    }
    assert!(!at.join("new").exists() && !at.join("db").exists());
}

#[test]
fn a_store_that_vanishes_is_named_and_the_copy_continues_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put Things p 1 A=1 --store DB");
    let gone = Account::start().string;
    let (exit, text) = tables(at, &format!("copy Things --store DB --to {gone} --state DIR/state"));
    assert!(exit.is_err_and(|failure| failure.exit() == Exit::Store), "{text}");
    let account = Account::start();
    let text = shown(at, &format!("copy Things --store DB --to {} --state DIR/state2", account.string));
    assert!(text.contains("1 row, verified"), "{text}");
}

/// Tests that a disk full error is reported. The error is simulated by a device that rejects every write.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_no_file_is_left_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let entity = TableEntity::new("p", "1").unwrap().with("A", "x".repeat(30_000));
    std::fs::write(at.join("in.jsonl"), serde_json::to_string(&entity).unwrap()).unwrap();
    shown(at, "import Things DIR/in.jsonl --store DB");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tables"))
        .args(["export", "Things", "-", "--store"])
        .arg(at.join("db"))
        .stdout(full)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(4) && error.contains("No space left"), "{error}");
    let (exit, _) = refused(at, "export Things DIR/missing/out.jsonl --store DB");
    assert!(exit == Exit::Store && !at.join("missing").exists());
}

#[test]
fn files_of_the_user_with_the_extension_part_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let line = |row| format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"}}\n");
    let rows = (0..30).map(line).fold(String::new(), |rows, line| rows + &line);
    std::fs::write(at.join("rows.part"), &rows).unwrap();
    shown(at, "import Things DIR/rows.part --store DB --state DIR/rows");
    assert_eq!(std::fs::read_to_string(at.join("rows.part")).unwrap(), rows);
    std::fs::write(at.join("out.jsonl.part"), "Dear").unwrap();
    shown(at, "export Things DIR/out.jsonl --store DB");
    assert_eq!(std::fs::read_to_string(at.join("out.jsonl.part")).unwrap(), "Dear");
    assert_eq!(refused(at, "export Things DIR/out.jsonl --store DB").0, Exit::Refused);
    shown(at, "export Things DIR/out.jsonl --store DB --force");
    let mut names: Vec<_> = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["db", "out.jsonl", "out.jsonl.part", "rows", "rows.part"]);
}

#[test]
fn a_row_that_the_store_rejects_is_named_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // The first record spans lines 2 and 3.
    std::fs::write(at.join("in.csv"), "PartitionKey,RowKey,A,a-b\np,1,\"x\ny\",\n\np,2,x,wrong\np,3,x,\n")
        .unwrap();
    let (exit, text) = refused(at, "import Things DIR/in.csv --store DB");
    assert!(exit == Exit::Refused && text.starts_with("line 5: PropertyNameInvalid"), "{text}");
    std::fs::write(at.join("in.jsonl"), "\n\n{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"a-b\":1}\n").unwrap();
    let (exit, text) = refused(at, "import Things DIR/in.jsonl --store DB");
    assert!(exit == Exit::Refused && text.starts_with("line 3: PropertyNameInvalid"), "{text}");
}

#[test]
fn a_table_is_not_copied_onto_itself_under_another_spelling() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    shown(at, "put Things p 1 A=1 --store DB");
    for line in [
        "copy Things --store DB --to DIR/./db",
        "copy Things --store DB --to DIR/db/../db --row-key {RowKey}x",
        "copy Things --store DB --to DB --rename THINGS --row-key {RowKey}x",
        "copy --store DB --to DIR/db/",
        "sync Things --store DB --to DIR/./db",
    ] {
        let (exit, text) = refused(at, line);
        assert!(exit == Exit::Usage && text.contains("itself"), "{line}: {text}");
    }
    assert_eq!(shown(at, "count Things --store DB -o csv"), "rows\n1\n");
}

#[test]
fn names_on_the_command_line_that_nothing_can_have_are_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("in.csv"), "PartitionKey,RowKey,Age\np,1,3\n").unwrap();
    shown(at, "import Things DIR/in.csv --store DB");
    for line in [
        "import T DIR/in.csv --store DB",
        "import 1Things DIR/in.csv --store DB",
        "import Things DIR/in.csv --types Agee=Int32 --store DB",
        "query Thi-ngs --store DB",
        "query Things --filter 'Age gt' --scan --store DB",
        "get Things a/b 1 --store DB",
        "put Things p 'a#b' A=1 --store DB",
        "patch Things p 'a?b' A=1 --store DB",
        "copy Things --rename T --store DB --to memory:",
    ] {
        let (exit, text) = refused(at, line);
        assert!(exit == Exit::Usage, "{line}: {exit:?} {text}");
    }
}
