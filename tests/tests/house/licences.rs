//! Tests that every package in the build has an acceptable licence and comes from the registry.
//!
//! The test applies the lists in `deny.toml`, but needs no tool other than cargo.

use std::process::Command;

use serde_json::Value;

const ALLOWED: [&str; 14] = [
    "0BSD",
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MPL-2.0",
    "MPL-2.0+",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Returns the target platform of this test. Packages for other platforms may not have been downloaded, so they are not checked.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

/// Returns the output of `cargo metadata`. It runs without `--offline`, because packages for `benches` alone may not have been downloaded.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--all-features",
            "--filter-platform",
            &host(),
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// Returns `true` if the SPDX expression has an alternative in which every licence is allowed.
fn allowed(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // Parentheses are ignored, and `AND` binds more tightly than `OR`. For the expressions in use, this is at least as strict as an exact evaluation.
    plain.split(" OR ").any(|alternative| {
        alternative.split(" AND ").map(str::trim).all(|licence| ALLOWED.contains(&licence))
    })
}

#[test]
fn every_dependency_has_an_allowed_licence_and_a_registry() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 20, "only {} packages: is this the whole workspace?", packages.len());
    let mut refused = Vec::new();
    for package in packages {
        let name = format!(
            "{} {}",
            package["name"].as_str().unwrap_or("?"),
            package["version"].as_str().unwrap_or("?")
        );
        let licence = package["license"].as_str().unwrap_or("none stated");
        if !allowed(licence) {
            refused.push(format!("{name}: licence `{licence}`"));
        }
        if let Some(source) = package["source"].as_str()
            && !source.starts_with("registry+")
        {
            refused.push(format!("{name}: source `{source}`"));
        }
    }
    assert!(refused.is_empty(), "not allowed:\n{}", refused.join("\n"));
}

#[test]
fn licence_expressions_are_evaluated() {
    assert!(allowed("MIT OR Apache-2.0"));
    assert!(allowed("MIT/Apache-2.0"));
    assert!(allowed("GPL-3.0 OR MIT"));
    assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!allowed("GPL-3.0"));
    assert!(!allowed("MIT AND GPL-3.0"));
    assert!(!allowed("none stated"));
}
