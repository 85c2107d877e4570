//! The blocks that were looked into last: a look-up finds its row there without a way down the tree.
//!
//! The tree's own cache holds pages, and each look-up goes through several of them, whatever it has found before. A block held
//! here is the same memory, known by its keys. It belongs to one view, so nothing in it ever grows stale.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock};

use redb::AccessGuard;

use crate::embedded::base::block::Layout;
use crate::error::Result;
use crate::row::Row;

type Blocks = BTreeMap<Vec<u8>, Block>;

/// A block with where its parts lie.
pub(super) struct Block {
    pub(super) bytes: AccessGuard<'static, &'static [u8]>,
    pub(super) layout: Layout,
}

/// Blocks by their largest key, in two generations: when the young one is full it becomes the old one, and what was the old
/// one is forgotten. A block found in the old one stays there: what is asked for again soon comes anew.
pub(super) struct Cache {
    generations: RwLock<Generations>,
    /// The bytes of blocks at which a generation is full.
    most: usize,
}

#[derive(Default)]
struct Generations {
    young: Blocks,
    young_bytes: usize,
    old: Blocks,
}

/// What is known of a key.
pub(super) enum Found {
    /// It lies in a block that is held: its row, or none.
    Row(Option<Row>),
    /// No block that is held says.
    Unknown,
}

impl Block {
    pub(super) fn read(bytes: AccessGuard<'static, &'static [u8]>) -> Result<Self> {
        let layout = Layout::read(bytes.value())?;
        Ok(Self { bytes, layout })
    }

    /// What this block knows of a key that is not above its largest: one below its first may belong to a block before it.
    pub(super) fn get(&self, largest: &[u8], key: &[u8]) -> Result<Found> {
        let block = self.bytes.value();
        Ok(match self.layout.search_beside(largest, block, key)? {
            (index, true) => Found::Row(Some(self.layout.row(block, index)?.row(block).to_row())),
            (0, false) => Found::Unknown,
            (_, false) => Found::Row(None),
        })
    }
}

impl Cache {
    /// Room for so many bytes of blocks, both generations together.
    pub(super) fn new(bytes: usize) -> Self {
        Self { generations: RwLock::default(), most: bytes / 2 }
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Found> {
        let generations = self.generations.read().unwrap_or_else(PoisonError::into_inner);
        for blocks in [&generations.young, &generations.old] {
            let from = (Bound::Included(key), Bound::Unbounded);
            if let Some((largest, block)) = blocks.range::<[u8], _>(from).next()
                && let Found::Row(row) = block.get(largest, key)?
            {
                return Ok(Found::Row(row));
            }
        }
        Ok(Found::Unknown)
    }

    pub(super) fn insert(&self, largest: Vec<u8>, block: Block) {
        let mut generations = self.generations.write().unwrap_or_else(PoisonError::into_inner);
        if generations.young_bytes >= self.most {
            generations.old = std::mem::take(&mut generations.young);
            generations.young_bytes = 0;
        }
        generations.young_bytes += largest.len() + block.bytes.value().len();
        generations.young.insert(largest, block);
    }
}
