//! Directory of a run: the places of its blocks, with their first and last keys.

use std::ops::Range;

use crate::embedded::base::run::SUM;
use crate::embedded::bytes::{Reader, Writer};

/// The index of a run, and its filter, in memory.
#[derive(Debug, Default)]
pub(in super::super) struct Directory {
    /// Where each block begins, and where the one behind the last would.
    offsets: Vec<u64>,
    /// The first and the last key of each block, nothing between.
    keys: Vec<u8>,
    /// Where each of these keys ends.
    key_ends: Vec<u32>,
    /// How many bytes all keys begin with, and the [`head`] of each block's last key behind them: few lines of memory, where the keys
    /// are many.
    common: usize,
    heads: Vec<u128>,
    filter: Vec<u8>,
    entries: u64,
}

/// The first bytes of a key, as a number of the same order. Of two keys with equal heads the bytes say which is greater.
fn head(key: &[u8]) -> u128 {
    let padded = || {
        let mut head = [0; size_of::<u128>()];
        head.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        head
    };
    u128::from_be_bytes(key.first_chunk().copied().unwrap_or_else(padded))
}

impl Directory {
    /// Of a run whose blocks begin at an offset; to be filled.
    pub(super) fn at(offset: u64) -> Self {
        Self { offsets: vec![offset], ..Self::default() }
    }

    /// Appends a block, given by its bytes without the checksum. `None` where there are more than an index can say.
    pub(super) fn push(&mut self, bytes: usize, first: &[u8], last: &[u8]) -> Option<()> {
        self.offsets.push(self.end().checked_add(bytes as u64 + SUM as u64)?);
        for key in [first, last] {
            self.keys.extend_from_slice(key);
            self.key_ends.push(u32::try_from(self.keys.len()).ok()?);
        }
        Some(())
    }

    /// Adds what is known once all blocks are there.
    pub(super) fn complete(&mut self, filter: Vec<u8>, entries: u64) {
        (self.filter, self.entries) = (filter, entries);
        let ends =
            if self.len() > 0 { (self.first(0), self.last(self.len() - 1)) } else { Default::default() };
        self.common = ends.0.iter().zip(ends.1).take_while(|(left, right)| left == right).count();
        let last = |index| self.last(index).get(self.common..).unwrap_or_default();
        self.heads = (0..self.len()).map(|index| head(last(index))).collect();
    }

