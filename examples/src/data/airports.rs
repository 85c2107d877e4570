//! The airports of the United States and its territories.

use serde::Deserialize;

/// One airport.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Airport {
    /// The unique code: three or four capital letters and digits.
    ///
    /// In the source, this property is called `iata`. Airfields without airline service have a local identifier instead, such as `00M`.
    pub iata: String,
    /// The name of the airport, which may contain a slash.
    pub name: String,
    /// The city served by the airport, or several cities separated by a slash.
    pub city: String,
    /// The two-letter code of the state or territory.
    pub state: String,
    /// The country, always `USA`.
    pub country: String,
    /// The latitude in degrees north.
    pub latitude: f64,
    /// The longitude in degrees east. It is negative west of Greenwich.
    pub longitude: f64,
}

/// Returns all airports, ordered by code.
pub fn load() -> Result<Vec<Airport>, csv::Error> {
    super::parse(include_str!("../../data/airports.csv"))
}
