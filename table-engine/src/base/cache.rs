//! A cache of recently read blocks, shared by all runs and views. It has a single budget in bytes.
//!
//! Runs never change, so cached blocks never become stale.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use table_store::Result;
use table_store::row::RowView;

use crate::base::block::Layout;
use crate::key::SplitKey;

/// The number of shards. Each shard has its own lock, so readers rarely contend for a lock.
const SHARDS: usize = 16;
/// The estimated memory overhead of a cache entry, in bytes.
const ENTRY_BYTES: usize = 160;

/// The bytes and the layout of a block.
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

    /// Visits all entries until the visitor stops. A tombstone is visited as `None`.
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

/// The location of a block: its run number, and its index in the run.
type Place = (u64, u32);

/// A hasher that mixes the two numbers of a [`Place`]. Callers cannot choose these numbers, so collision attacks are impossible.
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

/// A cached block and its reference flag. The flag is set when the block is used, and cleared when the block is considered for eviction.
#[derive(Debug)]
struct Kept {
    block: Arc<Block>,
    used: AtomicBool,
}

/// The blocks of a shard, with second-chance eviction.
///
/// If space is needed, the block at the head of the queue is considered for eviction. If it has been used since it was inserted or last considered, it moves to
/// the tail of the queue. Otherwise, it is evicted.
#[derive(Debug, Default)]
struct Queue {
    blocks: HashMap<Place, Kept, BuildHasherDefault<PlaceHasher>>,
    order: VecDeque<Place>,
    bytes: usize,
}

/// A shard of the cache with its own hit and miss counters. Shards are aligned so that two shards never share a cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    queue: RwLock<Queue>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A cache for blocks of the base.
#[derive(Debug)]
pub(super) struct Cache {
    shards: [Shard; SHARDS],
    /// The byte budget of each shard.
    most: usize,
}

impl Cache {
    /// Creates a cache with a budget of `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { shards: Default::default(), most: bytes / SHARDS }
    }

    fn shard(&self, (run, block): Place) -> &Shard {
        let at = run.wrapping_mul(31).wrapping_add(u64::from(block)) % SHARDS as u64;
        // The remainder is always less than the number of shards, so the fallback is never used.
        usize::try_from(at).ok().and_then(|at| self.shards.get(at)).unwrap_or(&self.shards[0])
    }

    /// Returns a block if it is cached.
    pub(super) fn get(&self, place: Place) -> Option<Arc<Block>> {
        let shard = self.shard(place);
        let queue = shard.queue.read().unwrap_or_else(PoisonError::into_inner);
        let Some(Kept { block, used }) = queue.blocks.get(&place) else {
            shard.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        // The flag is written only if it is not set yet, so readers do not write to the block's cache line on every lookup.
        if !used.load(Ordering::Relaxed) {
            used.store(true, Ordering::Relaxed);
        }
        shard.hits.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(block))
    }

    /// Returns the number of hits and the number of misses.
    pub(super) fn hits_and_misses(&self) -> (u64, u64) {
        let sum = |counter: fn(&Shard) -> &AtomicU64| -> u64 {
            self.shards.iter().map(|shard| counter(shard).load(Ordering::Relaxed)).sum()
        };
        (sum(|shard| &shard.hits), sum(|shard| &shard.misses))
    }

    /// Inserts a block. If the budget is exceeded, blocks are evicted.
    pub(super) fn insert(&self, place: Place, block: Arc<Block>) {
        let shard = self.shard(place);
        shard.queue.write().unwrap_or_else(PoisonError::into_inner).add(place, block, self.most);
    }
}

impl Queue {
    fn add(&mut self, place: Place, block: Arc<Block>, most: usize) {
        self.bytes += bytes_of(&block);
        // If two readers miss the same block, both insert it.
        match self.blocks.insert(place, Kept { block, used: AtomicBool::new(false) }) {
            Some(earlier) => self.bytes -= bytes_of(&earlier.block),
            None => self.order.push_back(place),
        }
        while self.bytes > most
            && let Some(first) = self.order.pop_front()
        {
            match self.blocks.entry(first) {
                Entry::Occupied(kept) if kept.get().used.swap(false, Ordering::Relaxed) => {
                    self.order.push_back(first);
                }
                Entry::Occupied(kept) => self.bytes -= bytes_of(&kept.remove().block),
                Entry::Vacant(_) => {}
            }
        }
    }
}

/// Returns the number of bytes that a block counts towards the budget.
fn bytes_of(block: &Block) -> usize {
    block.bytes.len() + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::block::BlockWriter;

    fn block() -> Arc<Block> {
        let mut writer = BlockWriter::default();
        writer.push(&[7; 20], None);
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        Arc::new(Block::read(bytes.into()).unwrap())
    }

    fn held(cache: &Cache) -> usize {
        cache.shards.iter().map(|shard| shard.queue.read().unwrap().blocks.len()).sum()
    }

    #[test]
    fn blocks_read_again_stay_cached_and_the_cache_is_bounded() {
        let room = SHARDS * 20;
        let cache = Cache::new(room * bytes_of(&block()));
        for n in 0..5_000 {
            cache.insert((1, n), block());
            assert!(cache.get((1, 0)).is_some(), "{n}");
            let shard = &cache.shards[0].queue.read().unwrap();
            assert_eq!(shard.order.len(), shard.blocks.len());
            assert_eq!(shard.bytes, shard.blocks.len() * bytes_of(&block()));
        }
        assert!(cache.get((1, 1)).is_none());
        assert_eq!(held(&cache), room, "all of the budget is used");
    }

    #[test]
    fn a_block_inserted_twice_counts_once_and_one_over_budget_is_dropped() {
        let cache = Cache::new(SHARDS * bytes_of(&block()));
        cache.insert((1, 0), block());
        cache.insert((1, 0), block());
        assert!(cache.get((1, 0)).is_some());
        assert_eq!(held(&cache), 1);
        let none = Cache::new(0);
        none.insert((1, 0), block());
        assert_eq!((held(&none), none.hits_and_misses()), (0, (0, 0)));
    }

    /// Tests a cache with space for half of the blocks. About half of all random reads must hit it, which shows that the cache uses all of its space.
    #[test]
    fn random_reads_hit_nearly_in_proportion_to_the_cache_size() {
        let (room, blocks) = (SHARDS * 64, SHARDS as u64 * 128);
        let cache = Cache::new(room * bytes_of(&block()));
        let (mut random, shared) = (7_u64, block());
        for _ in 0..blocks * 20 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = (1, u32::try_from((random >> 33) % blocks).unwrap());
            if cache.get(place).is_none() {
                cache.insert(place, Arc::clone(&shared));
            }
        }
        let (hits, misses) = cache.hits_and_misses();
        assert!(hits * 100 > (hits + misses) * 46, "{hits} found, {misses} not");
    }
}
