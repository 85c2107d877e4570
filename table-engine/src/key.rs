//! Keys in the engine's maps. A key encodes the table, the partition and the row as bytes that sort in the service's order (ORD-1).
//!
//! A key is `table id (4 bytes, big endian) ‖ partition ‖ 0x00 ‖ row`. Partition and row are in the order-preserving encoding of
//! [`order`](table_store::key::order).
//!
//! Stored keys contain no character below U+0020 (KEY-3). The end of the partition is therefore the only 0x00 byte after the table id. As a result, a partition
//! that is a prefix of another partition sorts before it.

mod split;

use std::ops::Bound;
use std::sync::Arc;

use table_store::key::order;
use table_store::query::{KeyRange, Position, TextRange};
use table_store::{Error, Result};

use crate::fault::EngineFault;
pub(crate) use split::SplitKey;

/// The bytes of a stored key. Clones share the bytes.
pub(crate) type Key = Arc<[u8]>;

/// The length in bytes of the table id at the start of a key.
pub(crate) const TABLE_BYTES: usize = 4;
/// The end marker of the partition within a key.
const END: u8 = 0;
/// The smallest byte above [`END`]. No part of a stored key starts with it.
const ABOVE_END: u8 = 1;

/// Appends the table and partition of a key, including the end marker.
fn push_partition(table: u32, partition_key: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&table.to_be_bytes());
    order::encode(partition_key, out);
    out.push(END);
}

/// Encodes the key of one entity into a reused buffer.
pub(crate) fn encode(table: u32, partition_key: &str, row_key: &str, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(TABLE_BYTES + 1 + partition_key.len() + row_key.len());
    push_partition(table, partition_key, out);
    order::encode(row_key, out);
}

/// Returns a function that encodes the keys of entities in one partition. The id of the table is set later, with [`set_table`].
pub(crate) fn of_rows(partition_key: &str) -> impl FnMut(&str) -> Key + use<> {
    let mut buffer = Vec::with_capacity(TABLE_BYTES + partition_key.len() + 64);
    push_partition(0, partition_key, &mut buffer);
    let prefix = buffer.len();
    move |row_key| {
        buffer.truncate(prefix);
        order::encode(row_key, &mut buffer);
        Key::from(buffer.as_slice())
    }
}

/// Sets the table's id in a key. If the key's bytes are shared, they are copied first.
pub(crate) fn set_table(key: &mut Key, table: u32) {
    if let Some(place) = Arc::make_mut(key).get_mut(..TABLE_BYTES) {
        place.copy_from_slice(&table.to_be_bytes());
    }
}

/// Returns the id of the table that a key belongs to.
pub(crate) fn table_of(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(..TABLE_BYTES)?.try_into().ok()?))
}

/// A half-open range of keys, from `start` (inclusive) to `end` (exclusive).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

impl Span {
    /// Returns the span of all keys of a table.
    pub(crate) fn table(table: u32) -> Self {
        // The last id is never assigned (see `Catalog`), so the next id always exists.
        Self { start: table.to_be_bytes().to_vec(), end: table.saturating_add(1).to_be_bytes().to_vec() }
    }

    /// Returns the span of a key range. If the range includes several partitions, the span does not limit the row keys. The caller must then check the row key
    /// of each entity.
    pub(crate) fn of(table: u32, keys: &KeyRange) -> Self {
        match keys.partition_key.single() {
            Some(partition_key) => Self::rows(table, partition_key, &keys.row_key),
            None => Self::partitions(table, &keys.partition_key),
        }
    }

    fn rows(table: u32, partition_key: &str, rows: &TextRange) -> Self {
        let mut prefix = Vec::new();
        push_partition(table, partition_key, &mut prefix);
        let bound = |text: &str, tail: &[u8]| {
            let mut bytes = prefix.clone();
            order::encode(text, &mut bytes);
            bytes.extend_from_slice(tail);
            bytes
        };
        // The row is the last part of a key, so comparing its bytes with a bound gives the same result as comparing the strings, even if the bound contains
        // U+0000.
        let start = match &rows.lower {
            Bound::Included(text) => bound(text, &[]),
            Bound::Excluded(text) => bound(text, &[0]),
            Bound::Unbounded => prefix.clone(),
        };
        let end = match &rows.upper {
            Bound::Included(text) => bound(text, &[0]),
            Bound::Excluded(text) => bound(text, &[]),
            Bound::Unbounded => {
                let mut bytes = prefix.clone();
                bytes.pop();
                bytes.push(ABOVE_END);
                bytes
            }
        };
        Self { start, end }
    }

