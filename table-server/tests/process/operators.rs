//! Tests of the files for operators: the server's documentation page, the container image, and the systemd unit.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::child::{Running, program};

/// Flags of programs other than `table-server` in the documentation and deployment files.
const OTHERS: [&str; 7] =
    ["--bin", "--features", "--from", "--locked", "--no-cache", "--package", "--release"];

const UNIT: &str = "table-server.service";

/// Returns the text of a file. The path is relative to the package.
fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// Returns the words in a string that consist of a prefix, a letter, and any number of characters for which `is_part` returns `true`.
fn words(text: &str, prefix: &str, is_part: fn(char) -> bool) -> BTreeSet<String> {
    let starts = text.match_indices(prefix).map(|(at, _)| &text[at..]);
    let ends = starts.map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default());
    ends.filter(|word| word[prefix.len()..].starts_with(char::is_alphabetic)).map(str::to_owned).collect()
}

fn flags(text: &str) -> BTreeSet<String> {
    words(text, "--", |c| c.is_ascii_lowercase() || c == '-')
}

fn variables(text: &str) -> BTreeSet<String> {
    words(text, "TABLE_SERVER_", |c| c.is_ascii_uppercase() || c == '_')
}

fn help() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_table-server")).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_flag_and_variable_that_is_named_exists() {
    let (flags_of_help, variables_of_help) = (flags(&help()), variables(&help()));
    for name in ["../docs/server.md", "README.md", "Containerfile", "sample.toml", UNIT] {
        let text = file(name);
        let unknown: Vec<_> = flags(&text).difference(&flags_of_help).cloned().collect();
        let unknown: Vec<_> = unknown.iter().filter(|flag| !OTHERS.contains(&flag.as_str())).collect();
        assert!(unknown.is_empty(), "{name} names flags that do not exist: {unknown:?}");
        let unknown: Vec<_> = variables(&text).difference(&variables_of_help).cloned().collect();
        assert!(unknown.is_empty(), "{name} names variables that do not exist: {unknown:?}");
    }
}

/// Tests the statement in `docs/server.md` that every flag has an environment variable.
#[test]
fn every_flag_has_a_variable() {
    let (flags, variables) = (flags(&help()), variables(&help()));
    for flag in flags.iter().filter(|flag| !["--help", "--version", "--account"].contains(&flag.as_str())) {
        let name = flag.trim_start_matches('-').replace('-', "_").to_uppercase();
        assert!(variables.contains(&format!("TABLE_SERVER_{name}")), "{flag}");
    }
    assert!(flags.len() > 15 && variables.contains("TABLE_SERVER_ACCOUNTS"));
}

#[test]
fn the_command_of_the_unit_starts_the_server() {
    let credentials = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let config = credentials.path().join("table-server.toml");
    fs::write(config, "[[account]]\nname = \"contoso\"\nkey = \"Y29udG9zbw==\"\n").unwrap();

    let unit = file(UNIT);
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let (path, arguments) = line.split_once(' ').unwrap();
    assert_eq!(path, "/usr/local/bin/table-server");
    let arguments = arguments
        .replace("${CREDENTIALS_DIRECTORY}", credentials.path().to_str().unwrap())
        .replace("/var/lib/table-server", state.path().to_str().unwrap());
    let mut command = program();
    command.args(arguments.split(' '));
    let output = Running::start(command).end("-TERM");
    assert!(output.status.success(), "{output:?}");
    assert!(state.path().join("contoso").is_dir());
}

/// Tests that systemd accepts every line of the unit file. The test is skipped on machines without systemd.
#[test]
fn systemd_knows_every_line_of_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let unit = file(UNIT).replace("/usr/local/bin/table-server", env!("CARGO_BIN_EXE_table-server"));
    fs::write(folder.path().join(UNIT), unit).unwrap();
    let verified = Command::new("systemd-analyze").arg("verify").arg(folder.path().join(UNIT)).output();
    let output = match verified {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        verified => verified.unwrap(),
    };
    // Messages about other units on the machine do not contain this unit's name.
    let text = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<_> = text.lines().filter(|line| line.contains(UNIT)).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}
