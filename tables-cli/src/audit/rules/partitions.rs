//! Detects huge partitions, and partitions with at least half of a table's rows.

use table_core::{EntityKey, TableEntity};

use crate::audit::finding::Finding;

/// Partitions are compared only in tables with at least this many rows.
const ROWS: u64 = 1_000;
/// A partition with at least this many rows is reported as huge. Reading it takes a thousand requests or more.
const HUGE_ROWS: u64 = 1_000_000;
/// A partition of at least this size, in bytes, is reported as huge.
const HUGE_BYTES: u64 = 1 << 30;

/// A collector of partition sizes. Rows must be added in key order. Only the current, the largest and the first ten huge partitions are kept in memory.
#[derive(Debug, Default)]
pub(in crate::audit) struct Partitions {
    rows: u64,
    count: u64,
    current: Option<Partition>,
    largest: Option<Partition>,
    huge: Vec<Partition>,
}

#[derive(Clone, Debug)]
struct Partition {
    first: EntityKey,
    rows: u64,
    bytes: u64,
}

impl Partitions {
    pub(in crate::audit) fn push(&mut self, row: &TableEntity, bytes: u64) {
        self.rows += 1;
        match &mut self.current {
            Some(current) if current.first.partition_key == row.key().partition_key => {
                current.rows += 1;
                current.bytes += bytes;
            }
            _ => {
                self.end();
                self.count += 1;
                self.current = Some(Partition { first: row.key().clone(), rows: 1, bytes });
            }
        }
    }

    fn end(&mut self) {
        let Some(ended) = self.current.take() else { return };
        let is_huge = ended.rows >= HUGE_ROWS || ended.bytes >= HUGE_BYTES;
        if is_huge && self.huge.len() < 10 {
            self.huge.push(ended.clone());
        }
        if self.largest.as_ref().is_none_or(|largest| largest.rows < ended.rows) {
            self.largest = Some(ended);
        }
    }

    pub(in crate::audit) fn finish(mut self, findings: &mut Vec<Finding>) {
        self.end();
        let fix = "add another part of the key to the PartitionKey to spread the rows; one partition supports 2,000 entities per second";
        let mut add = |fact: String, partition: &Partition| {
            let mut finding = Finding::new("SCL-1", fact, fix);
            finding.push(&partition.first);
            finding.rows = partition.rows;
            findings.push(finding);
        };
        for huge in &self.huge {
            let fact =
                format!("huge partition '{}' of {} bytes", huge.first.partition_key.as_str(), huge.bytes);
            add(fact, huge);
        }
        let Some(largest) = self.largest.filter(|_| self.rows >= ROWS) else { return };
        let name = largest.first.partition_key.as_str();
        if self.count == 1 {
            add(format!("all rows are in the one partition '{name}'"), &largest);
        } else if largest.rows * 2 >= self.rows && self.count > 2 {
            let percent = largest.rows * 100 / self.rows;
            add(
                format!("partition '{name}' has {percent} % of the rows, of {} partitions", self.count),
                &largest,
            );
        }
    }
}
