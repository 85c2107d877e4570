//! A week of seismic events from all over the world, 31 January to 7 February 2018.

use chrono::{DateTime, Utc};
use serde::Deserialize;

/// One seismic event.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Earthquake {
    /// Unique identifier: the network followed by the network's own code, lower-case letters and digits.
    pub id: String,
    /// The time at which it began, to the millisecond. No two events share an instant.
    pub time: DateTime<Utc>,
    /// Magnitude on a logarithmic scale, so the smallest are negative.
    pub magnitude: f64,
    /// The place, in words: `22km NNE of Hualian, Taiwan`.
    pub place: String,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east, so negative west of Greenwich.
    pub longitude: f64,
    /// Kilometres below the network's reference level, which is not the ground above: some are negative.
    pub depth: f64,
    /// The cause: `earthquake`, `explosion` or `quarry blast`.
    pub kind: String,
    /// Two-letter code of the seismic network that reported it.
    pub network: String,
}

/// Returns every event, the latest first.
pub fn load() -> Result<Vec<Earthquake>, csv::Error> {
    super::parse(include_str!("../../data/earthquakes.csv"))
}
