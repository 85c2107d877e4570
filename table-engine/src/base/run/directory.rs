//! The directory of a run. For each block, it contains the offset, the first and last key, and the tally (`docs/format.md`, "Runs").

use std::cmp::Ordering;
use std::ops::Range;

use crate::base::policy::Weight;
use crate::base::run::SUM;
use crate::base::tally::Tally;
use crate::bytes::{Reader, Writer};

/// The in-memory form of a run's index and filter.
#[derive(Debug, Default)]
pub(in super::super) struct Directory {
    /// The offset of each block, followed by the end of the last block.
    offsets: Vec<u64>,
    /// The common prefix of all keys. It is empty until the directory is complete.
    prefix: Vec<u8>,
    /// The concatenated first and last keys of each block, without the common prefix.
    keys: Vec<u8>,
    /// The end offset of each key in `keys`.
    key_ends: Vec<u32>,
    /// The [`head`] of each block's last key. Heads are stored next to each other, so a search touches few cache lines.
    heads: Vec<u128>,
    /// The number of entries and the number of tombstones in each block. Empty if the run is in format version 1.
    counts: Vec<(u32, u32)>,
    sums: Vec<u64>,
    filter: Vec<u8>,
    /// The number of entries in the run.
    entries: u64,
}

/// The format of a run's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Form {
    /// Version 1: complete keys, no tallies.
    Plain,
    /// Version 2: keys omit the prefix shared with the previous key, and each block has a tally.
    Tallied,
}

/// Returns the first bytes of a key as a number. The numbers sort in the same order as the keys. For equal numbers, the rest of the keys must be compared.
fn head(key: &[u8]) -> u128 {
    let padded = || {
        let mut head = [0; size_of::<u128>()];
        head.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        head
    };
    u128::from_be_bytes(key.first_chunk().copied().unwrap_or_else(padded))
}

