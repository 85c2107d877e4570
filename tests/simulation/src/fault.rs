//! Past faults of the engine. Each fault is a patch in the folder `faults`, which adds the fault again. Simulated histories of the patched engine must detect
//! it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A past fault of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the patch file, without its extension.
    pub name: String,
    /// The effect of the fault, as described in the first line of the patch.
    pub effect: String,
    patch: PathBuf,
}

impl Fault {
    /// Returns all faults, ordered by name.
    ///
    /// # Errors
    /// An `io::Error` if the patches cannot be read.
    pub fn all() -> io::Result<Vec<Self>> {
        let mut faults = Vec::new();
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("faults"))? {
            let patch = entry?.path();
            let name = patch.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let effect = std::fs::read_to_string(&patch)?.lines().next().unwrap_or_default().to_owned();
            faults.push(Self { name, effect, patch });
        }
        faults.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(faults)
    }

    /// Checks that the patch applies to a source tree.
    ///
    /// # Errors
    /// The output of git if the patch does not apply.
    pub fn check(&self, tree: &Path) -> io::Result<()> {
        self.apply(tree, &["--check"])
    }

    /// Adds the fault to a source tree.
    ///
    /// # Errors
    /// The output of git if the patch does not apply.
    pub fn put_back(&self, tree: &Path) -> io::Result<()> {
        self.apply(tree, &[])
    }

    /// Removes the fault from a source tree.
    ///
    /// # Errors
    /// The output of git if the tree does not contain the fault.
    pub fn remove(&self, tree: &Path) -> io::Result<()> {
        self.apply(tree, &["--reverse"])
    }

    fn apply(&self, tree: &Path, options: &[&str]) -> io::Result<()> {
        let mut git = Command::new("git");
        // Inside a repository, git would resolve the paths in the patch relative to the root of the repository.
        git.env("GIT_CEILING_DIRECTORIES", tree.parent().unwrap_or(tree))
            .env("GIT_DIR", tree.join("no-repository"));
        git.current_dir(tree).arg("apply").args(options).arg(&self.patch).stdin(Stdio::null());
        let output = git.output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("{}: {}", self.name, String::from_utf8_lossy(&output.stderr).trim())))
    }
}

/// Returns the root of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}
