//! The pinned version of Azurite and its location.

use std::path::PathBuf;

use crate::npm::{self, NotInstalled};

/// The files of the installation. npm installs exactly the versions in the lock file.
const FILES: [(&str, &str); 4] = [
    ("package.json", include_str!("../../azurite/package.json")),
    ("package-lock.json", include_str!("../../azurite/package-lock.json")),
    (".npmrc", include_str!("../../azurite/.npmrc")),
    ("serve.cjs", include_str!("../../azurite/serve.cjs")),
];

/// Returns the folder with Azurite's script `serve.cjs`. If Azurite is missing, it is installed in cargo's target folder.
///
/// # Errors
/// Any error from [`npm::install`].
pub fn install() -> Result<PathBuf, NotInstalled> {
    npm::install("azurite", &FILES)
}
