//! The pinned Azurite, and where it is.

use std::path::PathBuf;

use crate::npm::{self, NotInstalled};

/// What the installation is made of; npm installs exactly what the lock file names.
const FILES: [(&str, &str); 4] = [
    ("package.json", include_str!("../../azurite/package.json")),
    ("package-lock.json", include_str!("../../azurite/package-lock.json")),
    (".npmrc", include_str!("../../azurite/.npmrc")),
    ("serve.cjs", include_str!("../../azurite/serve.cjs")),
];

/// The folder with Azurite's script `serve.cjs`; installs it below cargo's target folder if it is not there.
///
/// # Errors
/// As [`npm::install`].
pub fn install() -> Result<PathBuf, NotInstalled> {
    npm::install("azurite", &FILES)
}
