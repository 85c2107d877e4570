//! Airports by levels: the state, the city and the airport form the partition key.

use table_core::Entity;

use crate::data::airports as source;

/// An airport as the last of three levels: `AR!Jonesboro!ARG!`. Each airport has a separate partition, so neither a state nor a city can outgrow its
/// partition, and a transaction contains only one airport.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AirportsByLevel")]
#[partition_key(state, city, iata)]
#[row_key("")]
pub struct LevelAirport {
    /// The two-letter code of the state.
    pub state: String,
    /// The city, or several cities separated by slashes.
    pub city: String,
    /// The code of the airport: three or four letters and digits.
    pub iata: String,
    /// The name.
    pub name: String,
}

impl From<&source::Airport> for LevelAirport {
    fn from(airport: &source::Airport) -> Self {
        let source::Airport { iata, name, city, state, .. } = airport.clone();
        Self { state, city, iata, name }
    }
}
