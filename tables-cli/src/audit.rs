//! Audits of tables. An audit finds design defects in a table's rows, with or without stored schemas.
//!
//! Limits, partitions, types and schemas are checked for every row, in one pass with bounded memory. Key formats are compared within groups of similar rows,
//! using a sample spread evenly over the table.

mod finding;
mod rules;
mod sample;
mod shape;
mod wide;

use table_core::TableEntity;
use table_core::schema::StoredSchema;

pub use finding::Finding;
pub use rules::limits::size;
use rules::{explained, formats, growth, limits, partitions, types};
use table_inspect::infer;

/// An audit of one table. The table's rows must be pushed in key order.
///
/// ```
/// use table_core::TableEntity;
/// use tables_cli::audit::Audit;
///
/// let mut audit = Audit::new("Company", Vec::new(), 1_000);
/// for id in [1, 10, 2, 9] {
///     audit.push(TableEntity::new("Sales", id.to_string())?);
/// }
/// let findings = audit.finish();
/// assert_eq!(findings[0].rule, "DQ-10");
/// assert!(findings[0].fact.contains("numbers of different widths"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Audit {
    rows: u64,
    limits: limits::Limits,
    partitions: partitions::Partitions,
    types: types::Types,
    explained: explained::Explained,
    sample: sample::Sample,
}

impl Audit {
    /// Creates an audit of a table. `schemas` contains the stored schemas of all tables in the store, each paired with its lower-case table name. The audit
    /// keeps at most `sample` rows in memory.
    #[must_use]
    pub fn new(table: &str, schemas: Vec<(String, StoredSchema)>, sample: usize) -> Self {
        Self {
            rows: 0,
            limits: limits::Limits::default(),
            partitions: partitions::Partitions::default(),
            types: types::Types::default(),
            explained: explained::Explained::new(table, schemas),
            sample: sample::Sample::new(sample),
        }
    }

    /// Returns the number of rows added so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds the next row to the audit.
    pub fn push(&mut self, row: TableEntity) {
        // Internal rows are skipped, because they sort after all other rows and have different key formats.
        if row.key().row_key.as_str().starts_with('\u{FFFC}') {
            return;
        }
        self.rows += 1;
        let bytes = self.limits.push(&row);
        self.partitions.push(&row, bytes);
        self.types.push(&row);
        self.explained.push(&row);
        self.sample.push(row);
    }

    /// Completes the audit and returns its findings.
    #[must_use]
    pub fn finish(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let rows = self.sample.into_rows();
        let (kinds, rare) = infer::groups(&rows);
        formats::of_kinds(&kinds, &mut findings);
        growth::of_kinds(&kinds, &mut findings);
        self.partitions.finish(&mut findings);
        self.limits.finish(&mut findings);
        self.types.finish(&mut findings);
        let is_declared = self.explained.finish(&mut findings);
        if !is_declared && !kinds.is_empty() && !rare.is_empty() {
            let mut finding = Finding::new(
                "PAT-HET-6",
                "rows whose keys are like those of no other rows",
                "find the program that wrote them; rows of another kind need a prefix of their RowKey or `EntityType`",
            );
            for row in rare {
                finding.push(row.key());
            }
            findings.push(finding);
        }
        findings
    }
}

#[cfg(test)]
mod tests;
