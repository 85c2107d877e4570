//! Runs the tests for the Azure SDK for JavaScript, with pinned versions of its packages. The first run installs them in cargo's target folder.
//!
//! Without Node and npm, or without a registry, the suite is skipped with a message. If `CI` is `true`, it fails instead.

use std::io::{self, Write};
use std::process::Command;
use std::{env, fs};

use tests::npm;

use crate::{ACCOUNT, KEY, SERVER};

const PACKAGES: [(&str, &str); 3] = [
    ("package.json", include_str!("../../clients/javascript/package.json")),
    ("package-lock.json", include_str!("../../clients/javascript/package-lock.json")),
    (".npmrc", include_str!("../../clients/javascript/.npmrc")),
];
/// The files of the test suite. They are copied to the folder of the packages, because Node searches for packages there.
const SUITE: [(&str, &str); 6] = [
    ("suite.mjs", include_str!("../../clients/javascript/suite.mjs")),
    ("server.mjs", include_str!("../../clients/javascript/server.mjs")),
    ("table.mjs", include_str!("../../clients/javascript/table.mjs")),
    ("tables.mjs", include_str!("../../clients/javascript/tables.mjs")),
    ("table_signatures.mjs", include_str!("../../clients/javascript/table_signatures.mjs")),
    ("queues.mjs", include_str!("../../clients/javascript/queues.mjs")),
];

#[test]
fn the_vendors_javascript_clients_work_with_the_server() {
    let folder = match npm::install("javascript-clients", &PACKAGES) {
        Ok(folder) => folder,
        Err(why) => {
            assert!(
                !env::var("CI").is_ok_and(|ci| ci == "true"),
                "the JavaScript clients are not there: {why}"
            );
            drop(writeln!(io::stderr(), "SKIPPED: the JavaScript clients are not there: {why}"));
            return;
        }
    };
    for (name, text) in SUITE {
        fs::write(folder.join(name), text).expect("the suite is written next to its packages");
    }
    let mut node = Command::new("node");
    node.current_dir(folder).arg("suite.mjs").args([SERVER.as_str(), ACCOUNT, KEY]);
    let output = node.output().expect("the suite starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