    /// The bytes of the index.
    pub(in super::super) fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(u32::try_from(self.len()).unwrap_or(u32::MAX));
        for index in 0..self.len() {
            out.u32(u32::try_from(self.place(index).1).unwrap_or(u32::MAX));
            out.bytes(self.first(index));
            out.bytes(self.last(index));
        }
        out.into_bytes()
    }

    /// Reads an index; `None` if the bytes are none, or its keys are not in order.
    pub(in super::super) fn read(bytes: &[u8], offset: u64, filter: Vec<u8>, entries: u64) -> Option<Self> {
        let (mut reader, mut directory) = (Reader::new(bytes), Self::at(offset));
        let mut before: Option<&[u8]> = None;
        for _ in 0..reader.u32()? {
            let (bytes, first, last) = (reader.u32()?, reader.bytes()?, reader.bytes()?);
            if before.is_some_and(|before| before >= first) || first > last {
                return None;
            }
            before = Some(last);
            directory.push(usize::try_from(bytes).ok()?, first, last)?;
        }
        directory.complete(filter, entries);
        (reader.is_empty() && directory.len() > 0).then_some(directory)
    }

    /// How many blocks.
    pub(in super::super) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// How many rows and deletions.
    #[cfg(test)]
    pub(in super::super) fn entries(&self) -> u64 {
        self.entries
    }

    pub(in super::super) fn filter(&self) -> &[u8] {
        &self.filter
    }

    /// Where the last block ends.
    pub(super) fn end(&self) -> u64 {
        self.offsets.last().copied().unwrap_or_default()
    }

    /// The offset of a block, and its bytes without the checksum.
    pub(in super::super) fn place(&self, index: usize) -> (u64, usize) {
        let offset = |index: usize| self.offsets.get(index).copied().unwrap_or_else(|| self.end());
        let (start, end) = (offset(index), offset(index + 1));
        (start, usize::try_from(end - start).unwrap_or(usize::MAX).saturating_sub(SUM))
    }

    fn key(&self, at: usize) -> &[u8] {
        let end = |at: usize| self.key_ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.keys.get(start..end(at)).unwrap_or_default()
    }

    /// The first key of a block.
    pub(in super::super) fn first(&self, index: usize) -> &[u8] {
        self.key(2 * index)
    }

    /// The last key of a block.
    pub(in super::super) fn last(&self, index: usize) -> &[u8] {
        self.key(2 * index + 1)
    }

    /// The first block whose last key is not below a key; the number of blocks if there is none.
    pub(in super::super) fn search(&self, key: &[u8]) -> usize {
        let common = self.first(0).get(..self.common).unwrap_or_default();
        let Some(rest) = key.strip_prefix(common) else {
            return if key < common { 0 } else { self.len() };
        };
        let head = head(rest);
        let mut low = self.heads.partition_point(|other| *other < head);
        let rest = self.heads.get(low..).unwrap_or_default();
        if rest.first() != Some(&head) {
            return low;
        }
        let mut high = low + rest.partition_point(|other| *other == head);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.last(middle) < key { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The blocks that have keys from `start` on, up to but without `end`.
    pub(in super::super) fn within(&self, start: &[u8], end: Option<&[u8]>) -> Range<usize> {
        let from = self.search(start);
        let to = end.map_or(self.len(), |end| {
            let last = self.search(end);
            // The block that has `end`, or is the first above it, may begin below it.
            if last < self.len() && self.first(last) < end { last + 1 } else { last }
        });
        from..to.max(from)
    }

    /// The bytes of some blocks.
    pub(in super::super) fn bytes(&self, blocks: Range<usize>) -> u64 {
        let offset = |index: usize| self.offsets.get(index).copied().unwrap_or_else(|| self.end());
        offset(blocks.end) - offset(blocks.start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Keys with long beginnings in common, equal heads among them, and short ones.
        #[test]
        fn a_search_finds_the_first_block_that_does_not_end_below_a_key(
            front in 0..20_usize,
            keys in prop::collection::btree_set(prop::collection::vec(0..3_u8, 0..19), 1..30),
            probe in prop::collection::vec(0..3_u8, 0..22),
            below in any::<bool>(),
        ) {
            let key = |rest: &[u8]| [&[7; 20][..front], rest].concat();
            let keys: Vec<_> = keys.iter().map(|rest| key(rest)).collect();
            let mut directory = Directory::at(0);
            for block in keys.chunks(2) {
                directory.push(10, &block[0], &block[block.len() - 1]).unwrap();
            }
            directory.complete(Vec::new(), keys.len() as u64);
            for probe in keys.iter().cloned().chain([key(&probe), probe, vec![if below { 0 } else { 9 }; 9]]) {
                let wanted = keys.chunks(2).position(|block| block[block.len() - 1] >= probe);
                prop_assert_eq!(directory.search(&probe), wanted.unwrap_or(directory.len()));
            }
        }
    }

    fn directory() -> Directory {
        let mut directory = Directory::at(24);
        directory.push(100, b"b", b"d").unwrap();
        directory.push(200, b"f", b"f").unwrap();
        directory.push(300, b"h", b"k").unwrap();
        directory.complete(Vec::new(), 5);
        directory
    }

    #[test]
    fn golden_bytes_of_an_index() {
        let mut directory = Directory::at(24);
        directory.push(0x1234, b"ab", b"c").unwrap();
        assert_eq!(directory.write(), b"\x01\0\0\0\x34\x12\0\0\x02\0\0\0ab\x01\0\0\0c");
    }

    #[test]
    fn an_index_reads_back_and_none_is_made_of_other_bytes() {
        let bytes = directory().write();
        let back = Directory::read(&bytes, 24, vec![], 5).unwrap();
        assert_eq!((back.write(), back.entries(), back.end()), (bytes.clone(), 5, 24 + 600 + 12));
        for length in 0..bytes.len() {
            assert!(Directory::read(&bytes[..length], 24, vec![], 5).is_none());
        }
    }

    #[test]
    fn blocks_of_a_span() {
        let directory = directory();
        for (start, end, wanted) in [
            ("a", "b", 0..0),
            ("a", "c", 0..1),
            ("d", "e", 0..1),
            ("e", "f", 1..1),
            ("e", "g", 1..2),
            ("c", "i", 0..3),
            ("j", "z", 2..3),
            ("l", "z", 3..3),
        ] {
            assert_eq!(directory.within(start.as_bytes(), Some(end.as_bytes())), wanted, "{start} to {end}");
        }
        assert_eq!(directory.within(b"", None), 0..3);
        assert_eq!((directory.place(1), directory.bytes(0..2)), ((128, 200), 308));
    }
}
