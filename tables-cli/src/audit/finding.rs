//! The findings of an audit. Each finding consists of a rule, a fact, sample rows, and a suggested fix.

use std::fmt;

use table_core::EntityKey;

/// The maximum number of sample rows in a finding.
const SAMPLES: usize = 3;

/// A design defect found in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the violated rule, as documented in `docs/rules`.
    pub rule: &'static str,
    /// The defect, as a statement of fact.
    pub fact: String,
    /// The number of rows with the defect, or the number of rows compared to detect it.
    pub rows: u64,
    /// The keys of up to three sample rows.
    pub samples: Vec<(String, String)>,
    /// The suggested fix.
    pub fix: String,
}

impl Finding {
    /// Creates a finding without rows.
    pub(super) fn new(rule: &'static str, fact: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { rule, fact: fact.into(), rows: 0, samples: Vec::new(), fix: fix.into() }
    }

    /// Adds a row to the finding.
    pub(super) fn push(&mut self, key: &EntityKey) {
        self.rows += 1;
        if self.samples.len() < SAMPLES {
            self.samples.push((key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned()));
        }
    }

    /// Returns the keys of the sample rows, formatted for display.
    #[must_use]
    pub fn sample_text(&self) -> String {
        let keys = self.samples.iter().map(|(partition, row)| format!("('{partition}', '{row}')"));
        keys.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = if self.rows == 1 { "1 row".to_owned() } else { format!("{} rows", self.rows) };
        writeln!(f, "{}: {}, {rows}", self.rule, self.fact)?;
        if !self.samples.is_empty() {
            writeln!(f, "  sample  {}", self.sample_text())?;
        }
        writeln!(f, "  fix     {}", self.fix)
    }
}
