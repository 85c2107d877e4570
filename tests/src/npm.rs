//! Installs the Node packages listed in a lock file into cargo's target folder.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The file that is written at the end of an installation. If it is missing, the installation was interrupted.
const STAMP: &str = "installed";
/// The maximum number of attempts to run npm. The registry may be temporarily unreachable.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_secs(10);

/// The reason for a failed installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInstalled(pub(crate) String);

impl NotInstalled {
    pub(crate) fn because(what: &str, error: impl fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

impl fmt::Display for NotInstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotInstalled {}

/// Returns the folder `name` in cargo's target folder. It contains `files`, which are names and contents. It also contains the packages in the
/// `package-lock.json` of `files`. Missing packages are installed.
///
/// If several test binaries call this function at the same time, one of them installs the packages and the others wait.
///
/// # Errors
/// An error if npm is missing or fails, or if the folder cannot be written.
pub fn install(name: &str, files: &[(&str, &str)]) -> Result<PathBuf, NotInstalled> {
    let folder = target_folder().join(name);
    let failed = |error| NotInstalled::because("the folder of the packages cannot be written", error);
    fs::create_dir_all(&folder).map_err(failed)?;
    let guard = File::create(folder.join("lock")).map_err(failed)?;
    // The system releases the lock when the file is closed, even if the process is killed.
    guard.lock().map_err(failed)?;
    let wanted: String = files.iter().map(|(_, text)| *text).collect();
    if fs::read_to_string(folder.join(STAMP)).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    for (name, text) in files {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    npm_ci(&folder)?;
    fs::write(folder.join(STAMP), wanted).map_err(failed)?;
    Ok(folder)
}

fn npm_ci(folder: &Path) -> Result<(), NotInstalled> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut attempt = 1;
    loop {
        let mut command = Command::new(npm);
        command.arg("ci").current_dir(folder).stdin(Stdio::null());
        if attempt > 1 {
            // The user's own cache may be broken or read-only.
            command.arg("--cache").arg(folder.join("cache"));
        }
        let output = command.output();
        let output = output.map_err(|error| NotInstalled::because("`npm` cannot be run", error))?;
        if output.status.success() {
            return Ok(());
        }
        if attempt == ATTEMPTS {
            let output = String::from_utf8_lossy(&output.stderr);
            return Err(NotInstalled::because("`npm ci` failed", output.trim()));
        }
        attempt += 1;
        thread::sleep(PAUSE);
    }
}

/// Returns cargo's target folder. This is the closest folder above this binary that contains cargo's marker file.
fn target_folder() -> PathBuf {
    let marked = |folder: &&Path| folder.join("CACHEDIR.TAG").is_file();
    let binary = std::env::current_exe().unwrap_or_default();
    let found = binary.ancestors().skip(1).find(marked).map(Path::to_owned);
    found.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"))
}
