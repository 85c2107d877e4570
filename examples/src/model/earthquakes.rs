//! Earthquakes in the logs of the seismic networks that reported them, latest first.

use chrono::{DateTime, Utc};
use table_core::Entity;

use crate::data::earthquakes as source;

/// A seismic event in the log of its network (PAT-LOG). Example key: (`us`, `2518818038575999999_us1000chhc`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Earthquakes")]
#[partition_key(network)]
#[row_key(desc(time), "_", id)]
pub struct Earthquake {
    /// The code of the network that reported the event.
    pub network: String,
    /// The time the event began.
    pub time: DateTime<Utc>,
    /// The identifier of the event. It distinguishes events with the same time (PAT-LOG-4).
    pub id: String,
    /// The magnitude. It can be negative.
    pub magnitude: f64,
    /// A description of the location.
    pub place: String,
    /// The depth in kilometres below the ground.
    pub depth: f64,
    /// The cause: `earthquake`, `explosion` or `quarry blast`.
    pub kind: String,
}

impl From<&source::Earthquake> for Earthquake {
    fn from(event: &source::Earthquake) -> Self {
        let source::Earthquake { id, time, magnitude, place, depth, kind, network, .. } = event.clone();
        Self { network, time, id, magnitude, place, depth, kind }
    }
}
