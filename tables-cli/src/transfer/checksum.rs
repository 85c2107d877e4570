//! Order-independent checksums of sets of entities, and order-dependent checksums of sequences of records.

use std::fmt;

use sha2::{Digest, Sha256};
use table_core::{TableEntity, Value};

use table_inspect::record::Record;
use table_inspect::value;

/// The checksum of a set of entities: the number of entities and the sum of their hashes. It covers keys, and the names, types and values of properties. It
/// does not cover Timestamps and `ETag`s, because a copy cannot preserve them.
///
/// ```
/// use table_core::TableEntity;
/// use tables_cli::transfer::checksum::Checksum;
///
/// let entity = |row: &str| TableEntity::new("p", row).map(|entity| entity.with("Age", 36));
/// let (one, two) = (entity("1")?, entity("2")?);
/// let (mut forth, mut back) = (Checksum::default(), Checksum::default());
/// forth.add(&one);
/// forth.add(&two);
/// back.add(&two);
/// back.add(&one);
/// assert_eq!(forth, back);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Checksum {
    /// The number of entities.
    pub count: u64,
    sum: u128,
}

impl Checksum {
    /// Adds an entity.
    pub fn add(&mut self, entity: &TableEntity) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash(entity));
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.sum)
    }
}

/// The order-dependent checksum of a sequence of records. All records that are not valid entities are treated as equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SequenceChecksum(u128);

impl SequenceChecksum {
    /// Returns the checksum of this sequence followed by one more record.
    #[must_use]
    pub fn followed_by(self, record: &Record) -> Self {
        let mut hash_of_all = Sha256::new();
        hash_of_all.update(self.0.to_le_bytes());
        if let Ok(entity) = record {
            hash_of_all.update(hash(entity).to_le_bytes());
        }
        Self(first_bytes(hash_of_all))
    }
}

impl From<SequenceChecksum> for String {
    fn from(checksum: SequenceChecksum) -> Self {
        format!("{:032x}", checksum.0)
    }
}

impl TryFrom<String> for SequenceChecksum {
    type Error = std::num::ParseIntError;

    /// # Errors
    /// `ParseIntError` if the string is not a hexadecimal number.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(Self)
    }
}

fn hash(entity: &TableEntity) -> u128 {
    let mut hash = Sha256::new();
    let mut text = |text: &[u8]| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    text(entity.key().partition_key.as_str().as_bytes());
    text(entity.key().row_key.as_str().as_bytes());
    let mut properties: Vec<(&str, &Value)> = entity.iter().collect();
    properties.sort_by_key(|(name, _)| *name);
    for (name, found) in properties {
        text(name.as_bytes());
        text(&[found.edm_type() as u8]);
        match found {
            Value::String(value) => text(value.as_bytes()),
            Value::Binary(value) => text(value),
            found => text(value::show(found).as_bytes()),
        }
    }
    first_bytes(hash)
}

fn first_bytes(hash: Sha256) -> u128 {
    hash.finalize().first_chunk().map_or(0, |front| u128::from_le_bytes(*front))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entity: &TableEntity) -> Checksum {
        let mut checksum = Checksum::default();
        checksum.add(entity);
        checksum
    }

    #[test]
    fn the_checksum_ignores_only_the_order_of_properties() {
        let base = TableEntity::new("p", "r").unwrap();
        let entity = of(&base.clone().with("A", 1).with("B", "x"));
        assert_eq!(entity, of(&base.clone().with("B", "x").with("A", 1)));
        for other in [
            base.clone().with("A", 1),
            base.clone().with("A", 1_i64).with("B", "x"),
            base.clone().with("A", 1).with("B", "y"),
            base.with("A", 1).with("C", "x"),
            TableEntity::new("pr", "").unwrap().with("A", 1).with("B", "x"),
        ] {
            assert_ne!(entity, of(&other));
        }
    }
}
