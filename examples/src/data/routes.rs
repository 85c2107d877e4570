//! The airline routes in 2008, with the number of flights on each route.

use serde::Deserialize;

/// The flights from one airport to another in 2008.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Route {
    /// The code of the departure airport. See [`Airport::iata`](super::airports::Airport::iata).
    pub origin: String,
    /// The code of the arrival airport, in the same format as `origin`.
    pub destination: String,
    /// The number of flights in the year, at least one.
    pub count: u32,
}

/// Returns all routes, ordered by origin and destination. Each pair of airports occurs only once.
///
/// Four airports that occur in the routes are missing from the [airports](super::airports::load): `CLD`, `HHH`, `MQT` and `SCE`.
pub fn load() -> Result<Vec<Route>, csv::Error> {
    super::parse(include_str!("../../data/routes.csv"))
}
