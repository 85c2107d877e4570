//! The flights at each airport, in a view. The view applies the change feed of the routes (IMP-6).

use std::error::Error;

use table_core::{Entity, Result, TableStore};
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::{Entities, EntityStore};

use crate::model::routes::Route;
use crate::store::Store;

/// The states whose routes are imported.
const STATES: [&str; 3] = ["ID", "OR", "WA"];

/// A route, in the partition of its departure state. Example key: (`WA`, `SEA_LAX`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "WatchedRoutes", feed)]
#[partition_key(state)]
#[row_key(origin, "_", destination)]
pub struct WatchedRoute {
    /// The state of the departure airport.
    pub state: String,
    /// The code of the departure airport.
    #[without('_')]
    pub origin: String,
    /// The code of the arrival airport.
    pub destination: String,
    /// The number of flights in 2008.
    pub flights: i32,
}

/// The numbers of departures and arrivals at an airport, kept up to date by a view. Example key: (`SEA`, `Traffic`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "AirportTraffic")]
#[partition_key(airport)]
#[row_key("Traffic")]
pub struct AirportTraffic {
    /// The airport code.
    pub airport: String,
    /// The number of departing flights.
    pub departures: i64,
    /// The number of arriving flights.
    pub arrivals: i64,
    /// The number of routes that start at the airport.
    pub destinations: i64,
}

/// The view that keeps [`AirportTraffic`] up to date. Each route adds its flights to both of its airports.
#[derive(Debug)]
pub struct Traffic;

impl View for Traffic {
    type Source = WatchedRoute;
    type Row = AirportTraffic;

    fn project(route: &WatchedRoute, view: &mut Projection<AirportTraffic>) -> Result<()> {
        let flights = i64::from(route.flights);
        view.add(AirportTraffic::key(&route.origin), AirportTraffic::DEPARTURES, flights)?;
        view.add(AirportTraffic::key(&route.origin), AirportTraffic::DESTINATIONS, 1)?;
        view.add(AirportTraffic::key(&route.destination), AirportTraffic::ARRIVALS, flights)
    }
}

/// Returns the routes that start in one of the three states.
#[must_use]
pub fn watched(routes: &[Route]) -> Vec<WatchedRoute> {
    let here = routes.iter().filter(|route| STATES.contains(&route.state.as_str()));
    here.map(|route| WatchedRoute {
        state: route.state.clone(),
        origin: route.origin.clone(),
        destination: route.destination.clone(),
        flights: route.flights,
    })
    .collect()
}

/// Returns the traffic of an airport, computed directly from the routes.
#[must_use]
pub fn counted(routes: &[WatchedRoute], airport: &str) -> AirportTraffic {
    let flights = |is_it: fn(&WatchedRoute, &str) -> bool| {
        routes.iter().filter(move |route| is_it(route, airport)).map(|route| i64::from(route.flights))
    };
    AirportTraffic {
        airport: airport.to_owned(),
        departures: flights(|route, airport| route.origin == airport).sum(),
        arrivals: flights(|route, airport| route.destination == airport).sum(),
        destinations: i64::try_from(flights(|route, airport| route.origin == airport).count())
            .unwrap_or(i64::MAX),
    }
}

/// Writes the routes and builds the view from them.
///
/// # Errors
/// Any error from the store.
pub async fn import(store: &Store, routes: &[Route]) -> Result<(), Box<dyn Error>> {
    let store = store.unmetered();
    let entities = store.entities::<WatchedRoute>().create_if_missing().await?;
    entities.bulk().insert_or_replace_all(watched(routes)).await?;
    let view = ViewTable::<Traffic, _>::new(store.clone()).create_if_missing().await?;
    view.rebuild().run().await?;
    view.catch_up(1_000).await?;
    trim(&entities, &view).await?;
    Ok(())
}

/// Deletes the feed entries that the view has already applied. The feeds have no other readers.
///
/// # Errors
/// Any error from the store.
pub async fn trim<S: TableStore + Clone + 'static>(
    routes: &Entities<WatchedRoute, S>,
    view: &ViewTable<Traffic, S>,
) -> Result<()> {
    let table = routes.table().name()?;
    for partition in routes.feed().partitions(table).await? {
        let position = view.position(&partition).await?;
        routes.feed().trim(table, &partition, &position).await?;
    }
    Ok(())
}