    fn partitions(table: u32, partitions: &TextRange) -> Self {
        let Self { start, end } = Self::table(table);
        let bound = |text: &str, tail: &[u8]| {
            let mut bytes = table.to_be_bytes().to_vec();
            order::encode(text, &mut bytes);
            bytes.extend_from_slice(tail);
            bytes
        };
        // A bound may contain characters that no stored key contains. Let `t = u ‖ c ‖ …` be a bound, with c below U+0020. A stored partition p is then below t
        // if and only if p ≤ u. The bound is therefore shortened to u, and placed before or after all keys of the partition u.
        let start = match &partitions.lower {
            Bound::Included(text) => match cut(text) {
                Some(head) => bound(head, &[ABOVE_END]),
                None => bound(text, &[]),
            },
            Bound::Excluded(text) => bound(cut(text).unwrap_or(text), &[ABOVE_END]),
            Bound::Unbounded => start,
        };
        let end = match &partitions.upper {
            Bound::Included(text) => bound(cut(text).unwrap_or(text), &[ABOVE_END]),
            Bound::Excluded(text) => match cut(text) {
                Some(head) => bound(head, &[ABOVE_END]),
                None => bound(text, &[]),
            },
            Bound::Unbounded => end,
        };
        Self { start, end }
    }

    /// Returns the part of the span that starts at the position where a query resumes. A position before the span has no effect.
    pub(crate) fn from(mut self, table: u32, position: &Position) -> Self {
        let mut bytes = Vec::new();
        encode(table, &position.partition_key, position.row_key.as_deref().unwrap_or_default(), &mut bytes);
        if bytes > self.start {
            self.start = bytes;
        }
        self
    }

    /// Returns `true` if the span contains no key.
    pub(crate) fn is_empty(&self) -> bool {
        self.start >= self.end
    }
}

/// Returns the part of a string before its first character below U+0020. Returns `None` if the string has no such character. No stored key contains one.
fn cut(text: &str) -> Option<&str> {
    text.find(|character| character < '\u{20}').and_then(|at| text.get(..at))
}

/// A decoder that converts keys to strings. If consecutive keys are in one partition, it decodes the partition only once.
#[derive(Debug, Default)]
pub(crate) struct KeyReader {
    prefix: Vec<u8>,
    partition_key: String,
    row_key: String,
}

impl KeyReader {
    /// Returns the `(PartitionKey, RowKey)` of the given key.
    pub(crate) fn read(&mut self, key: &[u8]) -> Result<(&str, &str)> {
        let (_, row_key) = self.split(key)?;
        self.row_key.clear();
        order::decode(row_key, &mut self.row_key)
            .map_err(|error| error.with_key(self.partition_key.as_str(), String::from_utf8_lossy(row_key)))?;
        Ok((&self.partition_key, &self.row_key))
    }

    /// Returns the `PartitionKey` of a key, and the bytes of its `RowKey`, encoded by [`order`].
    pub(crate) fn split<'k>(&mut self, key: &'k [u8]) -> Result<(&str, &'k [u8])> {
        let corrupted = || Error::of(EngineFault::StoredKey);
        let known = !self.prefix.is_empty() && key.starts_with(&self.prefix);
        if !known {
            let texts = key.get(TABLE_BYTES..).ok_or_else(corrupted)?;
            let end = texts.iter().position(|byte| *byte == END).ok_or_else(corrupted)?;
            self.partition_key.clear();
            order::decode(texts.get(..end).unwrap_or_default(), &mut self.partition_key)?;
            self.prefix.clear();
            self.prefix.extend_from_slice(key.get(..=TABLE_BYTES + end).unwrap_or_default());
        }
        Ok(self.again(key))
    }

    /// Splits a key known to have the same `PartitionKey` as the previous one.
    #[inline]
    pub(crate) fn again<'k>(&self, key: &'k [u8]) -> (&str, &'k [u8]) {
        (&self.partition_key, key.get(self.prefix.len()..).unwrap_or_default())
    }

    /// Returns the number of bytes before the `RowKey` in the key that was split last.
    pub(crate) fn prefix(&self) -> usize {
        self.prefix.len()
    }
}

#[cfg(test)]
mod tests;
