//! Reads the steps of a procedure from the page that describes it.

use std::fs;
use std::path::Path;

/// A section of a page, with a cursor just past the last step quoted by a test.
pub(crate) struct Procedure {
    section: String,
    text: String,
    at: usize,
}

impl Procedure {
    /// Reads the section with the given heading from a page in `docs`.
    pub(crate) fn of(page: &str, heading: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(page);
        let text = fs::read_to_string(path).unwrap();
        let section = format!("{page}, {heading}");
        let (_, rest) =
            text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {section}"));
        let rest = rest.split("\n## ").next().unwrap_or(rest);
        Self { text: rest.split_whitespace().collect::<Vec<_>>().join(" "), section, at: 0 }
    }

    /// Checks that the section contains the quoted step after all steps that were quoted before.
    pub(crate) fn step(&mut self, words: &str) {
        let found = self.text[self.at..].find(words);
        self.at += found.unwrap_or_else(|| panic!("{}: no step `{words}`", self.section)) + words.len();
    }
}
