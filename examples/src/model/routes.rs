//! Airline routes, whose compound key contains two airports.

use std::collections::HashMap;

use table_core::Entity;

use crate::data::{airports, routes as source};

/// The flights from one airport to another in 2008, in the partition of the departure state (PAT-CK). Example key: (`WA`, `SEA_LAX`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Routes")]
#[partition_key(state)]
#[row_key(origin, "_", destination)]
pub struct Route {
    /// The state of the departure airport, or `unknown` for four airports.
    pub state: String,
    /// The code of the departure airport. In the key, it is terminated by a `_`, so it cannot contain a `_`.
    #[without('_')]
    pub origin: String,
    /// The code of the arrival airport.
    pub destination: String,
    /// The number of flights in 2008.
    pub flights: i32,
}

/// Returns all routes with their departure states. Within each state, the routes are in key order.
#[must_use]
pub fn routes(routes: &[source::Route], airports: &[airports::Airport]) -> Vec<Route> {
    let states: HashMap<&str, &str> =
        airports.iter().map(|airport| (airport.iata.as_str(), airport.state.as_str())).collect();
    let state = |origin: &str| states.get(origin).copied().unwrap_or("unknown").to_owned();
    routes
        .iter()
        .map(|route| Route {
            state: state(&route.origin),
            origin: route.origin.clone(),
            destination: route.destination.clone(),
            flights: i32::try_from(route.count).unwrap_or(i32::MAX),
        })
        .collect()
}
