//! Earthquakes in one table per day. Tables older than a week can be dropped.

use std::collections::BTreeMap;
use std::error::Error;

use chrono::{DateTime, Utc};
use table_core::embedded::Clock;
use table_core::{Entity, TableStoreExt, ticks};
use table_patterns::periods::{Period, PeriodTables, Periodic};

use crate::data::earthquakes as source;
use crate::store::Store;

/// A seismic event, stored in the table of its day (PAT-HVD). Example: the key (`us`, `0636535600000000000_us1000chhc`) in the table `EarthquakesOf20180207`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "EarthquakesOf")]
#[partition_key(network)]
#[row_key(time, "_", id)]
pub struct EarthquakeOfDay {
    /// The code of the network that reported the event.
    pub network: String,
    /// The time the event began.
    pub time: DateTime<Utc>,
    /// The identifier of the event.
    pub id: String,
    /// The magnitude. It can be negative.
    pub magnitude: f64,
    /// A description of the location.
    pub place: String,
}

impl Periodic for EarthquakeOfDay {
    const PERIOD: Period = Period::Day;

    fn instant(&self) -> DateTime<Utc> {
        self.time
    }
}

impl From<&source::Earthquake> for EarthquakeOfDay {
    fn from(event: &source::Earthquake) -> Self {
        let source::Earthquake { id, time, magnitude, place, network, .. } = event.clone();
        Self { network, time, id, magnitude, place }
    }
}

/// Returns a handle for the daily tables. The clock of the handle shows the time of the latest event.
#[must_use]
pub fn tables<S>(store: S, events: &[source::Earthquake]) -> PeriodTables<EarthquakeOfDay, S> {
    let latest =
        events.iter().map(|event| event.time).max().and_then(ticks::from_datetime).unwrap_or_default();
    PeriodTables::new(store).retain(7).precreate(0).with_clock(Clock::new(move || latest))
}

/// Writes each event to the table of its day.
///
/// # Errors
/// Any error from the store.
pub async fn import(store: &Store, events: &[source::Earthquake]) -> Result<(), Box<dyn Error>> {
    let store = store.unmetered();
    let tables = tables(store.clone(), events);
    let mut days: BTreeMap<_, Vec<EarthquakeOfDay>> = BTreeMap::new();
    for event in events {
        days.entry(Period::Day.start(event.time)).or_default().push(event.into());
    }
    for (day, events) in days {
        let table = tables.table_of(day)?;
        store.create_table_if_missing(table.name()?).await?;
        table.bulk().insert_or_replace_all(&events).await?;
    }
    Ok(())
}
