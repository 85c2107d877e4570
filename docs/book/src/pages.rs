//! Finds and reads the pages of the book for tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of the folder `docs`.
pub(crate) fn docs() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns the path of the root of the repository.
pub(crate) fn root() -> PathBuf {
    docs().parent().unwrap().to_owned()
}

/// Returns the Markdown files below `docs` except for the summary, as paths in the form that the summary uses.
pub(crate) fn pages() -> BTreeSet<String> {
    let mut pages = BTreeSet::new();
    for folder in ["", "book/", "decisions/", "designs/", "rules/"] {
        for entry in fs::read_dir(docs().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.strip_suffix(".md").is_some_and(|name| name != "SUMMARY") {
                pages.insert(format!("{folder}{name}"));
            }
        }
    }
    pages
}

/// Returns the text of a page.
pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(docs().join(page)).unwrap()
}

/// Compares a generated file with the committed one. If `TABLES_UPDATE` is set, writes the generated file instead.
pub(crate) fn hold(path: &Path, generated: &str) {
    if std::env::var_os("TABLES_UPDATE").is_some() {
        fs::write(path, generated).unwrap();
        return;
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == generated,
        "{} differs from the generated text; `TABLES_UPDATE=1 cargo test -p book` writes it",
        path.display()
    );
}
