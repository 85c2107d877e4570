//! Reads the files of the repository, and the comments in them.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests are a folder of the repository")
        .to_owned()
}

/// Returns the files in a folder whose names end with one of these suffixes, sorted by path. Each entry consists of the path relative to the root and the
/// content.
pub(crate) fn below(folder: &str, ends: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let (mut files, mut folders) = (Vec::new(), vec![root.join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder can be read") {
            let path = entry.expect("an entry can be read").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "node_modules"].contains(&name) {
                    folders.push(path);
                }
            } else if ends.iter().any(|end| name.ends_with(end)) {
                let short =
                    path.strip_prefix(&root).expect("below the root").to_string_lossy().replace('\\', "/");
                files.push((short, fs::read_to_string(&path).expect("a text")));
            }
        }
    }
    files.sort();
    files
}

/// Returns the lines of prose in a file, with their numbers. In Rust, these are comments and error messages. In Markdown, they are all lines outside code
/// samples.
pub(crate) fn prose<'t>(path: &str, text: &'t str) -> Vec<(usize, &'t str)> {
    let is_rust = Path::new(path).extension().is_some_and(|extension| extension == "rs");
    let mut sample = false;
    let line = |(number, line): (usize, &'t str)| {
        if is_rust {
            let start = line.trim_start();
            let comment = if start.starts_with("//") || start.starts_with("#[error(") {
                Some(start)
            } else {
                line.split_once(" // ").map(|(_, after)| after)
            };
            return Some((number + 1, comment?));
        }
        if line.trim_start().starts_with("```") {
            sample = !sample;
        }
        (!sample).then_some((number + 1, line))
    };
    text.lines().enumerate().filter_map(line).collect()
}
