//! The seismic events of one week, from 31 January to 7 February 2018, all over the world.

use chrono::{DateTime, Utc};
use serde::Deserialize;

/// One seismic event.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Earthquake {
    /// The unique identifier, in lower-case letters and digits. It consists of the seismic network's code and the event's identifier in that network.
    pub id: String,
    /// The time the event began, with a precision of one millisecond. No two events have the same time.
    pub time: DateTime<Utc>,
    /// The magnitude on a logarithmic scale. It can be negative.
    pub magnitude: f64,
    /// A description of the location, such as `22km NNE of Hualian, Taiwan`.
    pub place: String,
    /// The latitude in degrees north.
    pub latitude: f64,
    /// The longitude in degrees east. It is negative west of Greenwich.
    pub longitude: f64,
    /// The depth in kilometres below the reference level of the network. It can be negative, because the ground may lie above this level.
    pub depth: f64,
    /// The cause: `earthquake`, `explosion` or `quarry blast`.
    pub kind: String,
    /// The two-letter code of the seismic network that reported the event.
    pub network: String,
}

/// Returns all events, latest first.
pub fn load() -> Result<Vec<Earthquake>, csv::Error> {
    super::parse(include_str!("../../data/earthquakes.csv"))
}
