//! Effective partition keys. An effective partition key consists of the hashes of a key's levels, and determines the physical partition.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::Component;
use crate::hash::murmur3_x64_128;
use table_core::{Error, ErrorCode, Result};

/// The size of one level's hash, in bytes.
const WIDTH: usize = 16;

/// An effective partition key of a complete key or of a prefix of its levels. It can also be a bound between physical partitions.
///
/// Bounds can have different lengths. Comparison, equality and hashing ignore trailing zeros (MAP-6, MAP-7).
///
/// ```
/// use table_hierarchy::{Component, Epk};
///
/// let key = Epk::of(&[Component::text("redmond")]);
/// assert_eq!(key.to_string(), "22E342F38A486A088463DFF7838A5963");
/// assert_eq!(key, "22E342F38A486A088463DFF7838A59630000".parse()?);
/// assert!(Epk::START < key && key < Epk::END);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Epk(Bytes);

#[derive(Clone)]
enum Bytes {
    Start,
    End,
    Other(Box<[u8]>),
}

impl Epk {
    /// The inclusive lower bound of all effective partition keys: the empty byte sequence.
    pub const START: Self = Self(Bytes::Start);
    /// The exclusive upper bound of all effective partition keys: `FF`.
    ///
    /// The first byte of a level's hash is at most `3F` (EPK-6), so every key is less than this bound.
    pub const END: Self = Self(Bytes::End);

    /// Returns the effective partition key of the given levels: one hash per level (EPK-11). Without levels, returns [`START`](Self::START) (EPK-12).
    #[must_use]
    pub fn of(levels: &[Component<'_>]) -> Self {
        let mut bytes = Vec::with_capacity(WIDTH * levels.len());
        let mut text = Vec::new();
        for level in levels {
            text.clear();
            level.write(&mut text);
            bytes.extend(component(&text));
        }
        Self::from_bytes(bytes)
    }

    /// Creates an effective partition key from its bytes.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(Bytes::Other(bytes.into()))
    }

    /// Returns the key's bytes, including any trailing zeros that were passed in.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Start => &[],
            Bytes::End => &[0xFF],
            Bytes::Other(bytes) => bytes,
        }
    }

    /// Returns the key's bytes, clamped to the hash space. For a bound after all keys, returns the exclusive end of the hash space (EPK-6).
    pub(crate) fn inside(&self) -> &[u8] {
        self.as_bytes().min(&[0x40])
    }

    /// Returns the bytes without trailing zeros.
    fn significant(&self) -> &[u8] {
        let bytes = self.as_bytes();
        let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        bytes.get(..bytes.len() - zeros).unwrap_or_default()
    }

    /// Returns the smallest key with `levels` levels that is greater than this key (MAP-9). It is this key, padded to the width of `levels` hashes, plus one.
    ///
    /// Returns [`END`](Self::END) if this key is longer than that width, or is the greatest key of that width.
    #[must_use]
    pub fn successor(&self, levels: usize) -> Self {
        let mut bytes = self.significant().to_vec();
        if bytes.len() > WIDTH * levels {
            return Self::END;
        }
        bytes.resize(WIDTH * levels, 0);
        for byte in bytes.iter_mut().rev() {
            let (next, overflow) = byte.overflowing_add(1);
            *byte = next;
            if !overflow {
                return Self::from_bytes(bytes);
            }
        }
        Self::END
    }

    /// Returns the exclusive end of the range of keys with this prefix: the prefix followed by `FF`. No hash of a level starts with `FF` (RT-2).
    pub(super) fn end_of_prefix(&self) -> Self {
        let mut bytes = self.as_bytes().to_vec();
        bytes.push(0xFF);
        Self::from_bytes(bytes)
    }
}

/// Hashes one encoded level. The high word comes first, with its two highest bits cleared (EPK-6).
fn component(text: &[u8]) -> [u8; WIDTH] {
    let (low, high) = murmur3_x64_128(text);
    let word = (u128::from(high) << 64 | u128::from(low)) & (u128::MAX >> 2);
    word.to_be_bytes()
}

impl Ord for Epk {
    fn cmp(&self, other: &Self) -> Ordering {
        self.significant().cmp(other.significant())
    }
}

impl PartialOrd for Epk {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Epk {
    fn eq(&self, other: &Self) -> bool {
        self.significant() == other.significant()
    }
}

impl Eq for Epk {}

impl Hash for Epk {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.significant().hash(state);
    }
}

impl fmt::Display for Epk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Debug for Epk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epk({self})")
    }
}

impl FromStr for Epk {
    type Err = Error;

    /// # Errors
    /// `InvalidInput` if the string does not consist of pairs of hexadecimal digits.
    fn from_str(text: &str) -> Result<Self> {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        if let (Some::<Vec<u8>>(bytes), []) = (bytes, rest) {
            return Ok(Self::from_bytes(bytes));
        }
        let message =
            format!("`{text}` is not an effective partition key; write pairs of hexadecimal digits");
        Err(Error::new(ErrorCode::InvalidInput, message))
    }
}

#[cfg(test)]
mod tests;
