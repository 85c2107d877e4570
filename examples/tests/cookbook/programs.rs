//! Tests that run every small example program, including its assertions, and that check the command line of the cookbook.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

macro_rules! programs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let output = Command::new(env!(concat!("CARGO_BIN_EXE_", stringify!($name)))).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    )*};
}

programs! {
    compound_key escaped_key heterogeneous log_tail optimistic_concurrency paging point_and_range projection scans transaction
}

fn cookbook(arguments: &[&str]) -> (bool, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_cookbook")).args(arguments).output().unwrap();
    (status.success(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// Returns the path and the content of every file below a folder.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn no_program_changes_a_folder_with_other_files() {
    let programs = [
        (env!("CARGO_BIN_EXE_helpdesk"), ["--tickets", "1000"]),
        (env!("CARGO_BIN_EXE_ledger"), ["--entries", "1000"]),
        (env!("CARGO_BIN_EXE_cookbook"), ["--only", "point"]),
    ];
    for (program, arguments) in programs {
        for nested in ["thesis.txt", "photos/cat.jpg", ".hidden"] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(nested);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "the only copy").unwrap();
            let before = files(folder.path());
            let output =
                Command::new(program).arg("--path").arg(folder.path()).args(arguments).output().unwrap();
            assert!(!output.status.success(), "{program} took a folder with {nested}");
            assert_eq!(files(folder.path()), before, "{program} changed a folder with {nested}");
        }
    }
}

#[test]
fn helpdesk_refuses_the_store_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let (success, _, stderr) = cookbook(&["--path", folder.path().to_str().unwrap(), "--only", "point"]);
    assert!(success, "{stderr}");
    let before = files(folder.path());
    let output =
        Command::new(env!("CARGO_BIN_EXE_helpdesk")).arg("--path").arg(folder.path()).output().unwrap();
    assert!(!output.status.success());
    assert_eq!(files(folder.path()), before);
}

#[test]
fn list_names_every_recipe_and_runs_none() {
    let (success, out, _) = cookbook(&["--list"]);
    assert!(success);
    assert!(out.lines().any(|line| line.starts_with("log-tail ")), "{out}");
    assert_eq!(out.lines().count(), examples::cookbook::list().count());
}

#[test]
fn memory_and_path_are_mutually_exclusive() {
    let (success, _, stderr) = cookbook(&["--memory", "--path", "somewhere"]);
    assert!(!success && stderr.contains("--memory"), "{stderr}");
}

#[test]
fn an_account_replaces_a_folder() {
    let (success, _, stderr) = cookbook(&["--azure", "UseDevelopmentStorage=true", "--memory"]);
    assert!(!success && stderr.contains("--azure"), "{stderr}");
    let (success, _, stderr) = cookbook(&["--azure", "nothing"]);
    // Without the `azure` feature, the message names the feature.
    let reason = if cfg!(feature = "azure") { "InvalidInput" } else { "--features azure" };
    assert!(!success && stderr.contains(reason), "{stderr}");
}

#[test]
fn more_than_ten_million_builds_are_refused() {
    let (success, _, stderr) = cookbook(&["--memory", "--large", "10000001"]);
    assert!(!success && stderr.contains("10000000"), "{stderr}");
}

#[test]
fn one_recipe_runs_in_memory() {
    let (success, out, stderr) = cookbook(&["--memory", "--only", "point"]);
    assert!(success, "{stderr}");
    assert!(
        out.contains("Seattle-Tacoma Intl") && out.contains("Cost: 2 requests, 1 row read, 1 returned"),
        "{out}"
    );
}

#[test]
fn an_unknown_recipe_is_reported_in_plain_words() {
    let (success, _, stderr) = cookbook(&["--memory", "--only", "pint"]);
    assert!(!success && stderr.contains("no recipe is named `pint`: `--list` names them all"), "{stderr}");
}
