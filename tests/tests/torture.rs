//! Kills a process that uses all patterns a few times. Also kills a server a few times.
//!
//! For many kills, use `torture --patterns --rounds 100` and `torture --server --rounds 50`.

use std::path::Path;

use tests::crash::process::Plan;
use tests::crash::{patterns, server};

#[test]
fn nothing_acknowledged_is_lost_when_a_process_with_all_patterns_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let plan =
        Plan { rounds: 3, seed: 7, folder: folder.path().join("torture"), rounds_a_folder: 3, rows: 0 };
    let outcome =
        patterns::process::torture(Path::new(env!("CARGO_BIN_EXE_torture")), &plan, |_| {}).unwrap();
    assert_eq!(outcome.wrong, Vec::<String>::new());
    assert!(outcome.kills == 3 && outcome.acknowledged > 0, "{outcome:?}");
}

#[test]
fn nothing_acknowledged_over_http_is_lost_when_a_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let plan =
        Plan { rounds: 3, seed: 5, folder: folder.path().join("torture"), rounds_a_folder: 3, rows: 0 };
    let outcome = server::process::torture(Path::new(env!("CARGO_BIN_EXE_torture")), &plan, |_| {}).unwrap();
    assert_eq!(outcome.wrong, Vec::<String>::new());
    assert!(outcome.kills == 3 && outcome.acknowledged > 0, "{outcome:?}");
}