/// Returns the length of the common prefix of two keys.
pub(in super::super) fn shared(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

fn write_key(out: &mut Writer, before: &[u8], key: &[u8]) {
    let shared = shared(before, key);
    out.u32(u32::try_from(shared).unwrap_or(u32::MAX));
    out.bytes(key.get(shared..).unwrap_or_default());
}

/// Reads a prefix-compressed key, given the previous key. Only the shortest encoding is accepted.
fn read_key(reader: &mut Reader<'_>, before: &[u8]) -> Option<Vec<u8>> {
    let (count, rest) = (usize::try_from(reader.u32()?).ok()?, reader.bytes()?);
    let key = [before.get(..count)?, rest].concat();
    (shared(before, &key) == count).then_some(key)
}

impl Directory {
    /// Creates an empty directory for a run whose first block starts at `offset`. Blocks must be appended before the directory is completed.
    pub(super) fn at(offset: u64) -> Self {
        Self { offsets: vec![offset], ..Self::default() }
    }

    /// Appends a block. `bytes` is the block's size without the checksum. Returns `None` if the keys exceed the limits of an index.
    pub(super) fn push(
        &mut self,
        bytes: usize,
        (first, last): (&[u8], &[u8]),
        tally: Option<Tally>,
    ) -> Option<()> {
        self.offsets.push(self.end().checked_add(bytes as u64 + SUM as u64)?);
        for key in [first, last] {
            self.keys.extend_from_slice(key);
            self.key_ends.push(u32::try_from(self.keys.len()).ok()?);
        }
        if let Some(Tally { entries, deletions, sum }) = tally {
            self.counts.push((u32::try_from(entries).ok()?, u32::try_from(deletions).ok()?));
            self.sums.push(sum);
        }
        Some(())
    }

    /// Completes the directory. Removes the common prefix from the keys, and adds the filter and the number of entries.
    pub(super) fn complete(&mut self, filter: Vec<u8>, entries: u64) {
        (self.filter, self.entries) = (filter, entries);
        let Some(last) = self.len().checked_sub(1) else { return };
        let common = shared(self.rest(0), self.rest(2 * last + 1));
        self.prefix = self.rest(0).get(..common).unwrap_or_default().to_vec();
        let (mut keys, mut ends) =
            (Vec::with_capacity(self.keys.len()), Vec::with_capacity(self.key_ends.len()));
        for at in 0..self.key_ends.len() {
            keys.extend_from_slice(self.rest(at).get(common..).unwrap_or_default());
            ends.push(u32::try_from(keys.len()).unwrap_or(u32::MAX));
        }
        keys.shrink_to_fit();
        (self.keys, self.key_ends) = (keys, ends);
        self.offsets.shrink_to_fit();
        self.counts.shrink_to_fit();
        self.sums.shrink_to_fit();
        self.heads = (0..self.len()).map(|index| head(self.rest(2 * index + 1))).collect();
    }

    /// Returns the bytes of the index.
    pub(in super::super) fn write(&self, form: Form) -> Vec<u8> {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut out = Writer::default();
        out.u32(count(self.len()));
        let mut before = Vec::new();
        for index in 0..self.len() {
            out.u32(count(self.place(index).1));
            let (first, last) = (self.first(index), self.last(index));
            if form == Form::Plain {
                out.bytes(&first);
                out.bytes(&last);
                continue;
            }
            let (entries, deletions) = self.counts.get(index).copied().unwrap_or_default();
            out.u32(entries);
            out.u32(deletions);
            out.u64(self.sums.get(index).copied().unwrap_or_default());
            write_key(&mut out, &before, &first);
            write_key(&mut out, &first, &last);
            before = last;
        }
        out.into_bytes()
    }

    /// Parses an index. Returns `None` if the bytes are not an index in this format, or if its keys are out of order.
    pub(in super::super) fn read(
        bytes: &[u8],
        form: Form,
        offset: u64,
        filter: Vec<u8>,
        entries: u64,
    ) -> Option<Self> {
        let (mut reader, mut directory) = (Reader::new(bytes), Self::at(offset));
        let mut before: Option<Vec<u8>> = None;
        for _ in 0..reader.u32()? {
            let bytes = usize::try_from(reader.u32()?).ok()?;
            let (tally, first, last) = match form {
                Form::Plain => (None, reader.bytes()?.to_vec(), reader.bytes()?.to_vec()),
                Form::Tallied => {
                    let (entries, deletions) = (reader.u32()?.into(), reader.u32()?.into());
                    let tally = Tally { entries, deletions, sum: reader.u64()? };
                    let first = read_key(&mut reader, before.as_deref().unwrap_or_default())?;
                    let last = read_key(&mut reader, &first)?;
                    (Some(tally), first, last)
                }
            };
            if before.is_some_and(|before| before >= first) || first > last {
                return None;
            }
            directory.push(bytes, (&first, &last), tally)?;
            before = Some(last);
        }
        directory.complete(filter, entries);
        (reader.is_empty() && directory.len() > 0).then_some(directory)
    }

    /// Returns the number of blocks in the run.
    pub(in super::super) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the number of rows and tombstones.
    #[cfg(test)]
    pub(in super::super) fn entries(&self) -> u64 {
        self.entries
    }

    pub(in super::super) fn filter(&self) -> &[u8] {
        &self.filter
    }

    /// Returns the offset of the end of the last block.
    pub(super) fn end(&self) -> u64 {
        self.offsets.last().copied().unwrap_or_default()
    }

    /// Returns the offset of a block, and its size without the checksum.
    pub(in super::super) fn place(&self, index: usize) -> (u64, usize) {
        let offset = |index: usize| self.offsets.get(index).copied().unwrap_or_else(|| self.end());
        let (start, end) = (offset(index), offset(index + 1));
        (start, usize::try_from(end - start).unwrap_or(usize::MAX).saturating_sub(SUM))
    }

    /// Returns the recorded tally of a block, or `None` if the run is in format version 1.
    pub(in super::super) fn tally(&self, index: usize) -> Option<Tally> {
        let ((entries, deletions), sum) = (*self.counts.get(index)?, *self.sums.get(index)?);
        Some(Tally { entries: entries.into(), deletions: deletions.into(), sum })
    }

    /// Returns the recorded tally of all blocks, or `None` if the run is in format version 1.
    pub(in super::super) fn total(&self) -> Option<Tally> {
        (!self.counts.is_empty()).then(|| (0..self.len()).filter_map(|index| self.tally(index)).sum())
    }

    /// Returns the key at index `at`, without the common prefix.
    fn rest(&self, at: usize) -> &[u8] {
        let end = |at: usize| self.key_ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.keys.get(start..end(at)).unwrap_or_default()
    }

    /// Compares the key at index `at` with another key.
    fn compare(&self, at: usize, key: &[u8]) -> Ordering {
        match key.split_at_checked(self.prefix.len()) {
            Some((front, rest)) => self.prefix.as_slice().cmp(front).then_with(|| self.rest(at).cmp(rest)),
            // A proper prefix of the common prefix is less than every key in the directory.
            None => self.prefix.as_slice().cmp(key),
        }
    }

    /// Returns `true` if the first key of a block is less than the given key.
    pub(in super::super) fn begins_below(&self, index: usize, key: &[u8]) -> bool {
        self.compare(2 * index, key).is_lt()
    }

    /// Returns `true` if the last key of a block is less than the given key.
    pub(in super::super) fn ends_below(&self, index: usize, key: &[u8]) -> bool {
        self.compare(2 * index + 1, key).is_lt()
    }

    /// Returns the first key of a block.
    pub(in super::super) fn first(&self, index: usize) -> Vec<u8> {
        [&self.prefix, self.rest(2 * index)].concat()
    }

    /// Returns the last key of a block.
    pub(in super::super) fn last(&self, index: usize) -> Vec<u8> {
        [&self.prefix, self.rest(2 * index + 1)].concat()
    }

    /// Returns the index of the first block whose last key is not less than the given key. If no such block exists, returns the number of blocks.
    pub(in super::super) fn search(&self, key: &[u8]) -> usize {
        let Some(rest) = key.strip_prefix(self.prefix.as_slice()) else {
            return if key < self.prefix.as_slice() { 0 } else { self.len() };
        };
        let head = head(rest);
        let mut low = self.heads.partition_point(|other| *other < head);
        let equal = self.heads.get(low..).unwrap_or_default();
        if equal.first() != Some(&head) {
            return low;
        }
        let mut high = low + equal.partition_point(|other| *other == head);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.rest(2 * middle + 1) < rest {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the blocks that may contain keys from `start` (inclusive) to `end` (exclusive).
    pub(in super::super) fn within(&self, start: &[u8], end: Option<&[u8]>) -> Range<usize> {
        let from = self.search(start);
        let to = end.map_or(self.len(), |end| {
            let last = self.search(end);
            // The first block whose last key is not less than `end` may start before `end`.
            if last < self.len() && self.begins_below(last, end) { last + 1 } else { last }
        });
        from..to.max(from)
    }

    /// Returns the number of bytes, entries and tombstones in a range of blocks. For a run in format version 1, the number of entries is estimated.
    pub(in super::super) fn weigh(&self, blocks: Range<usize>) -> Weight {
        let offset = |index: usize| self.offsets.get(index).copied().unwrap_or_else(|| self.end());
        let bytes = offset(blocks.end) - offset(blocks.start);
        let Some(counts) = self.counts.get(blocks) else {
            let all = u128::from(offset(self.len()) - offset(0)).max(1);
            let entries = u128::from(self.entries) * u128::from(bytes) / all;
            return Weight { bytes, entries: u64::try_from(entries).unwrap_or(u64::MAX), deletions: 0 };
        };
        let sum = |of: fn(&(u32, u32)) -> u32| counts.iter().map(|count| u64::from(of(count))).sum();
        Weight { bytes, entries: sum(|count| count.0), deletions: sum(|count| count.1) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Tests searches for short keys and for keys with long common prefixes, including keys with equal heads.
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
                directory.push(10, (&block[0], &block[block.len() - 1]), None).unwrap();
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
        let tally = |entries| Some(Tally { entries, deletions: 1, sum: entries << 60 });
        directory.push(100, (b"kb", b"kd"), tally(2)).unwrap();
        directory.push(200, (b"kf", b"kf"), tally(1)).unwrap();
        directory.push(300, (b"kh", b"kk"), tally(2)).unwrap();
        directory.complete(Vec::new(), 5);
        directory
    }

    #[test]
    fn golden_bytes_of_an_index_in_both_forms() {
        let mut directory = Directory::at(24);
        let tally = Tally { entries: 5, deletions: 2, sum: 0x0102_0304_0506_0708 };
        directory.push(0x1234, (b"ab", b"ac"), Some(tally)).unwrap();
        assert_eq!(directory.write(Form::Plain), b"\x01\0\0\0\x34\x12\0\0\x02\0\0\0ab\x02\0\0\0ac");
        let tallied = b"\x01\0\0\0\x34\x12\0\0\x05\0\0\0\x02\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01\
            \0\0\0\0\x02\0\0\0ab\x01\0\0\0\x01\0\0\0c";
        assert_eq!(directory.write(Form::Tallied), tallied);
    }

    #[test]
    fn an_index_is_read_back_and_other_bytes_are_refused() {
        for form in [Form::Plain, Form::Tallied] {
            let bytes = directory().write(form);
            let back = Directory::read(&bytes, form, 24, vec![], 5).unwrap();
            assert_eq!((back.write(form), back.entries(), back.end()), (bytes.clone(), 5, 24 + 600 + 12));
            let total = directory().total().filter(|_| form == Form::Tallied);
            assert_eq!(back.total(), total);
            for length in 0..bytes.len() {
                assert!(Directory::read(&bytes[..length], form, 24, vec![], 5).is_none());
            }
        }
    }

    #[test]
    fn blocks_of_a_span() {
        let directory = directory();
        for (start, end, wanted) in [
            ("k", "k", 0..0),
            ("a", "kb", 0..0),
            ("ka", "kc", 0..1),
            ("kd", "ke", 0..1),
            ("ke", "kf", 1..1),
            ("ke", "kg", 1..2),
            ("kc", "ki", 0..3),
            ("kj", "kz", 2..3),
            ("kl", "kz", 3..3),
            ("l", "z", 3..3),
        ] {
            assert_eq!(directory.within(start.as_bytes(), Some(end.as_bytes())), wanted, "{start} to {end}");
        }
        assert_eq!(directory.within(b"", None), 0..3);
        assert_eq!(directory.place(1), (128, 200));
        assert_eq!(directory.weigh(0..2), Weight { bytes: 308, entries: 3, deletions: 2 });
        let plain = Directory::read(&directory.write(Form::Plain), Form::Plain, 24, vec![], 6).unwrap();
        assert_eq!(plain.weigh(1..3), Weight { bytes: 508, entries: 4, deletions: 0 });
        assert!(
            directory.begins_below(1, b"kg")
                && !directory.begins_below(1, b"kf")
                && !directory.begins_below(1, b"k")
        );
        assert!(directory.ends_below(0, b"l") && !directory.ends_below(0, b"j"));
    }
}
