//! The entities that every library under comparison stores. Each entity has ten properties, and each partition has a thousand entities. Fixed seeds generate
//! the entities, so they are identical in all runs.

mod random;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use table_core::Entity;

pub use random::Random;

/// The number of entities in a partition and on a page.
pub const PARTITION: u32 = 1_000;
/// The difference between adjacent row numbers in a partition. It leaves room for new row numbers in between.
pub const GAP: u32 = 4_000_000;
/// The exclusive upper bound of `level`. Levels are uniformly distributed, so each one matches 1% of the entities.
pub const LEVELS: u32 = 100;

/// A measurement taken at a station, with two key fields and ten properties. Its size is about 240 bytes.
#[derive(Clone, Debug, Entity, PartialEq, Serialize, Deserialize)]
#[entity(table = "Readings")]
#[partition_key(site)]
#[row_key("reading_", number)]
pub struct Reading {
    /// The name of the partition.
    pub site: String,
    /// The number that identifies the row in its partition.
    pub number: u32,
    /// The measuring device.
    pub device: String,
    /// The operator of the device.
    pub operator: String,
    /// The measured quantity.
    pub quantity: String,
    /// Free text.
    pub remark: String,
    /// A uniformly distributed number below [`LEVELS`], used by filters.
    pub level: i32,
    /// A small number.
    pub retries: i32,
    /// A large number.
    pub total: i64,
    /// The measured value.
    pub value: f64,
    /// `true` if the value is trusted.
    pub valid: bool,
    /// The time of the measurement.
    #[property("At")]
    #[serde(with = "micros")]
    pub at: DateTime<Utc>,
}

/// Encodes a time as microseconds, for libraries without a time type.
mod micros {
    use chrono::{DateTime, Utc};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
        at.timestamp_micros().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
        let micros = i64::deserialize(deserializer)?;
        DateTime::from_timestamp_micros(micros).ok_or_else(|| D::Error::custom("no instant"))
    }
}

/// Returns the row number of the entity with the given index in its partition.
#[must_use]
pub const fn number(index: u32) -> u32 {
    index * GAP
}

/// Returns the row number of new entity number `made`. Row numbers are unique but look random. They differ from all row numbers of [`Reading::at`].
#[must_use]
pub fn fresh_number(made: u64) -> u32 {
    // Multiplication by an odd number is a bijection of the 32-bit numbers. The results of `number` are even, so odd results are new.
    let odd = u32::try_from(made & 0x7FFF_FFFF).unwrap_or_default() << 1 | 1;
    odd.wrapping_mul(0x9E37_79B1)
}

/// Returns the name of the partition with the given index. Names sort by index.
#[must_use]
pub fn site(index: u32) -> String {
    format!("station-{index:05}")
}

const QUANTITIES: [&str; 5] = ["temperature", "pressure", "humidity", "wind speed", "rainfall"];
const OPERATORS: [&str; 4] =
    ["Northern Grid Ltd", "Harbour SasVerifier", "University of Tartu", "Alpine Rescue"];
const WORDS: [&str; 8] =
    ["calm", "gusts from the west", "sensor cleaned", "fog", "ice", "clear", "drizzle", "checked"];

impl Reading {
    /// Returns the entity with the given index in the table. The same index always gives the same entity.
    #[must_use]
    pub fn at(index: u32) -> Self {
        let (partition, number) = (index / PARTITION, number(index % PARTITION));
        let mut random = Random::new(u64::from(index));
        let micros = 1_700_000_000_000_000 + i64::from(random.below(1 << 30)) * 1_000;
        Self {
            site: site(partition),
            number,
            device: format!("dev-{:08x}", random.below(u32::MAX)),
            operator: random.pick(&OPERATORS).to_owned(),
            quantity: random.pick(&QUANTITIES).to_owned(),
            remark: format!("{}, {}", random.pick(&WORDS), random.pick(&WORDS)),
            level: i32::try_from(random.below(LEVELS)).unwrap_or_default(),
            retries: i32::try_from(random.below(5)).unwrap_or_default(),
            total: i64::from(random.below(u32::MAX)) * 1_000,
            value: f64::from(random.below(1_000_000)) / 1_000.0,
            valid: random.below(10) != 0,
            at: DateTime::from_timestamp_micros(micros).unwrap_or_default(),
        }
    }
}

/// Randomly chosen entities to read, stored as partition names and row numbers.
#[derive(Clone, Debug)]
pub struct Places {
    sites: Vec<String>,
    places: Vec<(u32, u32)>,
}

impl Places {
    /// Chooses many random entities from a table with the given number of entities.
    #[must_use]
    pub fn new(entities: u32, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let partitions = (entities / PARTITION).max(1);
        let places =
            (0..1 << 17).map(|_| (random.below(partitions), number(random.below(PARTITION)))).collect();
        Self { sites: (0..partitions).map(site).collect(), places }
    }

    /// Returns the partition and the row number of choice number `turn`. The sequence repeats after the last choice.
    #[must_use]
    pub fn at(&self, turn: u64) -> (&str, u32) {
        let index = usize::try_from(turn).unwrap_or_default() % self.places.len();
        let (partition, number) = self.places.get(index).copied().unwrap_or_default();
        (self.sites.get(partition as usize).map_or("", String::as_str), number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fresh_numbers_are_distinct_and_unused() {
        let there = (0..PARTITION).map(number);
        let all: HashSet<u32> = (0..100_000).map(fresh_number).chain(there).collect();
        assert_eq!(all.len(), 100_000 + PARTITION as usize);
    }

    #[test]
    fn a_level_matches_about_one_percent_of_the_entities() {
        let matching = (0..100 * PARTITION).filter(|index| Reading::at(*index).level == 50).count();
        assert!((800..1_200).contains(&matching), "{matching}");
    }

    #[test]
    fn an_entity_round_trips_through_its_row() {
        use table_core::FromEntity;
        use table_core::query::EntityRef;

        let reading = Reading::at(4_217);
        let (key, row) = (reading.key_of().unwrap(), reading.to_row().unwrap());
        let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
        assert_eq!(Reading::from_entity(entity).unwrap(), reading);
    }
}
