//! Airports with a hierarchical partition key, whose levels are the state, the city and the airport.

use table_core::Entity;

use crate::data::airports as source;

/// An airport, identified by all three levels, such as `AR!Jonesboro!ARG!`.
///
/// Each airport has a separate partition. Neither a state nor a city can therefore outgrow a partition. A transaction can contain only one airport.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AirportsByLevel")]
#[partition_key(state, city, iata)]
#[row_key("")]
pub struct LevelAirport {
    /// The two-letter code of the state.
    pub state: String,
    /// The city served by the airport, or several cities separated by slashes.
    pub city: String,
    /// The airport code: three or four letters and digits.
    pub iata: String,
    /// The airport's name.
    pub name: String,
}

impl From<&source::Airport> for LevelAirport {
    fn from(airport: &source::Airport) -> Self {
        let source::Airport { iata, name, city, state, .. } = airport.clone();
        Self { state, city, iata, name }
    }
}
