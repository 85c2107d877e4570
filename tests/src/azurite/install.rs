//! Installs the pinned version of Azurite.

use std::path::PathBuf;

use crate::npm::{self, NotInstalled};

/// The files that define the installation. npm installs the exact versions in the lock file.
const FILES: [(&str, &str); 4] = [
    ("package.json", include_str!("../../azurite/package.json")),
    ("package-lock.json", include_str!("../../azurite/package-lock.json")),
    (".npmrc", include_str!("../../azurite/.npmrc")),
    ("serve.cjs", include_str!("../../azurite/serve.cjs")),
];

/// Returns the folder that contains the start script of Azurite, `serve.cjs`. If Azurite is missing, it is installed in cargo's target folder.
///
/// # Errors
/// Any error from [`npm::install`].
pub fn install() -> Result<PathBuf, NotInstalled> {
    npm::install("azurite", &FILES)
}
