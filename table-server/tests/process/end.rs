//! Tests that a server exits on request, and that two servers cannot share a folder.

use crate::child::{Running, on};

#[test]
fn a_signal_stops_the_server_and_frees_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["-TERM", "-INT"] {
        let output = Running::start(on(folder.path())).end(signal);
        assert!(output.status.success(), "{signal}: {output:?}");
    }
}

#[test]
fn a_second_server_reports_that_the_folder_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let first = Running::start(on(folder.path()));
    let second = on(folder.path()).output().unwrap();
    assert!(!second.status.success());
    let error = String::from_utf8(second.stderr).unwrap();
    assert!(error.contains("another engine has") && error.contains("open; close it first"), "{error}");
    assert!(first.end("-TERM").status.success());
}
