//! Mutates samples for fuzzing.

use rand::RngExt;
use rand::rngs::StdRng;

/// The maximum size of an input, in bytes.
const LONGEST: usize = 1 << 16;
/// Bytes with a meaning in some format, such as quotes and brackets.
const BYTES: [u8; 16] = *b"\0\x01\x7F\x80\xFF\"'(){}[]\\% ";
/// Numbers close to an overflow, or to a limit of a format.
const NUMBERS: [u64; 10] =
    [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF];

/// Returns a random sample with up to four mutations.
pub(super) fn mutate(random: &mut StdRng, samples: &[Vec<u8>]) -> Vec<u8> {
    let any = |random: &mut StdRng| {
        if samples.is_empty() { Vec::new() } else { samples[random.random_range(0..samples.len())].clone() }
    };
    let mut bytes = any(random);
    for _ in 0..random.random_range(1..5) {
        let at = random.random_range(0..=bytes.len());
        let most = [4, 40, 4_000][random.random_range(0..3)];
        let end = (at + random.random_range(0..=most)).min(bytes.len());
        match random.random_range(0..10) {
            0..=1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.random_range(0..8);
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = BYTES[random.random_range(0..BYTES.len())];
                }
            }
            3..=4 => {
                let number =
                    NUMBERS[random.random_range(0..NUMBERS.len())].wrapping_add(random.random_range(0..3));
                let number = number.to_le_bytes();
                let width = [2, 4, 8][random.random_range(0..3)];
                for (byte, new) in bytes.iter_mut().skip(at).zip(&number[..width]) {
                    *byte = *new;
                }
            }
            5 => drop(bytes.drain(at..end)),
            6 => {
                let copy = bytes[at..end].to_vec();
                let to = random.random_range(0..=bytes.len());
                bytes.splice(to..to, copy);
            }
            7 => {
                let new: Vec<u8> = (0..random.random_range(1..8)).map(|_| random.random()).collect();
                bytes.splice(at..at, new);
            }
            8 => {
                let other = any(random);
                let from = random.random_range(0..=other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = byte.wrapping_add(random.random_range(0..5)).wrapping_sub(2);
                }
            }
        }
    }
    bytes.truncate(LONGEST);
    bytes
}
