//! All earthquakes in one log, spread over eight partitions to avoid a hot partition (PAT-ANTI-1).

use table_core::{Entity, Result};
use table_patterns::log_tail::LogStamp;

use crate::data::earthquakes as source;
use crate::model::earthquake_log;

/// A seismic event in one of eight partitions. Example key: (`log_3`, `2518818038575999999_fffffffffffff977`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "EarthquakeLogSpread")]
#[partition_key("log_", bucket(stamp, 8))]
#[row_key(stamp)]
pub struct SpreadEarthquake {
    /// The time the event began, with the index of the event in the input. The stamp also determines the partition.
    pub stamp: LogStamp,
    /// The identifier of the event.
    pub id: String,
    /// The magnitude. It can be negative.
    pub magnitude: f64,
    /// A description of the location.
    pub place: String,
}

/// Returns the events as log entries in the order of the input, latest first.
///
/// # Errors
/// Any error from [`earthquake_log::log`].
pub fn log(events: &[source::Earthquake]) -> Result<Vec<SpreadEarthquake>> {
    let spread = |event: earthquake_log::LoggedEarthquake| {
        let earthquake_log::LoggedEarthquake { stamp, id, magnitude, place, .. } = event;
        SpreadEarthquake { stamp, id, magnitude, place }
    };
    Ok(earthquake_log::log(events)?.into_iter().map(spread).collect())
}
