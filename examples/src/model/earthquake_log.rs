//! Earthquakes as a log of events. The row key is the stamp of the log pattern.

use table_core::{Entity, Result};
use table_patterns::log_tail::LogStamp;

use crate::data::earthquakes as source;

/// A seismic event in the log of its network (PAT-LOG). Example key: (`us`, `2518818038575999999_fffffffffffff977`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "EarthquakeLog")]
#[partition_key(network)]
#[row_key(stamp)]
pub struct LoggedEarthquake {
    /// The code of the network that reported the event.
    pub network: String,
    /// The time the event began, with the index of the event in the input. The index distinguishes events with the same time (PAT-LOG-4).
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
/// An error if a time is outside the range of ticks. This does not happen with this input.
pub fn log(events: &[source::Earthquake]) -> Result<Vec<LoggedEarthquake>> {
    let entry = |(place_in_input, event): (usize, &source::Earthquake)| {
        let tie = u64::try_from(events.len() - place_in_input).unwrap_or_default();
        Ok(LoggedEarthquake {
            network: event.network.clone(),
            stamp: LogStamp::new(event.time, tie)?,
            id: event.id.clone(),
            magnitude: event.magnitude,
            place: event.place.clone(),
        })
    };
    events.iter().enumerate().map(entry).collect()
}
