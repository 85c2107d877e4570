//! Airline routes of 2008, with the number of flights on each route.

use serde::Deserialize;

/// The flights of 2008 from one airport to another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Route {
    /// Code of the airport of departure; see [`Airport::iata`](super::airports::Airport::iata).
    pub origin: String,
    /// Code of the airport of arrival.
    pub destination: String,
    /// The number of flights in the year, at least one.
    pub count: u32,
}

/// Returns every route, ordered by origin and destination. No pair of airports occurs twice.
///
/// Four airports of the routes are not among the [airports](super::airports::load): `CLD`, `HHH`, `MQT` and `SCE`.
pub fn load() -> Result<Vec<Route>, csv::Error> {
    super::parse(include_str!("../../data/routes.csv"))
}
