//! Flights an airport: a read model of routes, which follows them by their change feed (IMP-6).

use std::error::Error;

use table_core::error::Result;
use table_core::{Entity, TableStore, TableStoreExt};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::feed::Feed;
use table_patterns::view::{Projection, View, ViewTable};

use crate::model::routes::Route;
use crate::store::Store;

/// The states whose routes are imported.
const STATES: [&str; 3] = ["ID", "OR", "WA"];

/// A route under the state it starts in, as it is written: `WA` / `SEA_LAX`.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "WatchedRoutes")]
#[partition_key(state)]
#[row_key(origin, "_", destination)]
pub struct WatchedRoute {
    /// The state of the airport of departure.
    pub state: String,
    /// The airport of departure.
    #[without('_')]
    pub origin: String,
    /// The airport of arrival.
    pub destination: String,
    /// Flights in 2008.
    pub flights: i32,
}

/// What starts and what lands at an airport, as it is asked for: `SEA` / `Traffic`.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "AirportTraffic")]
#[partition_key(airport)]
#[row_key("Traffic")]
pub struct AirportTraffic {
    /// The airport.
    pub airport: String,
    /// Flights that start there.
    pub departures: i64,
    /// Flights that land there.
    pub arrivals: i64,
    /// Airports that one can fly to.
    pub destinations: i64,
}

/// What each route has in it: its flights, twice.
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

/// The routes of the three states.
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

/// The traffic of an airport, counted from the routes.
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

/// Writes the routes, and builds the view of them.
///
/// # Errors
/// Those of the store.
pub async fn import(store: &Store, routes: &[Route]) -> Result<(), Box<dyn Error>> {
    let store = store.unmetered();
    let table = store.table::<WatchedRoute>().create_if_missing().await?;
    table.bulk().insert_or_replace_all(watched(routes)).await?;
    let view = ViewTable::<Traffic, _>::new(store.clone()).create_if_missing().await?;
    view.rebuild().run().await?;
    // One change of each state, so that a first run finds cursors as a second one does.
    let changes = store.entities::<WatchedRoute>().with_feed(Feed::new(store.clone()));
    let watched = watched(routes);
    for state in STATES {
        if let Some(route) = watched.iter().find(|route| route.state == state) {
            changes.insert_or_replace(route).await?;
        }
    }
    view.catch_up(1_000).await?;
    trim(&changes, &view).await?;
    Ok(())
}

/// Deletes what the view has applied: nothing else follows these feeds.
///
/// # Errors
/// Those of the store.
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
