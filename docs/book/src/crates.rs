//! Tests that the README and the book state the correct numbers of crates.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::pages::{read, root};

/// Returns the number of packages that are compiled for a package with default features on this platform, including the package itself.
fn count(package: &str) -> usize {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--locked", "-e", "normal,build", "--prefix", "none", "-p", package]);
    let output = command.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.trim_end_matches(" (*)")).collect::<BTreeSet<_>>().len()
}

#[test]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), ignore = "the numbers are those of Linux")]
fn the_readme_and_the_book_state_the_number_of_crates() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let row =
        |package: &str| readme.lines().find(|line| line.starts_with(&format!("| `{package}` |"))).unwrap();
    for package in [
        "table-core",
        "table-store",
        "table-engine",
        "table-patterns",
        "table-hierarchy",
        "table-advice",
        "table-azure",
        "table-cosmos",
        "table-server",
        "tables-cli",
        "table-explorer",
        "table-inspect",
    ] {
        assert!(row(package).ends_with(&format!("| {} |", count(package))), "{package}: {}", count(package));
    }
    let sentence = format!(
        "`table-core` with the engine needs {} crates, `table-patterns` {} and `table-azure` {}.",
        count("table-core"),
        count("table-patterns"),
        count("table-azure")
    );
    assert!(read("book/platforms.md").contains(&sentence), "platforms.md: {sentence}");
}
