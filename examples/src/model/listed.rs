//! Airports in cities whose names several airports share, and the index lists of airports by city.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use table_core::{Engine, Entity, QueueName, TableName, TableStore};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::blob::object_store::ObjectStore;
use table_patterns::index::ListBlobs;
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;

use crate::data::airports as source;
use crate::grid::thousands;
use crate::store::Store;

/// The maximum number of airports in a list stored as an entity. A longer list is stored in a blob.
pub const BEYOND: usize = 8;
/// The minimum number of airports that must share a city name. Airports with less common city names are not imported.
const SHARED_BY: usize = 7;

/// An airport, in the partition of its state, with an index row by code. Example key: (`USA_TX`, `iata_HOU`).
///
/// The airport is also in two lists: one for its city in this state, and one for all cities with the same name.
#[expect(
    clippy::duplicated_attributes,
    reason = "clippy mistakes attributes of different indexes for duplicates"
)]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ListedAirports")]
#[partition_key(country, "_", state)]
#[row_key("iata_", iata)]
#[index(ByCode, unique, partition_key("code_", iata), row_key("airport"))]
#[index_entity(InCity, at_most = 100, row_key("city_", escaped(city)))]
#[index_entity(
    OfCity,
    at_most = 1_000,
    table = "AirportCities",
    partition_key(escaped(city)),
    row_key("airports")
)]
pub struct Airport {
    /// The country.
    #[without('_')]
    pub country: String,
    /// The two-letter code of the state.
    pub state: String,
    /// The airport code: three or four letters and digits.
    pub iata: String,
    /// The airport's name.
    pub name: String,
    /// The city served by the airport.
    pub city: String,
}

impl From<&source::Airport> for Airport {
    fn from(airport: &source::Airport) -> Self {
        let source::Airport { iata, name, city, state, country, .. } = airport.clone();
        Self { country, state, iata, name, city }
    }
}

/// Returns the airports whose city name many airports share, in key order.
#[must_use]
pub fn airports(all: &[source::Airport]) -> Vec<Airport> {
    let namesakes = |city: &str| all.iter().filter(|airport| airport.city == city).count();
    let shared = all.iter().filter(|airport| namesakes(&airport.city) >= SHARED_BY);
    let mut airports: Vec<_> = shared.map(Airport::from).collect();
    airports.sort_by(|left, right| (&left.state, &left.iata).cmp(&(&right.state, &right.iata)));
    airports
}

/// Creates the outbox that records changes to lists in other tables. The records are rows in the partitions of the airports. The queue is in memory.
///
/// # Errors
/// Any error from parsing the name of the queue. The name is valid, so no error occurs.
pub fn outbox<S: TableStore + Clone>(store: &S) -> table_core::Result<Outbox<S, Engine>> {
    Ok(Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("airport-lists")?))
}

/// Returns the handle for airports. The handle also updates the lists.
#[must_use]
pub fn table<S: TableStore + Clone + 'static>(
    store: &S,
    outbox: Outbox<S, Engine>,
    blobs: &Arc<dyn ObjectStore>,
) -> Entities<Airport, S, Outbox<S, Engine>> {
    let lists = ListBlobs::new(Arc::clone(blobs), "airports").spill_above(BEYOND);
    store.entities_with_outbox(outbox).with_list_blobs(lists)
}

/// Writes the airports, and updates the lists in other tables. Replaces the airports of an earlier import.
///
/// # Errors
/// Any error from the store or the output.
pub async fn import(
    store: &Store,
    all: &[source::Airport],
    blobs: &Arc<dyn ObjectStore>,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let (store, began) = (store.unmetered(), Instant::now());
    // The blobs of an earlier run no longer exist. The lists that refer to them are therefore deleted first.
    for name in [Airport::SCHEMA.table, "AirportCities"] {
        match store.delete_table(&TableName::new(name)?).await {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
    }
    let outbox = outbox(store)?;
    outbox.create_queues().await?;
    let table = table(store, outbox.clone(), blobs).create_if_missing().await?;
    let airports = airports(all);
    table.bulk().insert_all(&airports).await?;
    Worker::new(outbox).with_index_handler(&table).run_until_idle().await?;
    let (count, seconds) = (airports.len() as u64, began.elapsed().as_secs_f64());
    writeln!(out, "  {:<18} {:>10} entities in {seconds:.2} s", "listed airports", thousands(count))?;
    Ok(())
}
