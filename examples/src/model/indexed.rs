//! Airports that can be looked up by code or by city.

use table_core::{Entity, Projection};

use crate::data::airports as source;

/// An airport, in the partition of its state. Example keys: (`USA_WA`, `iata_SEA`), (`code_SEA`, `airport`) and (`USA_WA`, `city_Seattle!SEA`).
///
/// Its index row by code is in a partition for that code. Its index row by city is in the partition of the state.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "IndexedAirports")]
#[partition_key(country, "_", state)]
#[row_key("iata_", iata)]
#[index(ByCode, unique, partition_key("code_", iata), row_key("airport"))]
#[index(ByCity, row_key("city_", escaped(city), "!", iata), include(name))]
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
    /// The city served by the airport, or several cities separated by slashes.
    pub city: String,
    /// The latitude in degrees north.
    pub latitude: f64,
    /// The longitude in degrees east. It is negative west of Greenwich.
    pub longitude: f64,
}

/// A line in the list of a city's airports. The index rows contain the name, and their keys contain the city.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Airport)]
pub struct CityAirport {
    /// The city served by the airport, or several cities separated by slashes.
    pub city: String,
    /// The airport's name.
    pub name: String,
}

impl From<&source::Airport> for Airport {
    fn from(airport: &source::Airport) -> Self {
        let source::Airport { iata, name, city, state, country, latitude, longitude } = airport.clone();
        Self { country, state, iata, name, city, latitude, longitude }
    }
}
