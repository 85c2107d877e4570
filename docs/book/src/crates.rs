//! The numbers of crates in the README and the book.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::pages::{read, root};

/// Returns the number of packages that are compiled for packages with default features and `features` on this platform, including the packages
/// themselves.
fn count_with(packages: &[&str], features: &str) -> usize {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--locked", "-e", "normal,build", "--prefix", "none"]);
    command.args(packages.iter().flat_map(|package| ["-p", package]));
    command.args(["--features", features]);
    let output = command.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.trim_end_matches(" (*)")).collect::<BTreeSet<_>>().len()
}

fn count_of(packages: &[&str]) -> usize {
    count_with(packages, "")
}

fn count(package: &str) -> usize {
    count_of(&[package])
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

    let tls = count_with(&["table-server"], "tls") - count("table-server");
    let server = read("server.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(server.contains(&format!("it adds {tls} packages")), "server.md: {tls}");

    let cosmos = read("cosmos.md").split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        format!("compiles {} crates (`cargo build -p table-cosmos`", count("table-cosmos")),
        format!("`table-azure` has {} crates in its tree", count("table-azure")),
        format!("a program with both has {}.", count_of(&["table-cosmos", "table-azure"])),
    ] {
        assert!(cosmos.contains(&words), "cosmos.md: {words}");
    }
}
