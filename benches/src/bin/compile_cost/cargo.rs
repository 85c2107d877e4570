//! Generates crates. Measures with cargo how long their checks take and how large their expanded sources are.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime};

/// A separate workspace below `target`. Its dependencies have the same versions as in this workspace.
pub(crate) struct Crates {
    folder: PathBuf,
}

/// The size of the expanded source of a crate.
pub(crate) struct Size {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

impl Crates {
    /// Writes one crate for each pair of a name and a source. `root` is the folder of this workspace.
    pub(crate) fn write(root: &Path, crates: &[(&str, &str)]) -> Result<Self, Box<dyn Error>> {
        let folder = root.join("target").join("compile_cost");
        fs::create_dir_all(&folder)?;
        let members: Vec<_> = crates.iter().map(|(name, _)| *name).collect();
        fs::write(
            folder.join("Cargo.toml"),
            format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"),
        )?;
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let core = root.join("table-core");
        let core = core.to_str().ok_or("the path of the workspace is no text")?;
        for (name, source) in crates {
            let member = folder.join(name);
            fs::create_dir_all(member.join("src"))?;
            let manifest = format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                 serde = {{ version = \"1\", features = [\"derive\"] }}\n\
                 table-core = {{ path = {core:?}, default-features = false, features = [\"derive\"] }}\n"
            );
            fs::write(member.join("Cargo.toml"), manifest)?;
            fs::write(member.join("src").join("lib.rs"), source)?;
        }
        Ok(Self { folder })
    }

    /// Checks a crate whose dependencies have already been checked. Returns the elapsed time.
    pub(crate) fn check(&self, name: &str) -> Result<Duration, Box<dyn Error>> {
        let source =
            fs::File::options().append(true).open(self.folder.join(name).join("src").join("lib.rs"))?;
        source.set_modified(SystemTime::now())?;
        let mut check = self.cargo();
        check.args(["check", "--quiet", "--offline", "--package", name]);
        let begun = Instant::now();
        succeed(&mut check)?;
        Ok(begun.elapsed())
    }

    /// Returns the size of the source of a crate after macro expansion.
    pub(crate) fn expanded(&self, name: &str) -> Result<Size, Box<dyn Error>> {
        let mut expand = self.cargo();
        expand.args(["rustc", "--quiet", "--offline", "--profile", "check", "--package", name]);
        // This option requires a nightly compiler, or one that pretends to be nightly.
        expand.args(["--", "-Zunpretty=expanded"]).env("RUSTC_BOOTSTRAP", "1");
        let text = String::from_utf8(succeed(&mut expand)?.stdout)?;
        Ok(Size { lines: text.lines().count(), bytes: text.len() })
    }

    fn cargo(&self) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(&self.folder).env("CARGO_TARGET_DIR", self.folder.join("target"));
        // The settings of an enclosing build must not affect the measured builds.
        cargo.env_remove("RUSTFLAGS").env("CARGO_INCREMENTAL", "0");
        cargo
    }
}

fn succeed(command: &mut Command) -> Result<Output, Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)).into())
}
