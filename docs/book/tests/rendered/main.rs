//! Tests of the book in the form in which mdBook renders it.
//!
//! If `mdbook` is not on the `PATH`, these tests are skipped with a message. Without Chromium, the test in a browser is skipped. `docs/book/look` takes
//! screenshots.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod browser;
mod html;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

fn docs() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns the path of the first program with the given name on the `PATH`.
fn program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn skip(reason: &str) {
    drop(writeln!(io::stderr(), "SKIPPED: {reason}"));
}

/// Renders the book once and returns the folder of the pages, or `None` if mdBook is not available.
fn rendered() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let mdbook = program("mdbook")?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
        let mut command = Command::new(mdbook);
        command.arg("build").arg(docs().join("book")).arg("--dest-dir").arg(&folder);
        let output = command.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{messages}");
        assert!(!messages.contains("WARN"), "{messages}");
        Some(folder)
    });
    if folder.is_none() {
        skip("`mdbook` is not installed");
    }
    folder.as_deref()
}

/// Returns the paths of the rendered pages, relative to their folder and in the order of the summary.
fn pages() -> Vec<String> {
    let summary = fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    let targets = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let html = targets.map(|target| target.replace("README.md", "index.md").replace(".md", ".html"));
    html.collect()
}
