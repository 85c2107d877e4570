//! Airports that share the name of their city with many others, and their lists by city.

use std::sync::Arc;

use table_core::error::Result;
use table_core::{DynTableStore, Engine, Entity, QueueName, TableName, TableStore};
use table_patterns::blob::object_store::ObjectStore;
use table_patterns::index::{IndexedStore, IndexedTable, ListBlobs};
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;

use crate::data::airports as source;
use crate::store::Store;

/// Lists of more airports than this are in blobs.
pub const BEYOND: usize = 8;
/// Airports of a city's name that make it one of those that are listed here.
const SHARED_BY: usize = 7;

/// An airport under its state, `USA_TX` / `iata_HOU`; once more under its code; in the list of its city in the state; and in that of
/// all cities of the name in the country.
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
    /// Two letters.
    pub state: String,
    /// Three or four letters and digits.
    pub iata: String,
    /// The name.
    pub name: String,
    /// The city.
    pub city: String,
}

impl From<&source::Airport> for Airport {
    fn from(airport: &source::Airport) -> Self {
        let source::Airport { iata, name, city, state, country, .. } = airport.clone();
        Self { country, state, iata, name, city }
    }
}

/// The airports of those cities, ordered as their keys are.
#[must_use]
pub fn airports(all: &[source::Airport]) -> Vec<Airport> {
    let namesakes = |city: &str| all.iter().filter(|airport| airport.city == city).count();
    let shared = all.iter().filter(|airport| namesakes(&airport.city) >= SHARED_BY);
    let mut airports: Vec<_> = shared.map(Airport::from).collect();
    airports.sort_by(|left, right| (&left.state, &left.iata).cmp(&(&right.state, &right.iata)));
    airports
}

/// The table with its lists; what changes in those elsewhere goes through an outbox and a queue, here in memory.
///
/// # Errors
/// Those of the name of the queue.
pub fn table<S: TableStore + Clone>(
    store: &S,
    blobs: &Arc<dyn ObjectStore>,
) -> Result<IndexedTable<Airport, S, Outbox<S, Engine>>> {
    let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("airport-lists")?);
    let lists = ListBlobs::new(Arc::clone(blobs), "airports").beyond(BEYOND);
    Ok(store.indexed_through(outbox).with_list_blobs(lists))
}
