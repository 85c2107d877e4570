//! Every small program runs to its end: its assertions hold. And the cookbook's command line says what it does.

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

#[test]
fn list_names_every_recipe_and_runs_none() {
    let (success, out, _) = cookbook(&["--list"]);
    assert!(success);
    assert!(out.lines().any(|line| line.starts_with("log-tail ")), "{out}");
    assert_eq!(out.lines().count(), examples::cookbook::list().count());
}

#[test]
fn memory_and_path_exclude_each_other() {
    let (success, _, told) = cookbook(&["--memory", "--path", "somewhere"]);
    assert!(!success && told.contains("--memory"), "{told}");
}

#[test]
fn an_account_takes_the_place_of_a_folder() {
    let (success, _, told) = cookbook(&["--azure", "UseDevelopmentStorage=true", "--memory"]);
    assert!(!success && told.contains("--azure"), "{told}");
    let (success, _, told) = cookbook(&["--azure", "nothing"]);
    // Without the client, the message has the feature that adds it.
    let reason = if cfg!(feature = "azure") { "InvalidInput" } else { "--features azure" };
    assert!(!success && told.contains(reason), "{told}");
}

#[test]
fn more_builds_than_ten_million_are_refused() {
    let (success, _, told) = cookbook(&["--memory", "--large", "10000001"]);
    assert!(!success && told.contains("10000000"), "{told}");
}

#[test]
fn one_recipe_in_memory() {
    let (success, out, told) = cookbook(&["--memory", "--only", "point"]);
    assert!(success, "{told}");
    assert!(
        out.contains("Seattle-Tacoma Intl") && out.contains("Cost: 2 requests, 1 row read, 1 returned"),
        "{out}"
    );
}

#[test]
fn a_recipe_that_does_not_exist_is_told_in_words() {
    let (success, _, told) = cookbook(&["--memory", "--only", "pint"]);
    assert!(!success && told.contains("no recipe is named `pint`: `--list` names them all"), "{told}");
}
