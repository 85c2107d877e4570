//! Hash sums of expected and stored rows. A single pass in constant memory narrows the rows that may differ down to a few buckets.

use std::hash::{DefaultHasher, Hash, Hasher};

use table_core::{EntityKey, TableEntity};

use crate::transfer::checksum::Checksum;

/// The number of buckets. Each bucket takes 80 bytes.
const BUCKETS: usize = 1 << 15;

/// Hash sums of expected and stored rows, divided into buckets. The hash of a row's key selects its bucket.
#[derive(Debug)]
pub(super) struct Sums {
    buckets: Vec<Bucket>,
}

/// The sums of one bucket. Two different sets of rows have equal sums with a probability of about 2⁻¹²⁸.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    expected: Checksum,
    found: Checksum,
    /// `true` if the expected row of an entity with a key in this bucket is unknown.
    is_suspect: bool,
}

impl Bucket {
    fn may_differ(&self) -> bool {
        self.expected != self.found || self.is_suspect
    }
}

impl Sums {
    /// Creates empty sums.
    pub(super) fn new() -> Self {
        Self { buckets: vec![Bucket::default(); BUCKETS] }
    }

    fn bucket(&mut self, key: &EntityKey) -> Option<&mut Bucket> {
        self.buckets.get_mut(place(key))
    }

    /// Adds a row to the sums of the expected rows.
    pub(super) fn expect(&mut self, row: &TableEntity) {
        if let Some(bucket) = self.bucket(row.key()) {
            bucket.expected.add(row);
        }
    }

    /// Adds a row to the sums of the stored rows.
    pub(super) fn find(&mut self, row: &TableEntity) {
        if let Some(bucket) = self.bucket(row.key()) {
            bucket.found.add(row);
        }
    }

    /// Marks the bucket of an entity's key because the entity's expected row is unknown.
    pub(super) fn suspect(&mut self, key: &EntityKey) {
        if let Some(bucket) = self.bucket(key) {
            bucket.is_suspect = true;
        }
    }

    /// Returns `true` if the sums of the expected and the stored rows are equal.
    pub(super) fn are_equal(&self) -> bool {
        !self.buckets.iter().any(Bucket::may_differ)
    }

    /// Returns `true` if the expected row with this key may differ from the stored row.
    pub(super) fn may_differ(&self, key: &EntityKey) -> bool {
        self.buckets.get(place(key)).is_some_and(Bucket::may_differ)
    }
}

fn place(key: &EntityKey) -> usize {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    usize::try_from(hasher.finish() % BUCKETS as u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: u32, value: i32) -> TableEntity {
        TableEntity::new("p", key.to_string()).unwrap().with("V", value)
    }

    #[test]
    fn missing_different_and_duplicate_rows_are_found_with_few_others() {
        let faults: [fn(&mut Sums); 4] = [
            |sums| sums.find(&row(5_000, 0)),
            |sums| sums.expect(&row(5_000, 0)),
            |sums| {
                sums.expect(&row(5_000, 0));
                sums.find(&row(5_000, 1));
            },
            |sums| sums.suspect(row(5_000, 0).key()),
        ];
        for fault in faults {
            let mut sums = Sums::new();
            for key in 0..5_000 {
                sums.expect(&row(key, 1));
                sums.find(&row(4_999 - key, 1));
            }
            assert!(sums.are_equal());
            fault(&mut sums);
            assert!(!sums.are_equal() && sums.may_differ(row(5_000, 0).key()));
            assert!((0..5_000).filter(|key| sums.may_differ(row(*key, 1).key())).count() < 10);
        }
    }
}
