//! Tests that the Azure SDK is not in the dependency tree of programs that do not use this package, so they need not build it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

/// Returns the crates in the output of `cargo tree` with the given arguments.
fn tree(arguments: &[&str]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--edges", "normal,build,dev"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_vendors_client_is_compiled_only_on_request() {
    let asks = |tree: &[String]| {
        tree.iter().any(|name| name.starts_with("azure_data_cosmos") || name == "table-cosmos")
    };
    assert!(asks(&tree(&["--package", "table-cosmos"])));
    assert!(asks(&tree(&["--package", "tables-cli", "--features", "cosmos"])));
    // The Azure SDK is not part of a default build, of the other packages with all features, or of the tool with its other features.
    assert!(!asks(&tree(&[])));
    let others = ["--workspace", "--exclude", "table-cosmos", "--exclude", "tables-cli", "--all-features"];
    assert!(!asks(&tree(&others)));
    assert!(!asks(&tree(&["--package", "tables-cli", "--features", "object-store,parquet"])));
}
