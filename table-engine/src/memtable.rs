//! The memtable: the rows that are not in the base yet. They are stored in a persistent map, whose clones are snapshots.

use imbl::OrdMap;
use table_store::row::Row;

use crate::key::{Key, Span};

/// The approximate overhead of an entry, in bytes. It consists of two shared allocations and a slot in the map.
const ENTRY_BYTES: usize = 96;

/// A map of rows, sorted by key. `None` is a tombstone, which hides a row of the base. Cloning is O(1).
#[derive(Clone, Default)]
pub(crate) struct Memtable {
    rows: OrdMap<Key, Option<Row>>,
    bytes: usize,
    deletions: usize,
}

fn cost(key: &[u8], row: Option<&Row>) -> usize {
    ENTRY_BYTES + key.len() + row.map_or(0, |row| row.as_bytes().len())
}

impl Memtable {
    /// Sets the row for a key, or sets a tombstone if `row` is `None`.
    pub(crate) fn set(&mut self, key: Key, row: Option<Row>) {
        self.bytes += cost(&key, row.as_ref());
        let key_bytes = cost(&key, None);
        self.deletions += usize::from(row.is_none());
        if let Some(old) = self.rows.insert(key, row) {
            self.deletions -= usize::from(old.is_none());
            self.bytes -= key_bytes + old.map_or(0, |row| row.as_bytes().len());
        }
    }

    /// Removes a row without leaving a tombstone.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        if let Some(old) = self.rows.remove(key) {
            self.deletions -= usize::from(old.is_none());
            self.bytes -= cost(key, old.as_ref());
        }
    }

    /// Returns the row for a key, `Some(None)` for a tombstone, or `None` if the key has no entry.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Option<Row>> {
        if self.rows.is_empty() { None } else { self.rows.get(key) }
    }

    /// Returns the entries in a span, in order.
    pub(crate) fn range(&self, span: &Span) -> impl Iterator<Item = (&Key, &Option<Row>)> {
        self.rows.range::<_, [u8]>((
            std::ops::Bound::Included(span.start.as_slice()),
            std::ops::Bound::Excluded(span.end.as_slice()),
        ))
    }

    /// Returns the number of tombstones.
    pub(crate) fn deletions(&self) -> usize {
        self.deletions
    }

    /// Returns all entries, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &Option<Row>)> {
        self.rows.iter()
    }

    /// Removes up to `most` entries in a span. Returns `true` if more entries may remain.
    pub(crate) fn remove_some(&mut self, span: &Span, most: usize) -> bool {
        let keys: Vec<Key> = self.range(span).take(most).map(|(key, _)| key.clone()).collect();
        for key in &keys {
            self.remove(key);
        }
        keys.len() == most
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use table_store::row::RowWriter;

    use super::*;

    #[test]
    fn the_byte_count_matches_the_contents() {
        let key = |n: u8| Key::from([0, 0, 0, 1, n].as_slice());
        let mut recent = Memtable::default();
        recent.set(key(1), Some(RowWriter::new().finish()));
        let one = recent.bytes();
        recent.set(key(2), None);
        recent.set(key(2), Some(RowWriter::new().finish()));
        assert_eq!(recent.bytes(), 2 * one);
        recent.set(key(2), Some(RowWriter::new().finish()));
        assert_eq!(recent.bytes(), 2 * one);
        recent.remove(&key(1));
        recent.remove(&key(1));
        assert_eq!((recent.bytes(), recent.len()), (one, 1));
        assert!(!recent.remove_some(&Span::table(1), 10));
        assert_eq!((recent.bytes(), recent.len()), (0, 0));
    }
}
