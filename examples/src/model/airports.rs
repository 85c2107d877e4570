//! Airports: one table by state, and another by city.

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
    /// The code of the airport: three or four letters and digits.
    pub iata: String,
    /// The name.
    pub name: String,
    /// The city, or several cities separated by slashes.
    pub city: String,
    /// The latitude in degrees north.
    pub latitude: f64,
    /// The longitude in degrees east.
    pub longitude: f64,
}

/// The properties in a list of airports.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Airport)]
pub struct AirportName {
    /// The name.
    pub name: String,
    /// The city.
    pub city: String,
}

/// An airport, in the partition of its city. A city's name may contain a slash, which is escaped
/// because keys cannot contain it. Example key: (`Jonesboro`, `ARG`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AirportsByCity")]
#[partition_key(escaped(city))]
#[row_key(iata)]
pub struct CityAirport {
    /// The city, or several cities separated by slashes.
    pub city: String,
    /// The code of the airport: three or four letters and digits.
    pub iata: String,
    /// The name.
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
