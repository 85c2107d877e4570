//! Hashes of keys, for the names of rows and for sets of keys that have been processed.

use sha2::{Digest, Sha256};
use table_core::key::EntityKey;

/// Returns the first 128 bits of the SHA-256 hash of a key.
pub(crate) fn of_key(key: &EntityKey) -> u128 {
    of_texts(&[key.partition_key.as_str(), key.row_key.as_str()])
}

/// Returns the first 128 bits of the SHA-256 hash of the parts of a key.
pub(crate) fn of_texts(texts: &[&str]) -> u128 {
    let mut hash = Sha256::new();
    // No key contains U+0000, so it separates the strings unambiguously.
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize().first_chunk().copied().map_or(0, u128::from_be_bytes)
}
