//! `faults` adds each past fault of the engine to a copy of the workspace again. It then searches for a simulated history that detects the fault. A history is
//! a run with one seed.
//!
//! The copy and its build output are in `target/faults`.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use simulation::fault::{Fault, workspace};

const USAGE: &str = "faults [--some N] [--only NAME] [--seeds N]";

struct Plan {
    /// The number of faults to search for. The current commit determines which faults these are. `None` searches for all faults.
    some: Option<usize>,
    only: Option<String>,
    seeds: u64,
}

fn main() -> ExitCode {
    match plan().map_err(io::Error::other).and_then(|plan| run(&plan)) {
        Ok(missed) if missed.is_empty() => ExitCode::SUCCESS,
        Ok(missed) => {
            eprintln!("faults: no history finds {}", missed.join(", "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("faults: {error}");
            ExitCode::FAILURE
        }
    }
}

fn plan() -> Result<Plan, String> {
    let mut plan = Plan { some: None, only: None, seeds: 2_000 };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("`{word}` needs a value: {USAGE}"))?;
        let number = |value: &str| value.parse::<u64>().map_err(|error| format!("`{value}`: {error}"));
        match word.as_str() {
            "--some" => plan.some = usize::try_from(number(&value)?).ok(),
            "--only" => plan.only = Some(value),
            "--seeds" => plan.seeds = number(&value)?,
            _ => return Err(format!("unknown option `{word}`: {USAGE}")),
        }
    }
    Ok(plan)
}

/// Searches for histories that detect the planned faults. Returns the names of undetected faults.
fn run(plan: &Plan) -> io::Result<Vec<String>> {
    let root = workspace();
    let tree = target(&root).join("faults").join("tree");
    copy(&root, &tree)?;
    let mut missed = Vec::new();
    for fault in choose(Fault::all()?, plan, &root)? {
        fault.put_back(&tree)?;
        let found = hunt(&tree, plan.seeds);
        fault.remove(&tree)?;
        if let Some(history) = found? {
            println!("{}: {history}", fault.name);
        } else {
            missed.push(fault.name);
        }
    }
    Ok(missed)
}

fn choose(mut faults: Vec<Fault>, plan: &Plan, root: &Path) -> io::Result<Vec<Fault>> {
    if let Some(only) = &plan.only {
        faults.retain(|fault| fault.name == *only);
        if faults.is_empty() {
            return Err(io::Error::other(format!("no fault has the name `{only}`")));
        }
    }
    if let Some(some) = plan.some {
        // The commit determines which faults are searched for.
        let commit = output(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root))?;
        let start = commit.bytes().fold(0_usize, |sum, byte| (sum * 31 + usize::from(byte)) % 10_007);
        let count = faults.len();
        faults.rotate_left(start % count);
        faults.truncate(some);
    }
    Ok(faults)
}

/// Builds the simulation in a source tree, and runs its histories. Returns the line that reports the first failed history, or `None` if no history fails.
fn hunt(tree: &Path, seeds: u64) -> io::Result<Option<String>> {
    let target = tree.with_file_name("target");
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    build.args(["build", "--quiet", "--release", "--config", "profile.release.opt-level=1"]);
    build.args(["--package", "simulation", "--bin", "simulate"]).env("CARGO_TARGET_DIR", &target);
    // Warnings are allowed, because code may become unused when a fault is added.
    build.env("RUSTFLAGS", "--cap-lints=allow").current_dir(tree);
    output(&mut build)?;
    let simulate = target.join("release").join("simulate");
    let run = Command::new(simulate).arg("--seeds").arg(seeds.to_string()).output()?;
    let error = String::from_utf8_lossy(&run.stderr);
    let line = error.lines().find_map(|line| line.strip_prefix("simulate: "));
    match (run.status.success(), line) {
        (true, _) => Ok(None),
        (false, Some(line)) => Ok(Some(line.chars().take(160).collect())),
        // A panic in a destructor aborts the simulation without a report.
        (false, None) => Ok(Some(format!("the simulation ended with {}", run.status))),
    }
}

/// Makes a source tree equal to the tracked files of the workspace. Unchanged files keep their modification time, so cargo does not recompile them.
fn copy(root: &Path, tree: &Path) -> io::Result<()> {
    let listed = output(Command::new("git").args(["ls-files", "-z"]).current_dir(root))?;
    let names: BTreeSet<&str> = listed.split('\0').filter(|name| !name.is_empty()).collect();
    remove_others(tree, tree, &names)?;
    for name in names {
        let (from, to) = (root.join(name), tree.join(name));
        let Ok(content) = std::fs::read(&from) else { continue };
        if std::fs::read(&to).is_ok_and(|earlier| earlier == content) {
            continue;
        }
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&to, content)?;
    }
    Ok(())
}

/// Removes the files in a folder of the source tree whose names are not in `names`.
fn remove_others(tree: &Path, folder: &Path, names: &BTreeSet<&str>) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        let name = path.strip_prefix(tree).map_err(io::Error::other)?.to_string_lossy().into_owned();
        if path.is_dir() {
            remove_others(tree, &path, names)?;
        } else if !names.contains(&*name) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn target(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    root.join(target)
}

/// Runs a command and returns its output. A failed command is an error.
fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{command:?}: {}: {error}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
