//! MurmurHash3, the x64 variant with a 128-bit result.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Hashes bytes with seed 0. Returns the two words of the hash, low word first.
pub(super) fn murmur3_x64_128(bytes: &[u8]) -> (u64, u64) {
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let (k1, k2) = words(block);
        h1 ^= mix_first(k1);
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix_second(k2);
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // Padding the last block with zeros does not change the hash, because a zero word has no effect.
    let mut last = [0; 16];
    for (to, from) in last.iter_mut().zip(tail) {
        *to = *from;
    }
    let (k1, k2) = words(&last);
    h1 ^= mix_first(k1);
    h2 ^= mix_second(k2);

    let length = bytes.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}

/// Splits a block into its two words, low word first.
fn words(block: &[u8; 16]) -> (u64, u64) {
    let whole = u128::from_le_bytes(*block);
    let low = u64::try_from(whole & u128::from(u64::MAX)).unwrap_or_default();
    (low, u64::try_from(whole >> 64).unwrap_or_default())
}

const fn mix_first(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

const fn mix_second(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

const fn finish(mut word: u64) -> u64 {
    word ^= word >> 33;
    word = word.wrapping_mul(0xff51_afd7_ed55_8ccd);
    word ^= word >> 33;
    word = word.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_text_has_its_published_hash() {
        assert_eq!(murmur3_x64_128(b"sample-test"), (9_863_137_013_172_825_203, 15_859_947_107_521_786_564));
    }
}
