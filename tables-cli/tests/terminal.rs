//! Tests that text from rows and files cannot control the user's terminal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

/// Text that clears the screen, sets the terminal's title, and contains a C1 control character.
const HOSTILE: &str = "\u{1b}[2Jred\u{1b}]0;title\u{7}\u{9b}31m";

/// Runs the program. Returns its standard output and its standard error.
fn run(at: &Path, words: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
    let done = command.current_dir(at).args(words).args(["--store", "s"]).output().unwrap();
    (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn texts_of_rows_and_files_have_no_effect_on_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("f.csv"), format!("PartitionKey,RowKey,Age\np,1,{HOSTILE}\n")).unwrap();
    std::fs::write(at.join("key.csv"), format!("PartitionKey,RowKey,Age\np,{HOSTILE},1\n")).unwrap();
    std::fs::write(at.join("name.csv"), format!("PartitionKey,RowKey,{HOSTILE}\np,1,1\n")).unwrap();
    std::fs::write(at.join("f.jsonl"), format!("{HOSTILE}\n")).unwrap();
    std::fs::write(at.join(format!("f{HOSTILE}.csv")), "PartitionKey\np\n").unwrap();
    run(at, &["put", "Things", "p", "1", &format!("Name={HOSTILE}")]);
    let (filter, condition) = (format!("Name eq '{HOSTILE}'"), format!("name={HOSTILE}"));
    let (value, file) = (format!("Age:Int32={HOSTILE}"), format!("f{HOSTILE}.csv"));
    let dry = ["import", "Things", "f.csv", "--types", "Age=Int32", "--dry-run"];
    for words in [
        &["import", "Things", "f.csv", "--types", "Age=Int32"][..],
        &dry,
        &[&dry[..], &["--errors", "e"]].concat(),
        &["import", "Things", "key.csv"],
        &["import", "Things", "name.csv"],
        &["import", "Things", "f.jsonl"],
        &["import", "Things", &file],
        &["put", "Things", "p", "2", &value],
        &["query", "Things", &condition],
        &["query", "Things", "--partition", HOSTILE, "--filter", HOSTILE],
        &["query", "Things", "--partition", "p"],
        &["query", "Things", "--partition", "p", "--filter", &filter],
        &["explain", "Things", "--filter", &filter],
        &["get", HOSTILE, "p", "1"],
        &["audit", "Things"],
        &["infer", "Things"],
    ] {
        let (out, error) = run(at, words);
        for text in [&out, &error] {
            let controls = text.chars().filter(|character| character.is_control() && *character != '\n');
            assert_eq!(controls.count(), 0, "{words:?}: {text:?}");
        }
        assert!(!format!("{out}{error}").is_empty(), "{words:?}");
    }
    // Output for programs contains the text unchanged.
    for words in [
        &["query", "Things", "--partition", "p", "--output", "json"][..],
        &["put", "Things", "p", "2", &format!("Name={HOSTILE}"), "--dry-run"],
    ] {
        let json = run(at, words).0;
        let found: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(found["Name"], HOSTILE, "{words:?}");
        let controls = json.chars().filter(|character| character.is_control() && *character != '\n');
        assert_eq!(controls.count(), 0, "{words:?}: {json:?}");
    }
}

/// Tests CSV, in which only the filter of the program replaces control characters. `script` connects the program to a pseudo-terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_receives_no_control_characters_as_csv() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["put", "Things", "p", "1", &format!("Name={HOSTILE}")]);
    let query = ["query", "Things", "--partition", "p", "--output", "csv"];
    assert!(run(folder.path(), &query).0.contains(HOSTILE), "a file receives the text unchanged");
    let command = format!("{} {} --store s", env!("CARGO_BIN_EXE_tables"), query.join(" "));
    let mut script = Command::new("script");
    let shown =
        script.current_dir(folder.path()).args(["-qec", &command, "/dev/null"]).output().unwrap().stdout;
    // The terminal translates line ends.
    let shown = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    assert!(shown.contains("red"), "{shown:?}");
    let controls = shown.chars().filter(|character| character.is_control() && *character != '\n');
    assert_eq!(controls.count(), 0, "{shown:?}");
}
