//! The airline routes in 2008, with the number of flights on each route.

use serde::Deserialize;

/// The flights from one airport to another in 2008.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Route {
    /// The departure airport's code; see [`Airport::iata`](super::airports::Airport::iata).
    pub origin: String,
    /// The arrival airport's code, as in `origin`.
    pub destination: String,
    /// The number of flights in the year, which is at least one.
    pub count: u32,
}

/// Returns all routes, ordered by origin and destination. Each pair of airports occurs only once.
///
/// The [airports](super::airports::load) do not include four airports of the routes: `CLD`, `HHH`, `MQT` and `SCE`.
pub fn load() -> Result<Vec<Route>, csv::Error> {
    super::parse(include_str!("../../data/routes.csv"))
}
