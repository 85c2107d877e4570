//! Earthquakes with two alternative keys, one starting with the hour and the other with the network and region (PAT-ANTI-1).

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use table_core::Entity;

use crate::data::earthquakes as source;

/// An event, in the partition of the hour in which it was written. Example key: (`2018020623`, `us1000chhc`).
///
/// At any time, all writers write to the same partition.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "EarthquakesByHour",
    allow(hot_partition, reason = "the design that the dry run advises against")
)]
#[partition_key(hour(hour))]
#[row_key(id)]
pub struct HourlyEarthquake {
    /// The hour the event was written.
    pub hour: DateTime<Utc>,
    /// The time the event was written.
    pub time: DateTime<Utc>,
    /// The identifier of the event.
    pub id: String,
    /// The magnitude. It can be negative.
    pub magnitude: f64,
    /// A description of the location.
    pub place: String,
}

/// An event, in the partition of its network and region. The latest event sorts first. Example key: (`us_Taiwan`,
/// `2518818038575999999_us1000chhc`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "EarthquakesByRegion")]
#[partition_key(network, "_", region)]
#[row_key(desc(time), "_", id)]
pub struct RegionalEarthquake {
    /// The code of the network that reported the event.
    #[without('_')]
    pub network: String,
    /// The region, taken from the end of the description of the location.
    pub region: String,
    /// The time the event was written.
    pub time: DateTime<Utc>,
    /// The identifier of the event.
    pub id: String,
    /// The magnitude. It can be negative.
    pub magnitude: f64,
    /// A description of the location.
    pub place: String,
}

/// Returns the region of an earthquake, which is the end of its location. For example, `22km NNE of Hualian, Taiwan` is in `Taiwan`.
#[must_use]
pub fn region(event: &source::Earthquake) -> &str {
    event.place.rsplit_once(", ").map_or(event.place.as_str(), |(_, region)| region)
}

impl HourlyEarthquake {
    /// Returns an entity for the event, as if the event had been written at `time`.
    #[must_use]
    pub fn at(event: &source::Earthquake, time: DateTime<Utc>) -> Self {
        let source::Earthquake { id, magnitude, place, .. } = event.clone();
        // The key rejects a time that is not on the hour.
        let hour = time.duration_trunc(TimeDelta::hours(1)).unwrap_or(time);
        Self { hour, time, id, magnitude, place }
    }
}

impl RegionalEarthquake {
    /// Returns an entity for the event, as if the event had been written at `time`.
    #[must_use]
    pub fn at(event: &source::Earthquake, time: DateTime<Utc>) -> Self {
        let region = region(event).to_owned();
        let source::Earthquake { id, magnitude, place, network, .. } = event.clone();
        Self { network, region, time, id, magnitude, place }
    }
}
