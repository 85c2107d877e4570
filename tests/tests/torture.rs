//! A few kills of a process in which all patterns are at work. Many are by hand: `torture --patterns --rounds 100`.

use std::path::Path;

use tests::crash::patterns::process::torture;
use tests::crash::process::Plan;

#[test]
fn nothing_acknowledged_is_lost_when_a_process_with_all_patterns_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let plan =
        Plan { rounds: 3, seed: 7, folder: folder.path().join("torture"), rounds_a_folder: 3, rows: 0 };
    let outcome = torture(Path::new(env!("CARGO_BIN_EXE_torture")), &plan, |_| {}).unwrap();
    assert_eq!(outcome.wrong, Vec::<String>::new());
    assert!(outcome.kills == 3 && outcome.acknowledged > 0, "{outcome:?}");
}
