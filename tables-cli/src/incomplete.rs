//! Names of incomplete files and folders.

use std::path::{Path, PathBuf};

/// Returns a path with an additional extension: `state.json` and `part` become `state.json.part`.
pub(crate) fn part_of(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}
