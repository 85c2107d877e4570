//! Names for files and folders that are still incomplete.

use std::path::{Path, PathBuf};

/// Returns a path with an additional extension, such as `state.json.part` for `state.json` and `part`.
pub(crate) fn part_of(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}
