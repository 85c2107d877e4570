//! Records results over time. Each result of a run becomes a line of JSON in a file in the repository.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::report::Line;

/// A recorded result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The day of the run in UTC, such as `2026-11-26`.
    pub date: String,
    /// The abbreviated commit hash. It is followed by `+` if the working copy differed from the commit.
    pub commit: String,
    /// The number of cores and the model of the processor.
    pub machine: String,
    /// The number of entities in the table that was read. `None` in records from earlier versions, and if the measurement reads a different table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entities: Option<u32>,
    /// The name of the measured work, as shown in the table of results.
    pub work: String,
    /// The result of this project, with its range.
    pub ours: String,
    /// The name of the peer and its result, with the range.
    pub peer: String,
    /// The ratio of the two results, or `None` if one of them is missing.
    pub ratio: Option<f64>,
    /// The target, as shown in the table of results.
    pub target: String,
    /// `true` if the ratio met the target.
    pub passed: bool,
}

/// The date, commit and machine of a run, shared by all of its results.
#[derive(Clone, Debug)]
pub struct Run {
    date: String,
    commit: String,
    machine: String,
}

impl Run {
    /// Determines the date, the commit and the machine of this run.
    ///
    /// # Errors
    /// An error if git cannot be run or the folder is not in a repository.
    pub fn current() -> Outcome<Self> {
        let date = DateTime::<Utc>::from(SystemTime::now()).format("%Y-%m-%d").to_string();
        Ok(Self { date, commit: commit()?, machine: machine() })
    }

    /// Returns the record for one row of the table of results.
    #[must_use]
    pub fn entry(&self, row: &Line) -> Entry {
        let (Self { date, commit, machine }, Line { entities, work, ours, peer, ratio, target }) =
            (self.clone(), row.clone());
        let (passed, target) = (target.holds(ratio), target.to_string());
        Entry {
            date,
            commit,
            machine,
            entities,
            work,
            ours,
            peer,
            ratio: Some(ratio).filter(|ratio| ratio.is_finite()),
            target,
            passed,
        }
    }
}

/// Returns the path of the file with the results of a program, such as `benches/records/ratios.jsonl`.
#[must_use]
pub fn file(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("records").join(program).with_extension("jsonl")
}

/// Appends entries to a file, with one line for each entry.
///
/// # Errors
/// An error from the system if the file cannot be written.
pub fn append(file: &Path, entries: &[Entry]) -> Outcome<()> {
    let mut lines = String::new();
    for entry in entries {
        lines.push_str(&serde_json::to_string(entry)?);
        lines.push('\n');
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).append(true).open(file)?.write_all(lines.as_bytes())?;
    Ok(())
}

/// Reads the records in a file, oldest first.
///
/// # Errors
/// An error from the system, or an error with the line number if a line is not an entry.
pub fn read(file: &Path) -> Outcome<Vec<Entry>> {
    let text = std::fs::read_to_string(file)?;
    let entry = |(index, line)| {
        serde_json::from_str(line)
            .map_err(|error| format!("{}: line {}: {error}", file.display(), index + 1).into())
    };
    text.lines().enumerate().map(entry).collect()
}

fn commit() -> Outcome<String> {
    let git = |arguments: &[&str]| -> Outcome<String> {
        let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
        if !output.status.success() {
            return Err(format!("git {}: {}", arguments.join(" "), output.status).into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let mark = if changed.is_empty() { "" } else { "+" };
    Ok(format!("{}{mark}", git(&["rev-parse", "--short=10", "HEAD"])?))
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!("{cores} cores, {}", model.map_or(std::env::consts::ARCH, |(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use crate::report::Target;

    #[test]
    fn appended_entries_are_read_in_order() {
        let folder = Folder::named("record-test", false).unwrap();
        let file = folder.join("records").join("ratios.jsonl");
        let run =
            Run { date: "2026-11-26".into(), commit: "0123456789+".into(), machine: "2 cores, x".into() };
        let row = |entities, ratio| Line {
            entities,
            work: "page".into(),
            ours: "1.00k/s (1.00k–1.00k)".into(),
            peer: "redb 2.00k/s (2.00k–2.00k)".into(),
            ratio,
            target: Target::AtLeast(0.5),
        };
        let rows = [(Some(1_000_000), 0.5), (None, 0.49), (None, f64::NAN)];
        let entries = rows.map(|(entities, ratio)| run.entry(&row(entities, ratio)));
        append(&file, &entries[..1]).unwrap();
        append(&file, &entries[1..]).unwrap();
        assert_eq!(read(&file).unwrap(), entries);
        assert_eq!(entries[0].entities, Some(1_000_000));
        assert_eq!(entries.map(|entry| entry.passed), [true, false, false]);
    }
}
