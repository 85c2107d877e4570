//! The key filter of a run. For most keys that do not exist, a lookup can finish without reading a block (`docs/format.md`, "Runs").
//!
//! The filter is a blocked Bloom filter. Each bucket is a single cache line, so a lookup causes at most one cache miss.

/// The number of bytes in a bucket.
const BUCKET: usize = 64;
/// The number of filter bits per key. About one in eighty lookups of keys that do not exist is a false positive.
const BITS: usize = 10;
/// The number of bits set for each key.
const PROBES: u32 = 6;
/// The multiplier of the hash, an odd number with well-mixed bits.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the hash of the given key.
pub(super) fn hash(key: &[u8]) -> u64 {
    let mut hash = key.len() as u64;
    let mut mix = |word: u64| {
        hash = (hash ^ word).wrapping_mul(MULTIPLIER);
        hash ^= hash >> 32;
    };
    let (words, rest) = key.as_chunks::<8>();
    for word in words {
        mix(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    mix(u64::from_le_bytes(last));
    mix(0);
    hash
}

/// Returns the offset of the bucket for a hash, and the positions of the hash's bits in this bucket. A position is a byte index and a mask.
fn places(hash: u64, buckets: usize) -> (usize, impl Iterator<Item = (usize, u8)>) {
    // The upper half of the hash selects the bucket, and the lower half selects the bits.
    let bucket = ((hash >> 32) * buckets as u64) >> 32;
    let (first, step) = (hash & 511, hash >> 9 & 511 | 1);
    let bits = (0..PROBES).map(move |probe| {
        let bit = (first + u64::from(probe) * step) & 511;
        (usize::try_from(bit / 8).unwrap_or_default(), 1 << (bit % 8))
    });
    (usize::try_from(bucket).unwrap_or_default() * BUCKET, bits)
}

/// Returns the bytes of a filter for keys with the given hashes.
pub(super) fn build(hashes: &[u64]) -> Vec<u8> {
    let buckets = (hashes.len() * BITS).div_ceil(BUCKET * 8).max(1);
    let mut bytes = vec![0; buckets * BUCKET];
    for hash in hashes {
        let (start, bits) = places(*hash, buckets);
        for (at, bit) in bits {
            if let Some(byte) = bytes.get_mut(start + at) {
                *byte |= bit;
            }
        }
    }
    bytes
}

/// Returns `true` if a run with the given filter may contain a key with the given hash.
pub(super) fn may_hold(filter: &[u8], hash: u64) -> bool {
    let (start, mut bits) = places(hash, filter.len() / BUCKET);
    let Some(bucket) = filter.get(start..start + BUCKET) else { return true };
    bits.all(|(at, bit)| bucket.get(at).is_none_or(|byte| byte & bit != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_few_others() {
        let key = |n: u32| format!("Sales\0empid_{n:06}").into_bytes();
        let hashes: Vec<u64> = (0..20_000).map(|n| hash(&key(n))).collect();
        let filter = build(&hashes);
        assert!(hashes.iter().all(|hash| may_hold(&filter, *hash)));
        let wrong = (20_000..40_000).filter(|n| may_hold(&filter, hash(&key(*n)))).count();
        assert!(wrong < 600, "{wrong} of 20,000");
        assert!(!may_hold(&build(&[]), hash(b"")), "a filter of nothing");
    }

    #[test]
    fn golden_hashes_and_bits() {
        let hashes = [hash(b""), hash(b"a"), hash(b"Sales\0empid_000223")];
        assert_eq!(hashes, [0, 0x27D1_3417_8074_A30C, 0xF727_4889_E21D_A57F]);
        let filter = build(&hashes);
        assert_eq!(filter.len(), BUCKET);
        let bit = |bit: &usize| filter.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        assert_eq!(
            (0..512).filter(bit).collect::<Vec<usize>>(),
            [0, 1, 2, 3, 4, 5, 80, 82, 161, 203, 268, 293, 349, 383, 414, 430, 504, 511]
        );
    }
}
