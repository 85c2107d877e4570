//! Layers: files that record the written and deleted rows of a table in key order, divided into blocks with checksums.
//!
//! A block starts with the line `block ROWS BYTES SHA256`, followed by `BYTES` bytes. Each line in these bytes consists of `+` and an entity as JSON, or `-`
//! and the two keys of a deleted row. The SHA-256 of a block also covers the hash of the previous block, so missing, repeated and reordered blocks are
//! detected.

mod reader;
mod writer;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use table_core::{EntityKey, TableEntity};

use crate::backup::sealed;
pub use reader::LayerReader;
pub use writer::LayerWriter;

/// A block is complete once it reaches this size, in bytes.
const BLOCK: usize = 256 << 10;
/// The first word of a block's header line.
const HEAD: &str = "block";

/// One line of a layer: a row that was written or deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The table contains this entity.
    Put(TableEntity),
    /// The table no longer contains a row with this key.
    Delete(EntityKey),
}

impl Record {
    /// Returns the key of the row.
    #[must_use]
    pub const fn key(&self) -> &EntityKey {
        match self {
            Self::Put(entity) => entity.key(),
            Self::Delete(key) => key,
        }
    }
}

/// A position between two blocks of a layer, with a summary of the blocks before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The number of bytes before the mark.
    pub bytes: u64,
    /// The number of rows in the blocks before the mark.
    pub rows: u64,
    /// The SHA-256 of the last block before the mark, or an empty string if there is none.
    pub digest: String,
}

impl Mark {
    /// Returns the digest of the block after this mark. It also covers the previous block's digest.
    fn chain(&self, block: &[u8]) -> String {
        let mut digest = Sha256::new();
        digest.update(self.digest.as_bytes());
        digest.update(block);
        sealed::hex(&digest.finalize())
    }

    /// Moves the mark past a block.
    fn advance(&mut self, head: usize, block: usize, rows: u64, digest: String) {
        self.bytes += (head + block) as u64;
        self.rows += rows;
        self.digest = digest;
    }
}

#[cfg(test)]
mod tests;
