//! Airports in two tables. One table has a partition for each state, and the other has a partition for each city.

use table_core::{Entity, Projection};

use crate::data::airports as source;

/// An airport, in the partition of its state. Example key: (`USA_WA`, `SEA`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Airports")]
#[partition_key(country, "_", state)]
#[row_key(iata)]
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

/// The properties shown in a list of airports.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Airport)]
pub struct AirportName {
    /// The airport's name.
    pub name: String,
    /// The city served by the airport.
    pub city: String,
}

/// An airport, in the partition of its city. Example key: (`Jonesboro`, `ARG`).
///
/// The name of the city may contain a slash. Keys cannot contain slashes, so it is escaped.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AirportsByCity")]
#[partition_key(escaped(city))]
#[row_key(iata)]
pub struct CityAirport {
    /// The city served by the airport, or several cities separated by slashes.
    pub city: String,
    /// The airport code: three or four letters and digits.
    pub iata: String,
    /// The airport's name.
    pub name: String,
    /// The two-letter code of the state.
    pub state: String,
}

impl From<&source::Airport> for Airport {
    fn from(airport: &source::Airport) -> Self {
        let source::Airport { iata, name, city, state, country, latitude, longitude } = airport.clone();
        Self { country, state, iata, name, city, latitude, longitude }
    }
}

impl From<&source::Airport> for CityAirport {
    fn from(airport: &source::Airport) -> Self {
        let source::Airport { iata, name, city, state, .. } = airport.clone();
        Self { city, iata, name, state }
    }
}
