//! Generates request identifiers.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::{Builder, Uuid};

/// Returns a new identifier. Duplicates are extremely unlikely, even across processes. An identifier is not a secret, so it needs no random bytes from the
/// system.
pub(crate) fn next() -> Uuid {
    static SEEDS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let [high, low] = SEEDS.each_ref().map(|seed| seed.hash_one(number));
    Builder::from_random_bytes(((u128::from(high) << 64) | u128::from(low)).to_be_bytes()).into_uuid()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn identifiers_differ() {
        assert_eq!((0..10_000).map(|_| next()).collect::<BTreeSet<_>>().len(), 10_000);
        assert_eq!(next().get_version_num(), 4);
    }
}
