//! The server as a process: it ends when it is asked to, and two do not share a folder.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A server on a folder, at ports that the system chooses.
fn server(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_table-server"));
    command.arg("--path").arg(folder);
    command.args(["--table-port", "0", "--queue-port", "0", "--blob-port", "0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts it, and reads the line that says where it listens.
fn started(folder: &Path) -> (Child, String) {
    let mut child = server(folder).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

fn ended(child: Child, signal: &str) -> Output {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[test]
fn a_signal_ends_it_and_its_folder_is_free_again() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["-TERM", "-INT"] {
        let (child, line) = started(folder.path());
        assert!(line.starts_with("tables http://127.0.0.1:"), "{line}");
        let output = ended(child, signal);
        assert!(output.status.success(), "{signal}: {output:?}");
    }
}

#[test]
fn a_second_one_is_told_that_the_folder_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let (first, _) = started(folder.path());
    let second = server(folder.path()).output().unwrap();
    assert!(!second.status.success());
    let error = String::from_utf8(second.stderr).unwrap();
    assert!(error.contains("another engine has") && error.contains("open: close that one first"), "{error}");
    assert!(ended(first, "-TERM").status.success());
}
