//! Airports and the routes that start there. They are stored next to each other in one table, because they are read together (PAT-CK).

use std::collections::HashMap;

use table_core::group::{Many, One};
use table_core::{Entity, EntityGroup};

use crate::data::airports;
use crate::model::routes::Route;

/// An airport, in the partition of its state. Example key: (`WA`, `from_SEA_`).
///
/// Airport codes have three or four characters, so a `_` terminates each code.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Departures")]
#[partition_key(state)]
#[row_key("from_", iata, "_")]
pub struct Origin {
    /// The two-letter code of the state, or `unknown` for four airports.
    pub state: String,
    /// The airport code: three or four letters and digits.
    #[without('_')]
    pub iata: String,
    /// The airport's name.
    pub name: String,
}

/// The number of flights from one airport to another. It sorts after the departure airport. Example key: (`WA`, `from_SEA_to_LAX`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Departures")]
#[partition_key(state)]
#[row_key("from_", origin, "_to_", destination)]
pub struct Departure {
    /// The state of the departure airport, as in [`Origin`].
    pub state: String,
    /// The code of the departure airport.
    #[without('_')]
    pub origin: String,
    /// The code of the arrival airport.
    pub destination: String,
    /// The number of flights in 2008.
    pub flights: i32,
}

/// An airport with all of its departures, read by one range query.
#[derive(EntityGroup, Clone, Debug)]
#[entity_group(under = Origin)]
pub struct OriginWithDepartures {
    /// The departure airport.
    pub origin: One<Origin>,
    /// The departures, ordered by destination.
    pub departures: Many<Departure>,
}

/// Returns one entity for each route, in the partition of its departure state.
#[must_use]
pub fn departures(routes: &[Route]) -> Vec<Departure> {
    let departure = |route: &Route| Departure {
        state: route.state.clone(),
        origin: route.origin.clone(),
        destination: route.destination.clone(),
        flights: route.flights,
    };
    routes.iter().map(departure).collect()
}

/// Returns one entity for each departure airport. The routes of the airport are in the same partition.
#[must_use]
pub fn origins(routes: &[Route], airports: &[airports::Airport]) -> Vec<Origin> {
    let names: HashMap<&str, &str> =
        airports.iter().map(|airport| (airport.iata.as_str(), airport.name.as_str())).collect();
    let mut origins: Vec<_> = routes
        .iter()
        .map(|route| Origin {
            state: route.state.clone(),
            iata: route.origin.clone(),
            name: names.get(route.origin.as_str()).copied().unwrap_or("unknown").to_owned(),
        })
        .collect();
    origins.dedup();
    origins
}
