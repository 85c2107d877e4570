//! Tests of transfers that are killed at any moment and started again. The final rows are those of an uninterrupted transfer.
//!
//! `TABLES_KILLS` sets the number of kills for each command; the default is small.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::TableEntity;

fn kills() -> usize {
    std::env::var("TABLES_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

fn tables(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    command.current_dir(folder).args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end, and returns its output.
fn run(folder: &Path, line: &str) -> String {
    let output = tables(folder, line).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|code| code <= 1), "{line}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Starts a command and kills it after some time, several times. Then runs it to its end.
fn run_with_kills(folder: &Path, line: &str) {
    let mut random: StdRng = rand::make_rng();
    for _ in 0..kills() {
        let mut child = tables(folder, line).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.random_range(5..400)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    run(folder, line);
}

/// Writes a file of entities in many partitions, with duplicates of a few keys. The last duplicate counts.
fn write_rows(path: &Path, count: u32) {
    let row = |number: u32| {
        let (partition, row) = (format!("p{:02}", number % 40), format!("{:06}", number - number % 97));
        let entity = TableEntity::new(partition, row)
            .unwrap()
            .with("Number", i64::from(number))
            .with("Text", "x".repeat(80));
        serde_json::to_string(&entity).expect("an entity has a JSON form") + "\n"
    };
    std::fs::write(path, (0..count).map(row).collect::<String>()).unwrap();
}

#[test]
fn imports_copies_and_syncs_that_are_killed_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_rows(&at.join("in.jsonl"), 20_000);
    run(at, "import Things in.jsonl --store whole");
    let wanted = run(at, "count Things --checksum --store whole");

    run_with_kills(at, "import Things in.jsonl --store imported --state import.state");
    assert_eq!(run(at, "count Things --checksum --store imported"), wanted);

    run_with_kills(at, "copy Things --store whole --to copied --state copy.state");
    assert_eq!(run(at, "count Things --checksum --store copied"), wanted);

    // A mirror with rows of its own, and without others.
    run(at, "import Things in.jsonl --store mirror");
    run(at, "delete Things --partitions p1* --yes --store mirror");
    run(at, "put Things other 1 A=1 --store mirror");
    run_with_kills(at, "sync Things --store whole --to mirror");
    assert_eq!(run(at, "count Things --checksum --store mirror"), wanted);
    assert!(run(at, "sync Things --store whole --to mirror").ends_with("0 added, 0 changed, 0 deleted\n"));

    run_with_kills(at, "delete Things --partitions p2* --yes --store mirror");
    assert_eq!(run(at, "count Things --partitions p2* --store mirror -o csv"), "rows\n0\n");
}

#[test]
fn backups_and_restores_that_are_killed_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_rows(&at.join("in.jsonl"), 20_000);
    run(at, "import Things in.jsonl --store data");
    for form in ["rows", "files"] {
        let backup = format!("backup {form} --as {form} --store data");
        run_with_kills(at, &backup);
        let before = run(at, "count Things --checksum --store data");
        run(at, "delete Things --partitions p1* --yes --store data");
        run(at, "put Things other 1 A=1 --store data");
        run_with_kills(at, &backup);
        let after = run(at, "count Things --checksum --store data");
        run(at, &format!("backup verify {form}"));

        let generations = run(at, &format!("backup ls {form} -o csv"));
        let first = generations.lines().nth(1).and_then(|line| line.split(',').next()).unwrap();
        let restored = |to: &str, generation: &str, wanted: &str| {
            let restore = format!("restore {form} {to} Things{generation} --replace");
            run_with_kills(at, &restore);
            assert_eq!(run(at, &format!("count Things --checksum --store {to}")), wanted);
        };
        restored(&format!("{form}-newest"), "", &after);
        restored(&format!("{form}-first"), &format!(" --generation {first}"), &before);
        run(at, "import Things in.jsonl --store data");
    }
}
