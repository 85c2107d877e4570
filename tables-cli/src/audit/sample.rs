//! Samples a stream of rows evenly, with bounded memory and without random numbers.

use table_core::TableEntity;

/// A sample that contains every n-th row. Whenever the sample is full, n is doubled.
#[derive(Debug)]
pub(super) struct Sample {
    most: usize,
    every: usize,
    seen: usize,
    rows: Vec<TableEntity>,
}

impl Sample {
    /// Creates a sample of at most `most` rows.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(2), every: 1, seen: 0, rows: Vec::new() }
    }

    pub(super) fn push(&mut self, row: TableEntity) {
        if self.seen.is_multiple_of(self.every) {
            if self.rows.len() == self.most {
                let mut is_kept = false;
                self.rows.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.rows.push(row);
            }
        }
        self.seen += 1;
    }

    pub(super) fn into_rows(self) -> Vec<TableEntity> {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_all_rows() {
        let mut sample = Sample::new(10);
        for row in 0..1_000 {
            sample.push(TableEntity::new("p", format!("{row:04}")).unwrap());
        }
        let rows = sample.into_rows();
        let rows: Vec<u32> = rows.iter().map(|row| row.key().row_key.as_str().parse().unwrap()).collect();
        assert_eq!(rows, [0, 128, 256, 384, 512, 640, 768, 896]);
    }
}
