//! The effective partition key: the hashes of a key's levels, which alone decide where it is placed.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::Component;
use crate::hash::murmur3_x64_128;
use table_core::error::{Error, ErrorCode, Result};

/// Bytes of one level.
const WIDTH: usize = 16;

/// The effective partition key of a key or a prefix, or a bound between partitions.
///
/// Bounds come in different widths: zeros at the end count for nothing, in comparisons, equality and hash alike (MAP-6, MAP-7).
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
    /// Where the space begins, inclusive: no bytes at all.
    pub const START: Self = Self(Bytes::Start);
    /// Where it ends, exclusive: `FF`, above every key, since each level begins with `3F` at most (EPK-6).
    pub const END: Self = Self(Bytes::End);

    /// Of a whole key or of its first levels: one hash a level (EPK-11). No level at all is [`START`](Self::START) (EPK-12).
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

    /// Of these bytes.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(Bytes::Other(bytes.into()))
    }

    /// The bytes, with zeros at the end where it was made with them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Start => &[],
            Bytes::End => &[0xFF],
            Bytes::Other(bytes) => bytes,
        }
    }

    /// The bytes that count.
    fn significant(&self) -> &[u8] {
        let bytes = self.as_bytes();
        let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        bytes.get(..bytes.len() - zeros).unwrap_or_default()
    }

    /// The next one at this many levels: plus one at the full width (MAP-9). What has a byte beyond that width, or is the greatest of
    /// its width, has none, and [`END`](Self::END) is its answer.
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

    /// The end of the keys below this prefix: `FF` after it, which no level begins with (RT-2).
    pub(super) fn end_of_prefix(&self) -> Self {
        let mut bytes = self.as_bytes().to_vec();
        bytes.push(0xFF);
        Self::from_bytes(bytes)
    }
}

/// The hash of one encoded level: high word first, and its two highest bits cleared (EPK-6).
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
    /// `InvalidInput` for what is not pairs of hexadecimal digits.
    fn from_str(text: &str) -> Result<Self> {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
        if let (Some::<Vec<u8>>(bytes), []) = (bytes, rest) {
            return Ok(Self::from_bytes(bytes));
        }
        let message = format!("`{text}` is no effective partition key: pairs of hexadecimal digits");
        Err(Error::new(ErrorCode::InvalidInput, message))
    }
}

#[cfg(test)]
mod tests;
