//! Runs the tests for the Azure SDK for Python, with pinned versions of its packages. The first run installs them in cargo's target folder.
//!
//! Without `python3`, or without a registry, the suite is skipped with a message. If `CI` is `true`, it fails instead.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use crate::{ACCOUNT, KEY, SERVER};

#[test]
fn the_vendors_python_clients_work_with_the_server() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python");
    let python = match installed(&suite.join("requirements.txt")) {
        Ok(python) => python,
        Err(why) => {
            assert!(!env::var("CI").is_ok_and(|ci| ci == "true"), "the Python clients are not there: {why}");
            drop(writeln!(io::stderr(), "SKIPPED: the Python clients are not there: {why}"));
            return;
        }
    };
    let output = run(Command::new(python).arg(suite.join("suite.py")).args([SERVER.as_str(), ACCOUNT, KEY]));
    let output = output.expect("the suite starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the path of a Python interpreter in an environment that contains the packages in `requirements`.
fn installed(requirements: &Path) -> Result<PathBuf, String> {
    let wanted = fs::read_to_string(requirements).map_err(|error| error.to_string())?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-clients");
    let (python, complete) = (folder.join("bin/python"), folder.join("complete"));
    if fs::read_to_string(&complete).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    succeeds(Command::new(&python).args(install).arg(requirements))?;
    fs::write(complete, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = run(command)?;
    let error = || format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(()) } else { Err(error()) }
}

fn run(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|error| format!("{command:?}: {error}"))
}
