//! Reads the Debian package index of this machine.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Package;

const LISTS: &str = "/var/lib/apt/lists";
const INSTALLED: &str = "/var/lib/dpkg/status";
/// The apt helper program that reads index files, including compressed ones.
const HELPER: &str = "/usr/lib/apt/apt-helper";

/// Returns the name of the index and all its packages. Returns `None` if the machine is not a Debian system, or has no readable index.
#[must_use]
pub fn load() -> Option<(String, Vec<Package>)> {
    available().or_else(installed)
}

/// Returns the installable packages.
fn available() -> Option<(String, Vec<Package>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(LISTS)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_index(path))
        .collect();
    files.sort();
    let packages: Vec<Package> = files.iter().flat_map(|path| read(path).unwrap_or_default()).collect();
    (!packages.is_empty()).then(|| (LISTS.to_owned(), packages))
}

/// Returns the packages installed on this machine.
fn installed() -> Option<(String, Vec<Package>)> {
    let packages = parse(BufReader::new(File::open(INSTALLED).ok()?)).ok()?;
    (!packages.is_empty()).then(|| (INSTALLED.to_owned(), packages))
}

/// Returns `true` if a file in the lists folder of apt is a package index.
#[must_use]
pub fn is_index(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit('_').next().is_some_and(|last| last == "Packages" || last.starts_with("Packages."))
}

fn read(path: &Path) -> io::Result<Vec<Package>> {
    if path.extension().is_none() {
        return parse(BufReader::new(File::open(path)?));
    }
    let mut helper = Command::new(HELPER)
        .arg("cat-file")
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = helper.stdout.take().ok_or_else(|| io::Error::other("the helper has no output"))?;
    let packages = parse(BufReader::new(output));
    let status = helper.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("{HELPER}: {status}")));
    }
    packages
}

/// Parses paragraphs of `Field: value` lines separated by empty lines. Paragraphs without a name, version or section are skipped.
///
/// # Errors
/// Any error from the reader.
pub fn parse(index: impl BufRead) -> io::Result<Vec<Package>> {
    let mut packages = Vec::new();
    let mut paragraph = Paragraph::default();
    for line in index.lines() {
        let line = line?;
        if line.is_empty() {
            packages.extend(std::mem::take(&mut paragraph).package());
        } else {
            paragraph.line(&line);
        }
    }
    packages.extend(paragraph.package());
    Ok(packages)
}

#[derive(Default)]
struct Paragraph {
    name: Option<String>,
    section: Option<String>,
    version: Option<String>,
    architecture: Option<String>,
    maintainer: Option<String>,
    installed_size: i64,
}

impl Paragraph {
    fn line(&mut self, line: &str) {
        // A line that starts with a blank continues the previous field. None of the fields needed here has such lines.
        let Some((field, value)) = line.split_once(": ") else { return };
        let place = match field {
            "Package" => &mut self.name,
            "Section" => &mut self.section,
            "Version" => &mut self.version,
            "Architecture" => &mut self.architecture,
            "Maintainer" => &mut self.maintainer,
            "Installed-Size" => {
                self.installed_size = value.parse().unwrap_or(0);
                return;
            }
            _ => return,
        };
        *place = Some(value.to_owned());
    }

    fn package(self) -> Option<Package> {
        Some(Package {
            section: self.section?,
            name: self.name?,
            version: self.version?,
            architecture: self.architecture.unwrap_or_default(),
            installed_size: self.installed_size,
            maintainer: self.maintainer.unwrap_or_default(),
        })
    }
}
