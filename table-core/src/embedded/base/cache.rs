//! Cache of the blocks read last, of all runs and views, under one budget in bytes.
//!
//! A run never changes, so nothing here grows stale.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::embedded::base::block::Layout;
use crate::embedded::key::SplitKey;
use crate::error::Result;
use crate::row::RowView;

/// Parts with a lock each: readers seldom meet.
const SHARDS: usize = 16;
/// What an entry costs beside its bytes.
const ENTRY_BYTES: usize = 160;

/// A block with where its parts are.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) bytes: Box<[u8]>,
    pub(super) layout: Layout,
}

impl Block {
    pub(super) fn read(bytes: Box<[u8]>) -> Result<Self> {
        let layout = Layout::read(&bytes)?;
        Ok(Self { bytes, layout })
    }

    /// Visits all entries, a deletion as `None`, until told to stop.
    pub(super) fn visit(
        &self,
        mut visit: impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        for entry in self.layout.entries(&self.bytes, 0..self.layout.len())? {
            let (key, row) = entry?;
            if visit(key, row)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The number of a run, and of a block in it.
type Place = (u64, u32);

/// Mixes the two numbers of a place: no program chooses them.
#[derive(Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(32) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 29;
    }
}

type Blocks = HashMap<Place, Arc<Block>, BuildHasherDefault<PlaceHasher>>;

/// Blocks in two generations: a full young one becomes the old one, and the old one is forgotten. A block that is found in the
/// old one becomes young again.
#[derive(Debug, Default)]
struct Generations {
    young: Blocks,
    young_bytes: usize,
    old: Blocks,
}

/// A part of the cache, with what was found in it and what was not: each on lines of memory of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    generations: RwLock<Generations>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A cache of blocks.
#[derive(Debug)]
pub(super) struct Cache {
    shards: [Shard; SHARDS],
    /// The bytes at which the young generation of a shard is full.
    most: usize,
}

impl Cache {
    /// Room for so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { shards: Default::default(), most: bytes / SHARDS / 2 }
    }

    fn shard(&self, (run, block): Place) -> &Shard {
        let at = run.wrapping_mul(31).wrapping_add(u64::from(block)) % SHARDS as u64;
        // The remainder is below the number of shards.
        usize::try_from(at).ok().and_then(|at| self.shards.get(at)).unwrap_or(&self.shards[0])
    }

    /// A block, if it is here.
    pub(super) fn get(&self, place: Place) -> Option<Arc<Block>> {
        let shard = self.shard(place);
        let found = {
            let generations = shard.generations.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(block) = generations.young.get(&place) {
                shard.hits.fetch_add(1, Ordering::Relaxed);
                return Some(Arc::clone(block));
            }
            generations.old.get(&place).map(Arc::clone)
        };
        let Some(found) = found else {
            shard.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        shard.hits.fetch_add(1, Ordering::Relaxed);
        let mut generations = shard.generations.write().unwrap_or_else(PoisonError::into_inner);
        generations.old.remove(&place);
        generations.add(place, Arc::clone(&found), self.most);
        Some(found)
    }

    /// How often a block was here when it was asked for, and how often not.
    pub(super) fn hits_and_misses(&self) -> (u64, u64) {
        let sum = |counter: fn(&Shard) -> &AtomicU64| -> u64 {
            self.shards.iter().map(|shard| counter(shard).load(Ordering::Relaxed)).sum()
        };
        (sum(|shard| &shard.hits), sum(|shard| &shard.misses))
    }

    /// Keeps a block for a while.
    pub(super) fn insert(&self, place: Place, block: Arc<Block>) {
        self.shard(place)
            .generations
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .add(place, block, self.most);
    }
}

impl Generations {
    fn add(&mut self, place: Place, block: Arc<Block>, most: usize) {
        let bytes = block.bytes.len() + ENTRY_BYTES;
        if self.young_bytes + bytes > most {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(place, block).is_none() {
            self.young_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::base::block::BlockWriter;

    #[test]
    fn what_is_asked_for_again_stays_and_the_bytes_have_a_bound() {
        let cache = Cache::new(SHARDS * 2 * 10 * (ENTRY_BYTES + 40));
        let block = || {
            let mut writer = BlockWriter::default();
            writer.push(&[7; 20], None);
            let mut bytes = Vec::new();
            writer.finish(&mut bytes);
            Arc::new(Block::read(bytes.into()).unwrap())
        };
        assert!(block().bytes.len() <= 40);
        for n in 0..5_000 {
            cache.insert((1, n), block());
            if n > 0 {
                assert!(cache.get((1, 0)).is_some() || n > 5_000, "{n}");
            }
        }
        assert!(cache.get((1, 1)).is_none());
        let held = |shard: &Shard| {
            let generations = shard.generations.read().unwrap();
            generations.young.len() + generations.old.len()
        };
        assert!(cache.shards.iter().map(held).sum::<usize>() <= SHARDS * 24);
    }
}
