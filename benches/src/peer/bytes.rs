//! Encodes readings as keys and rows, for libraries that store only bytes.

use table_core::Entity;
use table_core::key::codec::{KeyCodec, Padded};
use table_core::key::order;

use crate::Outcome;
use crate::data::Reading;

/// A reusable buffer for keys.
#[derive(Debug, Default)]
pub struct Buffer {
    text: String,
    key: Vec<u8>,
}

impl Buffer {
    /// Returns a key in the format of the engine. It consists of a table number, a partition key and a row key.
    pub fn key(&mut self, site: &str, number: u32) -> Outcome<&[u8]> {
        self.text.clear();
        self.text.push_str("reading_");
        Padded::encode(&number, &mut self.text)?;
        self.key.clear();
        self.key.extend_from_slice(&1_u32.to_be_bytes());
        order::encode(site, &mut self.key);
        self.key.push(0);
        order::encode(&self.text, &mut self.key);
        Ok(&self.key)
    }
}

/// An encoded key together with its encoded row.
pub type Pair = (Vec<u8>, Vec<u8>);

/// Encodes the key and the row of a reading.
pub fn pair(reading: &Reading) -> Outcome<Pair> {
    let mut buffer = Buffer::default();
    let key = buffer.key(&reading.site, reading.number)?.to_vec();
    Ok((key, reading.to_row()?.as_bytes().to_vec()))
}

/// Encodes the keys and rows of several readings.
pub fn pairs(readings: &[Reading]) -> Outcome<Vec<Pair>> {
    readings.iter().map(pair).collect()
}

/// Reads every byte, as fast as possible. Otherwise, a value might never be loaded from memory.
#[must_use]
pub fn read(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = |sum: u64, word: u64| sum.wrapping_add(word);
    let words = words.iter().copied().map(u64::from_le_bytes).fold(0, sum);
    rest.iter().copied().map(u64::from).fold(words, sum)
}
