//! Changes the rows of the base: finds the blocks that changes fall into, and writes them anew.

use std::iter::Peekable;
use std::ops::Bound;

use redb::{ReadableTable, Table};

use crate::embedded::base::block::{self, Entry, Layout};
use crate::embedded::base::failed;
use crate::embedded::key::Span;
use crate::error::Result;

/// Rows that are held at once while many are written behind all others.
const HELD_BYTES: usize = 1 << 20;

/// One row to put in, or, without a row, to take out.
pub(crate) struct Change {
    pub(crate) key: Vec<u8>,
    pub(crate) row: Option<Vec<u8>>,
}

/// The rows within a change of the base: blocks, each under the largest of its keys.
pub(crate) struct BaseRows<'t>(pub(super) Table<'t, &'static [u8], &'static [u8]>);

/// A block that was taken out, to be written anew.
struct Taken {
    largest: Vec<u8>,
    entries: Vec<Entry>,
}

impl BaseRows<'_> {
    /// Applies changes, which come in key order.
    pub(crate) fn apply(&mut self, changes: impl Iterator<Item = Result<Change>>) -> Result<()> {
        let mut changes = changes.peekable();
        while let Some(change) = changes.peek() {
            let Ok(change) = change else { return changes.next().map_or(Ok(()), |failed| failed.map(drop)) };
            // What lies behind all blocks goes to the last one.
            let (block, end) = match self.take(Bound::Included(change.key.as_slice()))? {
                Some(block) => (Some(block), false),
                None => (self.take_last()?, true),
            };
            let bound = block.as_ref().filter(|_| !end).map(|block| block.largest.clone());
            self.rewrite(block.map(|block| block.entries).unwrap_or_default(), bound, &mut changes)?;
        }
        Ok(())
    }

    /// Merges changes up to a bound into the entries of a block, and writes what comes of it.
    fn rewrite(
        &mut self,
        old: Vec<Entry>,
        mut bound: Option<Vec<u8>>,
        changes: &mut Peekable<impl Iterator<Item = Result<Change>>>,
    ) -> Result<()> {
        let mut merge = Merge::new(old);
        loop {
            let within = |change: &Result<Change>| match (change, &bound) {
                (Ok(change), Some(bound)) => change.key <= *bound,
                _ => true,
            };
            if let Some(change) = changes.next_if(within) {
                merge.apply(change?);
                if merge.bytes > HELD_BYTES {
                    self.write_all_but_last(&mut merge)?;
                }
                continue;
            }
            merge.finish();
            let small = block::is_small(&merge.entries);
            let next = bound.as_deref().filter(|_| small).map(|bound| self.take(Bound::Excluded(bound)));
            let Some(neighbour) = next.transpose()?.flatten() else { break };
            merge.old = neighbour.entries.into_iter().peekable();
            bound = Some(neighbour.largest);
        }
        self.write(&block::cut(&merge.entries, merge.dense))
    }

    fn write(&mut self, blocks: &[&[Entry]]) -> Result<()> {
        for block in blocks {
            if let Some(last) = block.last() {
                self.0.insert(last.key.as_slice(), block::encode(block).as_slice()).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn write_all_but_last(&mut self, merge: &mut Merge) -> Result<()> {
        let blocks = block::cut(&merge.entries, merge.dense);
        let Some((last, full)) = blocks.split_last() else { return Ok(()) };
        self.write(full)?;
        let written = merge.entries.len() - last.len();
        merge.entries.drain(..written);
        merge.bytes = merge.entries.iter().map(Entry::bytes).sum();
        Ok(())
    }

    /// Takes the first block out whose largest key is not below a bound.
    fn take(&mut self, from: Bound<&[u8]>) -> Result<Option<Taken>> {
        let found = self.0.range::<&[u8]>((from, Bound::Unbounded)).map_err(failed)?.next();
        let Some(found) = found.transpose().map_err(failed)? else { return Ok(None) };
        let (largest, block) = (found.0.value().to_vec(), found.1.value().to_vec());
        drop(found);
        self.taken(largest, &block).map(Some)
    }

    fn take_last(&mut self) -> Result<Option<Taken>> {
        let Some(found) = self.0.last().map_err(failed)? else { return Ok(None) };
        let (largest, block) = (found.0.value().to_vec(), found.1.value().to_vec());
        drop(found);
        self.taken(largest, &block).map(Some)
    }

    fn taken(&mut self, largest: Vec<u8>, block: &[u8]) -> Result<Taken> {
        self.0.remove(largest.as_slice()).map_err(failed)?;
        let entries = Layout::read(block)?.entries(block)?;
        Ok(Taken { largest, entries })
    }

    /// Takes at least so many rows of a span out, if it has them, and a block's rest more; how many there were.
    pub(crate) fn delete_some(&mut self, span: &Span, most: usize) -> Result<usize> {
        let mut count = 0;
        let mut from = Bound::Included(span.start.clone());
        while count < most {
            let Some(block) = self.take(from.as_ref().map(Vec::as_slice))? else { break };
            let within = |entry: &Entry| span.start <= entry.key && entry.key < span.end;
            let (gone, kept): (Vec<_>, Vec<_>) = block.entries.into_iter().partition(within);
            count += gone.len();
            self.write(&block::cut(&kept, true))?;
            if block.largest >= span.end {
                break;
            }
            from = Bound::Excluded(block.largest);
        }
        Ok(count)
    }
}

/// Old entries and changes, on their way into one list.
struct Merge {
    old: Peekable<std::vec::IntoIter<Entry>>,
    /// The first and the last key of the block it began with.
    ends: Option<(Vec<u8>, Vec<u8>)>,
    entries: Vec<Entry>,
    bytes: usize,
    /// Nothing new lies among the old entries: rows that come in key order fill their blocks.
    dense: bool,
}

impl Merge {
    fn new(old: Vec<Entry>) -> Self {
        let ends = old.first().zip(old.last()).map(|(first, last)| (first.key.clone(), last.key.clone()));
        Self { old: old.into_iter().peekable(), ends, entries: Vec::new(), bytes: 0, dense: true }
    }

    fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        self.entries.push(entry);
    }

    fn apply(&mut self, Change { key, row }: Change) {
        while let Some(entry) = self.old.next_if(|entry| entry.key < key) {
            self.push(entry);
        }
        let replaced = self.old.next_if(|entry| entry.key == key).is_some();
        if let Some(row) = row {
            let among = self.ends.as_ref().is_some_and(|(first, last)| *first < key && key < *last);
            self.dense &= replaced || !among;
            self.push(Entry { key, row });
        }
    }

    fn finish(&mut self) {
        while let Some(entry) = self.old.next() {
            self.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::*;
    use crate::embedded::base::{Base, BaseView, Meta};
    use crate::embedded::catalog::Catalog;
    use crate::embedded::disk::{Disk, RealDisk};

    type Model = BTreeMap<Vec<u8>, Vec<u8>>;

    fn contents(view: &BaseView, span: &Span) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut cursor = view.range(span).unwrap();
        let mut rows = Vec::new();
        while let Some((key, row)) = cursor.current() {
            rows.push((key.to_vec(), row.to_vec()));
            cursor.advance().unwrap();
        }
        rows
    }

    /// The same in two visits, up to a key and from there on.
    fn visited(view: &BaseView, span: &Span, middle: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut cursor = view.range(span).unwrap();
        let mut rows = Vec::new();
        for end in [Some(middle), None] {
            let flow = cursor.visit(end, |key, row| {
                assert_eq!(key < middle, end.is_some());
                rows.push((key.to_vec(), row.to_vec()));
                Ok(ControlFlow::Continue(()))
            });
            assert!(flow.unwrap().is_continue());
            assert!(cursor.current().is_none_or(|(key, _)| end.is_some_and(|end| key >= end)));
        }
        rows
    }

    /// Rows of keys, by their sizes or deleted, and a range of keys that is deleted.
    type Step = (Vec<(u16, Option<u16>)>, Option<(u16, u16)>);

    fn step() -> impl Strategy<Value = Step> {
        let key = prop_oneof![0..40_u16, 0..2_000_u16];
        // Sizes around those of a block, and some rows that are larger than one.
        let size = prop_oneof![6 => 0..400_u16, 2 => 3_000..6_000_u16, 1 => 15_000..40_000_u16];
        let changes = prop::collection::vec((key.clone(), prop::option::weighted(0.7, size)), 0..120);
        (changes, prop::option::weighted(0.2, (key.clone(), key)))
    }

    fn bytes(key: u16) -> Vec<u8> {
        [&[0, 0, 0, 1][..], &key.to_be_bytes()].concat()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn blocks_hold_what_a_plain_map_holds(
            steps in prop::collection::vec(step(), 1..8),
            probes in prop::collection::vec((0..2_100_u16, 0..2_100_u16, 0..2_100_u16), 20),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let base = Base::open(RealDisk.open(&folder.path().join("base"), true).unwrap(), 1 << 20).unwrap();
            let meta = Meta { journal: 1, sequence: 1, timestamp: 0, catalog: Catalog::default(), dropped: vec![] };
            let mut model = Model::new();
            for (changes, deleted) in steps {
                let changes: BTreeMap<u16, Option<u16>> = changes.into_iter().collect();
                let writer = base.begin().unwrap();
                let mut rows = writer.rows().unwrap();
                let row = |size: u16| vec![7; usize::from(size)];
                rows.apply(changes.iter().map(|(key, size)| Ok(Change { key: bytes(*key), row: size.map(row) }))).unwrap();
                for (key, size) in changes {
                    match size {
                        Some(size) => drop(model.insert(bytes(key), row(size))),
                        None => drop(model.remove(&bytes(key))),
                    }
                }
                if let Some((start, end)) = deleted {
                    let span = Span { start: bytes(start), end: bytes(end) };
                    let within: Vec<_> = model.keys().filter(|key| span.start <= **key && **key < span.end).cloned().collect();
                    prop_assert_eq!(rows.delete_some(&span, usize::MAX).unwrap(), within.len());
                    model.retain(|key, _| !within.contains(key));
                }
                drop(rows);
                writer.commit(&meta).unwrap();
            }
            let view = base.view().unwrap();
            let all = Span { start: vec![], end: vec![255] };
            let expected: Vec<_> = model.clone().into_iter().collect();
            prop_assert_eq!(contents(&view, &all), expected);
            for (from, to, middle) in probes {
                let found = view.get(&bytes(from)).unwrap().map(|row| row.as_bytes().to_vec());
                prop_assert_eq!(found.as_ref(), model.get(&bytes(from)));
                let span = Span { start: bytes(from), end: bytes(to) };
                let expected: Vec<_> = model.clone().into_iter()
                    .filter(|(key, _)| span.start <= *key && *key < span.end).collect();
                prop_assert_eq!(visited(&view, &span, &bytes(middle)), expected.clone());
                prop_assert_eq!(contents(&view, &span), expected);
            }
        }
    }
}
